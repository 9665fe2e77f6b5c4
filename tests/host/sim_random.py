"""Random scenarios for numen-sim: any machine, options, VMs and changes that the reader accepts.

`scenario(seed)` is text. All that happens is short, a few milliseconds; `stretch` makes it longer.
What may change while guests run (docs/parameters.md) may change here at any time.
"""
import random
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))

import simulator  # noqa: E402

MIB_A_NODE = 256
ACTIONS_MAX = 250  # scenario.h takes a few more
ARRANGEMENTS = ("cpu", "core", "llc", "socket", "node", "all")
LOCKS = ("spin", "ticket", "ticket-ple", "ticket-pv", "queued")
SWITCHES = ("asym", "asym_busy", "sched_smt_aware", "sched_newidle_pull", "sched_neighbour_wake",
            "sched_overdue_push", "sched_smt_spread", "sched_stay_warm", "sched_soft_affinity",
            "sched_numa_cost")
NUMBERS = {  # of options: small, usual, large
    "sched_credit2_max_cpus_runqueue": (1, 2, 3, 8, 64), "sched_ratelimit_us": (0, 1, 100, 20000),
    "sched_credit_init_us": (1000, 10000, 25000), "sched_carryover_us": (0, 500, 10000),
    "sched_slice_min_us": (10, 500, 2000), "sched_slice_max_us": (100, 2000, 100000),
    "sched_credit2_migrate_resist": (0, 500, 20000), "credit2_load_window_shift": (10, 22, 40),
    "credit2_balance_under": (-6, 0, 3), "credit2_balance_over": (-6, -3, 3),
    "sched_balance_period_us": (100, 10000),
}


def priorities(rng, cpus):
    """Two kinds of core, as a hybrid part has, or any: each CPU in one range."""
    if cpus > 1 and rng.random() < 0.5:
        split = rng.randrange(1, cpus)
        kinds = [f"0-{split - 1}:{rng.randint(0, 9)}", f"{split}-{cpus - 1}:{rng.randint(0, 9)}"]
        return ",".join(kinds)
    chosen = sorted(rng.sample(range(cpus), rng.randint(1, min(cpus, 8))))
    return ",".join(f"{cpu}:{rng.randint(0, 9)}" for cpu in chosen)


def machine(rng):
    """Keys of [machine], and (CPUs, nodes): 1 to 64 CPUs, 1 to 4 threads a core.

    One in 150 has more, so that there are more than 64 runqueues under some arrangements.
    """
    least, most = rng.choice(((65, 200),) + ((1, 64),) * 149)
    while True:
        sockets, dies, threads = rng.choice((1, 1, 2, 4)), rng.choice((1, 1, 2)), rng.randint(1, 4)
        cores = rng.choice((1, 2, 3, 4, 6, 8) if most <= 64 else (17, 24, 33, 90))
        cpus = sockets * dies * cores * threads
        if least <= cpus <= most:
            break
    nodes = rng.choice((0, 1, sockets * dies))
    keys = {"sockets": sockets, "dies": dies, "cores": cores, "threads": threads, "nodes": nodes,
            "node_memory": f"{MIB_A_NODE}M"}
    if rng.random() < 0.3:
        keys["priority"] = priorities(rng, cpus)
    if rng.random() < 0.2:
        keys["cpu_speed"] = f"0-{rng.randrange(cpus)}:0.{rng.randint(1, 9)}"
    if rng.random() < 0.2:
        keys["bandwidth"] = "10G"
    if rng.random() < 0.2:
        keys["contention"] = rng.choice(("0.1", "0.5"))
    for cost in ("exit", "ipi", "wake", "switch", "halt"):
        if rng.random() < 0.3:
            keys[cost] = rng.choice(("0", "1ns", "300ns", "5us", "50us"))
    return keys, cpus, nodes or sockets


def parameter(rng, whole_cores):
    """An option of the scheduler that may change while guests run, and a value."""
    kind = rng.random()
    if kind < 0.25:
        return "credit2_runqueue", rng.choice(ARRANGEMENTS[1 if whole_cores else 0:])
    if kind < 0.35:
        return "sched_preset", rng.choice(("default", "credit2-2016"))
    if kind < 0.6:
        return rng.choice(SWITCHES), rng.choice(("on", "off"))
    name = rng.choice(tuple(NUMBERS))
    return name, rng.choice(NUMBERS[name])


def options(rng):
    whole_cores = rng.random() < 0.3
    keys = {"credit2_runqueue": rng.choice(ARRANGEMENTS[1 if whole_cores else 0:])}
    if whole_cores:
        keys["sched-gran"] = "core"
    for _ in range(rng.choice((0, 0, 1, 2, 5))):
        name, value = parameter(rng, whole_cores)
        keys[name] = value
    if rng.random() < 0.2:
        keys["numa"] = rng.choice(("off", "fake=2", "noacpi"))
    return keys


def cpu_ranges(rng, cpus):
    first = rng.randrange(cpus)
    last = rng.randrange(first, cpus)
    more = f",{rng.randrange(cpus)}" if rng.random() < 0.3 else ""
    return (f"{first}" if first == last else f"{first}-{last}") + more


def workload(rng):
    kind = rng.choice(("cpu", "cpu", "burst", "burst", "build", "server", "stream", "ebizzy",
                       "pingpong", "lock", "pipe", "messaging"))
    keys = {"workload": kind}
    if kind == "cpu" and rng.random() < 0.3:
        keys["work"] = rng.choice(("1us", "3ms", "20ms"))
    elif kind == "burst":
        keys |= {"busy": rng.choice(("1us", "50us", "2ms")),
                 "sleep": rng.choice(("0", "1us", "80us", "3ms")),
                 "exponential": rng.choice(("on", "off"))}
    elif kind == "build":
        keys |= {"jobs": rng.randint(1, 40), "burst": "300us", "io": rng.choice(("0", "60us")),
                 "stage": rng.choice((0, 1, 7)), "serial": rng.choice(("0", "100us"))}
    elif kind == "server":
        keys |= {"interval": rng.choice(("5us", "200us")), "service": rng.choice(("1us", "150us"))}
    elif kind == "ebizzy":
        keys |= {"batch": rng.choice((1, 100))}
    elif kind == "lock":
        keys |= {"kind": rng.choice(LOCKS), "locks": rng.randint(1, 4),
                 "think": rng.choice(("0", "5us")), "threshold": rng.choice(("1us", "100us"))}
    elif kind == "messaging":
        keys |= {"pairs": rng.randint(1, 10), "buffer": rng.choice((2, 90))}
    return keys


def vm(rng, cpus, nodes, duration):
    """`duration` of the run in us."""
    keys = workload(rng) | {"vcpus": rng.choice((1, 1, 2, 3, 4, 8, 17)), "memory": "2M"}
    if keys["workload"] == "pingpong":
        keys["vcpus"] += keys["vcpus"] % 2
    if rng.random() < 0.5:
        keys["weight"] = rng.choice((1, 64, 256, 512, 65535))
    if rng.random() < 0.25:
        keys["cap"] = rng.randint(1, 100 * keys["vcpus"])
    if rng.random() < 0.3:
        keys["cpus"] = cpu_ranges(rng, cpus)
    if rng.random() < 0.2:
        keys["nodes"] = rng.randrange(nodes)
    if keys["workload"] in ("pipe", "messaging") and rng.random() < 0.5:
        keys["l3-cache"] = "on"
    if rng.random() < 0.3:
        keys["count"] = rng.randint(1, 3)
    if rng.random() < 0.3:
        keys["start"] = f"{rng.randrange(duration // 2)}us"
    return keys


def action(rng, cpus, vms, whole_cores):
    """`vms`: vCPUs by name."""
    kind = rng.choice(("offline", "offline", "online", "weight", "cap", "pin", "option", "option"))
    if kind in ("offline", "online"):
        return kind, rng.randrange(cpus)
    if kind == "option":
        name, value = parameter(rng, whole_cores)
        return f"option.{name}", value
    vm_name = rng.choice(tuple(vms))
    value = {"weight": rng.choice((1, 100, 256, 65535)), "pin": cpu_ranges(rng, cpus),
             "cap": rng.choice((0, rng.randint(1, 100 * vms[vm_name])))}
    return f"{kind}.{vm_name}", value[kind]


def scenario(seed, stretch=1):
    rng = random.Random(seed)
    machine_keys, cpus, nodes = machine(rng)
    stretch = stretch if cpus <= 64 else 1  # every check looks at all of the machine
    duration = 1000 * stretch * rng.choice((3, 6, 6, 20))
    sections = {"run": {"duration": f"{duration}us"},
                "machine": machine_keys, "options": options(rng)}
    if str(sections["options"].get("numa", "on")) != "on":
        nodes = 1
    vms = {f"v{i}": vm(rng, cpus, nodes, duration) for i in range(rng.choice((1, 1, 2, 3, 5)))}
    sections |= {f"vm {name}": keys for name, keys in vms.items()}
    vcpus = {name: keys["vcpus"] for name, keys in vms.items()}
    for _ in range(min(stretch * rng.choice((0, 0, 3, 12)), ACTIONS_MAX)):
        name, value = action(rng, cpus, vcpus, "sched-gran" in sections["options"])
        sections.setdefault(f"at {rng.randrange(duration)}us", {})[name] = value
    return "".join(f"[{section}]\n" + "".join(f"{key}={value}\n" for key, value in keys.items())
                   for section, keys in sections.items())


HANG_SECONDS = 120  # for one scenario; a fault like any other


def fault(program, text, hang_seconds=HANG_SECONDS):
    """What is wrong with it under --check, scenario included; None: nothing."""
    try:
        done = simulator.call("-", "--check", "--json", text=text, program=program, timeout=hang_seconds)
    except subprocess.TimeoutExpired:
        return f"does not end\n{text}"
    if not done.returncode:
        return None
    said = [line for line in done.stderr.splitlines()
            if "is not there, already so" not in line]  # an action that does nothing
    return "\n".join([*said, text])[:6000]


if __name__ == "__main__":
    print(scenario(int(sys.argv[1])), end="")
