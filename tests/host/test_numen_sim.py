"""numen-sim as a program: what its options do, that a seed gives one run, and what it refuses."""
import csv
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

import simulator
from conftest import BUILD, ROOT

MIXED = """
[run]
duration=30ms
[machine]
cores=2
[options]
credit2_runqueue=core
[vm web]
vcpus=3
workload=server
[vm build]
vcpus=8
workload=build
jobs=20
[vm hog]
count=2
vcpus=2
weight=512
workload=cpu
[at 10ms]
offline=3
weight.web=64
pin.build=0-2
option.sched_ratelimit_us=200
[at 20ms]
online=3
[acceptance]
anything=goes
"""
SMALL = "[vm a]\nworkload=cpu\nwork=1ms\n"


# ---- one seed, one run ----

def test_a_seed_gives_one_run(sim):
    first = sim.run(MIXED, "--json", "--seeds", 2)
    assert sim.run(MIXED, "--json", "--seeds", 2) == first
    assert sim.run(MIXED, "--json", "--seeds", 2, "--check", "--trace", "/dev/null") == first
    assert sim.run(MIXED, "--json", "--seeds", 2, "--seed", 2) != first


def test_builds_agree(sim):
    """Other compiler flags, and the other compiler, change nothing."""
    subprocess.run(["make", "-s", "-C", ROOT, "CC=clang", "build/clang/host/numen-sim"], check=True,
                   stdout=subprocess.DEVNULL)
    programs = ["unit/numen-sim", "host/numen-sim", ROOT / "build/clang/host/numen-sim"]
    runs = {sim.run(MIXED, "--json", "--seeds", 3, program=program) for program in programs}
    assert len(runs) == 1


def test_seeds_are_the_single_runs(sim):
    both = sim.json(MIXED, "--seeds", 2)
    one, two = (sim.json(MIXED, "--seed", seed) for seed in (1, 2))
    assert both["seeds"] == 2 and both["events"] == one["events"] + two["events"]
    for vm, metrics in both["vms"].items():
        for name, metric in metrics.items():
            single = [run["vms"][vm][name]["median"] for run in (one, two)]
            assert metric["values"] == pytest.approx(single, rel=1e-9), (vm, name)
            assert metric["median"] == pytest.approx(sum(single) / 2, rel=1e-9, abs=1e-12)


# ---- output ----

def test_every_vm_has_the_common_figures(sim):
    got = sim.json(MIXED)
    assert set(got["vms"]) == {"web", "build", "hog1", "hog2"}
    for metrics in got["vms"].values():
        assert {"run", "steal", "migrations", "ipis", "halts", "kicks", "yields", "ple-exits", "spin",
                "remote", "wake-p50", "wake-p95", "wake-p99"} <= set(metrics)
    assert set(got["machine"]) == {"busy", "scheduler-ipis", "picks", "switches"}


def test_csv(sim, tmp_path):
    sim.run(MIXED, "--csv", tmp_path / "out.csv", "--seeds", 3, "--seed", 5)
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert list(rows[0]) == ["vm", "metric", "unit", "seed", "value"]
    got = sim.json(MIXED, "--seeds", 3, "--seed", 5)
    for seed, value in enumerate(got["vms"]["hog2"]["run"]["values"], 5):
        same = [float(row["value"]) for row in rows
                if (row["vm"], row["metric"], row["seed"]) == ("hog2", "run", str(seed))]
        assert same == [pytest.approx(value)]


def test_csv_says_whose_seed_it_is(sim, tmp_path):
    """A VM that gets done in some seeds only has no time in the others."""
    text = ("[run]\nduration=100ms\n[machine]\nsockets=1\ncores=1\nthreads=1\n"
            "[vm a]\nworkload=cpu\nwork=50ms\n[vm b]\nworkload=burst\nexponential=on\n")
    sim.run(text, "--csv", tmp_path / "out.csv", "--seeds", 8)
    times = {int(row["seed"]): float(row["value"]) for row in csv.DictReader((tmp_path / "out.csv").open())
             if (row["vm"], row["metric"]) == ("a", "time")}
    single = {seed: sim.json(text, "--seed", seed)["vms"]["a"].get("time") for seed in range(1, 9)}
    assert None in single.values()
    assert times == {seed: pytest.approx(time["median"]) for seed, time in single.items() if time}


def test_svg(sim, tmp_path):
    """A strip a CPU, coloured spans that do not overlap on one, and a legend of all VMs."""
    sim.run(MIXED, "--svg", tmp_path / "out.svg")
    picture = ElementTree.parse(tmp_path / "out.svg").getroot()
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"CPU 0", "CPU 7", "web", "build", "hog1", "hog2"} <= set(texts)
    strips = {}
    for rect in picture.iter("{http://www.w3.org/2000/svg}rect"):
        if len(rect):
            x, width = float(rect.get("x")), float(rect.get("width"))
            assert width >= 0 and x + width < 1270
            strips.setdefault(rect.get("y"), []).append((x, x + width))
    assert len(strips) == 8
    for spans in strips.values():
        assert all(a[1] <= b[0] + 0.02 for a, b in zip(spans, spans[1:]))


def test_svg_of_a_path_that_xml_minds(sim, tmp_path):
    sim.path = tmp_path / "a<b&'c'>"
    sim.run(SMALL, "--svg", tmp_path / "out.svg")
    assert "a<b&'c'>" in "".join(ElementTree.parse(tmp_path / "out.svg").getroot().itertext())


def test_trace(sim, tmp_path):
    sim.run(MIXED, "--trace", tmp_path / "trace")
    lines = (tmp_path / "trace").read_text().splitlines()
    assert len(lines) > 100 and lines[0].startswith("0.000000 ms ")
    assert all(re.fullmatch(r"\d+\.\d{6} ms cpu \d+ [a-z_-]+( \w+=(\d+(/\d+)?|idle)){0,2}", line)
               for line in lines), lines[:5]


def test_table(sim):
    text = sim.run(MIXED, "--seeds", 2)
    assert text.startswith("simulated, 2 seeds: median (quartiles)\n")
    assert re.search(r"^web\n  rate +[\d.]+ requests/s \([\d.]+ \.\. [\d.]+\)$", text, re.M)
    assert re.search(r"^  yields +0 +\(0 \.\. 0\)$", text, re.M)


def test_table_has_no_exponents(sim):
    """Large and small figures alike, in digits; whole numbers as they are."""
    text = sim.run("[run]\nduration=500ms\n[vm a]\nworkload=ebizzy\nvcpus=8\n"
                   "[vm b]\nworkload=cpu\nwork=1us\nstart=400ms\n")
    table = dict(line.split()[:2] for line in text.splitlines() if line.startswith("  "))
    assert all(re.fullmatch(r"\d+(\.\d+)?", value) for value in table.values()), text
    assert len(table["rate"]) >= 7 and re.search(r"^  time +0\.0000\d{4,5} s$", text, re.M)


def test_check_says_so(sim):
    events = sim.json(SMALL, "--check")["events"]
    assert sim.errors == f"numen-sim: all invariants held after each of {events} events\n"


def test_help_keys_is_complete(sim):
    text = sim.run(SMALL, "--help-keys")
    for word in ("[run]", "[machine]", "[options]", "[vm NAME]", "duration", "smt", "count", "memory",
                 "[at TIME]", "offline=CPU", "option.NAME=VALUE"):
        assert word in text
    for name in "cpu burst build server stream ebizzy pingpong lock pipe messaging".split():
        assert f"workload={name}: " in text


def test_progress(sim):
    """Told while a single seed runs for more than a second, on standard error alone."""
    text = "[run]\nduration=3600s\n[vm a]\nworkload=pingpong\nvcpus=2\n"
    sim.path.write_text(text)
    with subprocess.Popen([BUILD / "host/numen-sim", sim.path], stderr=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as run:
        line = run.stderr.readline()
        run.kill()
        assert run.stdout.read() == ""
    assert re.fullmatch(r"numen-sim: seed 1 of 1, [\d.]+ of at most 3600.000 s, "
                        r"[\d.]+ M events/s\n", line)


# ---- settings ----

def test_set(sim):
    """Like a line of the file, and the last one wins."""
    time = sim.medians(SMALL)["a"]["time"]
    assert time == pytest.approx(0.001, rel=0.01)
    assert sim.medians(SMALL, "--set", "vm.a.work=9ms", "--set", "vm.a.work=3ms")["a"]["time"] == \
        pytest.approx(0.003, rel=0.01)
    assert "b" in sim.medians(SMALL, "--set", "vm.b.workload=cpu", "--set", "run.duration=5ms")
    got = sim.medians(SMALL, "--set", "at 0.5ms.pin.a=3", "--set", "machine.warm_llc=1ms",
                      "--set", "machine.warm_socket=1ms", "--set", "credit2_runqueue=all")
    assert got["a"]["migrations"] == 1


# ---- what is refused ----

REFUSED = [
    ("[vm a]\nworkload=cpu\nfoo=1\n", 3, "has no key foo", "work memory_share"),
    ("[machine]\nfoo=1\n" + SMALL, 2, "has no key foo", "sockets dies cores threads"),
    ("[run]\nduration=1\n" + SMALL, 2, "duration=1", "a time from 1us to 3600s"),
    ("[run]\nduration=\n" + SMALL, 2, "duration=", "a time from 1us to 3600s"),
    ("[run]\nduration\n" + SMALL, 2, "", "key=value"),
    ("[run]\nduration=1s\nwarmup=1s\n" + SMALL, 3, "warmup", "less than duration"),
    ("[machine]\nsockets=0\n" + SMALL, 2, "sockets=0", "a number from 1 to 4096"),
    ("[machine]\nsockets=64\ncores=64\nthreads=2\n" + SMALL, 1, "cannot be", "4096 CPUs"),
    ("[machine]\nsockets=3\nnodes=2\n" + SMALL, 1, "cannot be", "do not divide each other"),
    ("[machine]\nsockets=2\ndistance=10,20\n" + SMALL, 1, "cannot be", "a row and a column a node"),
    ("[machine]\nthreads=3\nsmt=1,0.5\n" + SMALL, 3, "cannot be", "number of busy threads"),
    ("[machine]\nsmt=0.65,1\n" + SMALL, 2, "a thread is not faster", "the order is 1, 2, ... busy"),
    ("[machine]\nsmt=1,0.35\n" + SMALL, 2, "slower than one alone", "each one's speed, such as 1,0.65"),
    ("[machine]\ncpu_speed=0-3:0\n" + SMALL, 2, "cpu_speed=0-3:0", "fractions from 0.001 to 16"),
    ("[machine]\npriority=0:600,1:5\n" + SMALL, 2, "priority=0:600", "from 0 to 500"),
    ("[machine]\ncpu_speed=0-99:0.5\n" + SMALL, 2, "cpu_speed=", "CPUs are 0 to 15"),
    ("[options]\nnumma=off\n" + SMALL, 2, "option numma is unknown", "docs/parameters.md"),
    ("[options]\ncredit2_runqueue=die\n" + SMALL, 2, "credit2_runqueue=die", "cpu core llc socket"),
    ("[options]\nsched_ratelimit_us=500001\n" + SMALL, 2, "sched_ratelimit_us", "0 to 500000"),
    ("[options]\nsmt=off\n" + SMALL, 2, "option smt changes nothing here", "of the scheduler"),
    ("[vm a]\nvcpus=2\n", 1, "[vm a] has no workload", ""),
    ("[vm a]\nworkload=quake\n", 2, "workload=quake", "cpu burst build server"),
    ("[vm a]\nworkload=cpu\nvcpus=0\n", 3, "vcpus=0", "1 to 255"),
    ("[vm a]\nworkload=cpu\nvcpus=\n", 3, "vcpus=", "1 to 255"),
    ("[vm a]\nworkload=lock\nkind=mutex\n", 3, "kind=mutex", "spin ticket ticket-ple"),
    ("[vm a]\nworkload=cpu\ncpus=8-16\n", 3, "cpus=", "CPUs are 0 to 15"),
    ("[vm a]\nworkload=cpu\nnodes=1-2\n", 3, "nodes=", "nodes are 0 to 1"),
    ("[options]\nnuma=off\n[vm a]\nworkload=cpu\nnodes=1\n", 5, "nodes=", "nodes are 0 to 0"),
    ("[vm a]\nworkload=cpu\ncap=101\n", 1, "cap=101", "more than 100"),
    (SMALL + "pv=off\n", 4, "key pv changes nothing here", "vcpus memory weight cap cpus nodes"),
    (SMALL + "threads=1\n", 4, "key threads changes nothing here", "of workload cpu: work"),
    (SMALL + "l3-cache=on\n", 4, "key l3-cache changes nothing here", "of workload cpu: work"),
    (SMALL + "start=10s\n", 4, "start is not within the run", "10s: less"),
    ("[vm a]\nworkload=pingpong\n", 1, "vcpus=1", "pingpong takes a multiple of 2"),
    ("[vm a]\nworkload=pingpong\nvcpus=3\n", 3, "vcpus=3", "pingpong takes a multiple of 2"),
    ("[run]\nduration=1s # all\n" + SMALL, 2, "duration=1s # all", "a comment has a line of its own"),
    ("[options]\nasym\n" + SMALL, 2, "neither", "a switch: key=on"),
    ("[options]\nthreads=1\n" + SMALL, 2, "option threads is unknown", "[machine] has a key threads"),
    ("[options]\nsched_credit2_max_cpus_runqueue=65\n" + SMALL, 2, "runqueue=65", "1 to 64"),
    (SMALL + "[vm a]\nvcpus=2\n", 4, "[vm a]", "line 1; once"),
    (SMALL + "work=2ms\n", 4, "[vm a] work", "line 3; once"),
    (SMALL + "[vm b]\n", 4, "[vm b] has no workload", ""),
    ("[vm " + 60 * "x" + "]\nworkload=cpu\n", 1, "", "1 to "),
    (SMALL + "[vms]\n", 4, "section [vms] is unknown", "run, machine, options, vm NAME, at TIME"),
    ("duration=1s\n" + SMALL, 1, "section [] is unknown", "run, machine"),
    ("[run]\nduration=1s\n", 2, "no [vm NAME]", "at least one"),
    (SMALL + "[at noon]\noffline=1\n", 5, "[at noon]", "a time such as 500ms"),
    (SMALL + "[at 1ms]\nexplode=1\n", 5, "explode=1", "offline=CPU, online=CPU, weight.VM=NUMBER"),
    (SMALL + "[at 1ms]\noffline=16\n", 5, "no CPU 16", "0 to 15"),
    (SMALL + "[at 1ms]\nweight.b=5\n", 5, "no VM b", ""),
    (SMALL + "[at 1ms]\nweight.a=0\n", 5, "weight.a=0", "1 to 65535"),
    (SMALL + "[at 1ms]\npin.a=8-16\n", 5, "no CPU 8-16", "0 to 15"),
    (SMALL + "[at 1ms]\ncap.a=101\n", 5, "cap.a=101", "0 (none) to 100, 100 for each vCPU"),
    (SMALL + "[at 10s]\ncap.a=50\n", 5, "[at] is not within the run", "10s: less"),
    (SMALL + "[at 1ms]\npin.a=x\n", 5, "pin.a=x", "pin.VM=CPUS"),
    (SMALL + "[at 1ms]\noption.numa=off\n", 5, "option numa is for the start", ""),
    (SMALL + "[at 1ms]\noption.loglvl=debug\n", 5, "option loglvl changes nothing here", ""),
    (SMALL + "[at 1ms]\noption.asym=blue\n", 5, "option.asym=blue", "on or off"),
    (SMALL + "count=4097\n", 4, "count=4097", "1 to 4096"),
    (SMALL + "count=4000\nvcpus=255\n", 1, "more than 1000000 vCPUs", ""),
    ("".join(f"[vm v{i}]\nworkload=cpu\n" for i in range(257)), 513, "at most 256 VMs", ""),
    (SMALL + "".join(f"[at {i}ms]\noffline=1\n" for i in range(257)), 517, "more than 256", ""),
    (SMALL + "x=" + 300 * "1" + "\n", 4, "longer than", ""),
    (SMALL + "x=\0\n", 4, "", "not a text"),
]


@pytest.mark.parametrize("text, line, what, accepted", REFUSED,
                         ids=[f"{what or accepted}-{line}" for _, line, what, accepted in REFUSED])
def test_refused(sim, text, line, what, accepted):
    """One line: file, line of the file, what is wrong and what is accepted; exit status 2."""
    assert sim.run(text, status=2) == ""
    assert sim.errors.startswith(f"numen-sim: {sim.path}:{line}: "), sim.errors
    assert sim.errors.count("\n") == 1
    assert what in sim.errors and accepted in sim.errors


@pytest.mark.parametrize("setting, what", [
    ("vm.a.work", "expected section.key=value"), ("asym", "or option=value"),
    ("vm.a.wrok=1s", "has no key wrok"), ("vm.b.vcpus=2", "there is no [vm b]; there are a;"),
    ("smt=1,0.5", "[machine] has a key smt: --set machine.smt="),
    ("duration=1s", "[run] has a key duration: --set run.duration="),
    ("machine.smt=0.5,1", "a thread is not faster"), ("vm.a.start=10s", "not within the run"),
    ("vm.a.work=1", "work takes a time"), ("machine.sockets=9999", "a number from 1 to 4096"),
    ("at 1ms.weight.a=0", "1 to 65535"), ("numma=off", "option numma is unknown"),
    ("x" * 800, "too long")])
def test_refused_setting(sim, setting, what):
    sim.run(SMALL, "--set", setting, status=2)
    assert sim.errors.startswith("numen-sim: --set: ") and sim.errors.count("\n") == 1
    assert what in sim.errors


@pytest.mark.parametrize("arguments, what", [
    (["--seeds", "0"], "--seeds takes 1 to 10000"), (["--seed", "x"], "--seed takes"),
    (["--frob"], "unrecognized option"), (["more.ini"], "one scenario at a time"),
    (["--csv", "/nowhere/x"], "/nowhere/x: No such file")])
def test_refused_usage(sim, arguments, what):
    assert sim.run(SMALL, *arguments, status=2) == ""
    assert what in sim.errors


@pytest.mark.parametrize("path, told", [
    ("/dev/null", "there is no [vm NAME]; a scenario has at least one"), ("/", "Is a directory")])
def test_nothing_to_read(path, told):
    done = simulator.call(path, program=BUILD / "unit/numen-sim")
    assert (done.returncode, done.stderr) == (2, f"numen-sim: {path}: {told}\n")


def test_a_runqueue_a_cpu_and_whole_cores(sim):
    """As in the image: one line says that they exclude each other, and socket is used."""
    gran = "[options]\nsched-gran=core\ncredit2_runqueue="
    wanted = sim.run(gran + "socket\n" + SMALL, "--json")
    assert sim.run(gran + "cpu\n" + SMALL, "--json") == wanted
    told = "credit2_runqueue=cpu parts siblings, sched-gran=core does not: socket is used\n"
    assert sim.errors == f"numen-sim: {sim.path}:3: {told}"
    sim.run(gran + "socket\n" + SMALL + "[at 1us]\noption.credit2_runqueue=cpu\n")
    assert sim.errors == f"numen-sim: {sim.path}:8: {told}"


def test_missing_file():
    done = simulator.call("/nowhere/s.ini", program=BUILD / "unit/numen-sim")
    assert done.returncode == 2 and "/nowhere/s.ini: No such file" in done.stderr


def test_no_memory_left_on_the_nodes(sim):
    text = SMALL + "memory=3G\ncount=3\n"
    sim.run(text, status=2)
    assert sim.errors.endswith("VM a3: no nodes have that much memory free\n")


def test_everything_over_before_the_warm_up(sim):
    sim.run("[run]\nwarmup=1s\n" + SMALL, status=2)
    assert "before the warm-up was over" in sim.errors


def test_a_clock_that_stands_still_is_told(sim):
    text = ("[machine]\nexit=0\nipi=0\nwake=0\nswitch=0\nhalt=0\n"
            "[vm a]\nvcpus=2\nworkload=pingpong\nwork=0\n")
    assert sim.run(text, status=1) == ""
    assert "the clock stands still: " in sim.errors


def test_machine_of_4096_cpus(sim):
    """100,000 units on 4,096 CPUs: it runs, and all of them have been seen to."""
    text = ("[run]\nduration=3ms\n[machine]\nsockets=32\ncores=64\nthreads=2\nnode_memory=16G\n"
            "[vm m]\ncount=500\nvcpus=200\nmemory=64M\nworkload=burst\n")
    got = sim.json(text, program="host/numen-sim")
    assert len(got["vms"]) == 500
    assert got["machine"]["busy"]["median"] > 95
