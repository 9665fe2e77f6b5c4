"""What the scheduler costs, and how well it does: operations, lock holds, fairness, latency.

Operations and lock holds are instructions of the image's code run hosted (tests/bench/bench_sched.c, which
says in what state each is counted). Fairness and latency are simulated by numen-sim (tests/sim/bench).
"""
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor

import callgrind

sys.path.append(str(callgrind.ROOT / "tools"))

import simulator  # noqa: E402

UNITS = (4, 64, 1024, 16384)
CPUS = (8, 64, 512, 4096)
GROWTH = (64, 16384)
GROWTH_AIM = 3.0
OPERATIONS = {
    "wake": "a unit wakes, all CPUs are busy",
    "preempt": "it displaces another: wake, pick, hand-over",
    "pick": "a slice ends: pick, hand-over",
    "reset": "credit for everybody",
    "balance": "a pass over all runqueues",
    "wake_idle": "a unit wakes, half of the CPUs are idle",
}

SCENARIOS = callgrind.ROOT / "tests/sim/bench"
# As fairness.ini has them; the names of its VMs end in a number.
WEIGHTS = {"one": 1, "two": 2, "four": 4}
FAIRNESS_CPUS = 4
FAIRNESS_SECONDS = 10
FAIRNESS_AIM = 1.0  # per cent
NOISE = {"idle": 0, "half": 8, "over": 32}  # vCPUs that never sleep, on 16 CPUs
PERCENTILES = ("p50", "p95", "p99")


# ---- operations

def count_each(program, cpus, units):
    """Instrumented only where the program says so: setting up takes longest."""
    return callgrind.count_each(program, cpus, units, options=["--instr-atstart=no"])[0]


def operations(cpus, units):
    """{operation: mean instructions}."""
    counts = count_each("sched", cpus, units)
    return {name: round(statistics.mean(total for counted, total in counts if counted == name))
            for name in OPERATIONS}


def holds_of(counts):
    """{operation: [instructions for which a runqueue's lock was held, one after the other]}.

    Each moment at which a lock is taken or released ends one count and begins the next. What telling
    costs is the count of `nothing_held`, a lock released at once, and is taken off every count.
    """
    telling = next(total for name, total in counts if name.startswith("unlock"))
    held, done, holds = {}, [], {}
    for name, total in counts:
        for lock in held:
            held[lock] += total - telling
        verb, _, lock = name.partition(" ")
        if verb == "lock":
            held[lock] = 0
        elif verb == "unlock":
            done.append(held.pop(lock))
        else:
            holds.setdefault(name, []).extend(done)
            done = []
    return holds


def longest_holds(cpus, units):
    """{operation: instructions of the longest}; reset is a step of a pick and takes no lock."""
    counts = count_each("sched-locks", cpus, units)
    holds = holds_of(counts)
    return {name: max(holds[name]) for name in OPERATIONS if holds.get(name)}


def by_machine(measured):
    """{(cpus, units): {operation: n}} as {operation: {"cpus8": {"4": n}}}."""
    found = {}
    for (cpus, units), row in measured.items():
        for name, value in row.items():
            found.setdefault(name, {}).setdefault(f"cpus{cpus}", {})[str(units)] = value
    return found


def growth(of_cpus):
    few, many = (of_cpus[str(units)] for units in GROWTH)
    return many / few


def show(title, found, with_growth):
    units = list(next(iter(next(iter(found.values())).values())))
    print(title)
    print(f"  {'':54}{'CPUs':>6}{''.join(f'{int(n):>9,}' for n in units)} units"
          + (f"  growth, aim {GROWTH_AIM}" if with_growth else ""))
    for name, machines in found.items():
        for machine, row in machines.items():
            what = f"{name}: {OPERATIONS[name]}" if machine == next(iter(machines)) else ""
            cells = "".join(f"{value:>9,}" for value in row.values())
            grown = growth(row) if with_growth else 0
            remark = f"{grown:>15.2f} {'missed' if grown > GROWTH_AIM else ''}" if with_growth else ""
            print(f"  {what:54}{int(machine[4:]):>6,}{cells}{remark}".rstrip())


# ---- simulated

def simulate(scenario, *settings):
    """{VM: {metric: median}}."""
    return simulator.medians(simulator.run(SCENARIOS / scenario, settings=settings))


def waterfilled(weights, cpus):
    """CPUs that each is due: in proportion to weight, none more than one; what that leaves, the others."""
    due = dict.fromkeys(weights, 1.0)
    rest, free = dict(weights), float(cpus)
    while rest:
        share = free / sum(rest.values())
        full = [name for name, weight in rest.items() if weight * share >= 1]
        if not full:
            return due | {name: weight * share for name, weight in rest.items()}
        for name in full:
            del rest[name]
            free -= 1
    return due


def fairness():
    """The largest distance of a vCPU's run time from what its weight is due, in per cent of that."""
    runs = {name: vm["run"] for name, vm in simulate("fairness.ini").items() if name}
    due = waterfilled({name: WEIGHTS[name.rstrip("0123456789")] for name in runs}, FAIRNESS_CPUS)
    ideal = {name: cpus * FAIRNESS_SECONDS for name, cpus in due.items()}
    error = max(abs(runs[name] - ideal[name]) / ideal[name] for name in runs)
    return {"run_s": runs, "due_s": {name: round(s, 4) for name, s in ideal.items()},
            "error_percent": round(100 * error, 3)}


def latency(noise):
    settings = [f"vm.noise.vcpus={noise}", "vm.noise.workload=cpu"] if noise else []
    web = simulate("latency.ini", *settings)["web"]
    return {percentile: web[f"wake-{percentile}"] for percentile in PERCENTILES}


def show_simulated(measured):
    fair = measured["fairness"]
    print("Simulated, 10 s: 8 vCPUs of weights 1:2:4 on 4 CPUs, run time and what is due, s")
    for name in ("one1", "two1", "four1"):
        print(f"  {name[:-1]:8}{fair['run_s'][name]:>9.4f}{fair['due_s'][name]:>9.4f}")
    missed = "missed" if fair["error_percent"] > FAIRNESS_AIM else ""
    print(f"  largest error of the 8, per cent of what is due: {fair['error_percent']:.2f}, "
          f"aim {FAIRNESS_AIM} {missed}".rstrip())
    print("Simulated, 10 s: from wake to run, us; 4 vCPUs that burst, on 16 CPUs (8 cores)")
    print(f"  {'':36}{''.join(f'{name:>9}' for name in PERCENTILES)}")
    for name, noise in NOISE.items():
        row = "".join(f"{measured['latency'][name][each]:>9.1f}" for each in PERCENTILES)
        print(f"  {f'{name}: {noise} others that never sleep':36}{row}")


def bench():
    machines = [(cpus, units) for cpus in reversed(CPUS) for units in reversed(UNITS)]
    ends = [(cpus, units) for cpus, units in machines if units in GROWTH]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = pool.map(lambda machine: operations(*machine), machines)
        holds = pool.map(lambda machine: longest_holds(*machine), ends)
        measured = by_machine(dict(sorted(zip(machines, counts))))
        measured["lock_hold"] = by_machine(dict(sorted(zip(ends, holds))))
    measured["fairness"] = fairness()
    measured["latency"] = {name: latency(noise) for name, noise in NOISE.items()}
    show("Instructions of the scheduler's operations, the mean of many",
         {name: measured[name] for name in OPERATIONS}, True)
    print()
    show("Longest hold of a runqueue's lock, instructions", measured["lock_hold"], False)
    print()
    show_simulated(measured)
    return measured
