"""Instructions from a guest's operation to its next instruction.

The guest `exits` measures each operation by the TSC, the loop around it subtracted. The peers' figures
were measured in the same emulators with throw-away guests: VT-x in Bochs, AMD-V in QEMU's TCG under
-icount.
"""
import json
import re

import bochs

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


def exits_on(model):
    text = bochs.run(bochs.Shape(memory=256), model, "memory=16M", r"EXITS \{")
    found = json.loads(re.search(r"EXITS (\{.*\})", text).group(1))
    return {name: found[name] for name in PEERS} | {
        name: value for name, value in found.items() if name not in PEERS}


def bench():
    measured = {backend: exits_on(model) for backend, model in bochs.MODELS.items()}
    print("Instructions from a guest's operation to its next instruction")
    print(f"{'':12}{'Numen':>8}{'Numen':>8}{'aim':>8}{'KVM':>10}{'Xen':>8}{'KVM':>10}{'Xen':>8}")
    print(f"{'':12}{'VT-x':>8}{'AMD-V':>8}{'':>8}{'VT-x':>10}{'VT-x':>8}{'AMD-V':>10}{'AMD-V':>8}")
    for name, peers in PEERS.items():
        ours = [measured[backend][name] for backend in bochs.MODELS]
        aim = AIMS.get(name)
        late = " missed" if aim and max(ours) > aim else ""
        cells = [f"{value if value is not None else '-':>{width}}"
                 for value, width in zip(peers, (10, 8, 10, 8))]
        print(f"{name:12}{ours[0]:>8}{ours[1]:>8}{aim or '-':>8}{''.join(cells)}{late}")
    return measured
