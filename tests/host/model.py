"""A second reading of the firmware's tables, to hold numen-topo against.

Written from ACPI 6.4's layouts and from the rules in boot/ and mm/'s file heads, sharing no code
with them, and in another manner: sets and elementary intervals instead of sorted arrays.
"""
import struct

CPUS_MAX, NODES_MAX, LOCALITIES_MAX = 4096, 64, 4096
ENABLED, HOTPLUG, NONVOLATILE = 1, 2, 4
TOP = 2**64 - 1


def sound(data, signature, least):
    """The table as long as its header says, or None when it cannot be used."""
    if len(data) < 36 or data[:4] != signature:
        return None
    length = struct.unpack_from("<I", data, 4)[0]
    return data[:length] if least <= length <= len(data) else None


def entries(table, at):
    """Each entry's bytes, up to the first of impossible length."""
    while at + 2 <= len(table) and 2 <= table[at + 1] <= len(table) - at:
        yield table[at:at + table[at + 1]]
        at += table[at + 1]


def read_madt(table):
    found = []
    for e in entries(table, 44):
        if e[0] == 0 and len(e) >= 8:
            uid, apic_id, flags = struct.unpack_from("<BBI", e, 2)
            found.append({"kind": "lapic", "uid": uid, "apic_id": apic_id, "flags": flags})
        elif e[0] == 9 and len(e) >= 16:
            apic_id, flags, uid = struct.unpack_from("<III", e, 4)
            found.append({"kind": "x2apic", "uid": uid, "apic_id": apic_id, "flags": flags})
    return found


def read_srat(table):
    """(CPUs, memory); a CPU also says its kind."""
    mask = 0xFF if table[8] < 2 else 0xFFFFFFFF
    cpus, mem = [], []
    for e in entries(table, 48):
        if e[0] == 0 and len(e) >= 16:
            pxm = e[2] | int.from_bytes(e[9:12], "little") << 8
            cpus.append(("lapic", {"apic_id": e[3], "pxm": pxm & mask,
                                   "flags": struct.unpack_from("<I", e, 4)[0]}))
        elif e[0] == 2 and len(e) >= 24:
            pxm, apic_id, flags = struct.unpack_from("<III", e, 4)
            cpus.append(("x2apic", {"apic_id": apic_id, "pxm": pxm & mask, "flags": flags}))
        elif e[0] == 1 and len(e) >= 40:
            pxm, = struct.unpack_from("<I", e, 2)
            base, length = struct.unpack_from("<QQ", e, 8)
            mem.append({"pxm": pxm & mask, "base": base, "length": length,
                        "flags": struct.unpack_from("<I", e, 28)[0]})
    return cpus, mem


def read_slit(table):
    n, = struct.unpack_from("<Q", table, 36)
    if not 0 < n <= LOCALITIES_MAX or n * n > len(table) - 44:
        return None
    return [list(table[44 + i * n:44 + (i + 1) * n]) for i in range(n)]


def first_sound(tables, signature, least, reader):
    for data in tables:
        table = sound(data, signature, least)
        result = None if table is None else reader(table)
        if result is not None:
            return result
    return None


def cpus_in_use(madt):
    """APIC ids in the order of the entries that count."""
    none = {"lapic": 0xFF, "x2apic": 0xFFFFFFFF}
    usable = [e for e in madt if e["flags"] & ENABLED and e["apic_id"] != none[e["kind"]]]
    local = {e["apic_id"] for e in usable if e["kind"] == "lapic"}
    ids = []
    for e in usable:
        named_otherwise = e["kind"] == "x2apic" and e["apic_id"] in local
        if not named_otherwise and e["apic_id"] not in ids:
            ids.append(e["apic_id"])
    return ids[:CPUS_MAX]


def domain_of_cpu(srat_cpus):
    none = {"lapic": 0xFF, "x2apic": 0xFFFFFFFF}
    domain = {}
    for kind, e in srat_cpus:
        if e["flags"] & ENABLED and e["apic_id"] != none[kind]:
            domain.setdefault(e["apic_id"], e["pxm"])
    return domain


def intersect(base, end, ram):
    return [(max(base, a), min(end, b)) for a, b in ram if max(base, a) < min(end, b)]


def join(segments):
    """Sorted [(base, end, owner)] with touching ones of an owner made one."""
    joined = []
    for base, end, owner in segments:
        if joined and joined[-1][1] == base and joined[-1][2] == owner:
            joined[-1] = (joined[-1][0], end, owner)
        else:
            joined.append((base, end, owner))
    return joined


def ranges_of(mem, ram, domains):
    """[(base, end, pxm)]: the lowest domain that claims a stretch owns it; then RAM nobody claims."""
    claims = []
    for m in mem:
        if m["pxm"] not in domains or not counts(m):
            continue
        end = min(m["base"] + m["length"], TOP)
        parts = [(m["base"], end)]
        if ram is not None and m["flags"] & HOTPLUG:
            parts = intersect(m["base"], end, ram)
        claims += [(a, b, m["pxm"]) for a, b in parts]
    edges = sorted({x for a, b, _ in claims for x in (a, b)} |
                   {x for part in ram or [] for x in part})
    stretches = list(zip(edges, edges[1:]))
    owned = {}
    for a, b in stretches:
        owners = [pxm for base, end, pxm in claims if base <= a and b <= end]
        if owners:
            owned[a, b] = min(owners)
    firmware = join([(a, b, pxm) for (a, b), pxm in owned.items()])
    homeless = join([(a, b, part) for a, b in stretches if (a, b) not in owned
                     for part in ram or [] if part[0] <= a and b <= part[1]])
    for a, b, _ in homeless:
        near = [(a - end if end <= a else base - b, base, pxm) for base, end, pxm in firmware]
        owned[a, b] = min(near)[2] if near else min(domains)
    return join(sorted((a, b, pxm) for (a, b), pxm in owned.items()))


def counts(m):
    return m["flags"] & ENABLED and not m["flags"] & NONVOLATILE and m["length"]


def ram_of(m, ram):
    """Bytes of RAM that an entry stands for."""
    if not counts(m):
        return 0
    end = min(m["base"] + m["length"], TOP)
    return m["length"] if ram is None else sum(b - a for a, b in intersect(m["base"], end, ram))


def believed(rows):
    """Whether the matrix is used."""
    flat = [d for row in rows for d in row]
    return all(row[i] == 10 for i, row in enumerate(rows)) and min(flat) >= 10 and \
        (len(rows) == 1 or max(flat) > 10)


class Model:
    """What numen-topo must say; `ram` is the memory map's RAM as sorted (base, end), or None.

    `socket` gives a CPU's socket by APIC id where CPUID says it.
    """

    def __init__(self, madts=(), srats=(), slits=(), ram=None, socket=None):
        self.madt = first_sound(madts, b"APIC", 44, read_madt) or []
        srat = first_sound(srats, b"SRAT", 48, read_srat)
        self.srat_cpus, self.srat_mem = srat or ([], [])
        self.slit = first_sound(slits, b"SLIT", 44, read_slit) or []
        self.ids = cpus_in_use(self.madt)
        domain = domain_of_cpu(self.srat_cpus)
        used = {domain[i] for i in self.ids if i in domain} if self.ids else set(domain.values())
        used |= {m["pxm"] for m in self.srat_mem if ram_of(m, ram)}
        self.domains = sorted(used)
        self.ranges = ranges_of(self.srat_mem, ram, used) if used else \
            [(0, ram[-1][1], 0)] if ram else []  # one node: all up to the end of RAM
        self.ram = ram
        self.pxm_of_cpu = [self.place(i, domain, socket) for i in self.ids]

    def place(self, apic_id, domain, socket):
        """By SRAT, else with the first CPU of the same socket that SRAT names, else node 0."""
        if not self.domains:
            return 0
        if apic_id in domain:
            return domain[apic_id]
        if socket:
            for other in self.ids:
                if other in domain and socket[other] == socket[apic_id]:
                    return domain[other]
        return self.domains[0]

    def nodes(self):
        """[(pxm, CPU numbers, RAM bytes, [(base, last)])]"""
        rows = []
        for pxm in self.domains or [0]:
            own = [(a, b) for a, b, p in self.ranges if p == pxm]
            size = sum(b - a for a, b in own) if self.ram is None else \
                sum(y - x for a, b in own for x, y in intersect(a, b, self.ram))
            rows.append((pxm, [n for n, p in enumerate(self.pxm_of_cpu) if p == pxm], size,
                         [[a, b - 1] for a, b in own]))
        return rows

    def distances(self):
        use = self.domains and self.slit and believed(self.slit)
        return [[10 if a == b else self.slit[a][b]
                 if use and max(a, b) < len(self.slit) else 20 for b in self.domains or [0]]
                for a in self.domains or [0]]

    def faults(self, got):
        """Where what numen-topo said differs: [(what, said, expected)]."""
        pairs = [
            ("madt", got["madt"]["entries"], self.madt),
            ("srat cpus", got["srat"]["cpus"], [e for _, e in self.srat_cpus]),
            ("srat mem", got["srat"]["mem"], self.srat_mem),
            ("slit", got["slit"], self.slit),
            ("cpus", [c["apic_id"] for c in got["cpus"]], self.ids),
            ("nodes", [(n["pxm"], n["cpus"], n["ram_bytes"], n["ranges"]) for n in got["nodes"]],
             self.nodes()),
            ("node of CPU", [got["nodes"][c["node"]]["pxm"] for c in got["cpus"]], self.pxm_of_cpu),
            ("distance", got["distance"], self.distances()),
        ]
        return [p for p in pairs if p[1] != p[2]]
