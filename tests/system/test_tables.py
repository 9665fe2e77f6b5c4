"""Damaged NUMA tables on a whole machine: it boots, says what is wrong in one line, and falls back.

QEMU adds tables of ours to its own (`-acpitable`), but puts their length and checksum right; those
faults come by GRUB. Each fault alone is a unit test's affair; here several share a boot.
"""
import struct

import pytest

from acpi_tables import cpu_entry, memory_entry, slit, srat_of, table
from host_topo import check_agreement
from rig import Qemu
from shape import MIB, Shape

SHAPE = Shape(sockets=2, cores=2)  # 512 MiB, and no tables of QEMU's own
HALF = 256 * MIB
CPUS = [cpu_entry(0, 0), cpu_entry(0, 1), cpu_entry(1, 2), cpu_entry(1, 3)]
MEMORY = [memory_entry(0, 0, HALF), memory_entry(1, HALF, HALF)]
SOUND = srat_of(*CPUS, *MEMORY)
FAR = slit([[10, 40], [40, 10]])
BOTH = [[0, 1], [2, 3]]
ONE = [[0, 1, 2, 3]]
DEFAULT = [[10, 20], [20, 10]]

# Tables; CPUs of each node; distances; a piece of each warning, in their order, and no others.
FAULTS = {
    "empty-entry, all-10": (
        [srat_of(*CPUS, *MEMORY, bytes(2), cpu_entry(1, 0)), slit([[10, 10], [10, 10]])],
        BOTH, DEFAULT, ["SRAT: entry of type 0, length 0 at offset 192 ends", "SLIT: all distances are 10; table ignored"]),
    "overlap, slit-too-short": (
        [srat_of(*CPUS, memory_entry(0, 0, HALF), memory_entry(1, 200 * MIB, 312 * MIB)),
         table(b"SLIT", 1, struct.pack("<Q", 2) + bytes([10, 20, 20]))],
        BOTH, DEFAULT, ["SLIT: 2 localities in 47 bytes; table ignored",
                        "SRAT: ranges of two domains overlap at 0xc800000; the lower"]),
    "sparse-domains, slit-of-few": (
        [srat_of(cpu_entry(0x10000, 0), cpu_entry(0x10000, 1), cpu_entry(0xFFFFFFF0, 2),
                 cpu_entry(0xFFFFFFF0, 3), memory_entry(0x10000, 0, HALF),
                 memory_entry(0xFFFFFFF0, HALF, HALF)), FAR],
        BOTH, DEFAULT, ["SLIT: "]),
    "absent-cpus, slit-of-more": (
        [srat_of(*[cpu_entry(5, 100 + i) for i in range(8)], *CPUS[:1], *CPUS[2:], *MEMORY),
         slit([[10, 30, 99], [50, 10, 99], [99, 99, 10]])],
        BOTH, [[10, 30], [50, 10]], ["SRAT: no entry for 1 CPUs, the first with APIC id 0x1"]),
    "two-of-each": (
        [SOUND, srat_of(*CPUS, memory_entry(0, 0, 2 * HALF)), FAR, slit([[10, 99], [99, 10]]),
         table(b"APIC", 4, struct.pack("<IIBBBBI", 0xFEE00000, 1, 0, 8, 0, 77, 1))],
        BOTH, [[10, 40], [40, 10]], ["2 tables named APIC; number 1 is used",
                                     "2 tables named SRAT; number 1 is used",
                                     "2 tables named SLIT; number 1 is used"]),
    "first-unsound, diagonal": (
        [table(b"SRAT", 3, bytes(4)), SOUND, slit([[10, 20], [20, 11]])],
        BOTH, DEFAULT, ["SRAT: length 40, but at least 48 are needed", "2 tables named SRAT; number 2",
                        "SLIT: distance 11 from 1 to 1 is impossible; table ignored"]),
    "ram-without-entry, below-10": (
        [srat_of(*CPUS, memory_entry(0, 0, 128 * MIB), memory_entry(1, HALF, 64 * MIB)),
         slit([[10, 9], [20, 10]])],
        BOTH, DEFAULT, ["SLIT: distance 9 from 0 to 1 is impossible; table ignored",
                        "bytes of RAM from 0x8000000 on have no entry"]),
    "names-nothing-here": (
        [srat_of(cpu_entry(0, 50), memory_entry(0, 1 << 40, HALF))], ONE, [[10]],
        ["SRAT: "]),
    "entry-over-the-end": (
        [srat_of(*CPUS, *MEMORY, bytes([1, 40, 1]))], BOTH, DEFAULT, ["SRAT: entry of type 1, length 40 at offset 192 ends"]),
}


def check(topology, cpus, distance, warnings):
    said = topology["warnings"]
    assert len(said) == len(warnings), said
    assert all(piece in line for piece, line in zip(warnings, said)), said
    assert [node["cpus"] for node in topology["nodes"]] == cpus
    assert topology["distance"] == distance
    lost = SHAPE.memory * MIB - sum(node["ram_bytes"] for node in topology["nodes"])
    assert 0 <= lost <= 2 * MIB
    assert all(cpu["online"] for cpu in topology["cpus"])


@pytest.mark.parametrize("name", FAULTS)
def test_fault(start, name, tmp_path):
    tables, cpus, distance, warnings = FAULTS[name]
    words = []
    for number, content in enumerate(tables):
        path = tmp_path / f"table{number}"
        path.write_bytes(content)
        words += ["-acpitable", f"file={path}"]
    machine = start(Qemu(SHAPE, extra=words))
    booted = machine.console.expect_prompt()
    topology = machine.console.command("topology --json")
    check(topology, cpus, distance, warnings)
    for line in topology["warnings"]:
        assert booted.count(f"warning: {line}") == 1
    check_agreement(machine, topology)


def spoilt(content, at, value):
    """The table with a field overwritten: a checksum, or what it says of its length."""
    return content[:at] + value + content[at + len(value):]


MADT = table(b"APIC", 4, struct.pack("<II", 0xFEE00000, 1) + b"".join(
    struct.pack("<BBBBI", 0, 8, i, i, 1) for i in range(4)))
LENGTH, CHECKSUM = 4, 9  # offsets in a header


def boot_by_grub(start, tables, without=""):
    machine = start(Qemu(SHAPE, boot="bios", tables=tables, without=without))
    machine.console.expect_prompt()
    return machine.console.command("topology --json")


def test_checksums(start):
    """Wrong ones alone are told, and the tables used: MADT, SRAT and SLIT at once."""
    topology = boot_by_grub(start, without="APIC", tables={
        name: spoilt(content, CHECKSUM, bytes([content[CHECKSUM] ^ 0x55]))
        for name, content in (("madt", MADT), ("srat", SOUND), ("slit", FAR))})
    check(topology, BOTH, [[10, 40], [40, 10]],
          [f"{name}: wrong checksum; used all the same" for name in ("APIC", "SRAT", "SLIT")])


def test_lengths(start):
    """Under the header, and beyond what a table may have: not listed, and one node is made."""
    topology = boot_by_grub(start, tables={
        "srat": spoilt(SOUND, LENGTH, struct.pack("<I", 20)),
        "slit": spoilt(FAR, LENGTH, struct.pack("<I", 0x7FFFFFFF))})
    check(topology, ONE, [[10]], ["2 unusable pointers"])


def test_length_cuts_the_table(start):
    """SRAT ends amid its second memory entry, MADT amid its third CPU's."""
    topology = boot_by_grub(start, without="APIC", tables={
        "srat": spoilt(SOUND, LENGTH, struct.pack("<I", len(SOUND) - 8)),
        "madt": spoilt(MADT, LENGTH, struct.pack("<I", len(MADT) - 12))})
    assert [cpu["apic_id"] for cpu in topology["cpus"]] == [0, 1]
    check(topology, [[0, 1]], [[10]], [
        "APIC: wrong checksum", "APIC: entry of type 0, length 8 at offset 60 ends the table",
        "SRAT: wrong checksum", "SRAT: entry of type 1, length 40 at offset 152 ends the table",
        "bytes of RAM from 0x10000000 on have no entry; given to the nearest node"])


def lapic(apic_id, flags=1):
    return struct.pack("<BBBBI", 0, 8, apic_id & 0xFF, apic_id, flags)


def x2apic(apic_id, flags=1):
    return struct.pack("<BBHIII", 9, 16, 0, apic_id, flags, apic_id)


def madt_of(*entries):
    return table(b"APIC", 4, struct.pack("<II", 0xFEE00000, 1) + b"".join(entries))


def test_madt_of_all_kinds(start):
    """Out of order, disabled and repeated, invalid, of both types, reserved; and a CPU not there."""
    topology = boot_by_grub(start, without="APIC", tables={"madt": madt_of(
        lapic(2), lapic(0), lapic(1, flags=0), lapic(1), x2apic(0), x2apic(3), lapic(0xFF),
        x2apic(0xFFFFFFFF), bytes([0x7F, 6, 1, 2, 3, 4]), lapic(9, flags=2), lapic(9))})
    assert [(cpu["cpu"], cpu["apic_id"], cpu["online"]) for cpu in topology["cpus"]] == \
        [(0, 0, True), (1, 2, True), (2, 1, True), (3, 3, True), (4, 9, False)]
    assert topology["warnings"] == []


def test_madt_without_the_boot_cpu(start):
    topology = boot_by_grub(start, without="APIC", tables={"madt": madt_of(lapic(3), lapic(1))})
    assert [cpu["apic_id"] for cpu in topology["cpus"]] == [0, 3, 1]
    assert all(cpu["online"] for cpu in topology["cpus"])
    assert topology["warnings"] == \
        ["APIC: the boot CPU, APIC id 0x0, is not in the table; added"]
