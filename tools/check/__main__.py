"""`make check`: what can be proved about the source without running it.

Each check is a function that returns its faults as lines of text; checks over many files are split,
so that the slow ones (clang-tidy) fill both CPUs. The image must have been built (its objects are
read); the Makefile sees to that.

    python3 tools/check [NAME...]     all checks, or those named
"""
import hashlib
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import docs
import layers
import purity
import sizes
import state
import tree

C_FILES = (".c", ".h")
TIDY_CLEAN = "build/tidy"
FAULT_LINES = 40  # shown of one fault: the first message of a compiler says most


def header_alone(path):
    twice = f'#include "{path}"\n' * 2
    # A header of include/ is included by its name below it; both lead to the same file.
    return [tree.run([cc, *tree.image_flags(cc), "-fsyntax-only", "-x", "c", "-"], stdin=twice)
            for cc in ("gcc", "clang")]


def format_kept(path):
    kept = not tree.run(["clang-format", "--dry-run", "--Werror", path])
    return [] if kept else [f"{path}: not as clang-format leaves it (make format)"]


def tidy(path):
    """One line a finding. A file whose preprocessed text was found clean is not looked at again."""
    flags = tree.image_flags("clang")
    source = subprocess.run(["clang", *flags, "-E", path], stdout=subprocess.PIPE, check=False).stdout
    seen = hashlib.sha256(source + tree.read(".clang-tidy").encode()).hexdigest()
    stamp = os.path.join(TIDY_CLEAN, seen)
    if os.path.exists(stamp):
        return []
    said = tree.run(["clang-tidy", "--quiet", "--warnings-as-errors=*", path, "--", *flags])
    if not said:
        os.makedirs(TIDY_CLEAN, exist_ok=True)
        open(stamp, "w", encoding="ascii").close()
    return list(dict.fromkeys(
        line.replace(os.getcwd() + "/", "").replace(",-warnings-as-errors", "")
        for line in said.splitlines() if ": error: " in line))


def build(arguments):
    return [tree.run(["make", "--no-print-directory", *arguments])]


def parameters_current():
    """docs/parameters.md is what the option table generates."""
    generator = "build/host/gen-parameters"
    if not os.path.exists("tools/gen_parameters.c"):
        return []
    fault = tree.run(["make", "--no-print-directory", generator])
    return [fault or tree.run(["sh", "-c", f"{generator} | diff docs/parameters.md -"])]


def jobs():
    """[(check, function, argument or None)], the longest first."""
    image = tree.files((".c",), tree.IMAGE_FOLDERS)
    headers = tree.files((".h",), ("include",) + tree.IMAGE_FOLDERS)
    plan = [("build-clang", build, ["CC=clang", "image"]),
            ("build-debug", build, ["DEBUG=1", "image"])]
    plan += [("tidy", tidy, path) for path in image]
    plan += [("headers", header_alone, path) for path in headers]
    plan += [("format", format_kept, path) for path in tree.files(C_FILES)]
    plan += [("layers", layers.check, None), ("purity", purity.check, None),
             ("sizes", sizes.check, None), ("state", state.check, None),
             ("parameters", parameters_current, None), ("docs", docs.check, None)]
    return plan


def perform(job):
    name, function, argument = job
    begun = time.monotonic()
    try:
        faults = function() if argument is None else function(argument)
    except Exception as error:  # a check that breaks is a check that failed, not the end of the rest
        faults = [f"{type(error).__name__}: {error}"]
    return name, [f for f in faults if f], time.monotonic() - begun


def main(wanted):
    plan = jobs()
    known = list(dict.fromkeys(job[0] for job in plan))
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"check: {unknown[0]} is unknown; there are {', '.join(known)}", file=sys.stderr)
        return 2
    todo = [job for job in plan if not wanted or job[0] in wanted]
    faults, seconds = {}, {}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name, found, took in pool.map(perform, todo):
            faults.setdefault(name, []).extend(found)
            seconds[name] = seconds.get(name, 0) + took
    for name, found in faults.items():
        print(f"{'FAIL' if found else 'ok  '} check {name} ({seconds[name]:.1f} s of CPU)")
        for fault in found:
            print("\n".join("    " + line for line in fault.splitlines()[:FAULT_LINES]))
    print(sizes.totals())
    failed = sum(1 for found in faults.values() if found)
    print(f"{len(faults) - failed} passed, {failed} failed")
    return 1 if failed or not faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
