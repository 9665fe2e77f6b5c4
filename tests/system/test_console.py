"""The console's listings, as scripts read them, and its control of VMs; 200 VM starts and kills."""
import re
import time

import pexpect
import pytest

from backends import module, start_vm, vm, wait_state

MODULES = [
    module("spin", "name=spin1 vcpus=4 memory=64M weight=512", "ms=0"),
    module("spin", "name=pace memory=32M cap=100", "ms=0"),
    module("idle", "name=idle memory=32M"),
    module("hello", "name=huge memory=64G"),
    module("hello", "name=odd frob=1 memory=32M"),
]

one_machine = [pytest.mark.parametrize("backend", [
    pytest.param("svm", marks=pytest.mark.xdist_group("console"))])]
pytestmark = one_machine

CHURN = 200


@pytest.fixture
def spinning(machine):
    """The machine with spin1 running; it is gone afterwards."""
    start_vm(machine, "spin1")
    wait_state(machine, "spin1", ("running",))
    yield machine
    machine.console.run("kill spin1")
    wait_state(machine, "spin1", ("stopped", "crashed"))


def test_help_lists_commands_that_exist(machine, backend):
    names = re.findall(r"^\s*([a-z]+)\b", machine.console.run("help"), re.M)
    assert {"help", "topology", "mem", "runq", "vms", "vcpus", "stats", "log"} <= set(names)


def test_a_paste_of_300_commands_loses_none(machine, backend):
    """12 KB at once, more than the console keeps: the rest waits in the sender."""
    lines = [f"weight nobody-{i:03} 256 256 256 256 256" for i in range(300)]
    machine.console.run("help")
    machine.console.send("\n".join(lines))
    for i in range(300):
        machine.console.expect_text(lines[i] + "\r\n")
    machine.console.expect_prompt()


def test_unknown_command_gets_a_line(machine, backend):
    assert "frobnicate" in machine.console.run("frobnicate 1 2")
    machine.console.command("topology --json")


def test_runq(spinning, backend):
    listing = spinning.console.command("runq --json")
    assert listing["arrangement"] == "socket"
    cpus = sorted(cpu for queue in listing["runqueues"] for cpu in queue["cpus"])
    assert cpus == [0, 1, 2, 3]
    # The guest starts its other CPUs in its own time, and any of them may be asleep at one look.
    seen, deadline = set(), time.monotonic() + spinning.timeout
    while not {f"spin1/{i}" for i in range(4)} <= seen:
        assert time.monotonic() < deadline, f"only {seen} were seen in a runqueue"
        listing = spinning.console.command("runq --json")
        seen |= {unit for queue in listing["runqueues"] for unit in queue["units"]}


def test_vms_and_vcpus(spinning, backend):
    entry = vm(spinning, "spin1")
    assert (entry["state"], entry["vcpus"], entry["exit_code"]) == ("running", 4, None)
    assert entry["memory_bytes"] == 64 << 20 and entry["nodes"] == [0]
    vcpus = [v for v in spinning.console.command("vcpus --json") if v["vm"] == "spin1"]
    assert [v["vcpu"] for v in vcpus] == [0, 1, 2, 3]
    assert all(v["weight"] == 512 for v in vcpus)
    assert sum(v["run_ns"] for v in vcpus) > 0 and sum(v["exits"] for v in vcpus) > 0


def test_stats_and_mem(spinning, backend):
    stats = spinning.console.command("stats --json")
    for part in (stats["total"], stats["vms"]["spin1"]):
        assert set(part["exits"]) >= {"hlt", "cpuid", "hypercall", "io", "msr", "irq"}
        assert set(part["hypercalls"]) >= {"kick", "yield", "sched_yield", "send_ipi"}
        assert set(part) >= {"ipis", "migrations", "steal_ns"}
    node = spinning.console.command("mem --json")["nodes"][0]
    assert node["vms"]["spin1"] >= 64 << 20
    assert 0 < node["free_bytes"] < node["ram_bytes"]


def test_pause_and_unpause(spinning, backend):
    spinning.console.run("pause spin1")
    wait_state(spinning, "spin1", ("paused",))

    def run_ns():
        return sum(v["run_ns"] for v in spinning.console.command("vcpus --json"))

    before = run_ns()
    assert run_ns() == before
    spinning.console.run("unpause spin1")
    wait_state(spinning, "spin1", ("running",))
    assert run_ns() > before


def test_weight_and_pin(spinning, backend):
    spinning.console.run("weight spin1 128")
    spinning.console.run("pin spin1 2")

    def mine():
        return [v for v in spinning.console.command("vcpus --json") if v["vm"] == "spin1"]

    assert all(v["weight"] == 128 for v in mine())
    # Each vCPU moves when it runs next; then none leaves.
    deadline = time.monotonic() + spinning.timeout
    while {v["cpu"] for v in mine()} != {2}:
        assert time.monotonic() < deadline, "a vCPU still runs elsewhere"
    assert all({v["cpu"] for v in mine()} == {2} for _ in range(5))


def test_cap(spinning, backend):
    """spin1 gets its cap of what time passed for pace, which spins all the time.

    Where the emulator stands still, a vCPU runs on and pays later, or a period is lost; hence the
    wide bounds. tests/unit/test_sched_caps.c has narrow ones.
    """
    run = spinning.console.run
    start_vm(spinning, "pace")
    wait_state(spinning, "pace", ("running",))

    def times():
        vcpus = spinning.console.command("vcpus --json")
        pace = [v for v in vcpus if v["vm"] == "pace"]
        return (sum(v["run_ns"] for v in vcpus if v["vm"] == "spin1"),
                sum(v["run_ns"] + v["wait_ns"] + v["capped_ns"] for v in pace))

    def share():
        (ran, at), deadline = times(), time.monotonic() + spinning.timeout
        while True:
            more, now = times()
            if now - at > 3 * 10**9:
                return (more - ran) / (now - at)
            assert time.monotonic() < deadline, "time stands still"
            time.sleep(spinning.poll_seconds)

    assert "100 for each vCPU" in run("cap spin1 401")
    assert "spin1: cap 50" in run("cap spin1 50")
    half = share()
    assert 0.2 < half < 0.75
    entry = vm(spinning, "spin1")
    assert entry["cap"] == 50 and entry["capped_ns"] > 0
    assert "spin1: cap 100" in run("cap spin1 100")
    whole = share()
    assert half < whole < 1.5
    assert "none" in run("cap spin1 0")
    assert share() > whole
    run("cap spin1 1")  # it ends without waiting for its budget
    run("kill pace")


def test_bad_modules_get_a_line_and_the_rest_goes_on(machine, backend):
    machine.console.send("start huge")
    machine.console.expect("huge: .* more than ")
    assert "frob" in machine.console.run("log")
    start_vm(machine, "idle")
    wait_state(machine, "idle", ("running",))
    machine.console.run("kill idle")
    wait_state(machine, "idle", ("stopped",))


def free_bytes(machine):
    return [node["free_bytes"] for node in machine.console.command("mem --json")["nodes"]]


def test_memory_is_whole_after_200_starts_and_kills(machine, backend):
    """The first start is outside: what it allocates for good (names, pools) is no leak."""
    before = None
    for _ in range(CHURN + 1):
        start_vm(machine, "idle")
        wait_state(machine, "idle", ("running",))
        machine.console.run("kill idle")
        wait_state(machine, "idle", ("stopped",))
        before = before or free_bytes(machine)
    assert free_bytes(machine) == before


def test_control_is_confirmed(spinning, backend):
    run = spinning.console.run
    assert "spin1: weight 300" in run("weight spin1 300")
    assert "spin1: weight 300" in run("weight spin1")
    assert "spin1: paused" in run("pause spin1")
    assert "spin1: runs again" in run("unpause spin1")
    assert "is not paused" in run("unpause spin1")
    assert "sched_ratelimit_us takes 0 to 500000, not `500001`" in run("param sched_ratelimit_us=500001")
    assert re.search(r"sched_ratelimit_us +700 ", run("param sched_ratelimit_us 700"))
    assert "Takes 0 to 500000." in run("param sched_ratelimit_us")
    run("param sched_ratelimit_us 1000")
    assert "asym takes on or off, not `maybe`" in run("param asym maybe")
    assert "loglvl takes one of none error warning info debug, not `loud`" in run("param loglvl loud")


def test_pin_shows_and_takes_back(spinning, backend):
    run = spinning.console.run
    assert "spin1: CPUs 0-3" in run("pin spin1")
    assert "spin1: CPUs 0,2-3" in run("pin spin1 0,2-3")
    assert "spin1/1: CPUs 1" in run("pin spin1/1 1")
    assert re.findall(r"^spin1/(\d): CPUs (\S+)\r?$", run("pin spin1"), re.M) == [
        ("0", "0,2-3"), ("1", "1"), ("2", "0,2-3"), ("3", "0,2-3")]
    assert "spin1/1: CPUs 0-3" in run("pin spin1/1 all")
    assert "spin1: CPUs 0-3" in run("pin spin1 all")
    assert "no vCPU `4`" in run("pin spin1/4 0")
    assert "pin: `2-4`: give CPUs that are up, of 0 to 3, such as" in run("pin spin1 0,2-4")
    assert "pin: `20`: give CPUs that are up" in run("pin spin1 0-3,20,1")
    assert "idle does not run" in run("pin idle")


def test_stats_are_tables(spinning, backend):
    lines = spinning.console.run("stats").splitlines()
    assert max(len(line) for line in lines) <= 100
    heads = [line.split() for line in lines if line.startswith("VM ")]
    assert [head[1] for head in heads] == ["EXITS", "KICK"]
    rows = [line.split() for line in lines if line.startswith("spin1 ")]
    exits = [int(cell) for cell in rows[0][1:]]
    assert exits[0] == sum(exits[1:]) > 0
    assert len(rows[1]) == 9
    deadline = time.monotonic() + spinning.timeout
    while "cpuid" not in (one := spinning.console.run("stats spin1")):  # the guest's first acts
        assert time.monotonic() < deadline, one
        time.sleep(spinning.poll_seconds)
    assert "migrations" in one and "no VM" in spinning.console.run("stats nobody")


def press_until(console, key, pattern):
    """Press until it is seen: a key typed before the command has begun does not count."""
    for _ in range(100):
        console.press(key)
        if console.spawn.expect([pattern, pexpect.TIMEOUT], timeout=0.3) == 0:
            return console.spawn.match
    raise AssertionError(f"{key!r} does not lead to {pattern}")


def test_a_key_ends_top(machine, backend):
    console = machine.console
    console.send("top 60")
    seen = press_until(console, "\r", r"CPUs busy for (\d+) ms")
    assert int(seen[1]) < 60_000
    console.settle()
    console.send("top 60 --json")
    press_until(console, "\x03", "numen> ")
    console.settle()
    assert console.command("top --json")["ns"] >= 10 ** 9


def test_attaching_says_how_to_come_back(machine, backend):
    console = machine.console
    console.send("console idle")
    console.expect_text("Ctrl-] comes back")
    console.press("\x1d")
    console.expect_prompt()
    console.command("topology --json")
