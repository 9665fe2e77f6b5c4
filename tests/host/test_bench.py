"""The hosted benchmarks run, count every row of their tables, and count the same twice.

Of the figures themselves only the order is held: aims are for people, in `make bench`.
"""
import shutil
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools/bench"))

import alloc  # noqa: E402
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
