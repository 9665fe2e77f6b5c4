"""What build/host/numen-topo makes of a running QEMU: the tables in its memory, its CPUs, its map.

The tables are taken from the machine's memory by QEMU, so nothing of Numen's is asked for them; the
CPUID leaves and the memory map are those that the machine itself saw.
"""
import json
import re
import struct
import subprocess

TOOL = "build/host/numen-topo"
BIOS_AREA, BIOS_AREA_BYTES = 0xE0000, 0x20000
WANTED = {b"APIC": "--madt", b"SRAT": "--srat", b"SLIT": "--slit"}


def read_memory(machine, address, size):
    path = machine.folder / "memory"
    machine.monitor(f'pmemsave {address:#x} {size} "{path}"')
    return path.read_bytes()


def read_table(machine, address):
    length, = struct.unpack("<4xI", read_memory(machine, address, 8))
    return read_memory(machine, address, length)


def acpi_tables(machine):
    """Every table that the RSDT names, in its order. SeaBIOS has an RSDP without an XSDT."""
    area = read_memory(machine, BIOS_AREA, BIOS_AREA_BYTES)
    at = next(i for i in range(0, len(area), 16) if area[i:i + 8] == b"RSD PTR ")
    root = read_table(machine, struct.unpack_from("<I", area, at + 16)[0])
    return [read_table(machine, address)
            for address, in struct.iter_unpack("<I", root[36:36 + (len(root) - 36) // 4 * 4])]


def memory_map(machine):
    lines = re.findall(r"memory: \[.*", machine.console.run("log"))
    assert lines, "no memory map in the log"
    return "\n".join(line.strip() for line in lines) + "\n"


def host_topology(machine, options=()):
    """The object that numen-topo prints, and the part of it that `topology --json` has too."""
    words = []

    def add(option, content):
        path = machine.folder / f"input{len(words)}"
        path.write_bytes(content)
        words.extend([option, str(path)])

    for table in acpi_tables(machine):
        if table[:4] in WANTED:
            add(WANTED[table[:4]], table)
    add("--cpuid", machine.console.run("cpuid").replace("\r", "").encode())
    add("--memmap", memory_map(machine).encode())
    for option in options:
        words.extend(["--option", option])
    done = subprocess.run([TOOL, *words, "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def check_agreement(machine, topology, options=()):
    """numen-topo prints the same members in the same order; only a booted machine uses memory."""
    host = host_topology(machine, options)
    for extra in ("madt", "srat", "slit"):
        del host[extra]
    booted = json.loads(json.dumps(topology))
    for node in booted["nodes"]:
        node["free_bytes"] = node["ram_bytes"]
    # A CPU that is left out has no leaves to show; both take it for like the first, one says so.
    offline = sum(not cpu["online"] for cpu in booted["cpus"])
    if offline:
        booted["warnings"].append(f"CPUID: {offline} CPUs of the MADT are not in the dump; "
                                  "taken for like its first")
    assert json.dumps(host) == json.dumps(booted)
