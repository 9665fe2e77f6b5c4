"""`make run` and `make run-bochs` as a user sees them: the demo comes up in the terminal."""
import re
import sys

import pexpect
import pytest


@pytest.mark.parametrize("rig, backend, leave", [
    ("qemu", "AMD-V|VT-x", "QEMU: Terminated"),
    pytest.param("bochs", "VT-x", "", marks=pytest.mark.bochs)])
def test_demo(rig, backend, leave):
    terminal = pexpect.spawn(sys.executable, ["tools/run.py", rig], encoding="utf-8", timeout=300)
    try:
        terminal.expect(f"virt: ({backend})")
        # All three guests are seen at work, and the user is at the prompt.
        waited = {r"\[spin1\] ", r"\[spin2\] ", r"\[topo\] topo: vCPU 3[^\r\n]{0,81}\r"}
        while waited:
            found = terminal.expect(sorted(waited))
            waited.remove(sorted(waited)[found])
        terminal.send("vms\r")
        terminal.expect(r"vms\r*\n")  # QEMU leaves the terminal adding a CR
        terminal.expect(re.escape("numen> "))
        assert "spin1" in terminal.before and "running" in terminal.before
        terminal.send("\x01x")
        terminal.expect(pexpect.EOF)
        assert leave in terminal.before
    finally:
        terminal.close(force=True)
