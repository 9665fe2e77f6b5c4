"""tools/seeds: its rules by table, and a tiny comparison from the file to the report."""
import json
import subprocess
import sys
import xml.dom.minidom
from concurrent.futures import Future

import pytest

import simulator
from conftest import BUILD, ROOT

sys.path.insert(0, str(ROOT / "tools/seeds"))

import judge  # noqa: E402
import plot  # noqa: E402
import seedfile  # noqa: E402
from runs import Runs  # noqa: E402

TINY = """
[acceptance]
seed=9
title=a tiny one
source=none
seeds=2
claim.1=two jobs at a time are faster

[run]
duration=1s
[machine]
sockets=1
cores=2
threads=1
[vm build]
workload=build
vcpus=2
jobs=4

[arm a]
label=one CPU
vm.build.cpus=0
[arm b]
label=two
[arm default]
label=default

[row quiet]
name=quiet
metric=vm.build.time
unit=s
better=lower
seed_a=2
seed_b=1
claim=sign, ratio 0.4 0.7
ablate=yes
[row noisy]
name=noisy
metric=vm.build.time
unit=s
better=lower
seed_a=1
seed_b=2
claim=sign
axes=noise
[variant noise hog]
label=hog
declared=yes
vm.hog.workload=cpu
[variant noise half]
label=half
vm.hog.workload=burst
[ablation smt-aware]
label=without SMT-awareness
options.sched_smt_aware=off
"""


def make(tmp_path, text, *arguments, status=0):
    path = tmp_path / "tiny.ini"
    path.write_text(text)
    done = subprocess.run([sys.executable, ROOT / "tools/seeds", path, "--out", tmp_path / "out",
                           "--program", BUILD / "unit/numen-sim", *arguments],
                          text=True, capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == status, done.stderr
    return done


def test_from_file_to_report(tmp_path):
    told = make(tmp_path, TINY).stdout
    rows = json.loads((tmp_path / "out/seeds.json").read_text())
    assert [row["row"] for row in rows] == ["quiet", "noisy", "noisy [half]"]
    assert list(rows[0]) == ["seed", "row", "unit", "better", "seed_a", "seed_b", "sim_a", "sim_b",
                             "default", "ok", "default_ok"]
    assert [row["ok"] for row in rows] == [True, False, None]
    assert all(row["default_ok"] for row in rows)
    assert rows[0]["default"] == rows[0]["sim_b"] < rows[0]["sim_a"]
    assert "1 of those judged disagree" in told and \
        "it is not so that the change has the seed's sign" in told
    report = (tmp_path / "out/report.html").read_text()
    assert report.count("<svg") == 1 and "Ablations" in report and "Tried: nothing yet" in report
    xml.dom.minidom.parse(str(tmp_path / "out/seed9.svg"))
    assert len((tmp_path / "out/seed9.csv").read_text().splitlines()) == 1 + 3 * 3 * 2
    # Any run can be repeated by hand, from the file that was left.
    again = simulator.run(tmp_path / "out/scenarios/seed9-00-quiet-a.ini", "--seeds", 2)
    assert simulator.medians(again)["build"]["time"] == rows[0]["sim_a"]


@pytest.mark.parametrize("change,told", [
    (("jobs=4", "jbos=4"), "has no key jbos"),
    (("[arm b]", "[arm c]"), "there must be [arm a], [arm b] and [arm default]"),
    (("declared=yes\n", ""), "exactly one variant with declared=yes"),
    (("claim=sign, ratio", "claim=sing, ratio"), "claim sing"),
])
def test_a_fault_in_the_file(tmp_path, change, told):
    said = make(tmp_path, TINY.replace(*change), status=2).stderr
    assert told in said and said.startswith("seeds: ")


ROW = {"better": "lower", "seed_a": 10, "seed_b": 8, "sim_a": 100, "sim_b": 90, "default": 90.8}
OTHER = {"gained": {**ROW, "sim_b": 89}, "lost": {**ROW, "sim_b": 101}, "tenfold": {**ROW, "sim_a": 1000}}


@pytest.mark.parametrize("clause,holds", [
    ("sign", True), ("within 10", True), ("within 9.9", False), ("not-worse", True),
    ("exceeds lost", True), ("exceeds gained", False), ("ratio 0.89 0.91", True),
    ("ratio 0.91 2", False), ("falls tenfold 9 11", True), ("falls gained 9 11", False),
    ("near-a 5", False), ("near-b 2000", True),
])
def test_clauses(clause, holds):
    assert judge.clause_holds(clause, ROW, OTHER) == holds
    assert judge.failed(f"within 50, {clause}", ROW, OTHER) == ([] if holds else [clause])


@pytest.mark.parametrize("clause,words", [
    ("sign", "the change has the seed's sign"), ("within 4", "the change is at most 4 %"),
    ("not-worse", "b is no worse than a"), ("exceeds low", "b gains more than in “build, low”"),
    ("ratio 0.9 2", "b is 0.9 to 2 times a"),
    ("falls low 9 11", "a in “build, low” is 9 to 11 times this a"),
    ("near-a 5", "a is within 5 % of the seed's"), ("near-b 7", "b is within 7 % of the seed's"),
])
def test_clauses_in_words(clause, words):
    assert judge.said(clause, {"low": {"row": "build, low"}}) == words


@pytest.mark.parametrize("count", ["-1", "0", "x", "10001"])
def test_count_of_seeds(tmp_path, count):
    told = make(tmp_path, TINY, f"--seeds={count}", status=2).stderr
    assert told == f"seeds: argument --seeds: {count}: a number from 1 to 10000\n"


def test_unknown_seed(tmp_path):
    told = make(tmp_path, TINY, "seed6", status=2).stderr
    assert told.startswith("seeds: ") and "there are seed1 seed2 seed3 seed4 seed5\n" in told


def test_program_that_is_not_there(tmp_path):
    told = make(tmp_path, TINY, "--program=/nonexistent/sim", status=2).stderr
    assert told == "seeds: [Errno 2] No such file or directory: '/nonexistent/sim'\n"


def test_values_of_different_seeds_are_not_paired(tmp_path):
    """A server that answered nobody in one of two seeds has one value, and it is not told whose."""
    done = Future()
    done.set_result({"seeds": 2, "vms": {"web": {"latency-p99": {"values": [3]},
                                                 "rate": {"values": [0, 5]}}}})
    runs = Runs("unused", tmp_path)
    runs.files["key"], runs.futures["key"] = "web.ini", done
    assert runs.values("key", "vm.web.rate") == [0, 5]
    with pytest.raises(RuntimeError, match="web.ini: vm.web has its latency-p99 in some random seeds"):
        runs.values("key", "vm.web.latency-p99")


def test_bars_that_are_cut_say_so():
    """The figure stands at the end of the bar: the third cluster's second here."""
    rows = [ROW, ROW, {**ROW, "sim_a": 10, "sim_b": 45}]
    assert plot.labels(rows).startswith("set label ' +350 % ' at first 2.000, first 200 ")
    assert plot.figures(ROW)[2] == judge.default_ahead(ROW) < 0


def test_default_is_held_against_the_better_arm():
    assert judge.default_holds(ROW) and not judge.default_holds({**ROW, "default": 91})
    higher = {**ROW, "better": "higher", "default": 99}
    assert judge.default_holds(higher) and not judge.default_holds({**higher, "default": 98.9})


@pytest.mark.parametrize("name", sorted(p.stem for p in (ROOT / "tests/seeds").glob("*.ini")))
def test_the_seeds_files(name, tmp_path):
    """Each of them still runs, in a tiny form."""
    path = ROOT / f"tests/seeds/{name}.ini"
    seed = seedfile.read(path)
    assert int(seed.acceptance["seeds"]) >= 12
    subprocess.run([sys.executable, ROOT / "tools/seeds", path, "--out", tmp_path, "--seeds", "2",
                    "--duration", "20ms", "--program", BUILD / "host/numen-sim"], check=True, cwd=ROOT)
    rows = json.loads((tmp_path / "seeds.json").read_text())
    assert len(rows) == len(list(seed.cases())) and {row["seed"] for row in rows} == {seed.number}
