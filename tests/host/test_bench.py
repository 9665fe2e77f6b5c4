"""The hosted benchmarks run, count every row of their tables, and count the same twice.

Of the figures themselves only the order is held: aims are for people, in `make bench`.
"""
import shutil
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools/bench"))

import alloc  # noqa: E402
import sched  # noqa: E402
import topology  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("valgrind"), reason="no valgrind here")


def test_alloc(capsys):
    first = alloc.bench()
    assert set(first) == set(alloc.ROWS) and min(first.values()) > 0
    assert first["alloc_4k_hit"] < first["alloc_2m_split"] < first["alloc_4k_split"]
    assert first["free_4k"] < first["free_2m_join"] < first["free_4k_join"]
    assert alloc.bench() == first
    assert capsys.readouterr().out.count("joins") == 4


def test_topology_of_a_generated_machine():
    name, tables = topology.generated_machine(96, 2, 434, topology.lapic)
    first = topology.measure(tables)
    assert name == "generated" and (first["cpus"], first["nodes"]) == (96, 2)
    assert first["parse"] == first["madt_parse"] + first["srat_parse"] + first["slit_parse"] > 0
    assert 0 < first["build_4096"] < first["build_4096_disorder"]
    assert topology.measure(tables) == first


def test_parsing_grows_with_the_table_and_no_faster():
    few, many = (topology.measure(topology.generated_machine(cpus, 4, 0, topology.x2apic)[1])
                 for cpus in (512, 4096))
    for step in ("parse", "cpu_list", "numa_build"):
        assert many[step] < 10 * few[step], step


def test_sched(capsys, monkeypatch):
    monkeypatch.setattr(sched, "CPUS", (8, 64))
    first = sched.bench()
    machines = {"cpus8", "cpus64"}
    for name in sched.OPERATIONS:
        assert set(first[name]) == machines, name
        for machine, row in first[name].items():
            assert list(row) == [str(units) for units in sched.UNITS], (name, machine)
            assert min(row.values()) > 0 and sched.growth(row) < sched.GROWTH_AIM, (name, machine)
    for name, holds in first["lock_hold"].items():
        assert set(holds) == machines and set(holds["cpus8"]) == {"64", "16384"}, name
    assert "missed" not in capsys.readouterr().out
    assert first["fairness"]["error_percent"] < sched.FAIRNESS_AIM
    for row in first["latency"].values():
        assert 0 < row["p50"] <= row["p95"] <= row["p99"]
    assert first["latency"]["idle"]["p99"] < first["latency"]["over"]["p99"]
    assert sched.operations(8, 64) == {name: first[name]["cpus8"]["64"]
                                       for name in sched.OPERATIONS}


def test_waterfilled():
    assert sched.waterfilled({"a": 1, "b": 1}, 4) == {"a": 1, "b": 1}
    assert sched.waterfilled({"a": 6, "b": 1, "c": 1}, 2) == {"a": 1, "b": 0.5, "c": 0.5}
    assert sched.waterfilled({"a": 1, "b": 2, "c": 1}, 2) == {"a": 0.5, "b": 1, "c": 0.5}


def test_holds_of_nested_locks():
    counts = [("lock 0", 5), ("unlock 0", 10), ("nothing_held", 3),
              ("lock 0", 7), ("lock 1", 110), ("unlock 0", 30), ("unlock 1", 50), ("wake", 9),
              ("lock 1", 1), ("unlock 1", 17), ("wake", 2)]
    assert sched.holds_of(counts) == {"nothing_held": [0], "wake": [120, 60, 7]}
