"""The guests without Numen, in bare QEMU: the native baseline, and a proof of the guests."""
import pytest

from rig import GUESTS, Qemu
from shape import Shape

# Guest, its command line, what its output must hold.
RUNS = [
    ("hello", "exit=3", None),
    ("spin", "ms=200", "SPIN {"),
    ("pingpong", "", "trip"),
    ("topo", "", "TOPO {"),
    ("exits", "", "EXITS {"),
    ("state", "n=200", "STATE ok"),
]


@pytest.mark.parametrize("guest, cmdline, shown", RUNS, ids=[run[0] for run in RUNS])
def test_guest(start, guest, cmdline, shown):
    machine = start(Qemu(Shape(cores=2, threads=2, memory=64), cmdline,
                         kernel=GUESTS / f"{guest}.elf"))
    if shown:
        machine.console.expect_text(shown)
    assert machine.wait() == (3 if guest == "hello" else 0)
