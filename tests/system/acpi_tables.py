"""SRAT and SLIT for a machine whose firmware has none: GRUB's `acpi` command adds them (Bochs).

Layouts: ACPI 6.4, 5.2.16 (SRAT) and 5.2.17 (SLIT).
"""
import struct

ENABLED = 1


def table(signature, revision, body):
    """A system description table around `body`, with its checksum."""
    header = struct.pack("<4sIBB6s8sI4sI", signature, 36 + len(body), revision, 0, b"NUMEN ",
                         b"TESTTABL", 1, b"NUMN", 1)
    whole = bytearray(header + body)
    whole[9] = -sum(whole) & 0xFF
    return bytes(whole)


def srat(cpu_nodes, memory):
    """cpu_nodes: the node of each APIC id from 0; memory: [(node, base, bytes)]."""
    body = struct.pack("<IQ", 1, 0)
    for apic_id, node in enumerate(cpu_nodes):
        if apic_id < 255:
            body += struct.pack("<BBBBIB3sI", 0, 16, node, apic_id, ENABLED, 0, b"\0" * 3, 0)
        else:
            body += struct.pack("<BBHIIIII", 2, 24, 0, node, apic_id, ENABLED, 0, 0)
    for node, base, size in memory:
        body += struct.pack("<BBIHQQIIQ", 1, 40, node, 0, base, size, 0, ENABLED, 0)
    return table(b"SRAT", 3, body)


def slit(distance):
    """distance: a square list of rows."""
    flat = [d for row in distance for d in row]
    return table(b"SLIT", 1, struct.pack("<Q", len(distance)) + bytes(flat))
