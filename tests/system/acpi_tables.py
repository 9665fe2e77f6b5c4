"""Tables for a machine whose firmware has none: GRUB's `acpi` command adds them, or QEMU.

Layouts: ACPI 6.4, 5.2.16 (SRAT), 5.2.17 (SLIT), 5.2.3.2 (addresses); Microsoft's SPCR and DBG2.
"""
import struct

ENABLED = 1


IO = 1
SERIAL = 0x8000
SPCR_BAUD = {0: 0, 9600: 3, 19200: 4, 57600: 6, 115200: 7}


def table(signature, revision, body):
    """A system description table around `body`, with its checksum."""
    header = struct.pack("<4sIBB6s8sI4sI", signature, 36 + len(body), revision, 0, b"NUMEN ",
                         b"TESTTABL", 1, b"NUMN", 1)
    whole = bytearray(header + body)
    whole[9] = -sum(whole) & 0xFF
    return bytes(whole)


def cpu_entry(node, apic_id):
    if apic_id < 255:
        return struct.pack("<BBBBIB3sI", 0, 16, node & 0xFF, apic_id, ENABLED, 0,
                           struct.pack("<I", node)[1:], 0)
    return struct.pack("<BBHIIIII", 2, 24, 0, node, apic_id, ENABLED, 0, 0)


def memory_entry(node, base, size):
    return struct.pack("<BBIHQQIIQ", 1, 40, node, 0, base, size, 0, ENABLED, 0)


def srat_of(*entries):
    return table(b"SRAT", 3, struct.pack("<IQ", 1, 0) + b"".join(entries))


def srat(cpu_nodes, memory):
    """cpu_nodes: the node of each APIC id from 0; memory: [(node, base, bytes)]."""
    return srat_of(*(cpu_entry(node, apic_id) for apic_id, node in enumerate(cpu_nodes)),
                   *(memory_entry(*entry) for entry in memory))


def slit(distance):
    """distance: a square list of rows."""
    flat = [d for row in distance for d in row]
    return table(b"SLIT", 1, struct.pack("<Q", len(distance)) + bytes(flat))


def address(space, base, bits=8, access=1):
    """A generic address structure."""
    return struct.pack("<BBBBQ", space, bits, 0, access, base)


def spcr(registers, baud=115200, irq=None, revision=2, kind=0):
    """The firmware's console: `registers` by address(); irq None leaves it polled."""
    body = struct.pack("<B3s", kind, b"") + registers
    body += struct.pack("<BBIBBBBBB", irq is not None, irq or 0, 0, SPCR_BAUD[baud], 0, 1, 0, 0, 0)
    body += struct.pack("<HHBBBIBI", 0xffff, 0xffff, 0, 0, 0, 0, 0, 0)
    if revision >= 4:
        body += struct.pack("<IHH2s", 0, 2, 88, b".")
    return table(b"SPCR", revision, body)


def dbg2(ports):
    """Debug ports: [(type, subtype, address)]."""
    body = struct.pack("<II", 44, len(ports))
    for kind, subtype, registers in ports:
        body += struct.pack("<BHBHHHHHHHHH", 0, 40, 1, 2, 38, 0, 0, kind, subtype, 0, 22, 34)
        body += registers + struct.pack("<I2s", 8, b".")
    return table(b"DBG2", 0, body)
