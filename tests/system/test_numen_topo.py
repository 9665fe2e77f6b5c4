"""numen-topo and the booted Numen make the same of a machine."""
import pytest

from host_topo import check_agreement
from rig import Qemu
from shape import INTEL_WITH_SVM, Shape
from test_topology import BULLDOZER, SHAPES

FOUR = SHAPES["four-nodes-unequal"]
MACHINES = {
    "eight-nodes": (SHAPES["eight-nodes-asymmetric"], ""),
    "node-without-cpus": (SHAPES["node-without-cpus"], ""),
    "node-without-memory": (SHAPES["node-without-memory"], ""),
    "memory-above-4g": (SHAPES["memory-above-4g"], ""),
    "i440fx": (SHAPES["i440fx"], ""),
    "dies": (SHAPES["two-dies-two-sockets"], ""),
    "three-cores": (Shape(sockets=3, cores=3, threads=2, cpu=INTEL_WITH_SVM), ""),
    "older-leaves": (Shape(sockets=2, cores=3, threads=2, cpu="EPYC,cpuid-0xb=off"), ""),
    "compute-units": (Shape(cores=2, threads=2, cpu=BULLDOZER), "smt=compute-unit"),
    "off": (FOUR, "numa=off"),
    "fake": (FOUR, "numa=fake=3"),
    "noacpi": (FOUR, "numa=noacpi"),
    "maxcpus": (FOUR, "maxcpus=3"),
    "smt-off": (SHAPES["two-nodes"], "smt=off"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_agrees(start, name):
    shape, cmdline = MACHINES[name]
    machine = start(Qemu(shape, cmdline))
    machine.console.expect_prompt()
    topology = machine.console.command("topology --json")
    check_agreement(machine, topology, cmdline.split())
