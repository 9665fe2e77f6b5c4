"""Machines that nobody has: those of the corpus, and invented ones, changed entry by entry.

What firmware does to one machine it may do to any, so every habit seen in the field is played on
every machine, several at once, and numen-topo held against a second reader (model.py).
"""
import json
import random
import struct

import pytest

from conftest import ROOT
from model import NODES_MAX, Model, entries, sound
from tables import cpu_in, cpuid, lapic, madt, memory_in, slit, srat, table, x2apic

ACPI = ROOT.parent / "shared/corpus/acpi"
VARIANTS, PARTS = 400, 8
GIB, MIB = 1 << 30, 1 << 20


def invented(chance):
    """A machine of some sockets as (MADT, SRAT, SLIT)."""
    nodes, cores = chance.randint(1, 8), chance.randint(1, 8)
    ids = [n << 4 | c for n in range(nodes) for c in range(cores)]
    gap = chance.choice((0, GIB))
    rows = [[10 if a == b else 10 + abs(a - b) for b in range(nodes)] for a in range(nodes)]
    return (madt(*(lapic(i) for i in ids)),
            srat(*(cpu_in(i >> 4, i) for i in ids),
                 *(memory_in(n, n * (4 * GIB + gap), 4 * GIB) for n in range(nodes))),
            slit(*rows))


def bases():
    """[(name, MADT, SRAT, SLIT)]; a table that a machine lacks is empty."""
    chance = random.Random(1)
    machines = [(f"invented{i}", *invented(chance)) for i in range(40)]
    for folder in sorted(ACPI.iterdir()) if ACPI.is_dir() else []:
        machines.append((folder.name, *(
            (folder / f"{name}.bin").read_bytes() if (folder / f"{name}.bin").exists() else b""
            for name in ("APIC", "SRAT", "SLIT"))))
    return machines


# ---- changes of a list of entries: each takes and returns a list of byte strings ----

def some(chance, items, share=0.2):
    return [i for i in range(len(items)) if chance.random() < share]


def shuffle(chance, items):
    chance.shuffle(items)
    return items


def drop(chance, items):
    gone = set(some(chance, items))
    return [e for i, e in enumerate(items) if i not in gone]


def repeat(chance, items):
    for i in some(chance, items):
        items.insert(chance.randint(0, len(items)), items[i])
    return items


def other_types(chance, items):
    """Types that mean nothing here, reserved and OEM's ones included."""
    for _ in range(chance.randint(1, 6)):
        kind = chance.choice((3, 4, 5, 6, 10, 12, 15, 16, 18, 31, 77, 0x7F, 0x80, 0xFF))
        body = chance.randbytes(chance.randint(0, 60))
        items.insert(chance.randint(0, len(items)), bytes((kind, 2 + len(body))) + body)
    return items


def longer(chance, items):
    """An entry may carry more than its type is known to hold."""
    for i in some(chance, items):
        e = items[i]
        if len(e) < 200:
            items[i] = bytes((e[0], len(e) + 4)) + e[2:] + b"\xAA\xBB\xCC\xDD"
    return items


def shorter(chance, items):
    for i in some(chance, items, 0.05):
        e = items[i]
        items[i] = bytes((e[0], len(e) - 1)) + e[2:-1] if len(e) > 3 else e
    return items


def dead_end(chance, items):
    """An entry of impossible length: what stands before it counts."""
    end = bytes((chance.choice((0, 1, 2, 9, 200)), chance.choice((0, 1))))
    items.insert(chance.randint(len(items) // 2, len(items)), end)
    return items


def flags_of_cpus(offsets):
    def change(chance, items):
        for i in some(chance, items, 0.3):
            e = bytearray(items[i])
            at = offsets.get(e[0])
            if at and len(e) >= at + 4:
                struct.pack_into("<I", e, at, chance.choice((0, 1, 1, 2, 3, 0x80000001)))
            items[i] = bytes(e)
        return items
    return change


def as_x2apic(chance, items):
    """Local-APIC entries become x2APIC ones, or get one beside them."""
    both, share, out = chance.random() < 0.4, chance.choice((0.2, 1.0)), []
    for e in items:
        if e[0] == 0 and len(e) == 8 and chance.random() < share:
            twin = x2apic(e[3], struct.unpack_from("<I", e, 4)[0], uid=e[2])
            out += [e, twin][::chance.choice((1, -1))] if both else [twin]
        else:
            out.append(e)
    return out


def odd_ids(chance, items):
    items += [lapic(0xFF), x2apic(0xFF), x2apic(0xFFFFFFFF), x2apic(0xFFFFFFFE),
              x2apic(chance.randrange(255, 1 << 32)), lapic(0xFF, flags=0)]
    return items if chance.random() < 0.3 else shuffle(chance, items)


def spread_ids(chance, items):
    """Ids far apart: beyond 254 they need x2APIC entries."""
    factor = chance.choice((2, 3, 447, 1 << 24))
    out = []
    for e in items:
        if e[0] == 0 and len(e) == 8:
            apic_id = e[3] * factor & 0xFFFFFFFF
            make = lapic if apic_id < 255 else x2apic
            out.append(make(apic_id, struct.unpack_from("<I", e, 4)[0], uid=e[2]))
        else:
            out.append(e)
    return out


def domains(chance, items):
    """Other domain numbers, sparse ones and ones of more than 8 bits."""
    place = {}
    for i, e in enumerate(items):
        at = {0: 2, 1: 2, 2: 4}.get(e[0])
        if at and len(e) >= 16:
            e = bytearray(e)
            new = place.setdefault(e[at], chance.choice((e[at], e[at] * 7 % 256,
                                                         chance.randrange(1 << 32))))
            if e[0] == 0:
                e[2], e[9:12] = new & 0xFF, (new >> 8).to_bytes(4, "little")[:3]
            else:
                struct.pack_into("<I", e, at, new)
            items[i] = bytes(e)
    return items


def cpus_change_domain(chance, items):
    for i in some(chance, items, 0.1):
        if items[i][0] == 0:
            items[i] = items[i][:2] + bytes((chance.randint(0, 5),)) + items[i][3:]
    return items


def srat_as_x2apic(chance, items):
    share = chance.choice((0.3, 1.0))
    return [cpu_in(e[2], e[3], struct.unpack_from("<I", e, 4)[0])
            if e[0] == 0 and len(e) == 16 and chance.random() < share else e for e in items]


def memory(change):
    """Applies change(chance, pxm, base, length, flags) -> list of the same to memory entries."""
    def over(chance, items):
        out = []
        for e in items:
            if e[0] != 1 or len(e) != 40:
                out.append(e)
                continue
            pxm, _, base, length, _, flags = struct.unpack_from("<IHQQII", e, 2)
            out += [memory_in(p, b & (1 << 64) - 1, n & (1 << 64) - 1, f)
                    for p, b, n, f in change(chance, pxm, base, length, flags)]
        return out
    return over


@memory
def split_and_interleave(chance, pxm, base, length, flags):
    parts = chance.randint(1, 5)
    step = length // parts & ~(MIB - 1) or length
    return [((pxm + i * chance.randint(0, 1)) & 0xFFFFFFFF, base + i * step, step, flags)
            for i in range(parts)]


@memory
def overlap(chance, pxm, base, length, flags):
    rows = [(pxm, base, length, flags)]
    if chance.random() < 0.4:
        rows.append(((pxm + chance.choice((-1, 0, 1))) % 16, base + length // 2,
                     length + chance.choice((0, MIB)), flags))
    return rows


@memory
def memory_flags(chance, pxm, base, length, flags):
    return [(pxm, base, length, chance.choice((flags, flags, 0, 1, 3, 5, 7, 2, 0x80000001)))]


@memory
def strange_lengths(chance, pxm, base, length, flags):
    return [(pxm, base, chance.choice((length, length, length, 0, 1, length - 1)), flags)]


MADT_CHANGES = [shuffle, drop, repeat, other_types, longer, shorter, dead_end, as_x2apic, odd_ids,
                spread_ids, flags_of_cpus({0: 4, 9: 8})]
SRAT_CHANGES = [shuffle, drop, repeat, other_types, longer, shorter, dead_end, domains,
                cpus_change_domain, srat_as_x2apic, split_and_interleave, overlap, memory_flags,
                strange_lengths, flags_of_cpus({0: 4, 2: 12})]


def rebuilt(chance, data, signature, first, changes):
    """The table with some of `changes` made to its entries, under another revision perhaps."""
    whole = sound(data, signature, first)
    if whole is None:
        return data
    items = list(entries(whole, first))
    for change in chance.sample(changes, chance.randint(0, 4)):
        items = change(chance, items)
    revision = chance.choice((whole[8], whole[8], 0, 1, 2, 3, 4, 5, 255))
    return table(signature, revision, whole[36:first] + b"".join(items))


def changed_slit(chance, data):
    whole = sound(data, b"SLIT", 44)
    if whole is None:
        return data
    body = bytearray(whole[36:])
    for _ in range(chance.choice((0, 0, 1, 3))):
        body[chance.randrange(8, len(body))] = chance.choice((0, 9, 10, 11, 20, 254, 255))
    if chance.random() < 0.15:
        struct.pack_into("<Q", body, 0, chance.choice((0, 1, 2, 3, 1 << 32, (1 << 64) - 1)))
    if chance.random() < 0.2:
        body += chance.randbytes(9)
    if chance.random() < 0.1:
        del body[chance.randrange(8, len(body)):]
    return table(b"SLIT", chance.choice((1, 1, 0, 2)), bytes(body))


def roughened(chance, data):
    """Checksum, length and file end as careless firmware and careless dumps leave them."""
    data = bytearray(data)
    dice = chance.random()
    if len(data) < 36 or dice < 0.75:
        return bytes(data)
    if dice < 0.85:
        data[9] ^= chance.randint(1, 255)
    elif dice < 0.90:
        data += chance.randbytes(chance.randint(1, 64))
    elif dice < 0.95:
        struct.pack_into("<I", data, 4, chance.choice((0, 35, 36, 47, len(data) - 3, len(data) + 1,
                                                       0xFFFFFFFF)))
    else:
        del data[chance.randrange(len(data)):]
    return bytes(data)


def memory_map(chance, srat_table):
    """RAM somewhere in, beside and between the ranges of SRAT, as sorted (base, end), or None."""
    model = Model(srats=[srat_table])
    edges = [m["base"] for m in model.srat_mem] + [
        m["base"] + m["length"] for m in model.srat_mem] + [0, GIB]
    if chance.random() < 0.4:
        return None
    marks = sorted({(max(0, chance.choice(edges) + chance.choice((-3, 0, 0, 5)) * 256 * MIB)
                     & ~0xFFF) % (1 << 51) for _ in range(2 * chance.randint(1, 6))})
    parts = [(a, b) for a, b in zip(marks[::2], marks[1::2]) if a < b]
    return parts or None


def variant(seed, machines):
    """(inputs of numen-topo, the model's view of them)"""
    chance = random.Random(seed)
    _, apic, srat_table, slit_table = chance.choice(machines)
    if not srat_table and chance.random() < 0.5:
        _, _, srat_table, slit_table = chance.choice([m for m in machines if m[2]])
    madts = [roughened(chance, rebuilt(chance, apic, b"APIC", 44, MADT_CHANGES))
             for _ in range(chance.choice((1, 1, 1, 2)))]
    srats = [roughened(chance, rebuilt(chance, srat_table, b"SRAT", 48, SRAT_CHANGES))
             for _ in range(chance.choice((1, 1, 1, 2)))]
    slits = [roughened(chance, changed_slit(chance, slit_table))]
    ram = memory_map(chance, srats[0])
    inputs = {"madt": [t for t in madts if t], "srat": [t for t in srats if t],
              "slit": [t for t in slits if t]}
    socket = None
    ids = Model(madts=madts).ids
    if ids and max(ids) < 1 << 31 and chance.random() < 0.3:
        inputs["cpuid"] = cpuid(ids, thread_bits=1, socket_bits=3)
        socket = {i: i >> 3 for i in ids}
    model = Model(madts, srats, slits, ram, socket)
    if ram:
        inputs["memmap"] = "".join(f"{a:#x}-{b - 1:#x} usable\n" for a, b in ram)
    return {name: value for name, value in inputs.items() if value}, model


@pytest.mark.parametrize("part", range(PARTS))
def test_variants(topo, part):
    machines, faults = bases(), []
    for seed in range(part, VARIANTS, PARTS):
        inputs, model = variant(seed, machines)
        if inputs and len(model.domains) <= NODES_MAX:
            got = topo.json(**inputs, status=(0, 1))
            faults += [(seed, *fault) for fault in model.faults(got)]
    assert not faults, faults[:3]


@pytest.mark.skipif(not ACPI.is_dir(), reason="193 machines: no ../shared/corpus here")
def test_model_agrees_with_the_corpus():
    """The model is held against the corpus's own expectations, so that two readers do not err alike."""
    for folder in sorted(ACPI.iterdir()):
        expected = json.loads((folder / "expected.json").read_text())
        tables = [[(folder / f"{name}.bin").read_bytes()] if (folder / f"{name}.bin").exists() else []
                  for name in ("APIC", "SRAT", "SLIT")]
        model = Model(*tables)
        known = expected["tables"]
        if "APIC" in known:
            assert sorted(model.ids) == sorted(set(known["APIC"]["enabled_apic_ids"])), folder.name
        if "SRAT" in known:
            assert [m["base"] for m in model.srat_mem] == [m["base"] for m in known["SRAT"]["mem"]]
        if "SLIT" in known:
            assert model.slit == known["SLIT"]["rows"]
