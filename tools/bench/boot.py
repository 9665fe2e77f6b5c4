"""Instructions of a boot, from head.S to the first pick with all CPUs up; and of making a VM, by MiB.

The delays that INIT and SIPI ask for are left out, as the kernel's own line tells them. NOVA's figure is
from its own first line to the start of its next stage, in the same emulator.
"""
import re

import bochs
import table

NOVA_8_CPUS = 4_550_000


def boot_with(cpus):
    shape = (bochs.Shape(memory=256) if cpus == 1
             else bochs.Shape(sockets=2, cores=2, threads=2, memory=256))
    text = bochs.run(shape, bochs.MODELS["vmx"], "memory=64M", r"ticks a MiB")
    ticks, delays = re.search(r"boot: (\d+) ticks .* (\d+) in INIT/SIPI", text).groups()
    per_mib = re.search(r"built at (\d+) ticks a MiB", text).group(1)
    return {"ticks": int(ticks), "init_sipi_ticks": int(delays), "vm_build_per_mib": int(per_mib)}


def bench():
    measured = {"cpus1": boot_with(1), "cpus8": boot_with(8)}
    one, eight = measured["cpus1"], measured["cpus8"]
    table.show("Instructions from entry to the first pick, without the INIT/SIPI delays", [
        ("1 CPU", one["ticks"], None, ""),
        ("8 CPUs", eight["ticks"], NOVA_8_CPUS, "aim: NOVA's own boot"),
        ("INIT/SIPI delays of 8 CPUs", eight["init_sipi_ticks"], None, "left out above"),
        ("making a VM, a MiB", eight["vm_build_per_mib"], None, "apart"),
    ])
    return measured
