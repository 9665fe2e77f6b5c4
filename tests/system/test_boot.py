"""Every way in: multiboot 1 and 2, BIOS and UEFI, QEMU and Bochs, AMD-V, VT-x and neither."""
import re

import pytest

from rig import GUESTS, LOGS, Bochs, Qemu
from shape import Node, Shape

TWO_NODES = Shape(sockets=2, cores=2, threads=2, distance={(0, 1): 21, (1, 0): 21},
                  nodes=[Node(range(0, 4), 128), Node(range(4, 8), 128)])


def check_console(machine, cpus, online=None):
    """The machine is up, the first `online` of its CPUs are (all by default), the console answers."""
    machine.console.expect_prompt()
    topology = machine.console.command("topology --json")
    assert [c["cpu"] for c in topology["cpus"]] == list(range(cpus))
    up = [c["cpu"] for c in topology["cpus"] if c["online"]]
    assert up == list(range(cpus if online is None else online))
    assert "topology" in machine.console.run("help")
    return topology


@pytest.mark.parametrize("boot, protocol", [
    ("kernel", "multiboot"), ("bios", "multiboot"), ("bios", "multiboot2"), ("ovmf", "multiboot2")])
def test_qemu(start, boot, protocol):
    machine = start(Qemu(Shape(cores=2), boot=boot, protocol=protocol))
    check_console(machine, 2)
    machine.console.send("poweroff 7")
    assert machine.wait() == 7


@pytest.mark.parametrize("machine_type", ["q35", "pc"])
def test_power_off_by_acpi(start, machine_type):
    """Without the test device: by \\_S5, which is type 0 in QEMU, as in the DSDT. The others stop."""
    machine = start(Qemu(Shape(cores=2, machine=machine_type), debug_exit=False))
    machine.console.expect_prompt()
    assert "\\_S5" not in machine.console.run("log")
    machine.console.send("poweroff")
    machine.wait()
    assert machine.process.returncode == 0


def test_panic_resets(start):
    """panic=1: QEMU, told not to reboot, ends; without the option it would stay, halted."""
    machine = start(Qemu(Shape(cores=2), "panic=1", debug_exit=False))
    machine.console.expect_prompt()
    machine.console.send("crash")
    machine.console.expect("PANIC on CPU [0-9]+: crash")
    machine.wait()
    assert machine.process.returncode == 0


CONTROL_REGISTERS = {"CR0": 0x80010033, "EFER": 0x1d00}  # 0x1d00: LME, LMA, NXE, SVME
CR4_STRAY = ~(0x20 | 0x40 | 0x80 | 0x600 | 0x800 | 0x40000 | 0x300000)


def test_control_registers_and_machine_checks(start):
    """CR0, CR4 and EFER are whole and the same on every CPU; every bank of each tells its #MC."""
    machine = start(Qemu(Shape(sockets=2, cores=2), "loglvl=debug", debug_exit=False))
    machine.console.expect_prompt()
    log = machine.console.run("log")
    assert re.search(r"TSC: \d+ runs, edges of the best within \d+ ticks, \d+ SMIs", log)
    lines = re.findall(r"CPU (\d): (\d:\d:\d), node 0, APIC id (\d), [0-9a-f]+:[0-9a-f]+:[0-9a-f]+, "
                       r"microcode [0-9a-f]+", log)
    assert lines == [("0", "0:0:0", "0"), ("1", "0:1:0", "1"),
                     ("2", "1:2:0", "2"), ("3", "1:3:0", "3")]
    registers = machine.monitor("info registers -a")
    for name, wanted in CONTROL_REGISTERS.items():
        found = [int(value, 16) for value in re.findall(rf"\b{name}=([0-9a-f]+)", registers)]
        assert found == [wanted] * 4, name
    cr4 = [int(value, 16) for value in re.findall(r"\bCR4=([0-9a-f]+)", registers)]
    assert len(cr4) == 4 and len(set(cr4)) == 1
    assert cr4[0] & 0x60 == 0x60 and not cr4[0] & CR4_STRAY
    # QEMU refuses an uncorrected error where CR4.MCE, MCG_CTL or the bank's own bits are off.
    assert "disabled" not in machine.monitor("mce 3 2 0xbe00000000000134 5 0x12345000 0x8c")
    machine.console.expect("PANIC on CPU 3: machine check, status 5")
    machine.console.expect("bank 2: status be00000000000134 address 0000000012345000")


@pytest.mark.bochs
def test_power_off_by_acpi_in_bochs(start):
    machine = start(Bochs(Shape(cores=2)))
    machine.console.expect_prompt()
    machine.console.send("poweroff")
    machine.wait()
    assert "soft power off" in (LOGS / f"{machine.log}.rig.log").read_text(errors="replace")


def test_hybrid_iso_on_bios_and_uefi(start):
    """The ISO that users get, with its menu and its demo guests."""
    for boot in ("bios", "ovmf"):
        machine = start(Qemu(Shape(cores=4, memory=1024), boot=boot, iso="build/numen.iso"))
        check_console(machine, 4)
        names = {vm["name"] for vm in machine.console.command("vms --json")}
        assert names == {"spin1", "spin2", "topo"}


@pytest.mark.bochs
@pytest.mark.parametrize("model, backend", [("corei7_skylake_x", "VT-x"), ("ryzen", "AMD-V")])
def test_bochs(start, model, backend):
    machine = start(Bochs(TWO_NODES, model))
    topology = check_console(machine, 8)
    assert backend in machine.console.run("log")
    assert (topology["sockets"], topology["cores"], topology["threads"]) == (2, 4, 8)
    assert [c["node"] for c in topology["cpus"]] == [0] * 4 + [1] * 4
    assert topology["distance"] == [[10, 21], [21, 10]]


@pytest.mark.bochs
@pytest.mark.parametrize("model", ["corei5_lynnfield_750", "core2_penryn_t9600"])
def test_vtx_without_what_it_needs(start, model):
    """No EPT, or no unrestricted guest: the console comes up and one line says what is missing."""
    machine = start(Bochs(Shape(memory=256), model))
    check_console(machine, 1)
    assert "no VMs on this machine: VT-x: " in machine.console.run("log")


def test_neither_backend(start):
    machine = start(Qemu(Shape(cores=2, cpu="qemu64,-svm")))
    check_console(machine, 2)
    assert "no VMs on this machine: " in machine.console.run("log")


def test_unknown_and_malformed_options_are_named(start):
    machine = start(Qemu(Shape(cores=2), "frobnicate=7 maxcpus=many"))
    check_console(machine, 2)
    log = machine.console.run("log")
    assert "frobnicate" in log and "maxcpus" in log


@pytest.mark.parametrize("cmdline, ratelimit", [
    ("", "1000"), ("sched_preset=credit2-2016", "0"),
    ("sched_ratelimit_us=500 sched_preset=credit2-2016", "500")])
def test_options_by_name_win_over_the_preset(start, cmdline, ratelimit):
    machine = start(Qemu(Shape(), cmdline))
    machine.console.expect_prompt()
    assert machine.console.command("param --json")["sched_ratelimit_us"] == ratelimit
    assert "takes no `surplus`" in machine.console.run("vms surplus")


@pytest.mark.parametrize("words", ["nonsense", "", "sync"])
def test_console_option_that_names_none_leaves_com1(start, words):
    check_console(start(Qemu(Shape(), f"console={words}")), 1)


def test_vms_started_together_take_only_what_is_free(start):
    """Three at once where two fit: the third is refused, and the others get all of theirs."""
    names = ["a", "b", "c"]
    machine = start(Qemu(Shape(memory=48), modules=[
        (GUESTS / "idle.elf", f"name={name} memory=16M") for name in names]))
    machine.console.expect(r"VM \w+: 16 MiB are more than its nodes have free")
    machine.console.expect_prompt()
    for _ in range(2):
        machine.console.expect(r"\[\w\] idle: ")
    states = [vm["state"] for vm in machine.console.command("vms --json")]
    assert sorted(states) == ["crashed", "running", "running"]


def test_maxcpus_and_smt_off(start):
    check_console(start(Qemu(Shape(cores=4), "maxcpus=2")), 4, online=2)
    machine = start(Qemu(Shape(cores=2, threads=2), "smt=off"))
    machine.console.expect_prompt()
    topology = machine.console.command("topology --json")
    assert [c["thread"] for c in topology["cpus"] if c["online"]] == [0, 0]


def test_many_cpus(start):
    check_console(start(Qemu(Shape(sockets=2, cores=16, threads=2))), 64)
