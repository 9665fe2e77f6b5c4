"""What Numen's own steps take under Bochs, in ticks, as numen-sim has to be told.

Measured by the guests `exits` (one vCPU) and `costs` (two). Each figure is one of a single step; none
is fitted to a scenario's result.
"""
from guests import TICK_NS, Shape, boot, guest_json, module, run_guest

MODULES = [
    module("exits", "name=exits memory=16M"),
    module("costs", "name=pair vcpus=2 memory=16M", "mode=pair"),
    module("costs", "name=share vcpus=2 memory=16M cpus=0", "mode=share"),
]


def measure():
    with boot(Shape(cores=2, memory=256), MODULES, log="agree-costs") as machine:
        machine.console.expect_prompt()
        exits = guest_json(run_guest(machine, "exits")[1], "EXITS")
        pair = guest_json(run_guest(machine, "pair")[1], "COSTS")
        share = guest_json(run_guest(machine, "share")[1], "COSTS")
    # A handler's first instruction is what is seen: half of the guest's own part of an interrupt.
    entry, exit_ticks = exits["int"] // 2, exits["kick"]
    switch = share["yield"] - exits["hypercall"]
    take = exits["ipi"] - exits["int"] - exit_ticks
    return {
        "exit": exit_ticks,
        "exit_wake": pair["send"] - exit_ticks,
        "exit_irq": take - exit_ticks,
        "ipi": pair["notice"] - entry,
        "wake": pair["wake"] - entry - switch - (take - pair["eoi"]),
        "switch": switch,
        "halt": max(share["halt"] - switch, 0),
    }


SOURCES = {
    "exit": "hypercall 5 to oneself",
    "exit_wake": "writing the ICR, if that wakes a vCPU; less exit",
    "exit_irq": "a self-IPI, less the exit that sends it, the guest's own part, and exit",
    "ipi": "from the ICR to the handler of a vCPU that spins, less the guest's part",
    "wake": "the same to a CPU in HLT, less switch and delivery; the sender sleeps meanwhile",
    "switch": "YIELD to the other vCPU of the CPU, less the hypercall",
    "halt": "from HLT to the other vCPU of the CPU, less switch",
}


def show(measured):
    print(f"Costs of Numen under Bochs, in instructions of {TICK_NS} ns")
    for name, ticks in measured.items():
        print(f"  {name:10}{ticks:>7}  {SOURCES[name]}")


def keys(measured):
    """--set arguments for numen-sim."""
    return [f"machine.{name}={ticks * TICK_NS}ns" for name, ticks in measured.items()]
