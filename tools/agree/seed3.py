"""Seed 3 measured: paravirtual ticket locks under Bochs, 8 CPUs and VMs of 8 vCPUs, 1x to 4x.

Base waits in line and has pause-loop exits with directed yield, patched halts and is kicked besides; the
default is Numen's, a queue. Simulated beside it: the same small machine. Figures are rounds a second of a
VM on average.
"""
from concurrent.futures import ThreadPoolExecutor

from cases import APART_US, Case
from guests import Shape

EIGHT = Shape(cores=8, memory=256)
AT_A_TIME = 2
SEEDS = 12  # random ones, of numen-sim
LOADS = (1, 2, 3, 4)
SEED_GAINS = {1: 0.8, 2: 16.6, 3: 14.0, 4: 5.0}
# The guest's kind=, and numen-sim's.
ARMS = {"base": ("ticket", "ticket-ple"), "patched": ("ticket-pv", "ticket-pv"),
        "default": ("queued", "queued")}


def arm_case(arm, load):
    kind, simulated = ARMS[arm]
    own = f"kind={kind} think=1000 hold=50 spinlog=9 grid=250 ms=600 warmup=40"
    vms = [(f"vm{i + 1}", "lock", "vcpus=8 memory=16M", f"{own} later={i * APART_US}")
           for i in range(load)]
    return Case("seed3", f"{arm}-{load}", EIGHT, vms, {"": "vm*"},
                [f"vm.vm.kind={simulated}", f"vm.vm.count={load}"])


def gain(rates, load):
    return 100.0 * (rates["patched", load] / rates["base", load] - 1)


def compare(keys):
    planned = {(arm, load): arm_case(arm, load) for load in LOADS for arm in ARMS}
    simulated = {at: case.simulate(keys, SEEDS)[""] / at[1] for at, case in planned.items()}
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        measuring = {at: pool.submit(case.measure) for at, case in planned.items()}
        print(f"\n  {'seed 3, rounds/s of a VM':26}{'base':>9}{'patched':>9}{'default':>9}"
              f"{'patched v base':>16}{'the seed':>10}")
        measured = {}
        for load in LOADS:
            measured |= {(arm, load): measuring[arm, load].result()[""] / load for arm in ARMS}
            for what, rates in (("measured", measured), ("simulated", simulated)):
                print(f"  {load}x, {what:22}" + "".join(f"{rates[arm, load]:>9,.0f}" for arm in ARMS)
                      + f"{gain(rates, load):>+15.1f} %{SEED_GAINS[load]:>+8.1f} %", flush=True)
    return [{"arm": arm, "load": load, "bochs": measured[arm, load], "sim": simulated[arm, load]}
            for arm, load in planned]
