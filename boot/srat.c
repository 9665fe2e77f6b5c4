/*
 * SRAT: which CPU and which memory belongs to which proximity domain.
 *
 * Reads types 0 and 2 (CPUs) and 1 (memory); the rest (GIC, generic initiators, port and unknown
 * ones) is skipped by length. Does not decide what becomes a node (mm/numa.c): disabled,
 * overlapping and empty entries are kept as read. Invariant: of an entry no byte is read beyond its
 * own length. Source: ACPI 6.4 section 5.2.16. Before revision 2 a domain has 8 bits and the bytes
 * that later extended it hold anything.
 */
#include "boot/srat.h"

#include <errno.h>

#include "boot/acpi.h"
#include "boot/bytes.h"
#include "boot/entries.h"
#include "boot/warn.h"

enum {
    SRAT_REVISION = 8,
    SRAT_ENTRIES = 48,
};

enum srat_type { SRAT_TYPE_LAPIC = 0, SRAT_TYPE_MEMORY = 1, SRAT_TYPE_X2APIC = 2 };

/* Bits of a domain number that the table's revision knows. */
static uint32_t pxm_mask(uint32_t revision)
{
    return revision < 2 ? 0xff : UINT32_MAX;
}

static void add_cpu(struct srat_info *info, const struct srat_cpu *cpu)
{
    if (info->ncpus == info->cpu_capacity)
        info->dropped++;
    else
        info->cpus[info->ncpus++] = *cpu;
}

static void add_mem(struct srat_info *info, const struct srat_mem *mem)
{
    if (info->nmem == info->mem_capacity)
        info->dropped++;
    else
        info->mem[info->nmem++] = *mem;
}

static void read_entry(struct srat_info *info, const uint8_t *e, size_t length, uint32_t mask,
                       uint32_t *short_entries)
{
    switch (e[0]) {
    case SRAT_TYPE_LAPIC: /* the domain's bits 31:8 stand apart, at offset 9 */
        if (acpi_entry_has(length, 16, short_entries))
            add_cpu(info, &(struct srat_cpu){.apic_id = e[3],
                                             .pxm = ((read_le32(e + 8) & ~0xffu) | e[2]) & mask,
                                             .flags = read_le32(e + 4),
                                             .kind = FW_CPU_LAPIC});
        break;
    case SRAT_TYPE_X2APIC:
        if (acpi_entry_has(length, 24, short_entries))
            add_cpu(info, &(struct srat_cpu){.apic_id = read_le32(e + 8),
                                             .pxm = read_le32(e + 4) & mask,
                                             .flags = read_le32(e + 12),
                                             .kind = FW_CPU_X2APIC});
        break;
    case SRAT_TYPE_MEMORY:
        if (acpi_entry_has(length, 40, short_entries))
            add_mem(info, &(struct srat_mem){.pxm = read_le32(e + 2) & mask,
                                             .base = read_le64(e + 8),
                                             .length = read_le64(e + 16),
                                             .flags = read_le32(e + 28)});
        break;
    default:
        break;
    }
}

int srat_parse(const void *data, size_t bytes, struct srat_info *info, struct fw_warnings *w,
               size_t *fault)
{
    const uint8_t *p = data, *entry;
    struct acpi_cursor cursor = {.data = p, .at = SRAT_ENTRIES};
    uint32_t short_entries = 0;
    size_t length;
    int err;

    info->ncpus = info->nmem = info->dropped = 0;
    err = acpi_header_check(data, bytes, ACPI_SIG_SRAT, SRAT_ENTRIES, &cursor.end, w, fault);
    if (err)
        return err;
    while (acpi_entry_next(&cursor, &entry, &length, w))
        read_entry(info, entry, length, pxm_mask(p[SRAT_REVISION]), &short_entries);
    if (short_entries)
        boot_warn(w, "SRAT: %u entries are too short for their type; skipped", short_entries);
    if (info->dropped)
        boot_warn(w, "SRAT: no room for %u entries; left out", info->dropped);
    return 0;
}
