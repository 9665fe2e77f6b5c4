"""The other builds of the image run as well: clang's, and the debug one that checks lock ranks."""
import subprocess

import pytest

from backends import module, run_guest
from rig import Qemu
from shape import Node, Shape

SHAPE = Shape(sockets=2, cores=2, nodes=[Node(range(0, 2), 256), Node(range(2, 4), 256)])
MODULES = [module("hello", "name=hello vcpus=4 memory=32M", "exit=3"),
           module("spin", "name=spin vcpus=6 memory=32M", "ms=100")]


@pytest.mark.parametrize("argument, folder", [("CC=clang", "clang"), ("DEBUG=1", "debug")])
def test_build_runs_guests(start, argument, folder):
    subprocess.run(["make", "-s", argument, "image"], check=True)
    machine = start(Qemu(SHAPE, kernel=f"build/{folder}/numen32.elf", modules=MODULES))
    machine.console.expect_prompt()
    assert run_guest(machine, "hello")[0]["exit_code"] == 3
    assert run_guest(machine, "spin")[0]["exit_code"] == 0
