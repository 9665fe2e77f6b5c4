#!/usr/bin/python3
"""`make mutate`: each fault that the scheduler must not have is put into a copy of it, and shows.

    tools/mutate.py [NAME...]

Of each fault there are two files in tests/sim/faults. NAME.ini is a scenario of numen-sim whose
[expect] says what the sound scheduler shows: figures of --json, `VM.METRIC >= NUMBER` or `<=`, where
VM may be a pattern (each that matches is meant) or `machine`; `trace.EVENT` counts events of --trace.
NAME.fault puts the fault in, as a patch without line numbers: `--- FILE`, then lines that begin with
a blank (stay), `-` (go) and `+` (come); an empty line begins another place of that file. What stays
and goes must stand in the file exactly once, so a fault that has grown stale is noticed.

A fault is caught if the scenario fails with it: an expectation does not hold, an invariant is
broken (--check, or an ASSERT), or the run does not end.
"""
import configparser
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import simulator

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("NUMEN_BUILD", "build")
FAULTS = ROOT / "tests/sim/faults"
HANG_SECONDS = 10
CC = ["clang" if "clang" in BUILD.parts else "gcc", "-std=gnu17", "-fno-strict-aliasing",
      "-fno-common", "-O1"]


def names():
    return sorted(path.stem for path in FAULTS.glob("*.ini"))


# ---- the scenario ----

def expectations(path):
    """[(text, subject, metric, at_least, number)]"""
    ini = configparser.ConfigParser(delimiters="=", strict=True, inline_comment_prefixes=";",
                                    interpolation=None)
    ini.optionxform = str
    ini.read_string(path.read_text(encoding="utf-8"))
    wanted = []
    for key, value in ini["expect"].items():
        what, relation = key[:-1].strip(), key[-1]
        subject, metric = what.split(".", 1)
        if relation not in "<>":
            raise ValueError(f"{path}: {key}={value}: VM.METRIC >= NUMBER or <= NUMBER")
        wanted.append((f"{what} {relation}= {value}", subject, metric, relation == ">", float(value)))
    return wanted


def figures(output, trace):
    """{(subject, metric): value}"""
    got = {(vm or "machine", name): value for vm, metrics in simulator.medians(output).items()
           for name, value in metrics.items()}
    for line in trace:
        event = ("trace", line.split()[4])
        got[event] = got.get(event, 0) + 1
    return got


def failed(wanted, got):
    """The expectations that do not hold, each with the figure."""
    faults = []
    for text, subject, metric, at_least, number in wanted:
        values = [value for (who, what), value in got.items()
                  if what == metric and fnmatchcase(who, subject)]
        if not values and subject != "trace":
            raise ValueError(f"{text}: there is no such figure")
        worst = (min if at_least else max)(values, default=0)
        if worst < number if at_least else worst > number:
            faults.append(f"{text} ({worst:.6g})")
    return faults


def run(program, path, *arguments):
    """What is wrong with the scenario's run, as a list of lines; empty: all is as expected."""
    wanted = expectations(path)
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as trace:
        if any(subject == "trace" for _, subject, *_ in wanted):
            arguments = (*arguments, "--trace", trace.name)
        try:
            done = simulator.call(path, "--json", *arguments, program=program, timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            return ["does not end"]
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("numen-sim")]
            return lines[-1:] or [f"exit status {done.returncode}"]
        return failed(wanted, figures(json.loads(done.stdout), trace))


# ---- the fault ----

def changes(path):
    """[(file, old, new)] of a NAME.fault."""
    found, file, old, new = [], None, "", ""
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("--- ") or not line:
            if old or new:
                found.append((file, old, new))
            file, old, new = line[4:] or file, "", ""
            continue
        if line[0] not in " -+":
            raise ValueError(f"{path}: {line}: a line begins with a blank, - or +")
        old += line[1:] + "\n" if line[0] in " -" else ""
        new += line[1:] + "\n" if line[0] in " +" else ""
    return found


def mutate(name, folder):
    """Writes the changed files below `folder`; their names."""
    files = {}
    for file, old, new in changes(FAULTS / f"{name}.fault"):
        text = files.get(file) or (ROOT / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{name}.fault is stale: in {file} this stands {text.count(old)} times, "
                             f"not once:\n{old}")
        files[file] = text.replace(old, new)
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    return sorted(files)


def build(name, folder):
    """numen-sim with the fault in it. All of sched/ is compiled anew where a header changes."""
    files = mutate(name, folder)
    sources = [folder / file for file in files if file.endswith(".c")]
    if any(file.endswith(".h") for file in files):
        sources += [ROOT / path for path in sorted((ROOT / "sched").glob("*.c"))
                    if f"sched/{path.name}" not in files]
    objects = []
    for source in sources:
        objects.append(folder / f"{source.stem}.o")
        subprocess.run([*CC, "-I", folder, "-I", ROOT / "include", "-I", ROOT, "-c", "-o",
                        objects[-1], source], check=True)
    program = folder / "numen-sim"
    tool = sorted((BUILD / "host/obj/tools/numen-sim").glob("*.o"))
    subprocess.run([CC[0], "-o", program, *tool, *objects, BUILD / "host/libpure.a", "-linih",
                    "-lcjson"], check=True)
    return program


def caught(name):
    """How the fault shows: figures first, then the invariants; empty: it does not, or is stale."""
    with tempfile.TemporaryDirectory(prefix="numen-fault-") as folder:
        program = build(name, Path(folder))
        path = FAULTS / f"{name}.ini"
        return run(program, path) or run(program, path, "--check")


def main():
    chosen = sys.argv[1:] or names()
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        sys.exit(f"mutate: {unknown[0]} is unknown; there are {' '.join(names())}")
    with ThreadPoolExecutor(2) as pool:
        sound = pool.map(lambda name: run(BUILD / "host/numen-sim", FAULTS / f"{name}.ini",
                                          "--check"), chosen)
        shown = pool.map(caught, chosen)
        bad = 0
        for name, first, second in zip(chosen, sound, shown):
            bad += bool(first) or not second
            print(f"{name:28} {'sound' if not first else 'WRONG: ' + '; '.join(first)}; with the "
                  f"fault: {'; '.join(second) or 'NOTHING SHOWS'}", flush=True)
    print(f"{len(chosen)} faults, {bad} wrong")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
