"""The scenarios: each a machine with guests for Bochs, and a file of tests/sim/agree for numen-sim."""
import fnmatch
import sys
from dataclasses import dataclass, field

from guests import HZ, ROOT, Shape, run

sys.path.append(str(ROOT / "tools"))

import simulator  # noqa: E402

FOLDER = ROOT / "tests/sim/agree"
SEEDS = 5
CORE = Shape(memory=256)
FOUR = Shape(cores=4, memory=256)
THREADS = Shape(threads=2, memory=256)


def simulate(path, settings, seeds=SEEDS):
    """numen-sim's result: {vm: {metric: median}}."""
    return simulator.medians(simulator.run(path, "--seeds", seeds, settings=settings))


def total(result, pattern, metric):
    return sum(result[vm][metric] for vm in fnmatch.filter(result, pattern))


@dataclass
class Case:
    """A machine with guests, and a file for numen-sim; figures are sums of their VMs' rates."""
    scenario: str
    name: str
    shape: Shape
    vms: list
    pattern: dict                                 # figure -> VMs whose rates make it up
    settings: list = field(default_factory=list)  # of numen-sim
    cmdline: str = ""
    word: str = "LOCK"

    @property
    def figures(self):
        unit = "rounds/s" if self.word == "LOCK" else "trips/s"
        return [(name, unit) for name in self.pattern]

    @property
    def file(self):
        return FOLDER / f"{self.scenario}.ini"

    def run(self):
        """Under Bochs: {vm: what it said, and its rate}."""
        said = run(self.shape, self.vms, self.word, self.cmdline,
                   f"agree-{self.scenario}-{self.name}".replace(", ", "-").replace(" ", "-"))
        if len({guest.get("began_ms") for guest in said.values()}) != 1:
            raise RuntimeError(f"{self.scenario}: the VMs did not begin together: {said}")
        return {vm: {**guest, "rate": rate(guest)} for vm, guest in said.items()}

    def figures_of(self, result):
        return {name: total(result, vms, "rate") for name, vms in self.pattern.items()}

    def measure(self):
        return self.figures_of(self.run())

    def simulate(self, costs, seeds=SEEDS):
        return self.figures_of(simulate(self.file, costs + self.settings, seeds))


def rate(said):
    """A second, of what a guest said."""
    if "rounds" in said:
        return said["rounds"] * HZ / said["ticks"]
    return HZ / said["ticks_per_trip"]


def weights():
    own = "kind=ticket think=1000 hold=50 grid=250 ms=1000 warmup=20"
    vms = [("heavy", "lock", "vcpus=1 memory=16M weight=512", own),
           ("light", "lock", "vcpus=1 memory=16M weight=256", own)]
    return [Case("weights", "two VMs on a core", CORE, vms,
                 {"weight 512": "heavy", "weight 256": "light"})]


# VMs that begin at one moment are given equal slices at one moment, and then a VM's vCPUs run
# together by chance for the whole time; numen-sim's random times break that, Bochs has none.
APART_US = 2300

# The simulator's kind, the guest's, and whether Numen intercepts pause loops.
KINDS = {
    "ticket": ("ticket", "ticket", "off"),
    "ticket, pause-loop exits": ("ticket-ple", "ticket", "auto"),
    "ticket, paravirtual": ("ticket-pv", "ticket-pv", "auto"),
    "queued, paravirtual": ("queued", "queued", "auto"),
}


def lock_case(label, load, milliseconds=800):
    simulated, kind, ple = KINDS[label]
    own = f"kind={kind} think=5000 hold=500 spinlog=9 grid=250 ms={milliseconds} warmup=40"
    vms = [(f"vm{i + 1}", "lock", "vcpus=4 memory=16M", f"{own} later={i * APART_US}")
           for i in range(load)]
    return Case("lock", f"lock, {label}, {load}x", FOUR, vms, {"": "vm*"},
                [f"vm.vm.kind={simulated}", f"vm.vm.count={load}"], f"ple={ple}")


def lock():
    return [lock_case(label, load) for label in KINDS for load in (1, 2)]


def pingpong():
    ring = ("ring", "pingpong", "vcpus=2 memory=16M", "n=4000")
    busy = ("busy", "spin", "vcpus=1 memory=16M cpus=1", "ms=0")
    beside = ["workload=cpu", "vcpus=1", "memory=16M", "cpus=1"]
    return [Case("pingpong", "ping-pong, sibling idle", THREADS, [ring], {"": "ring"}, [], "",
                 "PINGPONG"),
            Case("pingpong", "ping-pong, sibling busy", THREADS, [busy, ring], {"": "ring"},
                 [f"vm.busy.{setting}" for setting in beside], "", "PINGPONG")]


SCENARIOS = {"weights": weights(), "lock": lock(), "pingpong": pingpong()}
