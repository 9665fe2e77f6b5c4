"""Guests under Bochs, started with the machine, and what they say at their end."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/system"))

from backends import guest_json, module, run_guest  # noqa: E402
from rig import GUESTS, Bochs  # noqa: E402
from shape import Shape  # noqa: E402

__all__ = ["Shape", "module", "run_guest", "guest_json", "run", "boot", "HZ", "TICK_NS"]

HZ = 50_000_000  # Bochs's ips: instructions, and ticks of the TSC, a second
TICK_NS = 1_000_000_000 // HZ
RUN_SECONDS = 300  # finds hangs


def boot(shape, modules, cmdline="", log="agree"):
    return Bochs(shape, cmdline=cmdline, modules=modules, ips=HZ, log=log)


def run(shape, vms, word, cmdline="", log="agree"):
    """vms: [(name, guest, words, its own words)]. {name: the object behind `word`} of those that say
    it; the machine is stopped when they have."""
    modules = [(GUESTS / f"{guest}.elf", f"name={name} {words} -- {own}")
               for name, guest, words, own in vms]
    with boot(shape, modules, cmdline, log) as machine:
        waited = {name for name, _, _, own in vms if "ms=0" not in own.split()}
        for _ in range(len(waited)):
            ended = machine.console.expect(r"[\r\n]VM (\w+) (stopped|crashed)([^\r\n]*)(?=[\r\n])",
                                           RUN_SECONDS)
            if ended[2] + ended[3] != "stopped with exit code 0":
                raise RuntimeError(f"VM {ended[1]} {ended[2]}{ended[3]}")
        machine.console.settle()
        return {name: guest_json(machine.console.guest_lines(name), word) for name in waited}
