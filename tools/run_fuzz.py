#!/usr/bin/python3
"""Run libFuzzer programs for some seconds each, two at a time; a crash, hang or leak is a failure."""
import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

MORE_SEEDS = {"fuzz_scenario": ("tests/sim", "tests/seeds")}


def fuzz(program, seconds):
    """(name, '' or what it printed)."""
    name = os.path.basename(program)
    corpus = f"build/fuzz/corpus/{name}"
    os.makedirs(corpus, exist_ok=True)
    seeds = [path for path in (f"tests/fuzz/seeds/{name}", *MORE_SEEDS.get(name, ()))
             if os.path.isdir(path)]
    command = [program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=1024",
               f"-artifact_prefix=build/fuzz/{name}.", corpus]
    done = subprocess.run(command + seeds, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    return name, "" if done.returncode == 0 else done.stdout


def run_all(programs, seconds):
    """Print one line a fuzzer and the end of what a failed one said; (passed, failed)."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda program: fuzz(program, seconds), programs))
    for name, fault in results:
        print(f"{'FAIL' if fault else 'ok  '} {name} ({seconds} s)")
        if fault:
            print("\n".join(fault.splitlines()[-60:]))
    failed = sum(1 for _, fault in results if fault)
    return len(results) - failed, failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    good, bad = run_all(options.programs, options.seconds)
    print(f"{good} passed, {bad} failed")
    sys.exit(1 if bad else 0)
