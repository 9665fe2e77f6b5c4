/*
 * Finding the machine: loader information, firmware tables, CPUs, nodes.
 *
 * Decides what is read in which order and what stands in when something is missing; how it is read
 * is the parsers' (boot/, mm/numa.c). Everything wrong with it is a line in machine.warnings.
 * Invariant: memory taken here is claimed in the memory map, so that the page allocator never hands
 * it out.
 */
#include "kernel/machine.h"

#include <string.h>

#include "boot/cmdline.h"
#include "boot/madt.h"
#include "boot/memmap.h"
#include "boot/multiboot.h"
#include "boot/slit.h"
#include "boot/srat.h"
#include "boot/warn.h"
#include "kernel/arch.h"
#include "kernel/bringup.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"

#define MAP_RANGES   1024u
#define ARENA_BYTES  (32 * KIB)
#define SRAT_MEM_MAX 1024u
#define EARLY_LIMIT  (4 * GIB) /* what the first page tables reach */
#define LOW_RESERVED (8 * KIB) /* the BIOS's vectors and data area */
#define LOW_LIMIT    (640 * KIB)
#define HPET_GAS     40u
#define HPET_BYTES   56u

struct machine machine;

static struct mem_range map_ranges[MAP_RANGES];
static char arena[ARENA_BYTES];
static const struct phys_view view = {arch_map_firmware, NULL};

/* Memory for the life of the machine, before there is an allocator. Contents undefined. */
static void *early_take(uint64_t bytes)
{
    paddr_t pa = memmap_take(&machine.map, bytes, PAGE_BYTES, MIB, EARLY_LIMIT, MEM_CLAIM_EARLY);

    if (pa == PADDR_NONE)
        panic("no memory for %lu bytes of boot data", bytes);
    return phys_to_virt(pa);
}

void machine_read_loader(uint32_t magic, paddr_t info)
{
    struct machine *m = &machine;
    paddr_t start, end;
    size_t fault = 0;
    int error;

    memmap_init(&m->map, map_ranges, MAP_RANGES);
    m->boot.map = &m->map;
    m->boot.arena = arena;
    m->boot.arena_capacity = sizeof(arena);
    options_default(&m->options);
    error = multiboot_parse(&m->boot, &view, magic, info, &m->warnings, &fault);
    if (m->boot.cmdline)
        cmdline_parse(&m->options, m->boot.cmdline, &m->warnings);
    if (error) {
        boot_warn(&m->warnings, "loader information at 0x%lx unusable from offset %zu (error %d)",
                  info, fault, error);
        return;
    }
    arch_image_range(&start, &end);
    boot_claim_all(&m->boot, start, end);
    memmap_claim(&m->map, 0, LOW_RESERVED, MEM_CLAIM_EARLY);
    m->ap_page =
        memmap_take(&m->map, PAGE_BYTES, PAGE_BYTES, LOW_RESERVED, LOW_LIMIT, MEM_CLAIM_EARLY);
}

static void find_rsdp(struct acpi_rsdp *rsdp, bool *found)
{
    struct machine *m = &machine;

    *found = m->boot.rsdp_bytes && !acpi_rsdp_read(m->boot.rsdp, m->boot.rsdp_bytes, rsdp);
    if (!*found)
        *found = !acpi_rsdp_scan(&view, rsdp);
    if (!*found)
        boot_warn(&m->warnings, "no ACPI: one CPU, one node");
}

/* The HPET table names its registers by a generic address structure (IA-PC HPET 1.0a, 3.2.4). */
static paddr_t read_hpet(void)
{
    struct acpi_table table;
    paddr_t address;

    if (acpi_table_get(&view, &machine.tables, ACPI_SIG_HPET, 0, &table) ||
        table.bytes < HPET_BYTES || table.data[HPET_GAS + GAS_SPACE] != ACPI_SPACE_MEMORY)
        return 0;
    memcpy(&address, table.data + HPET_GAS + GAS_ADDRESS, sizeof(address));
    return address;
}

void machine_read_firmware(void)
{
    struct machine *m = &machine;
    struct acpi_rsdp rsdp;
    bool found;

    m->madt.cpus = early_take(FW_CPU_ENTRIES_MAX * sizeof(*m->madt.cpus));
    m->madt.cpu_capacity = FW_CPU_ENTRIES_MAX;
    m->srat.cpus = early_take(FW_CPU_ENTRIES_MAX * sizeof(*m->srat.cpus));
    m->srat.cpu_capacity = FW_CPU_ENTRIES_MAX;
    m->srat.mem = early_take(SRAT_MEM_MAX * sizeof(*m->srat.mem));
    m->srat.mem_capacity = SRAT_MEM_MAX;

    find_rsdp(&rsdp, &found);
    if (!found || acpi_tables_list(&view, &rsdp, &m->tables, &m->warnings))
        return;
    m->has_madt = !acpi_read_madt(&view, &m->tables, &m->madt, &m->warnings);
    m->has_srat = !acpi_read_srat(&view, &m->tables, &m->srat, &m->warnings);
    m->has_slit = !acpi_read_slit(&view, &m->tables, &m->slit, &m->warnings);
    m->has_fadt = !acpi_read_fadt(&view, &m->tables, &m->fadt, &m->warnings);
    if (m->has_fadt)
        acpi_read_s5(&view, &m->tables, &m->fadt, &m->s5, &m->warnings);
    m->hpet = read_hpet();
    if (acpi_read_spcr(&view, &m->tables, &m->spcr, &m->warnings))
        m->spcr = (struct spcr_info){0};
    if (acpi_read_dbg2(&view, &m->tables, &m->dbg2, &m->warnings))
        m->dbg2 = (struct dbg2_info){0};
}

void machine_number_cpus(void)
{
    struct machine *m = &machine;
    uint32_t *ids = early_take(CPUS_MAX * sizeof(*ids));
    uint64_t *scratch = early_take((m->madt.ncpus + 1) * sizeof(*scratch));

    cpu_count = madt_cpu_list(m->has_madt ? &m->madt : NULL, arch_boot_apic_id(), ids, CPUS_MAX,
                              scratch, &m->warnings);
    m->places = early_take(cpu_count * sizeof(*m->places));
    memset(m->places, 0, cpu_count * sizeof(*m->places));
    for (uint32_t i = 0; i < cpu_count; i++) {
        m->places[i].cpu = i;
        m->places[i].apic_id = ids[i];
    }
}

void machine_place_cpus(bool all_up)
{
    static uint64_t *scratch;
    struct machine *m = &machine;

    if (!scratch)
        scratch = early_take(arch_topology_scratch_words(cpu_count) * sizeof(*scratch));
    arch_topology(m->places, cpu_count, m->options.smt.word == SMT_COMPUTE_UNIT, scratch,
                  &m->topology, all_up ? &m->warnings : NULL);
    if (all_up)
        numa_check_places(m->places, cpu_count, m->options.numa.word, (uint32_t *)scratch,
                          &m->warnings);
    for (uint32_t i = 0; all_up && i < cpu_count; i++) {
        if (cpus[i])
            cpus[i]->place = m->places[i];
    }
}

void machine_build_nodes(void)
{
    struct machine *m = &machine;
    uint32_t keys = MAX(cpu_count, m->srat.ncpus) + m->srat.ncpus;
    uint32_t *ids = early_take(3 * cpu_count * sizeof(*ids));
    uint32_t *sockets = ids + cpu_count, *nodes = sockets + cpu_count;
    uint64_t *scratch = early_take(keys * sizeof(*scratch));
    struct numa_input in = {
        .apic_ids = ids,
        .sockets = sockets,
        .ncpus = cpu_count,
        .srat = m->has_srat ? &m->srat : NULL,
        .slit = m->has_slit ? &m->slit : NULL,
        .map = &m->map,
        .mode = m->options.numa.word,
        .fake = m->options.numa.number,
    };

    for (uint32_t i = 0; i < cpu_count; i++) {
        ids[i] = m->places[i].apic_id;
        sockets[i] = m->places[i].socket;
    }
    numa_build(&m->numa, &in, nodes, scratch, &m->warnings);
    for (uint32_t i = 0; i < cpu_count; i++)
        m->places[i].node = nodes[i];
}

void machine_print_warnings(void)
{
    static uint32_t printed;
    struct fw_warnings *w = &machine.warnings;

    for (; printed < w->count; printed++)
        pr_warn("%s", w->text[printed]);
}
