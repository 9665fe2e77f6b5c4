"""Random scenarios under --check: the scheduler's invariants hold after every event.

NUMEN_SIM_SCENARIOS says how many. A seed that fails is told; the scenario is
that of `python3 tests/host/sim_random.py SEED`.
"""
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

import sim_random
from conftest import BUILD, HANG_SECONDS

SCENARIOS = int(os.environ.get("NUMEN_SIM_SCENARIOS", 250))
SANITIZED = 30  # of them also under the sanitizers


def run(program, seed):
    """None, or what it said."""
    done = subprocess.run([BUILD / program, "-", "--check", "--json"], timeout=HANG_SECONDS,
                          input=sim_random.scenario(seed).encode(), check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return f"seed {seed}: {done.stderr.decode()[:3000]}" if done.returncode else None


@pytest.mark.parametrize("program, count", [("host/numen-sim", SCENARIOS),
                                            ("unit/numen-sim", SANITIZED)])
def test_invariants_hold(program, count):
    with ThreadPoolExecutor(2) as pool:
        faults = [fault for fault in pool.map(lambda seed: run(program, seed), range(count)) if fault]
    assert not faults, f"{len(faults)} of {count}; the first: {faults[0]}"
