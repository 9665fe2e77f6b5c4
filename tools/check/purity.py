"""Pure code calls nothing but its own folder, its *_host.h, mem* and str*; and keeps no state.

Read from the objects of the image, so that what the compiler and the macros add is seen too.
"""
import os
import re
import subprocess

import tree

BASE = {"memcpy", "memmove", "memset", "memcmp", "strlen", "strnlen", "strcmp", "strncmp", "strchr",
        "assert_failed", "lock_rank_push", "lock_rank_pop", "spin_wait", "__popcountdi2"}
DECLARED = re.compile(r"\b(\w+)\s*\([^;{}]*\)\s*(?:__attribute__[^;]*)?;")


def symbols(path):
    """[(type letter, name)] of one object."""
    out = subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [tuple(line.split()[-2:]) for line in out.splitlines() if line.strip()]


def host_calls(folder):
    """The functions that the folder's *_host.h files declare."""
    names = set()
    for header in tree.files(("_host.h",), (folder,)):
        text = re.sub(r"/\*.*?\*/", "", tree.read(header), flags=re.S)
        names |= set(DECLARED.findall(text))
    return names


def check():
    by_folder = {}
    for source in tree.files((".c",), tree.IMAGE_FOLDERS):
        if tree.is_pure(source):
            by_folder.setdefault(os.path.dirname(source), []).append(source)
    faults = []
    for folder, sources in by_folder.items():
        table = {s: symbols(f"build/obj/{s[:-2]}.o") for s in sources}
        allowed = BASE | host_calls(folder)
        allowed |= {name for rows in table.values() for kind, name in rows if kind in "TRWV"}
        for source, rows in table.items():
            faults += [f"{source}: calls {name}, which is none of its folder's"
                       for kind, name in rows if kind == "U" and name not in allowed]
            faults += [f"{source}: keeps state in {name}"
                       for kind, name in rows if kind in "bBdDC"]
    return faults
