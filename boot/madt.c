/*
 * MADT: the interrupt controllers, and with them the CPUs.
 *
 * Reads types 0 and 9 (CPUs), 1 and 2 (I/O APICs, ISA overrides) and 5 (local APIC address); the
 * rest is skipped by length. Does not decide which CPUs are used (cpu_list.c): disabled, repeated
 * and invalid entries are kept as read. Invariant: of an entry no byte is read beyond its own
 * length. Source: ACPI 6.4 section 5.2.12.
 */
#include "boot/madt.h"

#include <errno.h>

#include "boot/acpi.h"
#include "boot/bytes.h"
#include "boot/entries.h"
#include "boot/warn.h"

enum {
    MADT_LAPIC_ADDR = 36,
    MADT_FLAGS = 40,
    MADT_ENTRIES = 44,
};

#define MADT_FLAG_PCAT_COMPAT BIT(0)

enum madt_type {
    MADT_TYPE_LAPIC = 0,
    MADT_TYPE_IOAPIC = 1,
    MADT_TYPE_OVERRIDE = 2,
    MADT_TYPE_LAPIC_ADDR = 5,
    MADT_TYPE_LSAPIC = 7, /* Itanium */
    MADT_TYPE_X2APIC = 9,
    MADT_TYPE_GICC = 11,     /* Arm */
    MADT_TYPE_CORE_PIC = 17, /* LoongArch */
    MADT_TYPE_RINTC = 24,    /* RISC-V */
};

/* What is told in one line each at the end. */
struct madt_faults {
    uint32_t short_entries, no_room, foreign;
};

static void add_cpu(struct madt_info *info, const struct madt_cpu *cpu)
{
    if (info->ncpus == info->cpu_capacity)
        info->cpus_dropped++;
    else
        info->cpus[info->ncpus++] = *cpu;
}

static void add_ioapic(struct madt_info *info, const uint8_t *e, struct madt_faults *faults)
{
    if (info->nioapics == MADT_IOAPICS_MAX) {
        faults->no_room++;
        return;
    }
    info->ioapics[info->nioapics++] = (struct madt_ioapic){
        .id = e[2],
        .addr = read_le32(e + 4),
        .gsi_base = read_le32(e + 8),
    };
}

static void add_override(struct madt_info *info, const uint8_t *e, struct madt_faults *faults)
{
    if (info->noverrides == MADT_OVERRIDES_MAX) {
        faults->no_room++;
        return;
    }
    info->overrides[info->noverrides++] = (struct madt_override){
        .source = e[3],
        .gsi = read_le32(e + 4),
        .flags = read_le16(e + 8),
    };
}

static void read_entry(struct madt_info *info, const uint8_t *e, size_t length,
                       struct madt_faults *faults)
{
    switch (e[0]) {
    case MADT_TYPE_LAPIC:
        if (acpi_entry_has(length, 8, &faults->short_entries))
            add_cpu(info, &(struct madt_cpu){.uid = e[2],
                                             .apic_id = e[3],
                                             .flags = read_le32(e + 4),
                                             .kind = FW_CPU_LAPIC});
        break;
    case MADT_TYPE_X2APIC:
        if (acpi_entry_has(length, 16, &faults->short_entries))
            add_cpu(info, &(struct madt_cpu){.uid = read_le32(e + 12),
                                             .apic_id = read_le32(e + 4),
                                             .flags = read_le32(e + 8),
                                             .kind = FW_CPU_X2APIC});
        break;
    case MADT_TYPE_IOAPIC:
        if (acpi_entry_has(length, 12, &faults->short_entries))
            add_ioapic(info, e, faults);
        break;
    case MADT_TYPE_OVERRIDE:
        if (acpi_entry_has(length, 10, &faults->short_entries))
            add_override(info, e, faults);
        break;
    case MADT_TYPE_LAPIC_ADDR:
        if (acpi_entry_has(length, 12, &faults->short_entries))
            info->lapic_addr = read_le64(e + 4);
        break;
    case MADT_TYPE_LSAPIC:
    case MADT_TYPE_GICC:
    case MADT_TYPE_CORE_PIC:
    case MADT_TYPE_RINTC:
        faults->foreign++;
        break;
    default:
        break; /* NMI wiring, mailboxes, reserved types: nothing that Numen uses */
    }
}

int madt_parse(const void *data, size_t bytes, struct madt_info *info, struct fw_warnings *w,
               size_t *fault)
{
    const uint8_t *p = data, *entry;
    struct acpi_cursor cursor = {.data = p, .at = MADT_ENTRIES};
    struct madt_faults faults = {0};
    size_t length;
    int err;

    *info = (struct madt_info){.cpus = info->cpus, .cpu_capacity = info->cpu_capacity};
    err = acpi_header_check(data, bytes, ACPI_SIG_MADT, MADT_ENTRIES, &cursor.end, w, fault);
    if (err)
        return err;
    info->lapic_addr = read_le32(p + MADT_LAPIC_ADDR);
    info->pcat_compat = read_le32(p + MADT_FLAGS) & MADT_FLAG_PCAT_COMPAT;
    while (acpi_entry_next(&cursor, &entry, &length, w))
        read_entry(info, entry, length, &faults);
    info->foreign = faults.foreign && info->ncpus == 0;
    if (info->foreign)
        boot_warn(w, "APIC: the CPUs of another architecture (%u entries)", faults.foreign);
    if (faults.short_entries)
        boot_warn(w, "APIC: %u entries are too short for their type; skipped",
                  faults.short_entries);
    if (faults.no_room || info->cpus_dropped)
        boot_warn(w, "APIC: no room for %u CPU entries and %u others; left out", info->cpus_dropped,
                  faults.no_room);
    return 0;
}
