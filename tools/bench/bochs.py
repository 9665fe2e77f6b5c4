"""A run of the image under Bochs, whose clock counts instructions: one tick is one.

Two runs of one image are the same to the instruction.
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "system"))

from rig import GUESTS, Bochs  # noqa: E402
from shape import Shape  # noqa: E402

__all__ = ["MODELS", "Shape", "run"]

MODELS = {"vmx": "corei7_skylake_x", "svm": "ryzen"}
RUN_SECONDS = 300  # finds hangs; a run takes about 15


def run(shape, model, arguments, until):
    """Boot with the guest `exits`; all that the console said up to `until` and the rest of its line."""
    # Without the screen, whose drawing is not what is counted here.
    machine = Bochs(shape, model=model, cmdline="console=com1", log=f"bench-{model}",
                    modules=[(GUESTS / "exits.elf", f"name=exits {arguments}")])
    with machine:
        machine.console.expect(until + r".*\n", RUN_SECONDS)
        machine.console.log.flush()
        return Path(machine.console.log.name).read_text(errors="replace")
