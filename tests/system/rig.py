"""Machines for the system tests: QEMU and Bochs, started, talked to, and always killed.

    with Qemu(Shape(sockets=2, cores=2, threads=2), modules=[(hello, "name=hello")]) as machine:
        machine.console.expect_prompt()
        machine.console.command("topology --json")

What is odd about each emulator is dealt with here, so that a test states only what it wants.
"""
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import acpi_tables
from bootdisk import make_iso
from console import Console
from shape import MIB, Shape

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("NUMEN_BUILD", "build"))
KERNEL = BUILD / "numen.elf"
KERNEL32 = BUILD / "numen32.elf"
GUESTS = Path("build/guests")
LOGS = Path("build/logs")
OVMF_CODE = "/usr/share/OVMF/OVMF_CODE_4M.fd"
OVMF_VARS = "/usr/share/OVMF/OVMF_VARS_4M.fd"

PR_SET_PDEATHSIG = 1

QEMU_TIMEOUT = 120
BOCHS_TIMEOUT = 300
START_TIMEOUT = 60


def die_with_parent():
    """An emulator must not outlive a test run that was itself killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Machine:
    """A started emulator with its console. Subclasses say how it is started."""

    timeout = QEMU_TIMEOUT
    poll_seconds = 0.05  # between two looks at a listing

    def __init__(self, log="machine"):
        self.log = log
        self.process = None
        self.console = None
        self.folder = None
        self.closed = False
        self.port = None  # of the listener that COM1 connects to

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        LOGS.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="numen-rig-"))
        try:
            # TCP, as a Unix socket holds no more than some 270 writes of one byte, and what QEMU
            # cannot write when the guest ends it is lost.
            with socket.create_server(("127.0.0.1", 0)) as listener:
                listener.settimeout(START_TIMEOUT)
                self.port = listener.getsockname()[1]
                with open(LOGS / f"{self.log}.rig.log", "wb") as output:
                    self.process = subprocess.Popen(
                        self.argv(), stdin=subprocess.DEVNULL, stdout=output,
                        stderr=subprocess.STDOUT, env=self.environment(), start_new_session=True,
                        preexec_fn=die_with_parent)
                connection = self.accept(listener)
            self.console = Console(connection, LOGS / f"{self.log}.log", self.timeout)
        except BaseException:
            self.close()
            raise

    def accept(self, listener):
        try:
            return listener.accept()[0]
        except TimeoutError:
            said = (LOGS / f"{self.log}.rig.log").read_text(errors="replace")
            raise RuntimeError(f"{self.argv()[0]} did not start:\n{said}") from None

    def close(self):
        """Kill the emulator with everything it started. Never asks: Bochs would not listen."""
        if self.closed:
            return
        self.closed = True
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
        if self.console:
            self.console.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self, timeout=None):
        """Read the console to its end; the exit status of the emulator, decoded by the subclass."""
        self.console.drain(timeout)
        return self.decode(self.process.wait(timeout or self.timeout))

    def is_running(self):
        return self.process.poll() is None

    def environment(self):
        return dict(os.environ)


class Qemu(Machine):
    """QEMU under TCG. boot: 'kernel' (-kernel), 'bios' or 'ovmf' (GRUB from an ISO).

    tables, without: what GRUB adds to the firmware's ACPI tables, and whose it leaves out ("APIC").
    icount: the TSC counts instructions, exactly, on one host thread. debug_exit=False: without the
    test device, `poweroff` has to switch the machine off as on a real one. serial: what the chardev
    com1, whose other end is the console here, is to the machine. video: there is a VGA card, and
    GRUB sets this mode, such as 1024x768x32 or text.
    """

    def __init__(self, shape=None, cmdline="", modules=(), boot="kernel", kernel=None, iso=None,
                 protocol="multiboot2", icount=False, debug_exit=True, tables=None, without="",
                 video=None, extra=(), log="qemu", serial=("-serial", "chardev:com1")):
        super().__init__(log)
        self.shape = shape or Shape()
        self.cmdline, self.modules = cmdline, list(modules)
        self.boot, self.kernel, self.iso = boot, kernel, iso
        self.protocol, self.icount, self.extra = protocol, icount, list(extra)
        self.tables, self.without = tables or {}, without
        self.serial, self.video = serial, video
        self.debug_exit = debug_exit
        self.qmp = None

    def argv(self):
        accel = "tcg,thread=single" if self.icount else "tcg,thread=multi"
        return ["qemu-system-x86_64", "-nodefaults", "-display", "none", "-no-reboot",
                "-accel", accel, *self.shape.qemu_arguments(),
                "-chardev", f"socket,id=com1,host=127.0.0.1,port={self.port},nodelay=on",
                *self.serial,
                "-qmp", f"unix:{self.folder}/qmp,server=on,wait=off",
                *(["-device", "isa-debug-exit,iobase=0xf4,iosize=1"] if self.debug_exit else []),
                *(["-icount", "shift=0,sleep=off"] if self.icount else []),
                *(["-device", "VGA"] if self.video else []),
                *self.boot_arguments(), *self.extra]

    def boot_arguments(self):
        if self.boot == "kernel":
            # QEMU splits -initrd at commas and takes a doubled one for the character itself.
            modules = ",".join(f"{path} {arguments}".strip().replace(",", ",,")
                               for path, arguments in self.modules)
            return ["-kernel", str(self.kernel or KERNEL32),
                    *(["-append", self.cmdline] if self.cmdline else []),
                    *(["-initrd", modules] if modules else [])]
        iso = self.iso or make_iso(self.kernel or KERNEL, self.cmdline, self.modules, self.tables,
                                   self.protocol, uefi=self.boot == "ovmf", serial=True,
                                   without=self.without, video=self.video)
        arguments = ["-drive", f"file={iso},media=cdrom,format=raw,readonly=on", "-boot", "d"]
        if self.boot == "ovmf":
            variables = self.folder / "vars.fd"
            shutil.copy(OVMF_VARS, variables)
            arguments += ["-drive", f"if=pflash,format=raw,readonly=on,file={OVMF_CODE}",
                          "-drive", f"if=pflash,format=raw,file={variables}"]
        return arguments

    def decode(self, status):
        """isa-debug-exit ends QEMU with (v << 1) | 1; None when it ended otherwise."""
        return status >> 1 if status > 0 and status & 1 else None

    def monitor(self, line):
        """The answer of QEMU's human monitor to `line`, such as "info tlb"."""
        if self.qmp is None:
            self.qmp = socket.socket(socket.AF_UNIX)
            self.qmp.settimeout(START_TIMEOUT)
            self.qmp.connect(str(self.folder / "qmp"))
            self.qmp_stream = self.qmp.makefile("rw", encoding="utf-8")
            self.qmp_stream.readline()
            self.qmp_call("qmp_capabilities")
        return self.qmp_call("human-monitor-command", {"command-line": line})

    def qmp_call(self, name, arguments=None):
        request = {"execute": name, "arguments": arguments or {}}
        self.qmp_stream.write(json.dumps(request) + "\n")
        self.qmp_stream.flush()
        while True:
            answer = json.loads(self.qmp_stream.readline())
            if "return" in answer or "error" in answer:
                return answer.get("return", answer)

    def close(self):
        if self.qmp:
            self.qmp.close()
        super().close()


class Bochs(Machine):
    """Bochs: VT-x as 'corei7_skylake_x', AMD-V as 'ryzen'; the shape's nodes by injected tables.

    1 tick is 1 instruction, and time runs in parallel over the CPUs: two runs are the same.
    """

    timeout = BOCHS_TIMEOUT
    poll_seconds = 0.5

    def __init__(self, shape=None, model="corei7_skylake_x", cmdline="", modules=(), kernel=None,
                 protocol="multiboot2", ips=50_000_000, log="bochs"):
        super().__init__(log)
        self.shape = shape or Shape(memory=256)
        # Bochs draws its text screen into a pseudo-terminal that nobody reads, and stops when it is full.
        self.cmdline = cmdline if "console=" in cmdline else f"console=com1 {cmdline}".strip()
        self.model, self.modules = model, list(modules)
        self.kernel, self.protocol, self.ips = kernel, protocol, ips

    def environment(self):
        return dict(os.environ, TERM="vt100")

    def tables(self):
        """SRAT and SLIT of the shape, or none when it has no nodes."""
        if not self.shape.nodes:
            return {}
        base, memory = 0, []
        for number, node in enumerate(self.shape.nodes):
            memory.append((number, base, node.memory * MIB))
            base += node.memory * MIB
        cpus = [self.shape.node_of(cpu) for cpu in range(self.shape.cpus)]
        made = {"srat.aml": acpi_tables.srat(cpus, memory)}
        if self.shape.distance:
            made["slit.aml"] = acpi_tables.slit(self.shape.distances())
        return made

    def argv(self):
        configuration = self.folder / "bochsrc"
        if not configuration.exists():
            iso = make_iso(self.kernel or KERNEL, self.cmdline, self.modules, self.tables(),
                           self.protocol)
            configuration.write_text(self.bochsrc(iso))
            # The debugger is compiled in: continue, and quit when the machine stops.
            (self.folder / "rc").write_text("c\nq\n")
        return ["bochs", "-q", "-f", str(configuration), "-rc", str(self.folder / "rc")]

    def bochsrc(self, iso):
        shape = self.shape
        # Beyond 15 CPUs the APIC ids collide with what these devices use.
        crowded = shape.cpus > 15
        hpet = ', advopts="nohpet"' if crowded else ""
        lines = f"""\
config_interface: textconfig
display_library: term
plugin_ctrl: unmapped=1, biosdev=1, speaker=0, extfpuirq=1, parallel=0, gameport=0, serial=1, iodebug=0
memory: guest={shape.memory}, host={shape.memory}
romimage: file=/usr/share/bochs/BIOS-bochs-latest, options=fastboot
vgaromimage: file=/usr/share/seabios/vgabios-isavga.bin
cpu: model={self.model}, count={shape.sockets}:{shape.cores}:{shape.threads}, ips={self.ips}, \
reset_on_triple_fault=0, ignore_bad_msrs=0
clock: sync=none, time0=946684800
pci: enabled=1, chipset=i440fx{hpet}
vga: extension=none, update_freq=1, realtime=0
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
{"ata1: enabled=0" if crowded else ""}
ata0-master: type=cdrom, path={iso}, status=inserted
boot: cdrom
floppy_bootsig_check: disabled=1
panic: action=fatal
error: action=report
com1: enabled=1, mode=socket-client, dev=127.0.0.1:{self.port}
port_e9_hack: enabled=1
magic_break: enabled=1
sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy
mouse: enabled=0
"""
        return lines

    def decode(self, status):
        """0 after the magic break, 1 after a panic or a shutdown by port 0x8900."""
        return status
