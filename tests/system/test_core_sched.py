"""sched-gran=core: three VMs on 2 sockets x 2 cores x 2 threads, one VM to a core at a time.

That siblings never run two VMs is asserted by the scheduler at each pick of every CPU, in every
build: a breach is a panic, and the machine falls silent.
"""
import time

import pytest

from backends import guest_json, make_machine, module, run_guest, start_vm, wait_state
from shape import Shape

SHAPE = Shape(sockets=2, cores=2, threads=2, memory=512)
SPINNERS = ("spin1", "spin2", "spin3")
MODULES = [
    *[module("spin", f"name={name} vcpus=4 cores=2 threads=2 memory=32M", "ms=1000")
      for name in SPINNERS],
    module("topo", "name=topo vcpus=4 sockets=1 cores=2 threads=2 memory=32M"),
]


def turns(machine):
    return sum(rq["turns"] for rq in machine.console.command("runq --json")["runqueues"])


@pytest.mark.parametrize("backend", ["svm", "vmx"])
def test_three_guests_take_turns(start, backend):
    machine = start(make_machine(backend, SHAPE, "sched-gran=core credit2_runqueue=cpu", MODULES,
                                 f"cores-{backend}"))
    machine.console.expect_text("socket is used")
    machine.console.expect_prompt()
    assert machine.console.command("runq --json")["arrangement"] == "socket"
    _, lines = run_guest(machine, "topo")
    seen = guest_json(lines, "TOPO")
    assert [(c["core"], c["thread"]) for c in seen["vcpus"]] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for name in SPINNERS:
        start_vm(machine, name)
    deadline = time.monotonic() + machine.timeout
    while turns(machine) == 0:
        assert time.monotonic() < deadline, "no VM has had another's core"
        time.sleep(machine.poll_seconds)
    for name in SPINNERS:
        entry = wait_state(machine, name, ("stopped", "crashed"))
        assert (entry["state"], entry["exit_code"]) == ("stopped", 0)
