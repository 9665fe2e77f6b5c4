"""Where the console is: every way in which a machine tells of its serial ports, and none."""
import acpi_tables
from rig import Qemu
from shape import Shape

COM1 = "console: COM1 at I/O 0x3f8 by BIOS data area, 115200 8n1, interrupt 4"


def isa(base, irq, chardev="com1"):
    return ["-device", f"isa-serial,iobase={base},irq={irq},chardev={chardev}"]


def inject(folder, **tables):
    """QEMU's arguments that add ACPI tables to the machine."""
    arguments = []
    for name, content in tables.items():
        (folder / name).write_bytes(content)
        arguments += ["-acpitable", f"file={folder / name}"]
    return arguments


def boot_log(machine):
    """What came before the prompt; the console then answers, and by interrupt if it said so."""
    said = machine.console.expect_prompt()
    assert "loglvl" in machine.console.run("param")
    assert "does not arrive" not in machine.console.run("log")
    return [line.strip() for line in said.splitlines() if line.strip()]


def test_com2_alone_by_bios(start):
    log = boot_log(start(Qemu(Shape(), serial=isa(0x2f8, 3))))
    assert log[0] == "console: COM2 at I/O 0x2f8 by BIOS data area, 115200 8n1, interrupt 3"


def test_pci_function(start):
    """By its address; its I/O decoding is on only because SeaBIOS leaves it so."""
    log = boot_log(start(Qemu(Shape(), "com1=115200,8n1,00:05.0",
                              serial=["-device", "pci-serial,addr=5,chardev=com1"])))
    assert log[0].startswith("console: I/O 0x") and \
        log[0].endswith(" of PCI 00:05.0 by com1=, 115200 8n1, polled")


def test_spcr_beside_com1(start, tmp_path):
    """Serial-over-LAN as boards have it: COM1 answers, but the console is COM2, by SPCR.

    Both get everything from the first line on. DBG2 tells of COM1 again, and of a port that is no
    UART; neither changes anything.
    """
    tables = inject(tmp_path,
                    spcr=acpi_tables.spcr(acpi_tables.address(acpi_tables.IO, 0x2f8), 57600, irq=3),
                    dbg2=acpi_tables.dbg2([
                        (0x8003, 0x8086, acpi_tables.address(0, 0xfe000000, 32, 3)),
                        (acpi_tables.SERIAL, 0, acpi_tables.address(acpi_tables.IO, 0x3f8))]))
    other = tmp_path / "com1.log"
    machine = start(Qemu(Shape(), extra=tables + ["-chardev", f"file,id=other,path={other}"],
                         serial=isa(0x3f8, 4, "other") + isa(0x2f8, 3)))
    log = boot_log(machine)
    assert log[0] == COM1
    assert "console: COM2 at I/O 0x2f8 by SPCR, 57600 8n1, interrupt 3" in log
    assert any("port of type 0x8003" in line for line in log)
    machine.console.send("poweroff 5")
    assert machine.wait() == 5
    both = [line.strip() for line in other.read_text().splitlines()]
    assert [line for line in both if line][:len(log)] == log


def test_absent_ports_are_passed_over(start, tmp_path):
    """com1= names an address where nothing is, SPCR and DBG2 such as well: COM1 it is."""
    tables = inject(tmp_path,
                    spcr=acpi_tables.spcr(acpi_tables.address(acpi_tables.IO, 0x3e8), 0),
                    dbg2=acpi_tables.dbg2([
                        (acpi_tables.SERIAL, 0x12, acpi_tables.address(0, 0xfe036000, 32, 3))]))
    log = boot_log(start(Qemu(Shape(), "com1=auto,,0xfe034000", extra=tables)))
    assert "Numen, loaded by" in log[0]
    assert "console: COM1 at I/O 0x3f8 by BIOS data area, rate left alone, interrupt 4" in log
    missing = next(line for line in log if line.startswith("console: no serial port at"))
    for place in ("memory 0xfe034000", "COM3 at I/O 0x3e8", "memory 0xfe036000"):
        assert place in missing


def test_no_serial_port(start):
    """The boot goes on; the debug port shows it."""
    machine = start(Qemu(Shape(), "console=com1,e9",
                         serial=["-device", "isa-debugcon,iobase=0xe9,chardev=com1"]))
    machine.console.expect_text("console: no serial port at COM1 at I/O 0x3f8 (by default)")
    machine.console.expect_text("warning: no serial port")
    machine.console.expect_text("1 of 1 CPUs up")
    machine.console.expect_prompt()
