"""Firmware tables and CPUID dumps as bytes and text, sound ones and damaged ones.

Layouts: ACPI 6.4, 5.2.12 (MADT), 5.2.16 (SRAT) and 5.2.17 (SLIT).
"""
import struct

ENABLED, HOTPLUG, NONVOLATILE = 1, 2, 4


def table(signature, revision, body):
    """A system description table around `body`, with its checksum."""
    header = struct.pack("<4sIBB6s8sI4sI", signature, 36 + len(body), revision, 0, b"NUMEN ",
                         b"TESTTABL", 1, b"NUMN", 1)
    whole = bytearray(header + body)
    whole[9] = -sum(whole) & 0xFF
    return bytes(whole)


def lapic(apic_id, flags=ENABLED, uid=None):
    return struct.pack("<BBBBI", 0, 8, apic_id if uid is None else uid, apic_id, flags)


def x2apic(apic_id, flags=ENABLED, uid=None):
    return struct.pack("<BBHIII", 9, 16, 0, apic_id, flags, apic_id if uid is None else uid)


def madt(*entries):
    return table(b"APIC", 4, struct.pack("<II", 0xFEE00000, 1) + b"".join(entries))


def cpu_in(pxm, apic_id, flags=ENABLED):
    return struct.pack("<BBHIIIII", 2, 24, 0, pxm, apic_id, flags, 0, 0)


def memory_in(pxm, base, length, flags=ENABLED):
    return struct.pack("<BBIHQQIIQ", 1, 40, pxm, 0, base, length, 0, flags, 0)


def srat(*entries):
    return table(b"SRAT", 3, struct.pack("<IQ", 1, 0) + b"".join(entries))


def slit(*rows):
    return table(b"SLIT", 1, struct.pack("<Q", len(rows)) + bytes(d for row in rows for d in row))


def acpidump(*tables, header="{name} @ 0x0000000000000000"):
    """The tables as acpidump prints them."""
    lines = []
    for data in tables:
        lines.append(header.format(name=data[:4].decode()))
        for at in range(0, len(data), 16):
            row = data[at:at + 16]
            text = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
            lines.append(f"    {at:04X}: {' '.join(f'{b:02X}' for b in row):<47}  {text}")
        lines.append("")
    return "\n".join(lines) + "\n"


def leaf_b(apic_id, thread_bits, socket_bits, raw=False):
    """Leaves 0, 1 and 0xB of one CPU, in Numen's form or in that of `cpuid -r`."""
    rows = [(0, 0, 0xB, 0x756E6547, 0x6C65746E, 0x49656E69),
            (1, 0, 0x906EA, apic_id << 24 & 0xFFFFFFFF, 0, 1 << 28),
            (0xB, 0, thread_bits, 1 << thread_bits, 0x100, apic_id),
            (0xB, 1, socket_bits, 1 << socket_bits, 0x201, apic_id)]
    form = "   0x{:08x} 0x{:02x}: eax=0x{:08x} ebx=0x{:08x} ecx=0x{:08x} edx=0x{:08x}" if raw \
        else "{:x} {:x} {:x} {:x} {:x} {:x}"
    return "\n".join(form.format(*row) for row in rows) + "\n"


def cpuid(apic_ids, thread_bits=1, socket_bits=2):
    return f"cpus {len(apic_ids)}\n" + "".join(
        f"[cpu {i}]\n" + leaf_b(apic_id, thread_bits, socket_bits)
        for i, apic_id in enumerate(apic_ids))


def cpuid_raw(apic_ids, thread_bits=1, socket_bits=2):
    return "".join(f"CPU {i}:\n" + leaf_b(apic_id, thread_bits, socket_bits, raw=True)
                   for i, apic_id in enumerate(apic_ids))
