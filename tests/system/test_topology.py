"""The printed topology equals the machine that was asked for, over shapes of all kinds."""
import itertools
import time

import pytest

from backends import module, start_vm
from rig import Bochs, Qemu
from shape import INTEL_WITH_SVM, MIB, Node, Shape

# What firmware keeps for itself of the memory: the BIOS little, OVMF much.
BIOS_MIB, OVMF_MIB = 2, 80

# Without leaf 0xB the model's own leaves speak: 4 with 1, 0x80000008 with 0x8000001E.
INTEL_BY_LEAF_4 = INTEL_WITH_SVM + ",cpuid-0xb=off"
EPYC_BY_LEAF_1E = "EPYC,cpuid-0xb=off"
BULLDOZER = "EPYC,family=21,cpuid-0xb=off"

UNEQUAL = {(0, 1): 20, (0, 2): 30, (0, 3): 40, (1, 0): 20, (1, 2): 20, (1, 3): 30,
           (2, 0): 30, (2, 1): 20, (2, 3): 20, (3, 0): 40, (3, 1): 30, (3, 2): 20}


def nodes(*parts):
    """Nodes in CPU order: (number of CPUs, MiB) each."""
    made, first = [], 0
    for count, memory in parts:
        made.append(Node(range(first, first + count), memory))
        first += count
    return made


def all_unequal(count):
    """A distance for each pair, another one for the way back."""
    return {(a, b): 10 + 7 * abs(a - b) + (3 if a > b else 0) if a != b else 10
            for a in range(count) for b in range(count)}


SHAPES = {
    "one-cpu": Shape(),
    "no-smt": Shape(cores=4),
    "smt": Shape(cores=2, threads=2),
    "three-sockets": Shape(sockets=3, cores=2),
    "two-dies": Shape(dies=2, cores=2, threads=2, cpu=INTEL_WITH_SVM),
    "two-dies-two-sockets": Shape(sockets=2, dies=2, cores=2, cpu=INTEL_WITH_SVM,
                                  nodes=nodes((4, 256), (4, 256))),
    "two-dies-of-amd": Shape(dies=2, cores=2, threads=2),
    "three-cores-leave-gaps": Shape(sockets=2, cores=3, threads=2),
    "two-nodes": Shape(sockets=2, cores=2, threads=2, nodes=nodes((4, 256), (4, 256))),
    "node-in-a-socket": Shape(cores=4, nodes=nodes((2, 256), (2, 256))),
    "four-nodes-unequal": Shape(sockets=4, cores=2, distance=UNEQUAL,
                                nodes=nodes((2, 192), (2, 128), (2, 160), (2, 128))),
    "eight-nodes-asymmetric": Shape(sockets=8, cores=2, threads=2, distance=all_unequal(8),
                                    nodes=nodes(*[(4, 64 + 32 * i) for i in range(8)])),
    "node-without-cpus": Shape(cores=4, nodes=nodes((4, 256), (0, 256))),
    "node-without-memory": Shape(sockets=2, cores=2, nodes=nodes((2, 512), (2, 0))),
    "memory-above-4g": Shape(sockets=2, cores=2, nodes=nodes((2, 3072), (2, 2048))),
    "i440fx": Shape(sockets=2, cores=2, machine="pc", nodes=nodes((2, 256), (2, 256))),
    "intel": Shape(sockets=2, cores=2, threads=2, cpu=INTEL_WITH_SVM),
    "sixty-four": Shape(sockets=4, cores=8, threads=2,
                        nodes=nodes((16, 128), (16, 128), (16, 128), (16, 128))),
    # The most that xAPIC ids number, and two nodes in one socket of them.
    "two-hundred-fifty-five": Shape(cores=255, nodes=nodes((128, 512), (127, 512))),
}

GRID_CPUS = 32


def grid(sockets):
    """All shapes of so many sockets, from one thread to GRID_CPUS."""
    for dies, cores, threads in itertools.product((1, 2), (1, 2, 3, 4), (1, 2)):
        if sockets * dies * cores * threads <= GRID_CPUS:
            yield {"sockets": sockets, "dies": dies, "cores": cores, "threads": threads}



def check_cpus(topology, shape):
    keys = ("cpu", "thread", "core", "llc", "socket", "node", "online")
    seen = [{key: cpu[key] for key in keys} for cpu in topology["cpus"]]
    assert seen == [shape.place(cpu) for cpu in range(shape.cpus)]
    assert topology["sockets"] == shape.sockets
    assert topology["cores"] == shape.sockets * shape.dies * shape.cores
    assert topology["threads"] == shape.cpus


def check_memory(topology, shape, kept_mib):
    """Each node has the memory it was given, less what the firmware kept, in ranges of its own."""
    asked = shape.nodes or [Node(range(shape.cpus), shape.memory)]
    assert len(topology["nodes"]) == len(asked)
    for node, want in zip(topology["nodes"], asked):
        assert node["cpus"] == list(want.cpus)
        kept = want.memory * MIB - node["ram_bytes"]
        assert 0 <= kept <= kept_mib * MIB, f"node {node['node']} lacks {kept} bytes"
        assert 0 <= node["free_bytes"] <= node["ram_bytes"]
        assert sum(last - first + 1 for first, last in node["ranges"]) >= node["ram_bytes"]
    assert sum(node["free_bytes"] for node in topology["nodes"]) > shape.memory * MIB * 3 // 4
    assert topology["distance"] == shape.distances()


def topology_of(start, machine):
    """What the machine says of itself; it ends there, so that a test may boot many."""
    start(machine)
    machine.console.expect_prompt()
    topology = machine.console.command("topology --json")
    machine.close()
    return topology


@pytest.mark.parametrize("name", SHAPES)
def test_shape(start, name):
    shape = SHAPES[name]
    topology = topology_of(start, Qemu(shape))
    check_cpus(topology, shape)
    check_memory(topology, shape, BIOS_MIB)


@pytest.mark.parametrize("sockets", [1, 2, 3, 4])
def test_grid(start, sockets):
    for parts in grid(sockets):
        shape = Shape(memory=128, cpu=INTEL_WITH_SVM, **parts)
        check_cpus(topology_of(start, Qemu(shape)), shape)


@pytest.mark.parametrize("cpu", [INTEL_BY_LEAF_4, EPYC_BY_LEAF_1E])
def test_grid_by_older_leaves(start, cpu):
    """Where those leaves know of no dies, which is where QEMU keeps 0x1F away."""
    for parts in grid(2):
        if parts["dies"] == 1:
            shape = Shape(memory=128, cpu=cpu, **parts)
            check_cpus(topology_of(start, Qemu(shape)), shape)


def test_shape_by_ovmf(start):
    shape = Shape(sockets=2, cores=2, threads=2, nodes=nodes((4, 256), (4, 256)))
    topology = topology_of(start, Qemu(shape, boot="ovmf"))
    check_cpus(topology, shape)
    check_memory(topology, shape, OVMF_MIB)


@pytest.mark.bochs
def test_sixteen_cpus_in_bochs(start):
    """Its BIOS knows of no nodes: the loader brings SRAT and an asymmetric SLIT."""
    shape = Shape(sockets=2, cores=4, threads=2, distance=all_unequal(4),
                  nodes=nodes((4, 64), (4, 96), (4, 64), (4, 32)))
    topology = topology_of(start, Bochs(shape))
    assert [(c["socket"], c["core"], c["thread"], c["node"]) for c in topology["cpus"]] == \
        [(cpu // 8, cpu // 2, cpu % 2, cpu // 4) for cpu in range(16)]
    check_memory(topology, shape, BIOS_MIB)


TWO = Shape(sockets=2, cores=2, nodes=nodes((2, 256), (2, 256)), distance={(0, 1): 30, (1, 0): 30})
CPUS_OF_ONE = [[0, 1, 2, 3]]


@pytest.mark.parametrize("option, cpus, distance", [
    ("numa=off", CPUS_OF_ONE, [[10]]),
    ("numa=noacpi", CPUS_OF_ONE, [[10]]),
    ("numa=on", [[0, 1], [2, 3]], [[10, 30], [30, 10]]),
    ("numa=fake=3", [[0, 3], [1], [2]], [[10, 20, 20], [20, 10, 20], [20, 20, 10]])])
def test_numa_option(start, option, cpus, distance):
    topology = topology_of(start, Qemu(TWO, option))
    assert [node["cpus"] for node in topology["nodes"]] == cpus
    assert [cpu["node"] for cpu in topology["cpus"]] == \
        [next(n for n, of_node in enumerate(cpus) if cpu in of_node) for cpu in range(TWO.cpus)]
    assert topology["distance"] == distance
    ram = [node["ram_bytes"] for node in topology["nodes"]]
    assert 0 <= TWO.memory * MIB - sum(ram) <= BIOS_MIB * MIB
    assert max(ram) - min(ram) <= 4 * MIB
    assert topology["warnings"] == []


def test_fake_nodes_are_of_use(start):
    topology = topology_of(start, Qemu(Shape(cores=2, memory=64), "numa=fake=60"))
    assert len(topology["nodes"]) == 3  # of 16 MiB and more
    assert topology["warnings"] == ["numa=fake=60: memory is enough for 3 nodes only"]


def online(topology):
    return [cpu["cpu"] for cpu in topology["cpus"] if cpu["online"]]


@pytest.mark.parametrize("option, up", [("maxcpus=3", [0, 1, 2]), ("smt=off", [0, 2, 4, 6]),
                                        ("smt=off maxcpus=5", [0, 2, 4])])
def test_cpus_left_out_stay_in_their_nodes(start, option, up):
    """The second node may be left with one CPU or none: its memory counts all the same."""
    shape = Shape(sockets=2, cores=2, threads=2, nodes=nodes((4, 256), (4, 256)))
    topology = topology_of(start, Qemu(shape, option))
    assert online(topology) == up
    check_memory(topology, shape, BIOS_MIB)


@pytest.mark.parametrize("option", ["", "smt=compute-unit", "smt=off"])
def test_compute_units(start, option):
    """Family 15h's two cores of a unit are two cores in the listing, whatever the user's wish."""
    shape = Shape(sockets=2, cores=2, threads=2, cpu=BULLDOZER)
    topology = topology_of(start, Qemu(shape, option))
    assert [cpu["core"] for cpu in topology["cpus"]] == list(range(8))
    assert [cpu["thread"] for cpu in topology["cpus"]] == [0] * 8
    assert len(online(topology)) == 8


@pytest.mark.parametrize("option, beside", [("smt=on", [1, 2, 3]), ("smt=compute-unit", [2, 3])])
def test_unit_is_one_for_idle_selection(start, option, beside):
    """With CPU 0 busy its unit's other core is wholly idle, unless the user wants siblings."""
    machine = start(Qemu(Shape(cores=2, threads=2, cpu=BULLDOZER), option,
                         [module("spin", "name=spin memory=16M cpus=0", "ms=0")]))
    machine.console.expect_prompt()
    start_vm(machine, "spin")
    seen, deadline = None, time.monotonic() + machine.timeout
    while seen != [beside]:
        assert time.monotonic() < deadline, f"wholly idle: {seen}"
        queues = machine.console.command("runq --json")["runqueues"]
        seen = [queue["smt_idle"] for queue in queues]
