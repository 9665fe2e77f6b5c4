"""A long run: guests overcommitted four times, and a console user without a plan.

Excluded from `make test`; `make soak` runs it. SOAK_SECONDS (600) and SOAK_SEED in the environment
choose how long and which commands; the seed is in every message, so that a failure can be repeated.
"""
import os
import random
import time

import pytest

from backends import module, start_vm, vm, wait_state
from rig import Qemu
from shape import Node, Shape

CPUS = 8
SECONDS = int(os.environ.get("SOAK_SECONDS", "600"))
SEED = int(os.environ.get("SOAK_SEED", str(int(time.time()))))

SHAPE = Shape(sockets=2, cores=2, threads=2, nodes=[Node(range(4), 512), Node(range(4, 8), 512)])
SPINNERS = {"spin1": 8, "spin2": 8, "spin3": 4}
VCPUS = {**SPINNERS, "pv": 4, "idle": 4, "ring": 4}  # 32 on 8 CPUs
MODULES = [
    *[module("spin", f"name={name} vcpus={n} memory=32M", "ms=0 every=5000")
      for name, n in SPINNERS.items()],
    module("pv", "name=pv vcpus=4 memory=32M"),
    module("idle", "name=idle vcpus=4 memory=32M"),
    module("pingpong", "name=ring vcpus=4 memory=32M"),
]
LISTINGS = ("topology", "numa", "mem", "vms", "vcpus", "runq", "stats", "param", "log")
STATES = {"built", "building", "running", "paused", "stopped", "crashed"}
DISASTERS = ("panic", "assert", "stuck", "BUG", "double fault", "machine check")


class User:
    """Types at the console, and knows what must follow."""

    def __init__(self, machine):
        self.machine, self.console = machine, machine.console
        self.random = random.Random(SEED)
        self.commands = 0

    def say(self, line):
        self.commands += 1
        return self.console.run(line)

    def listing(self, name):
        self.commands += 1
        return self.console.command(f"{name} --json")

    def act(self):
        name = self.random.choice(list(VCPUS))
        getattr(self, self.random.choice(
            ["start", "start", "start", "kill", "pause", "unpause", "unpause", "pin", "unpin",
             "weight", "look", "look", "wait"]))(name)

    def start(self, name):
        self.say(f"start {name}")

    def kill(self, name):
        self.say(f"kill {name}")

    def pause(self, name):
        self.say(f"pause {name}")

    def unpause(self, name):
        self.say(f"unpause {name}")

    def pin(self, name):
        low = self.random.randrange(CPUS)
        high = self.random.randrange(low, CPUS)
        self.say(f"pin {name} {low}-{high}")

    def unpin(self, name):
        self.say(f"pin {name} 0-{CPUS - 1}")

    def weight(self, name):
        value = self.random.choice([1, 64, 256, 1024, 65535])
        self.say(f"weight {name} {value}")

    def look(self, _):
        self.listing(self.random.choice(LISTINGS))

    def wait(self, _):
        time.sleep(self.random.random() / 2)


def check_listings(user):
    """What holds at any moment, whatever was typed."""
    vms = {entry["name"]: entry for entry in user.listing("vms")}
    assert set(vms) == set(VCPUS)
    assert all(entry["state"] in STATES for entry in vms.values()), vms
    runqueues = user.listing("runq")["runqueues"]
    cpus = sorted(cpu for queue in runqueues for cpu in queue["cpus"])
    assert cpus == list(range(CPUS))
    # A unit that moves while the rows are made may stand in two of them, or in none.
    assert all(len(set(queue["units"])) == len(queue["units"]) for queue in runqueues)
    for node in user.listing("mem")["nodes"]:
        assert 0 < node["free_bytes"] < node["ram_bytes"]
    for name in ("spin1", "spin2", "spin3"):
        assert vms[name]["state"] != "crashed", f"{name}: {vms[name]}"


def check_progress(user):
    """Every spinning VM that may run does: none starves, whatever its weight and its neighbours."""
    for name in VCPUS:
        user.say(f"pin {name} 0-{CPUS - 1}")
        user.say(f"weight {name} 256")
        user.say(f"unpause {name}")

    def ran():
        vcpus = user.listing("vcpus")
        return {name: [v["run_ns"] for v in vcpus if v["vm"] == name] for name in SPINNERS}

    running = [name for name in SPINNERS if vm(user.machine, name)["state"] == "running"]
    before, deadline = ran(), time.monotonic() + user.machine.timeout
    while running:
        now = ran()
        running = [name for name in running if sum(now[name]) <= sum(before[name])]
        assert not running or time.monotonic() < deadline, f"{running} do not run"


def check_end(user, free_at_start):
    """All VMs ended: what they had is free again, to the byte."""
    for name in VCPUS:
        user.say(f"kill {name}")
        wait_state(user.machine, name, ("stopped", "crashed", "built"))
    deadline = time.monotonic() + user.machine.timeout
    while (free := [node["free_bytes"] for node in user.listing("mem")["nodes"]]) != free_at_start:
        assert time.monotonic() < deadline, f"{free} bytes are free, {free_at_start} at the start"
        time.sleep(user.machine.poll_seconds)


@pytest.mark.soak
def test_soak(start):
    print(f"SOAK_SEED={SEED}")
    machine = start(Qemu(SHAPE, modules=MODULES))
    machine.console.expect_prompt()
    user = User(machine)
    free = [node["free_bytes"] for node in user.listing("mem")["nodes"]]
    for name in VCPUS:
        start_vm(machine, name)
    end, rounds = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        for _ in range(20):
            user.act()
        check_listings(user)
        rounds += 1
        if rounds % 10 == 0:
            check_progress(user)
    log = machine.console.run("log")
    assert not [word for word in DISASTERS if word in log]
    check_end(user, free)
    print(f"{user.commands} commands in {rounds} rounds")
    machine.console.send("poweroff 3")
    assert machine.wait() == 3
