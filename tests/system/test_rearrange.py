"""Arrangement, parameters and CPUs changed while guests run: nothing stops, nothing is lost."""
import time

import pytest

from backends import module, start_vm, wait_state
from rig import Qemu
from shape import Node, Shape

SHAPE = Shape(sockets=2, cores=2, threads=2, nodes=[Node(range(4), 512), Node(range(4, 8), 512)])
GUESTS = {"spin": 8, "more": 5, "ring": 4}
MODULES = [
    module("spin", "name=spin vcpus=8 memory=32M", "ms=0"),
    module("spin", "name=more vcpus=5 memory=32M weight=512", "ms=0"),
    module("pingpong", "name=ring vcpus=4 memory=32M", "n=1000000000"),
]
PAIRS = [[0, 1], [2, 3], [4, 5], [6, 7]]
SOCKETS = [[0, 1, 2, 3], [4, 5, 6, 7]]
ARRANGEMENTS = {
    "cpu": [[cpu] for cpu in range(8)],
    "core": PAIRS,
    "llc": SOCKETS,
    "socket": SOCKETS,
    "node": SOCKETS,
    "all": [list(range(8))],
}


@pytest.fixture(scope="module")
def busy():
    """A machine whose guests run."""
    machine = Qemu(SHAPE, "", MODULES, log="rearrange")
    machine.start()
    machine.console.expect_prompt()
    for name in GUESTS:
        start_vm(machine, name)
        wait_state(machine, name, ("running",))
    yield machine
    machine.close()


def run_times(machine):
    return {(v["vm"], v["vcpu"]): v["run_ns"] for v in machine.console.command("vcpus --json")}


def wait_all_run(machine):
    """Every spinning vCPU runs on from here."""
    before = run_times(machine)
    deadline = time.monotonic() + machine.timeout
    stuck = {key for key in before if key[0] != "ring"}
    while stuck:
        assert time.monotonic() < deadline, f"{stuck} do not run any more"
        now = run_times(machine)
        assert now.keys() == before.keys()
        stuck = {key for key in stuck if now[key] <= before[key]}


def groups(machine):
    listing = machine.console.command("runq --json")
    return listing["arrangement"], [queue["cpus"] for queue in listing["runqueues"]]


def test_every_arrangement_in_turn(busy):
    for turn in range(2):
        for name, expected in ARRANGEMENTS.items():
            assert name in busy.console.run(f"param credit2_runqueue={name}")
            assert groups(busy) == (name, expected)
            if turn == 0:
                wait_all_run(busy)
    busy.console.run("param credit2_runqueue=socket")
    wait_all_run(busy)


def test_most_cpus_in_a_runqueue(busy):
    busy.console.run("param credit2_runqueue=all")
    busy.console.run("param sched_credit2_max_cpus_runqueue 2")
    assert groups(busy) == ("all", PAIRS)
    busy.console.run("param sched_credit2_max_cpus_runqueue 16")
    busy.console.run("param credit2_runqueue=socket")
    assert groups(busy) == ("socket", SOCKETS)
    wait_all_run(busy)


def test_preset_and_back(busy):
    busy.console.run("param sched_preset=credit2-2016")
    assert busy.console.command("param --json")["asym"] == "off"
    wait_all_run(busy)
    busy.console.run("param sched_preset=default")
    assert busy.console.command("param --json")["asym"] == "on"
    wait_all_run(busy)


def test_cpus_leave_and_return(busy):
    for cpu in (3, 7, 2, 5):
        assert f"CPU {cpu} is off" in busy.console.run(f"cpu {cpu} off")
    assert busy.console.command("cpu --json") == [
        "on", "on", "off", "off", "on", "off", "on", "off"]
    assert groups(busy)[1] == [[0, 1], [4, 6]]
    wait_all_run(busy)
    busy.console.run("param credit2_runqueue=core")
    assert {v["cpu"] for v in busy.console.command("vcpus --json")
            if v["state"] == "running"} <= {0, 1, 4, 6}
    wait_all_run(busy)
    for cpu in (2, 3, 5, 7):
        assert f"CPU {cpu} is on" in busy.console.run(f"cpu {cpu} on")
    assert groups(busy)[1] == PAIRS
    wait_all_run(busy)
    assert "stays" in busy.console.run("cpu 0 off")
    assert "already" in busy.console.run("cpu 5 on")
    assert "no CPU" in busy.console.run("cpu 8 off")
    busy.console.run("param credit2_runqueue=socket")
