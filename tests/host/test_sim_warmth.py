"""What cold caches cost in numen-sim: the dearest move, not the sum of all since the caches were warm."""

import pytest

SCENARIO = """
[run]
duration=100ms
[machine]
sockets=1
cores=4
threads=1
warm_llc=100us
exit=0
ipi=0
wake=0
switch=0
halt=0
[vm a]
vcpus=1
workload=cpu
work=1ms
"""
COLD = 100e-6


def seconds(sim, moves, every):
    """The work's time when it is pinned to the two CPUs by turns, `every` us from a first move on."""
    pins = "".join(f"[at {100 + i * every}us]\npin.a={(i + 1) % 2}\n" for i in range(moves))
    return sim.medians(SCENARIO + pins)["a"]["time"]


def test_each_of_two_moves_far_apart_is_paid(sim):
    assert seconds(sim, 0, 0) == pytest.approx(1e-3, rel=1e-6)
    assert seconds(sim, 2, 300) == pytest.approx(1e-3 + 2 * COLD, rel=1e-6)


def test_moves_before_the_caches_are_warm_do_not_add_up(sim):
    # 20 moves 10 us apart: nothing gets done between the first and the last, and one warm-up after.
    assert seconds(sim, 20, 10) == pytest.approx(1e-3 + 19 * 10e-6 + COLD, rel=1e-6)
