"""One running Numen for each virtualization backend, shared by tests: Bochs's boot is slow.

A machine is thrown away when a test that used it failed, so that a wreck does not fail the next.
"""
import json
import time

from rig import GUESTS, Bochs, Qemu
from shape import Shape

BACKENDS = ("vmx", "svm", "svm-bochs")


def make_machine(backend, shape, cmdline, modules, log):
    if backend == "svm":
        return Qemu(shape, cmdline, modules, log=log)
    model = {"vmx": "corei7_skylake_x", "svm-bochs": "ryzen"}[backend]
    return Bochs(shape, model, cmdline, modules, log=log)


def module(guest, line, cmdline=""):
    """A boot module that the test starts: the guest's image, its configuration, its own words."""
    return GUESTS / f"{guest}.elf", f"{line} autostart=off -- {cmdline}".strip()


class Backend:
    """A booted machine with its guests as modules, none started."""

    def __init__(self, name, backend, modules, shape=None, cmdline=""):
        self.name, self.backend, self.modules = name, backend, modules
        self.shape = shape or Shape(cores=2, threads=2, memory=512)
        self.cmdline = cmdline
        self.machine = None
        self.boots = 0

    def booted(self):
        """The running machine, at its prompt."""
        if self.machine is None or not self.machine.is_running():
            self.close()
            self.boots += 1
            self.machine = make_machine(self.backend, self.shape, self.cmdline, self.modules,
                                        f"{self.name}-{self.boots}")
            self.machine.start()
            self.machine.console.expect_prompt()
        return self.machine

    def close(self):
        if self.machine:
            self.machine.close()
            self.machine = None


def vm(machine, name):
    """The VM's entry in `vms --json`."""
    return next(v for v in machine.console.command("vms --json") if v["name"] == name)


def wait_state(machine, name, states, seconds=None):
    """Poll until the VM is in one of `states`; its entry."""
    deadline = time.monotonic() + (seconds or machine.timeout)
    while True:
        entry = vm(machine, name)
        if entry["state"] in states:
            return entry
        assert time.monotonic() < deadline, f"{name} is {entry['state']} and stays so"
        time.sleep(machine.poll_seconds)


def start_vm(machine, name):
    """Start the VM; one that was just killed may have to be taken down first."""
    deadline = time.monotonic() + machine.timeout
    while "still being taken down" in machine.console.run(f"start {name}"):
        assert time.monotonic() < deadline, f"{name} cannot be started"
        time.sleep(machine.poll_seconds)


def wait_end(machine, name):
    """Wait for the console's word that the VM has ended; its entry. Its output has come by then."""
    # A line that overwrites the prompt begins behind a CR.
    machine.console.expect(rf"[\r\n]VM {name} (stopped|crashed)")
    machine.console.settle()
    return vm(machine, name)


def run_guest(machine, name):
    """Start the VM and wait for its end: (its entry, the lines that it printed)."""
    begun = machine.console.position()
    start_vm(machine, name)
    entry = wait_end(machine, name)
    return entry, machine.console.guest_lines(name, begun)


def guest_json(lines, word):
    """The object that a guest printed after `word`; the console cuts long lines into several."""
    starts = [i for i, line in enumerate(lines) if line.startswith(word + " {")]
    assert starts, f"no {word} line in {lines}"
    return json.JSONDecoder().raw_decode("".join(lines[starts[-1]:])[len(word) + 1:])[0]
