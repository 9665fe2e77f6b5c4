"""The short form of `make agree`: numen-sim and guests under Bochs tell the same of a contended lock.

Costs are those that stand in tests/sim/agree, so this also fails when Numen's steps have changed much
since they were measured (`make agree` shows them). docs/agree.md has the whole table.
"""
import sys

from rig import ROOT

sys.path.insert(0, str(ROOT / "tools/agree"))

import cases  # noqa: E402


def test_contended_paravirtual_lock():
    case = cases.lock_case("ticket, paravirtual", 2, milliseconds=300)
    measured = case.run()
    simulated = cases.simulate(case.file, case.settings, seeds=3)
    assert measured["vm1"]["halts"] > 50 and simulated["vm1"]["halts"] > 50
    for results in (measured, simulated):
        assert 0.7 < results["vm1"]["rate"] / results["vm2"]["rate"] < 1.4  # by yields, in a short time
    rates = [cases.total(results, "vm*", "rate") for results in (measured, simulated)]
    assert abs(rates[1] / rates[0] - 1) < 0.15, rates
