"""No page of the hypervisor is writable and executable: read from QEMU's own page-table walk."""
import re

import pytest

from rig import Qemu
from shape import Shape

# "ffffffff80100000: 0000000000100000 X-GPDACTUW": X is the NX bit, W the write bit, '-' for none.
LINE = re.compile(r"^([0-9a-f]{16}): ([0-9a-f]{16}) ([X-])[A-Z-]{7}([W-])\s*$", re.M)


def mappings(machine, cpu):
    """[(virtual address, executable, writable)] of one CPU's address space."""
    machine.monitor(f"cpu {cpu}")
    text = machine.monitor("info tlb").replace("\r", "")
    return [(int(virtual, 16), nx == "-", write == "W")
            for virtual, _, nx, write in LINE.findall(text)]


@pytest.mark.parametrize("boot", ["kernel", "ovmf"])
def test_no_page_is_writable_and_executable(start, boot):
    machine = start(Qemu(Shape(cores=2), boot=boot))
    machine.console.expect_prompt()
    for cpu in range(2):
        pages = mappings(machine, cpu)
        assert any(executable for _, executable, _ in pages), "the walk shows no code at all"
        assert any(writable for _, _, writable in pages), "the walk shows no data at all"
        both = [hex(address) for address, executable, writable in pages if executable and writable]
        assert both == []
