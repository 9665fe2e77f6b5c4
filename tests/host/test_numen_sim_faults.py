"""The faults that credit2 had once, as scenarios: sound now, and each fault shows when it is put back.

tests/sim/faults/NAME.ini says what the fault does and what its mutation, NAME.fault, changes;
tools/mutate.py runs them (`make mutate`). That every mutation is caught is proved anew each time.
"""
import sys

import pytest

from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tools"))

import mutate  # pylint: disable=wrong-import-position

# The list of ../shared/SCHEDULER.md 6, in its order.
FAULTS = {
    "credit far below zero starves a unit": ["deep-debt"],
    "reset on some unit skipped": ["reset-on-skipped"],
    "a not-runnable or out-of-budget entry ends the scan": ["scan-ends-at-pinned",
                                                            "scan-ends-without-budget"],
    "another CPU steals before the tickled CPU comes": ["stolen-on-the-way"],
    "tickle without marking": ["tickle-without-mark"],
    "sibling masks with CPUs of another runqueue": ["siblings-of-others"],
    "balancing before the idle mask is updated": ["balance-tickles-itself"],
    "a retry loop that never gives up": ["retries-for-ever", "gives-up-for-good"],
    "migration of a running unit without a reschedule": ["migrates-without-kick"],
    "load of a unit that keeps running not updated": ["stale-load"],
    "initial CPU not online": ["first-cpu-offline"],
    "socket ids of a failed AP": ["one-socket-for-all"],
    "first free queue taken": ["first-free-queue"],
    "short runs lost to integer division": ["short-runs-free"],
    "tickling a CPU that the rate limit protects": ["tickles-protected"],
    "two hogs alternating": ["hogs-alternate"],
    "hybrid parts": ["hybrid-cores"],
    "over- and underload judged on the wrong queue": ["load-of-wrong-queue",
                                                      "load-of-larger-queue"],
    "CPU going offline with units queued": ["offline-with-queue"],
    "the hand-over race": ["picked-while-saved"],
}


def test_every_fault_has_its_files():
    listed = sorted(name for names in FAULTS.values() for name in names)
    assert listed == mutate.names()
    assert listed == sorted(path.stem for path in mutate.FAULTS.glob("*.fault"))
    for name in listed:
        text = (mutate.FAULTS / f"{name}.ini").read_text(encoding="utf-8")
        assert text.startswith("; ") and "\n; The fault: " in text, name


@pytest.mark.parametrize("name", mutate.names())
def test_sound(name):
    assert not mutate.run(BUILD / "host/numen-sim", mutate.FAULTS / f"{name}.ini", "--check")


@pytest.mark.parametrize("name", mutate.names())
def test_fault_is_caught(name):
    assert mutate.caught(name)


def test_expectations_are_held_against_figures(tmp_path):
    """The judge itself: what holds, what does not, what is not there."""
    path = tmp_path / "s.ini"
    path.write_text("[expect]\na*.run >= 0.5\na1.run <= 2\ntrace.sched_reset <= 3\n")
    wanted = mutate.expectations(path)
    got = {("a1", "run"): 0.7, ("a2", "run"): 0.6, ("trace", "sched_reset"): 3}
    assert not mutate.failed(wanted, got)
    assert mutate.failed(wanted, got | {("a2", "run"): 0.4}) == ["a*.run >= 0.5 (0.4)"]
    assert mutate.failed(wanted, got | {("trace", "sched_reset"): 4}) == \
        ["trace.sched_reset <= 3 (4)"]
    with pytest.raises(ValueError, match="no such figure"):
        mutate.failed(wanted, {})


def test_a_stale_fault_is_told(monkeypatch, tmp_path):
    (tmp_path / "x.fault").write_text("--- sched/load.c\n-no such line\n+another\n")
    monkeypatch.setattr(mutate, "FAULTS", tmp_path)
    with pytest.raises(ValueError, match="x.fault is stale: in sched/load.c this stands 0 times"):
        mutate.build("x", tmp_path)
