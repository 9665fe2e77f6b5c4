"""The printed topology equals the machine that was asked for, over shapes of all kinds."""
import pytest

from rig import Qemu
from shape import INTEL_WITH_SVM, MIB, Node, Shape

# What firmware keeps for itself of the memory: the BIOS little, OVMF much.
BIOS_MIB, OVMF_MIB = 2, 80

UNEQUAL = {(0, 1): 20, (0, 2): 30, (0, 3): 40, (1, 0): 20, (1, 2): 20, (1, 3): 30,
           (2, 0): 30, (2, 1): 20, (2, 3): 20, (3, 0): 40, (3, 1): 30, (3, 2): 20}


def nodes(*parts):
    """Nodes in CPU order: (number of CPUs, MiB) each."""
    made, first = [], 0
    for count, memory in parts:
        made.append(Node(range(first, first + count), memory))
        first += count
    return made


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
    "node-without-cpus": Shape(cores=4, nodes=nodes((4, 256), (0, 256))),
    "node-without-memory": Shape(sockets=2, cores=2, nodes=nodes((2, 512), (2, 0))),
    "memory-above-4g": Shape(sockets=2, cores=2, nodes=nodes((2, 3072), (2, 2048))),
    "i440fx": Shape(sockets=2, cores=2, machine="pc", nodes=nodes((2, 256), (2, 256))),
    "intel": Shape(sockets=2, cores=2, threads=2, cpu=INTEL_WITH_SVM),
    "sixty-four": Shape(sockets=4, cores=8, threads=2,
                        nodes=nodes((16, 128), (16, 128), (16, 128), (16, 128))),
}


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


@pytest.mark.parametrize("name", SHAPES)
def test_shape(start, name):
    shape = SHAPES[name]
    machine = start(Qemu(shape))
    machine.console.expect_prompt()
    topology = machine.console.command("topology --json")
    check_cpus(topology, shape)
    check_memory(topology, shape, BIOS_MIB)


def test_shape_by_ovmf(start):
    shape = Shape(sockets=2, cores=2, threads=2, nodes=nodes((4, 256), (4, 256)))
    machine = start(Qemu(shape, boot="ovmf"))
    machine.console.expect_prompt()
    topology = machine.console.command("topology --json")
    check_cpus(topology, shape)
    check_memory(topology, shape, OVMF_MIB)


TWO = Shape(sockets=2, cores=2, nodes=nodes((2, 256), (2, 256)))


@pytest.mark.parametrize("option, count", [("numa=off", 1), ("numa=noacpi", 1), ("numa=on", 2),
                                           ("numa=fake=4", 4)])
def test_numa_option(start, option, count):
    machine = start(Qemu(TWO, option))
    machine.console.expect_prompt()
    topology = machine.console.command("topology --json")
    assert len(topology["nodes"]) == count
    assert len(topology["distance"]) == count
    assert sum(len(node["cpus"]) for node in topology["nodes"]) == TWO.cpus
    lost = TWO.memory * MIB - sum(node["ram_bytes"] for node in topology["nodes"])
    assert 0 <= lost <= BIOS_MIB * MIB
