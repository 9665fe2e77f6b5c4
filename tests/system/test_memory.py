"""Memory and homes on four nodes: nothing is lost by any life of a VM, and the listings tell where
each VM's memory and time are.
"""
import itertools
import re
import time

from backends import guest_json, module, run_guest, start_vm, vm, wait_state
from rig import Qemu
from shape import MIB, Node, Shape

FOUR = Shape(sockets=4, cores=1, nodes=[Node(range(n, n + 1), mib)
                                        for n, mib in enumerate((64, 96, 64, 64))])
ROUNDS = 6


def listing(machine):
    """`mem --json`, in which every node's account is whole, whatever is being built meanwhile."""
    seen = machine.console.command("mem --json")
    for node in seen["nodes"]:
        assert node["free_bytes"] + node["in_use_bytes"] == node["ram_bytes"]
        assert node["numen_bytes"] + sum(node["vms"].values()) == node["in_use_bytes"]
        assert 0 < node["numen_bytes"] < 4 * MIB and node["free_bytes"] >= 0
    for guest in seen["vms"]:
        assert guest["remote_bytes"] <= guest["bytes"]
        assert guest["remote_ns"] <= guest["run_ns"]
    return seen


def account(machine):
    """What is free and whose the rest is, of each node."""
    seen = listing(machine)["nodes"]
    again = machine.console.command("numa --json")["nodes"]
    keys = ("free_bytes", "in_use_bytes", "numen_bytes", "vms")
    return [[[node[key] for key in keys] for node in nodes] for nodes in (seen, again)]


def guest_of(machine, name):
    return next(guest for guest in listing(machine)["vms"] if guest["name"] == name)


def wait_until(machine, what, holds):
    deadline = time.monotonic() + machine.timeout
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(machine.poll_seconds)


def end(machine, name):
    """Ended by whatever comes first: the guest itself, or the console."""
    machine.console.run(f"kill {name}")
    wait_state(machine, name, ("stopped", "crashed"))


def test_every_byte_comes_back(start):
    """VMs of three sizes, on chosen nodes and split over all, killed while built and while run."""
    machine = start(Qemu(FOUR, modules=[
        module("idle", "name=small vcpus=2 memory=9M"),
        module("spin", "name=there vcpus=2 memory=20M nodes=2 cpus=2", "ms=0"),
        module("idle", "name=split vcpus=4 memory=80M"),
        module("hello", "name=pages memory=4100K cpus=1"),
        module("hello", "name=refused memory=120M nodes=1"),
    ]))
    machine.console.expect_prompt()
    names = ("small", "there", "split", "pages")
    for name in names:
        start_vm(machine, name)
        wait_state(machine, name, ("running", "stopped"))
        end(machine, name)
    wait_until(machine, "a VM keeps memory after its end",
               lambda: all(guest["bytes"] == 0 for guest in listing(machine)["vms"]))
    machine.console.settle()
    before = account(machine)
    for order in itertools.islice(itertools.permutations(names), ROUNDS):
        machine.console.send("start refused")
        machine.console.expect("refused: .* more than ")
        for name in order:
            start_vm(machine, name)
            listing(machine)
        wait_until(machine, f"{order[0]} does not run", lambda: guest_of(
            machine, order[0])["run_ns"] > 0)
        for name in order:
            end(machine, name)
            listing(machine)
        wait_until(machine, f"not all came back: {before}", lambda: account(machine) == before)


def test_a_split_vm(start):
    machine = start(Qemu(FOUR, modules=[
        module("spin", "name=four vcpus=4 memory=80M", "ms=0"),
        module("topo", "name=alike vcpus=4 memory=80M"),
        module("topo", "name=one vcpus=4 memory=16M nodes=0"),
        module("topo", "name=pairs vcpus=4 sockets=2 cores=2 memory=80M"),
        module("idle", "name=two vcpus=2 memory=4M nodes=0-1"),
        module("idle", "name=solo memory=4M nodes=1-2"),
    ]))
    machine.console.expect_prompt()
    for name, sockets in (("alike", 4), ("one", 1), ("pairs", 2)):
        _, lines = run_guest(machine, name)
        assert guest_json(lines, "TOPO")["sockets"] == sockets
    warnings = re.findall(r"VM (\w+): a socket of (\d) vCPUs spans", machine.console.run("log"))
    assert warnings == [("pairs", "2")]

    # A vCPU of `two` is at home on node 1: solo goes to node 2, though node 1 has more memory.
    for name, nodes in (("two", [0, 1]), ("solo", [2])):
        start_vm(machine, name)
        wait_until(machine, "it does not run", lambda: guest_of(machine, name)["run_ns"] > 0)
        assert vm(machine, name)["nodes"] == nodes
    for name in ("two", "solo"):
        end(machine, name)

    start_vm(machine, "four")
    wait_until(machine, "it does not run", lambda: guest_of(machine, "four")["run_ns"] > 0)
    vnodes = vm(machine, "four")["vnodes"]
    assert [(v["node"], v["first_vcpu"], v["vcpus"]) for v in vnodes] == [
        (node, node, 1) for node in range(4)]
    assert [v["ranges"] for v in vnodes] == [
        [[node * 20 * MIB, (node + 1) * 20 * MIB - 1]] for node in range(4)]
    assert guest_of(machine, "four")["vnodes"] == vnodes
    assert guest_of(machine, "four")["remote_bytes"] == 0
    assert [node["vms"]["four"] for node in listing(machine)["nodes"]] == [20 * MIB] * 4

    def at_home():
        mine = [v for v in machine.console.command("vcpus --json") if v["vm"] == "four"]
        assert [v["home_node"] for v in mine] == [0, 1, 2, 3]
        return all(FOUR.node_of(v["cpu"]) == v["home_node"] for v in mine)

    wait_until(machine, "its vCPUs stay away from home", at_home)


def test_remote_share(start):
    machine = start(Qemu(FOUR, modules=[
        module("spin", "name=home memory=16M nodes=1 cpus=1", "ms=0"),
        module("spin", "name=away memory=16M nodes=2 cpus=3", "ms=0"),
        module("spin", "name=moved memory=16M nodes=2", "ms=0"),
    ]))
    machine.console.expect_prompt()
    for name in ("home", "away", "moved"):
        start_vm(machine, name)
        wait_until(machine, f"{name} does not run", lambda: guest_of(machine, name)["run_ns"] > 0)
    machine.console.run("pin moved 2")
    wait_until(machine, "it does not come", lambda: next(
        v for v in machine.console.command("vcpus --json") if v["vm"] == "moved")["cpu"] == 2)
    still = guest_of(machine, "moved")["remote_ns"]
    ran = guest_of(machine, "moved")["run_ns"]
    wait_until(machine, "it does not run", lambda: guest_of(machine, "moved")["run_ns"] > ran)
    assert guest_of(machine, "moved")["remote_ns"] == still
    machine.console.run("pin moved 1")
    wait_until(machine, "its share does not grow",
               lambda: guest_of(machine, "moved")["remote_ns"] > still)
    grown = guest_of(machine, "moved")["remote_ns"]
    wait_until(machine, "its share stops growing",
               lambda: guest_of(machine, "moved")["remote_ns"] > grown)

    home, away = guest_of(machine, "home"), guest_of(machine, "away")
    assert home["run_ns"] > 0 and home["remote_ns"] == 0
    assert away["run_ns"] > 0 and away["remote_ns"] == away["run_ns"]
    table = machine.console.run("mem")
    assert re.search(r"home .* 0\.0% .* 0\.0%  node 1: 16 MiB, vCPU 0", table)
    assert re.search(r"away .* 0\.0% .* 100\.0%  node 2: 16 MiB, vCPU 0", table)
    assert "used by  Numen" in machine.console.run("numa")
    machine.console.run("kill away")
    wait_until(machine, "it keeps memory", lambda: guest_of(machine, "away")["bytes"] == 0)
    last = guest_of(machine, "away")
    assert last["remote_ns"] == last["run_ns"] >= away["run_ns"]
