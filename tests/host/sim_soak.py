#!/usr/bin/python3
"""Random scenarios under --check for SOAK_SECONDS (600), from a random seed on: a part of `make soak`.

SOAK_SEED repeats a run. One that fails is kept as build/sim-soak-SEED.ini and ends it.
"""
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sim_random

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("NUMEN_BUILD", "build")
SECONDS = int(os.environ.get("SOAK_SECONDS", "600"))
SEED = int(os.environ.get("SOAK_SEED", str(int(time.time()))))
STRETCHES = (1, 1, 5, 20)
HANG_SECONDS = 900  # numen-sim itself tells when the clock stands still
AT_ONCE = 2


def try_one(seed):
    """(seed, the scenario, what is wrong with it or None)"""
    text = sim_random.scenario(seed, STRETCHES[seed % len(STRETCHES)])
    return seed, text, sim_random.fault(BUILD / "host/numen-sim", text, HANG_SECONDS)


def main():
    print(f"SOAK_SEED={SEED}: random scenarios for {SECONDS} s", flush=True)
    end, seed = time.monotonic() + SECONDS, SEED
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while time.monotonic() < end:
            for tried, text, fault in pool.map(try_one, range(seed, seed + 20 * AT_ONCE)):
                if fault:
                    path = BUILD / f"sim-soak-{tried}.ini"
                    path.write_text(text, encoding="utf-8")
                    sys.exit(f"numen-sim {path} --check: {fault.splitlines()[0]}")
            seed += 20 * AT_ONCE
    print(f"{seed - SEED} scenarios, no fault")


if __name__ == "__main__":
    main()
