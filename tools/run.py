#!/usr/bin/python3
"""`make run` and `make run-bochs`: the demo in an emulator, its console in this terminal.

The guests are those of the first entry of boot/grub.cfg. QEMU uses KVM where nested virtualization
really works, else TCG, which emulates AMD-V. Bochs emulates VT-x. Ctrl-A x leaves either.
"""
import argparse
import fcntl
import os
import select
import shlex
import subprocess
import sys
import termios
import tty

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "system"))
from rig import Bochs, Qemu  # noqa: E402
from shape import Node, Shape  # noqa: E402

KVM_GET_API_VERSION, KVM_CREATE_VM = 0xAE00, 0xAE01
LEAVE = b"\x01x"


def demo_modules():
    """[(path, arguments)] of the first menu entry."""
    modules = []
    with open("boot/grub.cfg", encoding="utf-8") as config:
        entry = config.read().split("menuentry")[1]
    for line in entry.splitlines():
        words = line.split(maxsplit=3)
        if words[:1] == ["module2"]:
            modules.append(("build/guests/" + words[2], words[3]))
    return modules


def demo_shape(node_mib, cpu):
    """Two sockets of two cores of two threads, a node each."""
    nodes = [Node(range(0, 4), node_mib), Node(range(4, 8), node_mib)]
    return Shape(sockets=2, cores=2, threads=2, nodes=nodes, distance={(0, 1): 21, (1, 0): 21},
                 cpu=cpu)


def nested_kvm_works():
    """Whether KVM starts a VM here and gives it VT-x or AMD-V; the device file alone says neither."""
    try:
        with open("/proc/cpuinfo", encoding="ascii") as info:
            flags = set(info.read().split())
        module = "kvm_intel" if "vmx" in flags else "kvm_amd" if "svm" in flags else None
        with open(f"/sys/module/{module}/parameters/nested", encoding="ascii") as nested:
            if nested.read().strip() not in ("1", "Y"):
                return False
        kvm = os.open("/dev/kvm", os.O_RDWR)
        try:
            os.close(fcntl.ioctl(kvm, KVM_CREATE_VM, 0))
            return fcntl.ioctl(kvm, KVM_GET_API_VERSION) == 12
        finally:
            os.close(kvm)
    except OSError:
        return False


def run_qemu(cmdline):
    kvm = nested_kvm_works()
    machine = Qemu(demo_shape(512, "host" if kvm else "max"), cmdline, demo_modules())
    command = ["qemu-system-x86_64", "-nodefaults", "-display", "none", "-no-reboot",
               "-accel", "kvm" if kvm else "tcg,thread=multi", *machine.shape.qemu_arguments(),
               "-serial", "mon:stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=1",
               *machine.boot_arguments()]
    print(shlex.join(command), "\n(Ctrl-A x leaves)", flush=True)
    status = subprocess.call(command)
    # isa-debug-exit turns `poweroff 0` into status 1.
    return status >> 1 if status > 0 and status & 1 else status


def bridge(machine):
    """Carry bytes between this terminal and the machine's COM1 until either side ends."""
    serial, keys = machine.console.connection.fileno(), sys.stdin.fileno()
    watched, last = [serial, keys], b""
    while True:
        ready = select.select(watched, [], [])[0]
        if serial in ready:
            data = os.read(serial, 4096)
            if not data:
                return
            os.write(sys.stdout.fileno(), data)
        if keys in ready:
            data = os.read(keys, 256)
            if not data:
                watched.remove(keys)
            elif LEAVE in last + data:
                return
            last = data[-1:]
            os.write(serial, data)


def run_bochs(cmdline, model):
    print(f"Bochs, {model}: reaches the kernel after about 10 s (Ctrl-A x leaves)", flush=True)
    saved = termios.tcgetattr(sys.stdin) if sys.stdin.isatty() else None
    with Bochs(demo_shape(256, model), model, cmdline, demo_modules(), log="run-bochs") as machine:
        try:
            if saved:
                tty.setraw(sys.stdin)
            bridge(machine)
        finally:
            if saved:
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, saved)
                print()
    return 0


def bochs_models():
    """The CPUs that this Bochs knows: the bare words of its list."""
    listing = subprocess.run(["bochs", "-help", "cpu"], capture_output=True, text=True, check=False)
    return [line for line in (listing.stdout + listing.stderr).splitlines()
            if line.replace("_", "").isalnum()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rig", choices=["qemu", "bochs"])
    parser.add_argument("--cmdline", default="", help="the hypervisor's command line")
    parser.add_argument("--model", default="corei7_skylake_x", help="Bochs's CPU ('ryzen': AMD-V)")
    arguments = parser.parse_args()
    if arguments.rig == "qemu":
        return run_qemu(arguments.cmdline)
    models = bochs_models()
    if models and arguments.model not in models:
        parser.error(f"Bochs has no CPU {arguments.model}; there are {', '.join(models)}")
    return run_bochs(arguments.cmdline, arguments.model)


if __name__ == "__main__":
    sys.exit(main())
