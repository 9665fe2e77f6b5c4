"""Benchmarks in instructions, on the rig whose clock counts them: Bochs.

    tools/bench.py [exits] [boot]          both by default; results also in build/bench.json

exits  the guest `exits` measures each operation by the TSC, from the guest's instruction to the next
       one, the loop around it subtracted. Under Bochs one tick is one instruction.
boot   ticks from head.S to the first pick with all CPUs up, the delays that INIT and SIPI ask for
       left out, as the kernel's own line says; and what making a VM costs by MiB.

The peers' figures were measured in the same emulators with throw-away guests: VT-x in Bochs, AMD-V in
QEMU's TCG under -icount.
"""
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "system"))
os.chdir(ROOT)

from rig import GUESTS, Bochs  # noqa: E402
from shape import Shape  # noqa: E402

RESULTS = Path("build/bench.json")
MODELS = {"vmx": "corei7_skylake_x", "svm": "ryzen"}
RUN_SECONDS = 300  # finds hangs; a run takes about 15

AIMS = {"hypercall": 150, "cpuid": 200, "eoi": 250, "yield": 600}
# KVM VT-x, Xen PVH VT-x, KVM AMD-V, Xen PVH AMD-V; the higher of a range.
PEERS = {
    "hypercall": (1037, 877, 2822, 6771),
    "cpuid": (978, 880, 2669, 6649),
    "kick": (1220, None, 3066, None),
    "yield": (1084, 3390, 2859, 9103),
    "msr": (1095, 778, 2748, 6559),
    "eoi": (None, None, 3841, None),
    "ipi": (None, None, 4386, None),
    "io": (1242, None, 1696, None),
}
NOVA_BOOT_8_CPUS = 4_550_000


def run(shape, model, arguments, until):
    """Boot with the guest `exits`; all that the console said up to `until` and the rest of its line."""
    machine = Bochs(shape, model=model, log=f"bench-{model}",
                    modules=[(GUESTS / "exits.elf", f"name=exits {arguments}")])
    with machine:
        machine.console.expect(until + r".*\n", RUN_SECONDS)
        machine.console.log.flush()
        return Path(machine.console.log.name).read_text(errors="replace")


def exits_on(model):
    text = run(Shape(memory=256), model, "memory=16M", r"EXITS \{")
    found = json.loads(re.search(r"EXITS (\{.*\})", text).group(1))
    return {name: found[name] for name in PEERS} | {
        name: value for name, value in found.items() if name not in PEERS}


def bench_exits():
    measured = {backend: exits_on(model) for backend, model in MODELS.items()}
    print("Instructions from a guest's operation to its next instruction")
    print(f"{'':12}{'Numen':>8}{'Numen':>8}{'aim':>8}{'KVM':>10}{'Xen':>8}{'KVM':>10}{'Xen':>8}")
    print(f"{'':12}{'VT-x':>8}{'AMD-V':>8}{'':>8}{'VT-x':>10}{'VT-x':>8}{'AMD-V':>10}{'AMD-V':>8}")
    for name, peers in PEERS.items():
        ours = [measured[backend][name] for backend in MODELS]
        aim = AIMS.get(name)
        late = " missed" if aim and max(ours) > aim else ""
        cells = [f"{value if value is not None else '-':>{width}}"
                 for value, width in zip(peers, (10, 8, 10, 8))]
        print(f"{name:12}{ours[0]:>8}{ours[1]:>8}{aim or '-':>8}{''.join(cells)}{late}")
    return measured


def boot_with(cpus):
    shape = Shape(memory=256) if cpus == 1 else Shape(sockets=2, cores=2, threads=2, memory=256)
    text = run(shape, MODELS["vmx"], "memory=64M", r"ticks a MiB")
    ticks, delays = re.search(r"boot: (\d+) ticks .* (\d+) in INIT/SIPI", text).groups()
    per_mib = re.search(r"built at (\d+) ticks a MiB", text).group(1)
    return {"ticks": int(ticks), "init_sipi_ticks": int(delays), "vm_build_per_mib": int(per_mib)}


def bench_boot():
    measured = {"cpus1": boot_with(1), "cpus8": boot_with(8)}
    print("Instructions from entry to the first pick, without the INIT/SIPI delays")
    for name, row in measured.items():
        print(f"  {name[4:]} CPU{'s' if name != 'cpus1' else ' '} {row['ticks']:>10,}"
              f"   (delays {row['init_sipi_ticks']:,}; making a VM {row['vm_build_per_mib']:,} a MiB)")
    print(f"  NOVA, 8 CPUs, its own first line to the next stage: {NOVA_BOOT_8_CPUS:,}")
    return measured


BENCHES = {"exits": bench_exits, "boot": bench_boot}


def main(names):
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"bench: {unknown[0]} is unknown; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in names or BENCHES:
        results[name] = BENCHES[name]()
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print()
    print(f"written to {RESULTS}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
