/*
 * What the boot prints of the machine: a line for each CPU, and a short tree.
 *
 * The tree goes node, socket, last-level cache, core; CPUs are sorted by that once, so 4,096 of
 * them are printed in O(n log n). The console's listings (kernel/shell_machine.c) have forms of
 * their own.
 */
#include "boot/memmap.h"
#include "hv/sort.h"
#include "kernel/bringup.h"
#include "kernel/cpu.h"
#include "kernel/machine.h"
#include "kernel/mem.h"
#include "kernel/printk.h"

/* Sort key, most significant first. Widths: NODES_MAX, CPUS_MAX. */
#define KEY_NODE   BITS(63, 58)
#define KEY_SOCKET BITS(57, 46)
#define KEY_LLC    BITS(45, 34)
#define KEY_CORE   BITS(33, 22)
#define KEY_THREAD BITS(21, 12)
#define KEY_CPU    BITS(11, 0)

_Static_assert(NODES_MAX - 1 <= KEY_NODE >> 58 && CPUS_MAX - 1 <= KEY_CPU, "widths of the key");

#define LINE_CHARS 100

/* Bytes in a unit that leaves at least two digits. */
static uint64_t scale_bytes(uint64_t bytes, const char **unit)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    uint32_t i = 0;

    bytes /= KIB;
    while (i < 3 && bytes >= 10 * KIB) {
        bytes /= KIB;
        i++;
    }
    *unit = units[i];
    return bytes;
}

static const char *map_word(uint32_t type)
{
    static const char *const words[MEM_TYPES] = {
        [MEM_PERSISTENT] = "persistent", [MEM_ACPI] = "ACPI data", [MEM_RESERVED] = "reserved",
        [MEM_NVS] = "ACPI NVS",          [MEM_BAD] = "unusable",
    };

    return mem_type_is_ram(type) ? "usable" : words[type];
}

/* The loader's map, as numen-topo --memmap reads it: what Numen itself took of the RAM is RAM. */
static void print_map(void)
{
    const struct memmap *map = &machine.map;

    for (uint32_t i = 0, next; i < map->count; i = next) {
        const struct mem_range *r = &map->ranges[i], *last = r;

        for (next = i + 1; next < map->count; next++, last++) {
            if (!mem_type_is_ram(r->type) || !mem_type_is_ram(last[1].type) ||
                last[1].base != last->base + last->length)
                break;
        }
        pr_debug("memory: [0x%lx-0x%lx] %s", r->base, last->base + last->length - 1,
                 map_word(r->type));
    }
}

void machine_print_loader(void)
{
    const struct boot_info *b = &machine.boot;
    const char *unit;
    uint64_t amount = scale_bytes(memmap_ram_bytes(&machine.map, 0, UINT64_MAX), &unit);

    pr_info("Numen, loaded by %s (multiboot %u%s) with %u modules and %lu %s of memory",
            b->loader ? b->loader : "an unnamed loader", b->protocol, b->efi ? ", UEFI" : "",
            b->nmodules, amount, unit);
    if (b->cmdline && b->cmdline[0])
        pr_info("command line: %s", b->cmdline);
    print_map();
}

static void print_cpus(void)
{
    for (uint32_t i = 0; i < cpu_count; i++) {
        const struct cpu_place *p = &machine.places[i];
        char text[64] = "offline";

        if (cpus[i])
            arch_cpu_describe(cpus[i], text, sizeof(text));
        pr_info("CPU %u: %u:%u:%u, node %u, APIC id %u, %s", i, p->socket, p->core, p->thread,
                p->node, p->apic_id, text);
    }
}

static void print_node(uint32_t node)
{
    const struct numa *numa = &machine.numa;
    const char *unit;
    uint64_t amount = scale_bytes(numa->node[node].ram_bytes, &unit);
    char line[LINE_CHARS];
    int n = format_text(line, sizeof(line), "node %u: %lu %s, %u CPUs, distance", node, amount,
                        unit, numa->node[node].ncpus);

    for (uint32_t to = 0; to < numa->nnodes && n < LINE_CHARS - 8; to++)
        n += format_text(line + n, sizeof(line) - (size_t)n, " %u", numa_distance(numa, node, to));
    pr_info("%s", line);
}

/* One line per last-level cache (more where cores do not fit): "    LLC 0: core 0 (0 1) ..". */
static uint32_t print_llc(const uint64_t *keys, uint32_t at)
{
    uint64_t group = keys[at] & (KEY_NODE | KEY_SOCKET | KEY_LLC);
    char line[LINE_CHARS];
    int n = format_text(line, sizeof(line), "    LLC %llu:", FIELD_GET(KEY_LLC, group));

    while (at < cpu_count && (keys[at] & (KEY_NODE | KEY_SOCKET | KEY_LLC)) == group) {
        uint64_t core = FIELD_GET(KEY_CORE, keys[at]);
        char separator = '(';

        if (n > LINE_CHARS - 40) {
            pr_info("%s", line);
            n = format_text(line, sizeof(line), "          ");
        }
        n += format_text(line + n, sizeof(line) - (size_t)n, " core %lu ", core);
        for (; at < cpu_count && (keys[at] & (KEY_NODE | KEY_SOCKET | KEY_LLC)) == group &&
               FIELD_GET(KEY_CORE, keys[at]) == core;
             at++) {
            if (n < LINE_CHARS - 8)
                n += format_text(line + n, sizeof(line) - (size_t)n, "%c%llu", separator,
                                 FIELD_GET(KEY_CPU, keys[at]));
            separator = ' ';
        }
        n += format_text(line + n, sizeof(line) - (size_t)n, ")");
    }
    pr_info("%s", line);
    return at;
}

static uint32_t print_socket(const uint64_t *keys, uint32_t at)
{
    uint64_t group = keys[at] & (KEY_NODE | KEY_SOCKET);

    pr_info("  socket %llu", FIELD_GET(KEY_SOCKET, group));
    while (at < cpu_count && (keys[at] & (KEY_NODE | KEY_SOCKET)) == group)
        at = print_llc(keys, at);
    return at;
}

void machine_print_topology(void)
{
    const struct topology_counts *t = &machine.topology;
    size_t bytes = cpu_count * sizeof(uint64_t);
    uint64_t *keys = mem_zalloc(bytes, 0);
    uint32_t at = 0;

    print_cpus();
    pr_info("%u sockets, %u cores, %u threads, %u nodes%s", t->sockets, t->cores, t->threads,
            machine.numa.nnodes, t->hybrid ? ", hybrid" : "");
    if (!keys)
        return;
    for (uint32_t i = 0; i < cpu_count; i++) {
        const struct cpu_place *p = &machine.places[i];

        keys[i] = FIELD_PREP(KEY_NODE, p->node) | FIELD_PREP(KEY_SOCKET, p->socket) |
                  FIELD_PREP(KEY_LLC, p->llc) | FIELD_PREP(KEY_CORE, p->core) |
                  FIELD_PREP(KEY_THREAD, p->thread) | i;
    }
    sort_u64(keys, cpu_count);
    for (uint32_t node = 0; node < machine.numa.nnodes; node++) {
        print_node(node);
        while (at < cpu_count && FIELD_GET(KEY_NODE, keys[at]) == node)
            at = print_socket(keys, at);
    }
    mem_free(keys, bytes);
}
