"""Who may include whom (the arrows of the design): arch -> kernel -> {mm, sched} -> include/hv.

The kernel also drives the boot parsers and the device models; those know nothing of it. Pure code of
arch/x86 sees its own pure headers and include/hv only. Each .c includes its own header first.
"""
import os

import tree

MAY_INCLUDE = {
    "hv": {"hv"},
    "boot": {"boot", "hv"},
    "mm": {"mm", "hv"},
    "sched": {"sched", "hv"},
    "vmm": {"vmm", "hv"},
    "kernel": {"kernel", "mm", "sched", "boot", "vmm", "hv"},
    "regs": {"regs", "hv"},
    "arch-pure": {"arch-pure", "regs", "hv"},
    "arch": {"arch", "arch-pure", "regs", "kernel", "mm", "sched", "boot", "hv"},
    "guests": {"guests", "regs", "hv"},
}
# The device models are to become a program of their own: what they share with ring 0 stays small.
VMM_SEES = {"hv/vmm_abi.h", "hv/types.h", "hv/bits.h", "hv/assert.h"}
SYSTEM = {"stdbool.h", "stddef.h", "stdint.h", "stdarg.h", "limits.h", "string.h", "errno.h",
          "sys/queue.h", "bsd/sys/tree.h"}


def layer(path):
    """The layer of a file by its path from the root, or None outside of the layered house."""
    if path.startswith("include/"):
        return "hv"
    if path.startswith("arch/x86/regs/"):
        return "regs"
    if path.startswith("arch/"):
        return "arch-pure" if tree.is_pure(path) else "arch"
    if path.startswith("tests/guests/"):
        return "guests"
    top = path.split("/")[0]
    return top if top in MAY_INCLUDE else None


def resolve(includer, name):
    """The path that `#include "name"` means in `includer`."""
    for candidate in (name, os.path.join("include", name),
                      os.path.join(os.path.dirname(includer), name)):
        if os.path.exists(candidate):
            return os.path.normpath(candidate)
    return None


def include_fault(path, system, name):
    own = layer(path)
    if system:
        return None if name in SYSTEM else f"<{name}> is not for freestanding code"
    target = resolve(path, name)
    if target is None:
        return f'"{name}" does not exist'
    if layer(target) not in MAY_INCLUDE[own]:
        return f'"{name}" is of a layer that {own} may not see'
    if own == "vmm" and layer(target) == "hv" and name not in VMM_SEES:
        return f'"{name}" is not part of what the device models share with ring 0'
    return None


def order_fault(path):
    header = path[:-2] + ".h"
    if not path.endswith(".c") or not os.path.exists(header):
        return None
    named = tree.includes(path)
    if named and resolve(path, named[0][1]) == header:
        return None
    return f"includes its own header {header} not first"


def check():
    faults = []
    for path in tree.files((".c", ".h", ".S")):
        if layer(path) is None:
            continue
        found = [include_fault(path, system, name) for system, name in tree.includes(path)]
        found.append(order_fault(path))
        faults += [f"{path}: {fault}" for fault in found if fault]
    return faults
