"""tools/agree without an emulator: numen-sim can follow every scenario, and wrong words are refused."""
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/system"))
sys.path.insert(0, str(ROOT / "tools/agree"))

import cases  # noqa: E402
import costs  # noqa: E402
import seed3  # noqa: E402

CASES = [case for scenario in cases.SCENARIOS.values() for case in scenario]
CASES += [seed3.arm_case(arm, 2) for arm in seed3.ARMS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.scenario}-{case.name}")
def test_numen_sim_follows(case):
    keys = costs.keys({name: 100 for name in costs.SOURCES})
    figures = case.simulate(keys, seeds=1)
    assert figures.keys() == case.pattern.keys()
    assert min(figures.values()) > 0


def test_unknown_word():
    done = subprocess.run([sys.executable, ROOT / "tools/agree", "locks"], stderr=subprocess.PIPE,
                          text=True, check=False)
    assert done.returncode == 2
    assert "there are weights, lock, pingpong, seed3" in done.stderr
