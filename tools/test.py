#!/usr/bin/python3
"""`make test`: unit tests, their coverage, the host programs' tests, static checks, a short turn of the
fuzzers, system tests; one last line.

The programs have been built by the Makefile. The last line is "N passed, N failed" over everything;
skipped tests are listed before it, and a stage that ran nothing counts as failed.
"""
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from glob import glob

import run_coverage
import run_fuzz
import run_unit

BUILD = os.environ["NUMEN_BUILD"]
FUZZ_SECONDS = 10


def programs(source_folder, prefix, program_folder):
    """The built program of each source file; one that is missing fails when it is run."""
    return [f"{program_folder}/{os.path.basename(path)[:-2]}"
            for path in sorted(glob(f"{source_folder}/{prefix}_*.c"))]


def unit_tests():
    return run_unit.report(run_unit.run_all(programs("tests/unit", "test", f"{BUILD}/unit")))


def branch_coverage():
    """By all but the tests of numen-sim's own parts, which run nothing that is measured."""
    tests = programs("tests/unit", "test", run_coverage.FOLDER)
    return run_coverage.run_all([test for test in tests if "/test_sim_" not in test])


def fuzzers():
    return run_fuzz.run_all(programs("tests/fuzz", "fuzz", "build/fuzz"), FUZZ_SECONDS)


def static_checks():
    """The checks' own last line is their count."""
    done = subprocess.run([sys.executable, "tools/check"], stdout=subprocess.PIPE, text=True,
                          check=False)
    *lines, count = done.stdout.splitlines() or [""]
    print("\n".join(lines))
    words = count.split()
    return (int(words[0]), int(words[2])) if len(words) == 4 else (0, 1)


def run_pytest(folder):
    results = f"build/{os.path.basename(folder)}-tests.xml"
    if os.path.exists(results):
        os.remove(results)
    subprocess.run([sys.executable, "-m", "pytest", "-n", "2", "-q", "-rs", f"--junitxml={results}",
                    folder], check=False)
    if not os.path.exists(results):
        return 0, 1
    suite = ElementTree.parse(results).getroot().find("testsuite")
    total, failures, errors, skipped = (int(suite.get(name)) for name in
                                        ("tests", "failures", "errors", "skipped"))
    return total - failures - errors - skipped, failures + errors


def host_programs():
    return run_pytest("tests/host")


def system_tests():
    return run_pytest("tests/system")


def main():
    passed = failed = 0
    for stage in (unit_tests, branch_coverage, host_programs, static_checks, fuzzers, system_tests):
        begun = time.monotonic()
        name = stage.__name__.replace("_", " ")
        print(f"--- {name}", flush=True)
        good, bad = stage()
        if not good and not bad:
            print(f"FAIL {name}: nothing ran")
            bad = 1
        print(f"{name}: {good} passed, {bad} failed, {time.monotonic() - begun:.0f} s", flush=True)
        passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
