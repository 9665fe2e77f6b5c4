"""Instructions from firmware tables to the machine's shape (tests/bench/bench_topology.c).

Measured on the largest machine of ../shared/corpus, by the bytes of its tables; where that folder is
absent, on a generated machine of the same size. And on a generated one of 4,096 CPUs in 64 nodes, which
is the limit: what does not grow about linearly shows there.
"""
import json
import sys
import tempfile
from pathlib import Path

import callgrind
import table

sys.path.insert(0, str(callgrind.ROOT / "tests" / "host"))

from tables import ENABLED, cpu_in, lapic, madt, memory_in, slit, srat, x2apic  # noqa: E402

CORPUS = callgrind.ROOT.parent / "shared/corpus/acpi"
TABLES = ("APIC.bin", "SRAT.bin", "SLIT.bin")
GIB = 1 << 30
CPUS_MAX, NODES_MAX = 4096, 64

AIMS = {"parse": 200_000, "build_4096": 2_500_000, "build_4096_disorder": 2_600_000,
        "parse_4096": 2_500_000}


def corpus_machine():
    """(name, its three tables, those it lacks empty) of the largest, or None."""
    def read(folder):
        return [path.read_bytes() if path.exists() else b""
                for path in (folder / name for name in TABLES)]

    machines = [(folder.name, read(folder)) for folder in CORPUS.glob("*/")]
    # numa_build takes an SRAT for granted here.
    whole = [machine for machine in machines if machine[1][0] and machine[1][1]]
    return max(whole, key=lambda machine: (sum(map(len, machine[1])), machine[0]), default=None)


def generated_machine(cpus, nodes, disabled, entry):
    """`disabled` SRAT entries stand for CPUs that are not plugged in, as big servers' tables have them."""
    return ("generated", [
        madt(*(entry(i) for i in range(cpus))),
        srat(*(cpu_in(i * nodes // cpus, i) for i in range(cpus)),
             *(cpu_in(0, cpus + i, flags=0) for i in range(disabled)),
             *(memory_in(i, i * GIB, GIB, flags=ENABLED) for i in range(nodes))),
        slit(*([10 if i == j else 21 for j in range(nodes)] for i in range(nodes)))])


def measure(tables):
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in TABLES]
        for path, data in zip(paths, tables):
            path.write_bytes(data)
        counts, said = callgrind.count("topology", *paths)
    counts["parse"] = sum(counts.get(f"{name}_parse", 0) for name in ("madt", "srat", "slit"))
    return json.loads(said) | counts


def bench():
    name, tables = corpus_machine() or generated_machine(96, 2, 434, lapic)
    measured = {"machine": name, "table_bytes": sum(map(len, tables))} | measure(tables)
    largest = measure(generated_machine(CPUS_MAX, NODES_MAX, 0, x2apic)[1])
    measured["parse_4096"] = largest["parse"]
    measured["cpu_list_4096"] = largest["cpu_list"]
    measured["numa_build_4096"] = largest["numa_build"]
    table.show(f"Instructions from tables to shape: {name}, {measured['cpus']} CPUs, "
               f"{measured['nodes']} nodes, {measured['table_bytes']:,} bytes of tables", [
                   ("parse MADT, SRAT and SLIT", measured["parse"], AIMS["parse"], ""),
                   ("list of CPUs", measured["cpu_list"], None, ""),
                   ("nodes", measured["numa_build"], None, "")])
    table.show(f"The same of a generated machine, {CPUS_MAX:,} CPUs, {NODES_MAX} nodes", [
        ("parse MADT, SRAT and SLIT", measured["parse_4096"], AIMS["parse_4096"], ""),
        ("list of CPUs", measured["cpu_list_4096"], None, ""),
        ("nodes", measured["numa_build_4096"], None, ""),
        ("topology, APIC ids ascending", measured["build_4096"], AIMS["build_4096"], ""),
        ("topology, APIC ids in disorder", measured["build_4096_disorder"],
         AIMS["build_4096_disorder"], "")])
    return measured
