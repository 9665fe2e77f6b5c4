"""Every guest on every backend: the same binary passes on AMD-V and on VT-x."""
import re

import pytest

from backends import BACKENDS, guest_json, module, run_guest, start_vm, vm, wait_state

MODULES = [
    module("hello", "name=hello vcpus=4 memory=32M", "exit=3"),
    module("topo", "name=topo vcpus=4 sockets=1 cores=2 threads=2 memory=32M l3-cache=on"),
    module("topo64", "name=topo64 vcpus=2 memory=32M l3-cache=off"),
    module("spin", "name=spin vcpus=4 memory=32M", "ms=100"),
    module("spin", "name=nopv vcpus=2 memory=32M", "ms=50 nopvspin"),
    module("pingpong", "name=pingpong vcpus=2 memory=32M", "mode=kick n=300"),
    module("pingpong", "name=pingipi vcpus=2 memory=32M", "mode=ipi n=300"),
    module("stream", "name=stream vcpus=2 memory=64M", "mb=4"),
    module("exits", "name=exits memory=32M"),
    module("pv", "name=pv vcpus=4 memory=32M"),
    module("pv", "name=pvtight vcpus=4 memory=32M cpus=1"),
    module("pv", "name=pvoff vcpus=2 memory=32M pv=off"),
    module("state", "name=state1 memory=32M cpus=1", "seed=1 n=10000"),
    module("state", "name=state2 memory=32M cpus=1", "seed=2 n=10000"),
    module("triple", "name=triple memory=32M"),
    module("cliloop", "name=cliloop memory=32M"),
    module("prober", "name=prober memory=32M"),
    module("idle", "name=idle vcpus=2 memory=32M"),
]



def on(names):
    """Run the test on each of these backends, those of one backend by one worker."""
    return pytest.mark.parametrize("backend", [
        pytest.param(name, marks=pytest.mark.xdist_group(f"guests-{name}")) for name in names])


backends = on(BACKENDS)
# Bochs's SVM takes no SHUTDOWN intercept and forgets interrupts after an entry with IF=0.
not_in_bochs_svm = on([name for name in BACKENDS if name != "svm-bochs"])


@backends
def test_hello(machine, backend):
    entry, lines = run_guest(machine, "hello")
    assert (entry["state"], entry["exit_code"]) == ("stopped", 3)
    text = "\n".join(lines)
    assert "KVMKVMKVM" in text and "4 started" in text and "exit=3" in text


@backends
def test_topo_sees_the_configured_shape(machine, backend):
    entry, lines = run_guest(machine, "topo")
    assert entry["exit_code"] == 0
    seen = guest_json(lines, "TOPO")
    assert (seen["sockets"], seen["cores"], seen["threads"]) == (1, 4, 4)  # threads=2: as cores
    assert seen["l3_bytes"] > 0 and seen["l3_shared"] == 4
    assert [(c["core"], c["thread"]) for c in seen["vcpus"]] == [(0, 0), (1, 0), (2, 0), (3, 0)]


@backends
def test_elf64_image_without_l3(machine, backend):
    _, lines = run_guest(machine, "topo64")
    assert guest_json(lines, "TOPO")["l3_bytes"] == 0


@backends
@pytest.mark.parametrize("guest, mode", [("spin", "pv"), ("nopv", "nopv")])
def test_contended_locks(machine, backend, guest, mode):
    entry, lines = run_guest(machine, guest)
    assert entry["exit_code"] == 0
    seen = guest_json(lines, "SPIN")
    assert seen["mode"] == mode and seen["total"] > 0


@backends
@pytest.mark.parametrize("guest", ["pingpong", "pingipi", "stream"])
def test_ends_well(machine, backend, guest):
    entry, _ = run_guest(machine, guest)
    assert (entry["state"], entry["exit_code"]) == ("stopped", 0)


@backends
def test_exits_measures_all_paths(machine, backend):
    entry, lines = run_guest(machine, "exits")
    assert entry["exit_code"] == 0
    assert set(guest_json(lines, "EXITS")) >= {"hypercall", "cpuid", "kick", "yield", "msr", "eoi",
                                              "ipi", "io"}


@backends
@pytest.mark.parametrize("guest, shown", [
    ("pv", "ok kick.sticky"),
    ("pvtight", "ok tlb_flush"),  # only where vCPUs preempt each other
    ("pvoff", "ok refused.kick")])
def test_paravirt_rules(machine, backend, guest, shown):
    entry, lines = run_guest(machine, guest)
    assert [line for line in lines if line.startswith("FAIL")] == []
    assert shown in lines
    counts = re.search(r"PV (\d+) passed, 0 failed", "\n".join(lines))
    assert counts and int(counts[1]) > 10
    assert entry["exit_code"] == 0


@backends
def test_state_is_kept_apart_over_10000_switches(machine, backend):
    """Two VMs take turns on one CPU; each checks every class of its state after every turn."""
    begun = machine.console.position()
    start_vm(machine, "state1")
    start_vm(machine, "state2")
    machine.console.expect(r"[\r\n]VM state[12] (stopped|crashed)")
    machine.console.expect(r"[\r\n]VM state[12] (stopped|crashed)")
    machine.console.settle()
    for name in ("state1", "state2"):
        entry = vm(machine, name)
        lines = machine.console.guest_lines(name, begun)
        assert (entry["state"], entry["exit_code"]) == ("stopped", 0), lines
        assert any("STATE ok n=10000" in line for line in lines)


def others_go_on(machine):
    """A well-behaved VM still runs from start to end, and the console answers."""
    entry, _ = run_guest(machine, "hello")
    assert entry["exit_code"] == 3


@not_in_bochs_svm
def test_triple_fault_ends_that_vm_only(machine, backend):
    start_vm(machine, "idle")
    entry, _ = run_guest(machine, "triple")
    assert entry["state"] == "crashed"
    assert vm(machine, "idle")["state"] == "running"
    others_go_on(machine)
    machine.console.run("kill idle")
    wait_state(machine, "idle", ("stopped",))


@not_in_bochs_svm
def test_loop_with_interrupts_off_holds_nobody_up(machine, backend):
    start_vm(machine, "cliloop")
    wait_state(machine, "cliloop", ("running",))
    others_go_on(machine)
    assert vm(machine, "cliloop")["state"] == "running"
    machine.console.run("kill cliloop")
    wait_state(machine, "cliloop", ("stopped",))


@backends
def test_reading_every_msr_and_port_harms_nobody(machine, backend):
    entry, _ = run_guest(machine, "prober")
    assert entry["state"] in ("stopped", "crashed")
    others_go_on(machine)
