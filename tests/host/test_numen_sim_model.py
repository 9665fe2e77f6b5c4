"""numen-sim's machine and workloads against what one works out by hand on tiny scenarios."""
import math

import pytest

FREE = "exit=0\nipi=0\nwake=0\nswitch=0\nhalt=0\nwarm_llc=0\nwarm_socket=0\nwarm_node=0\n"
ONE_CPU = "sockets=1\ncores=1\nthreads=1\n"
TWO_CPUS = "sockets=1\ncores=2\nthreads=1\n"


def scenario(machine, duration="10s", **vms):
    text = f"[run]\nduration={duration}\n[machine]\n{machine}"
    for name, keys in vms.items():
        text += f"[vm {name}]\nmemory=64M\n" + "".join(f"{key.replace('__', '-')}={value}\n"
                                                      for key, value in keys.items())
    return text


def near(value, within=0.001):
    return pytest.approx(value, rel=within)


# ---- the machine ----

@pytest.mark.parametrize("vcpus, slower", [(1, 1), (2, 0.65), (3, 0.48)])
def test_threads_of_a_core_slow_each_other(sim, vcpus, slower):
    """smt=: so many busy threads, so fast is each."""
    got = sim.medians(scenario("sockets=1\ncores=1\nthreads=4\n",
                               a={"workload": "cpu", "vcpus": vcpus, "work": "100ms"}))
    assert got["a"]["time"] == near(0.1 / slower)


@pytest.mark.parametrize("cpus, slower", [("0-0", 1), ("1-1", 2), ("3-3", 4)])
def test_threads_up_to_the_last_busy_one(sim, cpus, slower):
    """smt_by=thread: one vCPU alone, but on the second thread it has half of the core."""
    machine = "sockets=1\ncores=1\nthreads=4\nsmt=1,0.5,0.25,0.25\nsmt_by=thread\n" + FREE
    got = sim.medians(scenario(machine, a={"workload": "cpu", "vcpus": 1, "work": "1s", "cpus": cpus}))
    assert got["a"]["time"] == near(slower)


def test_cpus_are_there_before_the_vms(sim):
    """They have picked and wait in HLT: VMs of the first moment find whole cores, one each."""
    text = scenario("sockets=1\ncores=4\nthreads=2\n" + FREE,
                    a={"workload": "cpu", "vcpus": 4, "work": "50ms"})
    assert sim.medians(text, "--set", "sched_preset=credit2-2016")["a"]["time"] == near(0.05)


def test_slower_cpus(sim):
    text = scenario(TWO_CPUS + "cpu_speed=1:0.5\n", a={"workload": "cpu", "work": "50ms", "cpus": 1})
    assert sim.medians(text)["a"]["time"] == near(0.1)


def test_kinds_of_core(sim):
    """priority=: a sleeper goes back to the stronger core when that is free, whatever its number."""
    text = scenario("sockets=1\ncores=3\nthreads=1\ncpu_speed=0:0.5\npriority=1:1\n" + FREE,
                    duration="1s", hog={"workload": "cpu", "work": "100ms", "cpus": 1},
                    end={"workload": "cpu", "work": "600ms", "cpus": 2},
                    web={"workload": "burst", "busy": "5ms", "sleep": "5ms", "spread": 0,
                         "start": "5ms"})
    got = sim.medians(text)["web"]
    assert got["migrations"] == 2  # first to CPU 0, then for good to CPU 1
    assert got["run"] == near(0.06 + 0.25, 0.05)  # 10 ms of each 15 while on CPU 0, then 5 of each 10


@pytest.mark.parametrize("key, to", [("warm_core", 1), ("warm_llc", 2), ("warm_socket", 4),
                                     ("warm_node", 8)])
def test_moving_costs_what_the_caches_lose(sim, key, to):
    """Pinned to CPU 0, then elsewhere: the run is longer by that way's cost and by nothing else."""
    text = scenario("sockets=2\ndies=2\ncores=2\nthreads=2\n",
                    a={"workload": "cpu", "work": "20ms", "cpus": 0}) + f"[at 5ms]\npin.a={to}\n"
    zero, dear = (sim.medians(text, "--set", f"machine.{key}={cost}")["a"]["time"]
                  for cost in ("0", "3ms"))
    assert dear - zero == near(0.003)


@pytest.mark.parametrize("share, slower", [(0, 1), (0.5, 1.25), (1, 1.5)])
def test_remote_memory(sim, share, slower):
    """Ten units of distance at 0.05 each make an access take 1.5 times as long."""
    keys = {"workload": "cpu", "work": "100ms", "cpus": 1, "nodes": 0, "memory_share": share}
    text = scenario("sockets=2\ncores=1\nthreads=1\nremote_step=0.05\n", a=keys)
    got = sim.medians(text)["a"]
    assert got["time"] == near(0.1 * slower, 0.005)
    assert got["remote"] == near(100)


def test_a_node_s_bandwidth_is_shared(sim):
    """Two that want 6 GiB/s each of a node that has 8 get 4 each; a third elsewhere its 6."""
    stream = {"workload": "stream", "demand": "6G"}
    text = scenario("sockets=2\ncores=2\nthreads=1\nbandwidth=8G\n", "1s",
                    a=stream | {"cpus": 0, "nodes": 0}, b=stream | {"cpus": 1, "nodes": 0},
                    c=stream | {"cpus": 2, "nodes": 1})
    got = sim.medians(text)
    gib = (1 << 30) / 1e6
    assert [got[vm]["rate"] for vm in "abc"] == [near(4 * gib, 0.01), near(4 * gib, 0.01),
                                                near(6 * gib, 0.01)]


@pytest.mark.parametrize("cost", [1, 20])
def test_a_wake_up_of_an_idle_cpu(sim, cost):
    """From the timer to the pick: the kick's way to a CPU in HLT (read from a bucket of 1/16)."""
    text = scenario(ONE_CPU + f"wake={cost}us\n", "1s", a={"workload": "burst"})
    assert sim.medians(text)["a"]["wake-p50"] == near(cost, 0.0625)


def test_a_kick_of_a_busy_cpu(sim):
    """The one that sleeps comes with more credit: what the other loses is the kick's way."""
    vms = {"a": {"workload": "burst", "busy": "10us", "sleep": "20ms"}, "b": {"workload": "cpu"}}
    text = scenario(ONE_CPU + "ipi=30us\n", "2s", **vms)
    assert sim.medians(text)["a"]["wake-p50"] == near(30, 0.0625)


# ---- shares ----

def test_weights_are_shares(sim):
    text = scenario(ONE_CPU + FREE, **{f"w{w}": {"workload": "cpu", "weight": 256 * w}
                                      for w in (1, 2, 4)})
    got = sim.medians(text)
    assert [got[f"w{w}"]["run"] for w in (1, 2, 4)] == [near(10 * w / 7, 0.01) for w in (1, 2, 4)]


@pytest.mark.parametrize("line, at", [(100, None), (0, "[at 1us]\ncap.a=100\n")])
def test_a_cap_is_the_whole_vm_s(sim, line, at):
    """100: one CPU's time for four vCPUs together, whether from the start or set later."""
    text = scenario("sockets=1\ncores=4\nthreads=1\n" + FREE, "1s",
                    a={"workload": "cpu", "vcpus": 4, "cap": line}) + (at or "")
    assert sim.medians(text)["a"]["run"] == near(1, 0.02)


# ---- workloads, each against its closed form ----

def test_burst(sim):
    text = scenario(ONE_CPU + FREE, a={"workload": "burst", "busy": "3ms", "sleep": "1ms"})
    assert sim.medians(text)["a"]["rate"] == near(250, 0.01)


@pytest.mark.parametrize("vcpus", [1, 4])
def test_build_without_barriers(sim, vcpus):
    """40 jobs of 10 bursts of 3 ms with 0.6 ms of waiting behind each, on as many CPUs."""
    keys = {"workload": "build", "vcpus": vcpus, "jobs": 40, "spread": 0}
    text = scenario("sockets=1\ncores=4\nthreads=1\n" + FREE, a=keys)
    assert sim.medians(text)["a"]["time"] == near(40 * 10 * 0.0036 / vcpus, 0.01)


def test_build_with_barriers(sim):
    """Stages of 4 on 4 CPUs: 10 of them, 2 ms of one vCPU between two."""
    keys = {"workload": "build", "vcpus": 4, "jobs": 40, "stage": 4, "spread": 0}
    text = scenario("sockets=1\ncores=4\nthreads=1\n" + FREE, a=keys)
    assert sim.medians(text)["a"]["time"] == near(10 * 0.036 + 9 * 0.002, 0.01)


def test_server_at_low_load(sim):
    """A request finds an idle vCPU: kick, switch, the interrupt's exit, service."""
    keys = {"workload": "server", "interval": "50ms", "exponential": "off", "spread": 0}
    costs = "wake=7us\nswitch=5us\nexit=3us\n"
    assert sim.medians(scenario(ONE_CPU + costs, a=keys))["a"]["latency-mean"] == near(315)


def test_server_is_m_m_1(sim):
    """Poisson requests, exponential service, one vCPU: 1 / (1/300 - 1/500) = 750 us on average."""
    text = scenario(ONE_CPU + FREE, "60s", a={"workload": "server"})
    got = sim.medians(text, "--seeds", 5, program="host/numen-sim")["a"]
    assert got["rate"] == near(2000, 0.02)
    assert got["latency-mean"] == near(750, 0.05)
    assert got["latency-p50"] == near(750 * math.log(2), 0.09)
    assert got["latency-p99"] == near(750 * math.log(100), 0.12)


def test_ebizzy(sim):
    keys = {"workload": "ebizzy", "record": "2us", "batch": 1000, "sleep": "50us"}
    assert sim.medians(scenario(ONE_CPU + FREE, a=keys))["a"]["rate"] == near(1000 / 2.05e-3, 0.01)


def test_pingpong(sim):
    """A turn: work, the sender's exit, the kick, the switch, the receiver's exit."""
    text = scenario(TWO_CPUS + "exit=1us\nwake=2us\nswitch=1500ns\nhalt=0\nwarm_llc=0\n", "1s",
                    a={"workload": "pingpong", "vcpus": 2, "work": "5us"})
    turn_us = 5 + 2 + 1.5 + 1
    assert sim.medians(text)["a"]["rate"] == near(1e6 / (2 * turn_us), 0.01)


def test_pingpong_on_one_cpu(sim):
    """Nothing overlaps: also what the sender pays for waking, and the receiver for the interrupt."""
    text = scenario(ONE_CPU + "exit=1us\nexit_wake=700ns\nexit_irq=400ns\nswitch=1500ns\nhalt=2us\n",
                    "1s", a={"workload": "pingpong", "vcpus": 2, "work": "5us"})
    turn_us = 5 + 1.7 + 2 + 1.5 + 1.4
    assert sim.medians(text)["a"]["rate"] == near(1e6 / (2 * turn_us), 0.01)


def test_a_pause_loop_exit_keeps_the_cpu_if_nobody_waits(sim):
    keys = {"workload": "lock", "kind": "ticket-ple", "think": 0, "hold": "100us", "vcpus": 2}
    got = sim.medians(scenario(TWO_CPUS, "100ms", a=keys))["a"]
    assert got["ple-exits"] > 1000
    assert got["yields"] == 0


def test_a_kick_is_taken_without_an_exit(sim):
    """Each critical section: the kick's way, the switch, the work. What the kicker pays is beside it."""
    keys = {"workload": "lock", "kind": "ticket-pv", "think": 0, "hold": "20us", "vcpus": 2,
            "threshold": "1ns", "spread": 0, "transfer": 0}
    machine = TWO_CPUS + "exit=1us\nwake=2us\nswitch=1500ns\nhalt=0\nwarm_llc=0\n"
    got = sim.medians(scenario(machine, "100ms", a=keys))["a"]
    assert got["rate"] == near(1e6 / (20 + 2 + 1.5), 0.01)


@pytest.mark.parametrize("kind", ["spin", "ticket", "ticket-ple", "ticket-pv", "queued"])
def test_locks_without_contention(sim, kind):
    keys = {"workload": "lock", "kind": kind, "think": "18us", "hold": "2us", "spread": 0}
    got = sim.medians(scenario(ONE_CPU + FREE, "1s", a=keys))["a"]
    assert (got["rate"], got["spin"]) == (near(50000), 0)


@pytest.mark.parametrize("kind", ["spin", "ticket", "ticket-ple", "queued"])
def test_locks_that_are_always_wanted(sim, kind):
    """Nothing but critical sections: one after the other, with a cache line's way in between."""
    keys = {"workload": "lock", "kind": kind, "think": 0, "hold": "2us", "spread": 0, "vcpus": 4,
            "transfer": "500ns"}
    got = sim.medians(scenario("sockets=1\ncores=4\nthreads=1\n" + FREE, "200ms", a=keys))["a"]
    assert got["rate"] == near(400000, 0.01)


def test_a_guest_preempts_by_virtual_run_time(sim):
    """Readers that need less than writers fall behind, and then every message takes the CPU."""
    rates = {}
    for receive in ("2us", "1us"):
        keys = {"workload": "messaging", "vcpus": 8, "loops": 2000, "send": "2us", "receive": receive}
        text = scenario("sockets=1\ncores=8\nthreads=1\n", a=keys)
        rates[receive] = sim.medians(text)["a"]["ipi-rate"]
    assert rates["1us"] > 5 * rates["2us"]


def test_pipe_on_one_vcpu(sim):
    """Caches not shared: the reader is woken beside the writer. Two times work, wake and switch."""
    keys = {"workload": "pipe", "vcpus": 2, "loops": 1000, "work": "500ns", "task_switch": "400ns",
            "task_wake": "300ns"}
    got = sim.medians(scenario(TWO_CPUS + FREE, a=keys))["a"]
    assert got["time"] == near(1000 * 2 * 1.2e-6, 0.02)
    assert got["ipis-per-loop"] == pytest.approx(0, abs=0.01)


def test_an_interrupt_during_an_exit(sim):
    """It is looked at when the exit has been paid: time goes on (it once stood still)."""
    text = scenario(TWO_CPUS + "exit=50us\nipi=5us\n", "20ms",
                    a={"workload": "pingpong", "vcpus": 8, "count": 2})
    assert sim.medians(text)["a1"]["rate"] > 1000
