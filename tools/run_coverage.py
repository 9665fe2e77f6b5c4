#!/usr/bin/python3
"""Branch coverage of the pure parsers by the unit tests: a row a file, the total, and its limit.

The programs are unit tests built without optimization and sanitizers and with gcc's --coverage, in
a folder of their own. gcovr counts; left out are only branches that no statement of the source
makes (compiler-made ones) and those inside ASSERT, which are bugs of the host that a test must not
be able to cause.
"""
import argparse
import json
import os
import subprocess
import sys
from glob import glob

import run_unit

FOLDER = "build/coverage"
LEAST_PERCENT = 95.0
MEASURED = r"(boot/[^/]+|arch/x86/topology[^/]*|mm/numa[^/]*)\.c"


def count_branches():
    """[(file, branches taken, branches)] as gcovr counts them; none when it fails."""
    done = subprocess.run(
        ["gcovr", FOLDER, "--root", ".", "--object-directory", FOLDER, "--filter", MEASURED,
         "--exclude-unreachable-branches", "--exclude-throw-branches",
         "--exclude-lines-by-pattern", r"\s*ASSERT\(", "--json-summary"],
        stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return []
    return [(f["filename"], f["branch_covered"], f["branch_total"])
            for f in json.loads(done.stdout)["files"]]


def percent(taken, branches):
    return 100.0 * taken / branches if branches else 100.0


def report(rows):
    """Print the table; whether the total reaches the limit."""
    total = ("all", sum(r[1] for r in rows), sum(r[2] for r in rows))
    for name, taken, branches in sorted(rows) + [total]:
        print(f"{name:32} {taken:5} of {branches:5} branches {percent(taken, branches):6.1f} %")
    enough = bool(rows) and percent(*total[1:]) >= LEAST_PERCENT
    print(f"{'ok  ' if enough else 'FAIL'} branch coverage of the pure parsers, at least "
          f"{LEAST_PERCENT:.0f} %")
    return enough


def run_all(programs):
    """Run the programs and measure; (passed, failed) with the tests that failed and the limit."""
    for stale in glob(f"{FOLDER}/**/*.gcda", recursive=True):
        os.remove(stale)
    failed = [r for r in run_unit.run_all(programs) if not r.good()]
    run_unit.report(failed)
    enough = report(count_branches())
    return int(enough), len(failed) + (not enough)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="+")
    sys.exit(1 if run_all(parser.parse_args().programs)[1] else 0)
