"""numen-topo: what each input and option does, and that nothing damaged upsets it."""
import itertools
import json
import random
import xml.etree.ElementTree as ElementTree

import pytest

import tables
from tables import (ENABLED, HOTPLUG, acpidump, cpu_in, cpuid, cpuid_raw, lapic, madt, memory_in,
                    slit, srat, x2apic)

GIB = 1 << 30

MADT = madt(*(lapic(i) for i in range(8)))
SRAT = srat(*(cpu_in(1 + i // 4, i) for i in range(8)),
            memory_in(1, 0, GIB), memory_in(2, GIB, 2 * GIB))
SLIT = slit((10, 20, 20), (20, 10, 21), (20, 31, 10))
CPUID = cpuid(range(8))
WHOLE = {"madt": MADT, "srat": SRAT, "slit": SLIT, "cpuid": CPUID}

TOPOLOGY_KEYS = ["cpus", "sockets", "cores", "threads", "nodes", "distance", "warnings"]


def ram(result):
    return [node["ram_bytes"] for node in result["nodes"]]


def test_whole_machine(topo):
    got = topo.json(**WHOLE)
    assert list(got) == TOPOLOGY_KEYS + ["madt", "srat", "slit"]
    assert got["cpus"][5] == {"cpu": 5, "apic_id": 5, "thread": 1, "core": 2, "llc": 1,
                              "socket": 1, "node": 1, "online": True}
    assert (got["sockets"], got["cores"], got["threads"]) == (2, 4, 8)
    assert [node["pxm"] for node in got["nodes"]] == [1, 2]
    assert got["nodes"][1]["cpus"] == [4, 5, 6, 7]
    assert got["nodes"][1]["ranges"] == [[GIB, 3 * GIB - 1]]
    assert ram(got) == [GIB, 2 * GIB]
    assert got["distance"] == [[10, 21], [31, 10]]
    assert got["warnings"] == []


def test_tables_are_shown_as_read(topo):
    got = topo.json(madt=madt(lapic(3, uid=7), x2apic(300, flags=2), lapic(0xFF, flags=0)),
                    srat=srat(cpu_in(70000, 3, flags=0), memory_in(5, GIB, 0, flags=HOTPLUG)),
                    slit=slit((10, 10), (10, 10)))
    assert got["madt"]["entries"] == [
        {"kind": "lapic", "uid": 7, "apic_id": 3, "flags": 1},
        {"kind": "x2apic", "uid": 300, "apic_id": 300, "flags": 2},
        {"kind": "lapic", "uid": 255, "apic_id": 255, "flags": 0}]
    assert got["srat"]["cpus"] == [{"apic_id": 3, "pxm": 70000, "flags": 0}]
    assert got["srat"]["mem"] == [{"pxm": 5, "base": GIB, "length": 0, "flags": HOTPLUG}]
    assert got["slit"] == [[10, 10], [10, 10]]


@pytest.mark.parametrize("name", WHOLE)
def test_any_single_input_is_enough(topo, name):
    got = topo.json(**{name: WHOLE[name]})
    assert len(got["cpus"]) == (8 if name in ("madt", "cpuid") else 0)
    assert len(got["nodes"]) == (2 if name == "srat" else 1)


def test_without_cpuid_each_id_is_a_core(topo):
    got = topo.json(madt=MADT)
    assert got["cores"] == 8 and got["warnings"] == []


def test_cpus_of_the_dump_keep_its_order(topo):
    got = topo.json(cpuid=cpuid([6, 0, 7, 1]))
    assert [cpu["apic_id"] for cpu in got["cpus"]] == [6, 0, 7, 1]
    assert [cpu["core"] for cpu in got["cpus"]] == [1, 0, 1, 0]


def test_cpu_missing_from_the_dump(topo):
    got = topo.json(madt=MADT, cpuid=cpuid(range(4)))
    assert [cpu["socket"] for cpu in got["cpus"]] == [0] * 4 + [1] * 4
    assert any("4 CPUs of the MADT" in line for line in got["warnings"])


def leaf_1(apic_id, logical=8):
    return f"1 0 506e3 {apic_id << 24 | logical << 16:x} 0 10000000\n"


INTEL = "0 0 16 756e6547 6c65746e 49656e69\n"
LEVELS = "b 0 1 2 100 {0:x}\nb 1 3 8 201 {0:x}\n"


@pytest.mark.parametrize("leaves", [
    {"x2apic": LEVELS.format(0)},                         # a hypervisor that gives all one id
    {"both": LEVELS.format(5) + "1f 0 1 2 100 5\n"},
])
def test_ids_that_differ_are_believed(topo, leaves):
    """The widest id is the same on all CPUs, leaf 1's are not."""
    text = "cpus 4\n[all]\n" + INTEL + "".join(leaves.values()) + "".join(
        f"[cpu {i}]\n" + leaf_1(apic_id) for i, apic_id in enumerate((6, 2, 3, 7)))
    got = topo.json(cpuid=text)
    assert [cpu["apic_id"] for cpu in got["cpus"]] == [6, 2, 3, 7]
    assert got["cores"] == 2
    assert any("share an APIC id; those of leaf 1" in line for line in got["warnings"])


def test_all_recorded_on_one_cpu(topo):
    """Four cores of two threads, each CPU saying that it is number 3."""
    text = INTEL + leaf_1(3) + LEVELS.format(3)
    sections = "cpus 8\n" + "".join(f"[cpu {i}]\n{text}" for i in range(8))
    for dump in (sections, "cpus 8\n[all]\n" + text):
        got = topo.json(cpuid=dump)
        assert (got["sockets"], got["cores"], len(got["cpus"])) == (1, 4, 8)
        assert [cpu["apic_id"] for cpu in got["cpus"]] == [3, 0, 1, 2, 4, 5, 6, 7]
        assert any("7 CPUs have no APIC id of their own" in line for line in got["warnings"])


def test_made_up_ids_fill_no_second_thread_that_is_not_there(topo):
    text = INTEL + leaf_1(0) + "b 0 1 1 100 0\nb 1 3 4 201 0\n"
    got = topo.json(cpuid="cpus 4\n[all]\n" + text)
    assert [cpu["apic_id"] for cpu in got["cpus"]] == [0, 2, 4, 6]
    assert got["cores"] == 4


def test_damaged_thread_shift_ends(topo):
    got = topo.json(cpuid="cpus 300\n[all]\nb 0 1f ffff 100 0\nb 1 1f ffff 201 0\n")
    assert len({cpu["apic_id"] for cpu in got["cpus"]}) == 300


def test_announced_cpus_without_a_section(topo):
    got = topo.json(cpuid=f"cpus 4\n[cpu 2]\n{INTEL}{leaf_1(2)}{LEVELS.format(2)}")
    assert [cpu["apic_id"] for cpu in got["cpus"]] == [0, 1, 2, 3]
    assert (got["sockets"], got["cores"]) == (1, 2)
    assert any("3 CPUs without a section; taken for like CPU 2" in w for w in got["warnings"])


def test_sections_in_any_order(topo):
    parts = {i: f"[cpu {i}]\n{INTEL}{LEVELS.format(i)}" for i in range(4)}
    got = topo.json(cpuid="cpus 4\n" + "".join(parts[i] for i in (3, 0, 2, 1)))
    assert [cpu["apic_id"] for cpu in got["cpus"]] == [0, 1, 2, 3]
    assert got["warnings"] == []


def test_compute_units_stay_two_cores(topo):
    """AMD family 15h: smt=compute-unit is for idle selection, not for the listing."""
    text = ("cpus 4\n[all]\n0 0 d 68747541 69746e65 444d4163\n80000008 0 3030 0 4003 0\n"
            + "".join(f"[cpu {i}]\n1 0 600f12 {i << 24 | 4 << 16:x} 0 10000000\n"
                      f"8000001e 0 {i:x} {1 << 8 | i // 2:x} 0 0\n" for i in range(4)))
    plain, units = topo.json(cpuid=text), topo.json(cpuid=text, option="smt=compute-unit")
    assert plain == units and units["cores"] == 4
    assert [cpu["thread"] for cpu in units["cpus"]] == [0, 0, 0, 0]


def test_second_table_stands_in(topo):
    broken = MADT[:20]
    got = topo.json(madt=[broken, MADT], srat=[SRAT, srat()])
    assert len(got["cpus"]) == 8 and len(got["nodes"]) == 2
    assert any("number 2 is used" in line for line in got["warnings"])
    assert any("number 1 is used" in line for line in got["warnings"])


def test_slit_that_is_not_believed_gives_way(topo):
    flat = slit((10, 10, 10), (10, 10, 10), (10, 10, 10))
    got = topo.json(madt=MADT, srat=SRAT, slit=[flat, SLIT])
    assert got["distance"] == [[10, 21], [31, 10]]
    assert any("2 tables named SLIT; number 2 is used" in line for line in got["warnings"])
    got = topo.json(madt=MADT, srat=SRAT, slit=[flat, flat])
    assert got["distance"] == [[10, 20], [20, 10]] and got["slit"] == [[10] * 3] * 3


@pytest.mark.parametrize("entries", [(), (lapic(0, flags=0), x2apic(300, flags=2)),
                                     (lapic(0xFF), x2apic(0xFFFFFFFF)), (bytes([12, 24]) + bytes(22),)])
def test_no_enabled_cpu_is_told(topo, entries):
    got = topo.json(madt=madt(*entries))
    assert got["cpus"] == [] and any("is an enabled CPU" in line for line in got["warnings"])


def test_unusable_madt_falls_back_to_the_dump(topo):
    assert len(topo.json(madt=MADT[:20], cpuid=cpuid(range(4)))["cpus"]) == 4


def test_other_architecture(topo):
    gicc = bytes([11, 80]) + bytes(78)
    got = topo.json(madt=madt(gicc, gicc), status=1)
    assert got["cpus"] == [] and any("another architecture" in w for w in got["warnings"])


MEMORY_MAPS = {
    "own": "# remark\n0x0-0x9ffff usable\n0x100000-0x3fffffff usable\n"
           "0x40000000-0x7fffffff reserved\n",
    "linux": "[    0.000000] BIOS-e820: [mem 0x0000000000000000-0x000000000009ffff] usable\n"
             "[    0.000000] BIOS-e820: [mem 0x0000000000100000-0x000000003fffffff] usable\n"
             "[    0.000000] BIOS-e820: [mem 0x0000000040000000-0x000000007fffffff] ACPI data\n",
    "xen": "(XEN)  [0000000000000000, 000000000009ffff] (usable)\n"
           "(XEN)  [0000000000100000, 000000003fffffff] (usable)\n"
           "(XEN)  [0000000040000000, 000000007fffffff] (unusable)\n",
    "iomem": "00000000-0009ffff : System RAM\n00100000-3fffffff : System RAM\n"
             "  01000000-01ffffff : Kernel code\n40000000-7fffffff : ACPI Non-volatile Storage\n",
    "whole linux log":
        "[    0.000000] Linux version 6.1.0 (x@y) #1 SMP\n"
        "[    0.000000] BIOS-e820: [mem 0x0000000000000000-0x000000000009ffff] usable\r\n"
        "Nov 30 16:00:00 host kernel: BIOS-e820: [mem 0x0000000000100000-0x000000003fffffff] usable\n"
        "[    0.000000] BIOS-e820: [gap 0x0000000040000000-0x000000007fffffff]\n"
        "[    0.000000] BIOS-e820: [mem 0x0000000040000000-0x000000007fffffff] device reserved\n"
        "[    0.000000] e820: update [mem 0x00000000-0x00000fff] usable ==> reserved\n"
        "[    0.000000] user: [mem 0x0000000040000000-0x000000007fffffff] usable\n"
        "[    0.000000]   node   0: [mem 0x0000000000100000-0x000000003fffffff]\n"
        "[    0.010000] ACPI: SRAT: Node 0 PXM 0 [mem 0x00000000-0x7fffffff]\n"
        "[    0.400000] pci_bus 0000:00: root bus resource [mem 0x00000000-0xffffffff window]\n",
    "old linux": "[    0.000000]  BIOS-e820: 0000000000000000 - 00000000000a0000 (usable)\n"
                 "[    0.000000]  BIOS-e820: 0000000000100000 - 0000000040000000 (usable)\n"
                 "[    0.000000]  BIOS-e820: 0000000040000000 - 0000000080000000 (ACPI NVS)\n",
    "whole xen log":
        "(XEN) Xen version 4.17\n(XEN) Xen-e820 RAM map:\n"
        "(XEN)  [0000000000000000, 000000000009ffff] (usable)\n"
        "(XEN) [2026-11-30 16:00:00]  [0000000000100000, 000000003fffffff] (usable)\n"
        "(XEN) SRAT: Node 0 PXM 0 [0000000000000000, 000000007fffffff] (hotplug)\n"
        "(XEN) System RAM: 1023MB (1048060kB)\n",
    "old xen": "(XEN)  0000000000000000 - 00000000000a0000 (usable)\n"
               "(XEN) [    0.000000]  0000000000100000 - 0000000040000000 (usable)\n"
               "(XEN)  0000000040000000 - 0000000080000000 (reserved)\n",
    "grub": "base_addr = 0x0, length = 0xa0000, available RAM\n"
            "base_addr = 0x100000, length = 0x3ff00000, available RAM\n"
            "base_addr = 0x40000000, length = 0x10000000, reserved RAM\n"
            "base_addr = 0x50000000, length = 0x10000000, ACPI non-volatile storage RAM\n"
            "base_addr = 0x60000000, length = 0x10000000, persistent RAM\n"
            "base_addr = 0x70000000, length = 0x10000000, RAM holding firmware code\n",
    "numbers": "0-9ffff 1\n100000-3fffffff type 1\n40000000-7fffffff type 7\n",
}


@pytest.mark.parametrize("form", MEMORY_MAPS)
def test_memory_map(topo, form):
    got = topo.json(memmap=MEMORY_MAPS[form], srat=SRAT, madt=MADT)
    assert ram(got) == [GIB - 0x60000, 0]
    assert got["warnings"] == []


def test_memory_map_that_linux_hides(topo):
    got = topo.json(memmap="00000000-00000000 : Reserved\n00000000-00000000 : System RAM\n", status=1)
    assert any("2 ranges are 0-0, as Linux shows them to all but root" in w
               for w in got["warnings"])


@pytest.mark.parametrize("line", ["base_addr = 0x0, length = 0x0, available RAM", "hello",
                                  "0x10000000000000000-0x1ffffffffffffffff usable",
                                  "0x2000-0x1000 usable", "0x1000 usable",
                                  "(XEN)  00001000 - 00001000 (usable)", "(XEN) 1000 - 2000 usable",
                                  "BIOS-e820: [mem 0x2000-0x1000] usable", "BIOS-e820: [mem "])
def test_memory_map_without_a_range(topo, line):
    got = topo.json(memmap=line, status=1)
    assert "memory map: no range in it; ignored" in got["warnings"]


def test_hotplug_ranges_count_as_far_as_the_map_has_ram(topo):
    flagged = srat(memory_in(0, 0, 16 * GIB, ENABLED | HOTPLUG))
    assert ram(topo.json(srat=flagged)) == [16 * GIB]
    assert ram(topo.json(srat=flagged, memmap="0-3fffffff usable\n")) == [GIB]


def test_range_beyond_what_a_cpu_can_address(topo):
    assert ram(topo.json(memmap="0-ffffffffffffffff usable\n")) == [2**52]


@pytest.mark.parametrize("word, sizes", [
    ("numa=off", [3 * GIB]), ("numa=on", [GIB, 2 * GIB]), ("numa=fake=3", [GIB, GIB, GIB]),
    ("no-numa", [3 * GIB]), ("numa=noacpi", [3 * GIB])])
def test_numa_option(topo, word, sizes):
    assert ram(topo.json(**WHOLE, option=word)) == sizes


def test_noacpi_with_a_map(topo):
    got = topo.json(srat=SRAT, memmap="0-3fffffff usable\n", option="numa=noacpi")
    assert ram(got) == [GIB]


def test_options_that_leave_cpus_offline(topo):
    got = topo.json(**WHOLE, option=["maxcpus=5", "smt=off"])
    assert [cpu["cpu"] for cpu in got["cpus"] if cpu["online"]] == [0, 2, 4]


def test_unknown_option_is_a_warning(topo):
    got = topo.json(madt=MADT, option="nonsense=1")
    assert any("nonsense" in line for line in got["warnings"])


@pytest.mark.parametrize("header", ["{name} @ 0x0000000000000000", "{name} @ 0xBFF7F1A0"])
def test_acpidump(topo, header):
    other = tables.table(b"DSDT", 2, bytes(range(256)) * 300)
    text = acpidump(other, MADT, SRAT, other, SLIT, header=header)
    expected = topo.json(madt=MADT, srat=SRAT, slit=SLIT)
    assert topo.json("--acpidump", "-", stdin=text.encode()) == expected
    assert topo.json(acpidump=text.replace("\n", "\r\n")) == expected


@pytest.mark.parametrize("change", [
    lambda text: "\xef\xbb\xbf" + text, lambda text: text.replace("\n", "\n> "),
    lambda text: text.replace("\n", "\n\n"), lambda text: text.replace("\n", "\n      "),
    lambda text: text.replace("\n    ", "\n"), lambda text: text.replace("\n    ", "\n\t")])
def test_acpidump_through_mails_and_editors(topo, change):
    text = change(acpidump(MADT, SRAT, SLIT))
    assert (topo.json("--acpidump", "-", stdin=text.encode("latin-1"))
            == topo.json(madt=MADT, srat=SRAT, slit=SLIT))


def test_acpidump_that_is_damaged(topo):
    text = acpidump(MADT, SRAT)
    cut = "\n".join(line for line in text.splitlines() if "0030:" not in line)
    got = topo.json(acpidump=cut, status=1)
    assert len(got["warnings"]) == 2
    got = topo.json(acpidump=text.replace("APIC @", "FACP @"))
    assert got["madt"]["entries"] == [] and len(got["nodes"]) == 2
    assert topo.json(acpidump="nothing of the kind\n", status=1)["warnings"]


def test_cpuid_as_the_cpuid_program_prints_it(topo):
    assert topo.json(cpuid=cpuid_raw(range(8))) == topo.json(cpuid=CPUID)
    assert len(topo.json(cpuid="CPU:\n" + tables.leaf_b(5, 1, 2, raw=True))["cpus"]) == 1


def test_offline_cpus_that_the_cpuid_program_left_out(topo):
    """Its numbers have gaps then; only "cpus N" announces CPUs."""
    ids = [0, 2, 4, 6]
    text = cpuid_raw(range(8))
    parts = text.split("CPU ")
    text = "".join("CPU " + part for part in parts if part and int(part.split(":")[0]) in ids)
    got = topo.json(cpuid=text)
    assert [cpu["apic_id"] for cpu in got["cpus"]] == ids
    assert got["warnings"] == []


@pytest.mark.parametrize("text", ["", "cpus 4\n", "[cpu 99999999999999999999]\n1 0 0 0 0 0\n"])
def test_cpuid_without_leaves(topo, text):
    assert topo.json(cpuid=text, status=1)["cpus"] == []


def test_cpuid_lines_that_make_no_sense(topo):
    got = topo.json(cpuid="cpus 2\n[all]\n1 0 0 0 0\n1 0 0 0 0 0 0\n1 0 0 0 0 fffffffff\nx\n[cpu 2]\n"
                          "1 0 0 0 0 0\n[cpu -1]\n[cpu 0]\n1 0 0 0 0 0\n")
    assert len(got["cpus"]) == 2
    assert any("5 lines not understood, the first is line 3" in w for w in got["warnings"])
    assert any("1 CPUs beyond" in w for w in got["warnings"])


def test_cpuid_number_of_cpus_told_late(topo):
    leaf = "1 0 0 0 0 0\n"
    got = topo.json(cpuid=f"[cpu 0]\n{leaf}[cpu 3]\n{leaf}cpus 2\n")
    assert len(got["cpus"]) == 2 and any("1 CPUs beyond" in w for w in got["warnings"])


def test_more_cpus_than_the_limit(topo):
    got = topo.json(madt=madt(*(x2apic(i) for i in range(4100))))
    assert len(got["cpus"]) == 4096 and any("limit of 4096" in w for w in got["warnings"])
    got = topo.json(cpuid="cpus 5000\n[all]\n1 0 0 0 0 0\n")
    assert len(got["cpus"]) == 4096 and any("left out" in w for w in got["warnings"])


def test_tree(topo):
    text = topo.tree(**WHOLE)
    assert text.startswith("2 sockets, 2 LLCs, 4 cores, 8 threads, 2 nodes\n"
                           "socket 0, node 0\n  LLC 0\n"
                           "    core 0: cpu 0 (APIC id 0), cpu 1 (APIC id 1)\n")
    assert "node 1, domain 2: 2 GiB, cpus 4-7\n  distance 31 10\n" in text
    assert "  memory 0x000040000000-0x0000bfffffff, 2 GiB\n" in text
    assert "warning: APIC" in topo.tree(madt=b"APIC", status=1)


def test_picture(topo, tmp_path):
    picture = tmp_path / "machine.svg"
    text = topo.tree("--svg", picture, **WHOLE)
    assert text == topo.tree(**WHOLE)
    root = ElementTree.parse(picture).getroot()
    names = [e.text for e in root.iter("{http://www.w3.org/2000/svg}title")]
    assert len(names) == 8 and "CPU 7, APIC id 7, node 1" in names
    assert topo.tree("--svg", "-", **WHOLE) == picture.read_text()
    assert "node 0" in topo.tree("--svg", "-", srat=SRAT)
    topo.run("--svg", tmp_path / "none" / "x.svg", "--madt", MADT, status=2)


@pytest.mark.parametrize("words", [
    [], ["--json"], ["--nonsense"], ["--madt"], ["stray"], ["--this-machine", "--madt", MADT],
    ["--cpuid", b"", "--cpuid", b""], ["--memmap", b"", "--memmap", b""],
    ["--madt", "/nonexistent"], ["--madt", "/"], ["--cpuid", "-", "--memmap", "-"],
    ["--madt", MADT, "--json", "--svg", "-"]])
def test_usage(topo, words):
    assert topo.run(*words, status=2) == ""
    assert topo.errors


def test_help(topo):
    assert "--this-machine" in topo.run("--help")


def test_output_that_cannot_be_written(topo):
    topo.run("--madt", MADT, "--svg", "/dev/full", status=2)
    with open("/dev/full", "wb") as full:
        topo.run("--madt", MADT, stdout=full, status=2)


@pytest.mark.parametrize("option", ["madt", "srat", "slit", "cpuid", "memmap", "acpidump"])
def test_input_of_another_kind(topo, option):
    for content in (b"", b"\0", MADT[:36] if option != "madt" else SRAT, bytes(range(256)) * 20):
        got = topo.json(**{option: content}, status=1)
        assert got["cpus"] == [] and got["warnings"]


@pytest.mark.parametrize("path", ["/dev/null", "-"])
@pytest.mark.parametrize("option", ["madt", "srat", "slit", "cpuid", "memmap", "acpidump"])
def test_nothing_to_read(topo, option, path):
    got = json.loads(topo.run(f"--{option}", path, "--json", status=1))
    assert got["cpus"] == [] and len(got["nodes"]) == 1 and got["warnings"]
    assert "warning: " in topo.run(f"--{option}", path, status=1)


def test_endless_input(topo):
    topo.run("--madt", "/dev/zero", status=2)
    assert "too large" in topo.errors


def test_status_is_0_when_one_table_of_several_is_of_use(topo):
    for good in WHOLE:
        inputs = {name: WHOLE[name] if name == good else b"?" for name in WHOLE}
        assert len(topo.json(**inputs)["warnings"]) >= 3


@pytest.mark.parametrize("names", [names for n in range(1, 6) for names in
                                   itertools.combinations([*WHOLE, "memmap"], n)], ids="+".join)
def test_every_combination(topo, names):
    inputs = {name: WHOLE.get(name, "0-3fffffff usable\n40000000-bfffffff usable\n")
              for name in names}
    cpus = 8 if "madt" in names or "cpuid" in names else 0
    memory = 3 * GIB if "memmap" in names or "srat" in names else 0
    srat_nodes = 2 if "srat" in names else 1
    for word, nodes in (("numa=on", srat_nodes), ("numa=off", 1), ("numa=noacpi", 1),
                        ("numa=fake=3", 3 if memory else 1)):
        got = topo.json(**inputs, option=word)
        assert (len(got["cpus"]), len(got["nodes"]), sum(ram(got))) == (cpus, nodes, memory), word
        assert sorted(c for node in got["nodes"] for c in node["cpus"]) == list(range(cpus))
        assert got["slit"] == ([list(r) for r in ((10, 20, 20), (20, 10, 21), (20, 31, 10))]
                               if "slit" in names else [])
        assert len(got["madt"]["entries"]) == (8 if "madt" in names else 0)
        assert len(got["srat"]["mem"]) == (2 if "srat" in names else 0)
    assert topo.tree(**inputs).count("cpu ") == cpus


def test_huge_tables(topo):
    got = topo.json(madt=madt(*(x2apic(i) for i in range(100000))))
    assert len(got["cpus"]) == 4096 and len(got["madt"]["entries"]) == 8192
    assert any("no room for 91808 CPU entries" in w for w in got["warnings"])
    got = topo.json(srat=srat(*(memory_in(i % 3, i * GIB, GIB) for i in range(5000))))
    assert len(got["srat"]["mem"]) == 1024 and len(got["nodes"]) == 3
    assert any("no room for 3976 entries" in w for w in got["warnings"])
    assert any("more than 512 memory ranges" in w for w in got["warnings"])
    got = topo.json(acpidump=acpidump(*[SLIT] * 300, MADT))
    assert any("more than 256 tables" in w for w in got["warnings"])
    n = 300
    got = topo.json(srat=srat(memory_in(299, 0, GIB), memory_in(1, GIB, GIB)),
                    slit=slit(*([10 if a == b else 20 + a % 9 for b in range(n)] for a in range(n))))
    assert got["distance"] == [[10, 21], [22, 10]] and len(got["slit"]) == n


def test_this_machine(topo):
    got = topo.json("--this-machine")
    assert len(got["cpus"]) >= 1 and got["nodes"]


def damaged(data, chance):
    """A copy with a few bytes changed, sometimes cut or grown."""
    copy = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        copy[chance.randrange(len(copy))] = chance.choice((0, 1, 10, 32, 127, 255))
    if chance.random() < 0.3:
        del copy[chance.randrange(len(copy)):]
    return bytes(copy)


def test_damage_of_every_input(topo):
    """Whatever the bytes, the answer is JSON and 0 or 1; the sanitizers watch."""
    chance = random.Random(3)
    sound = {**WHOLE, "memmap": MEMORY_MAPS["linux"], "acpidump": acpidump(MADT, SRAT, SLIT)}
    sound = {name: s if isinstance(s, bytes) else s.encode() for name, s in sound.items()}
    for _ in range(60):
        words = []
        for name, data in sound.items():
            words += [f"--{name}", damaged(data, chance)]
        json.loads(topo.run(*words, "--json", status=(0, 1)))
