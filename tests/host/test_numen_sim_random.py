"""Random scenarios under --check: the scheduler's invariants hold after every event.

NUMEN_SIM_SCENARIOS says how many. A seed that fails is told; the scenario is
that of `python3 tests/host/sim_random.py SEED`. `make soak` runs longer ones (sim_soak.py).
"""
import os

import pytest

import sim_random
from conftest import BUILD

SCENARIOS = int(os.environ.get("NUMEN_SIM_SCENARIOS", 2000))
SANITIZED = 60  # of them also under the sanitizers
AT_ONCE = 100   # in one test, so that those that run side by side share the work


def batches(program, count):
    return [(program, first, min(first + AT_ONCE, count)) for first in range(0, count, AT_ONCE)]


@pytest.mark.parametrize("program, first, end", [*batches("host/numen-sim", SCENARIOS),
                                                 *batches("unit/numen-sim", SANITIZED)])
def test_invariants_hold(program, first, end):
    faults = [fault for seed in range(first, end)
              if (fault := sim_random.fault(BUILD / program, sim_random.scenario(seed)))]
    assert not faults, f"{len(faults)} of {end - first}; the first: {faults[0]}"
