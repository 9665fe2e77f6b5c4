#!/usr/bin/python3
"""Run cmocka programs and count: "N planned, N run"; fewer run than planned is a failure.

A program that crashes half-way leaves tests that were planned and never reported; cmocka's own exit
code alone would also hide a program that planned nothing.
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PLAN = re.compile(r"^1\.\.(\d+)$", re.M)
RESULT = re.compile(r"^(ok|not ok) \d+ ", re.M)
HANG_SECONDS = 300
TESTS = Path(__file__).resolve().parents[1] / "tests/unit"


class Result:
    def __init__(self, program):
        self.name = os.path.basename(program)
        environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP")
        try:
            done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", env=environment,
                                  timeout=HANG_SECONDS)
            self.output, self.status = done.stdout, done.returncode
        except subprocess.TimeoutExpired as hang:
            self.output = (hang.stdout or b"").decode(errors="replace") + "\nhung"
            self.status = "hang"
        outcomes = RESULT.findall(self.output)
        self.planned = sum(int(n) for n in PLAN.findall(self.output))
        self.run = len(outcomes)
        self.passed = outcomes.count("ok")

    def good(self):
        return self.status == 0 and 0 < self.planned == self.run == self.passed


def run_all(programs):
    """The results of all programs, in order; two run at a time."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(Result, programs))


def report(results):
    """Print one line a program, the output of failed ones; return (passed, failed) tests."""
    passed = failed = 0
    for r in results:
        lost = max(r.planned - r.passed, 0 if r.good() else 1)
        passed += r.passed
        failed += lost
        print(f"{'ok  ' if r.good() else 'FAIL'} {r.name}: {r.planned} planned, {r.run} run"
              + (f", {lost} failed, exit status {r.status}" if lost else ""))
        if lost:
            print(r.output)
    return passed, failed


def main(programs):
    for program in programs:
        if not os.path.exists(program):
            name = os.path.basename(program)
            known = sorted(path.stem for path in TESTS.glob("test_*.c"))
            print(f"unit: {name} is unknown; there are {', '.join(known)}", file=sys.stderr)
            return 2
    unit_passed, unit_failed = report(run_all(programs))
    print(f"{unit_passed} passed, {unit_failed} failed")
    return 1 if unit_failed or not unit_passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
