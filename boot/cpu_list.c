/*
 * The CPUs to use, out of the MADT's entries.
 *
 * Decides Numen's CPU numbers: the boot CPU is 0, then table order (hv/cpu_place.h). An enabled
 * entry counts once per APIC id; where a local-APIC and an x2APIC entry name one CPU, the
 * local-APIC entry is it. Online-capable entries are spares for hot-plug and are left alone. Does
 * not decide which of these CPUs is brought up (maxcpus=, smt=). Invariants: ids are unique; 0xff
 * is no id in a local-APIC entry, 0xffffffff none in an x2APIC entry (ACPI 6.4 section 5.2.12.2);
 * O(n log n) for any table.
 */
#include "boot/madt.h"

#include "boot/warn.h"
#include "hv/sort.h"

#define KEY_APIC_ID BITS(63, 32)
#define KEY_IS_X2   BIT(31) /* sorts behind a local-APIC entry of the same id */
#define KEY_INDEX   BITS(30, 0)

/* The second order: by place in the table. */
#define KEY_PLACE    BITS(63, 32)
#define KEY_PLACE_ID BITS(31, 0)

static bool entry_counts(const struct madt_cpu *cpu)
{
    uint32_t none = cpu->kind == FW_CPU_LAPIC ? 0xff : FW_APIC_ID_NONE;

    return (cpu->flags & MADT_CPU_ENABLED) && cpu->apic_id != none;
}

/* Fills `keys` with one key per usable id, sorted by place in the table; returns how many. */
static uint32_t unique_ids(const struct madt_info *info, uint64_t *keys, struct fw_warnings *w)
{
    uint32_t n = 0, unique = 0, repeated = 0, example = 0;

    for (uint32_t i = 0; i < info->ncpus; i++) {
        const struct madt_cpu *cpu = &info->cpus[i];

        if (entry_counts(cpu))
            keys[n++] = FIELD_PREP(KEY_APIC_ID, cpu->apic_id) | FIELD_PREP(KEY_INDEX, i) |
                        (cpu->kind == FW_CPU_X2APIC ? KEY_IS_X2 : 0);
    }
    sort_u64(keys, n);
    for (uint32_t i = 0, last_kind = 0; i < n; i++) {
        uint32_t id = (uint32_t)FIELD_GET(KEY_APIC_ID, keys[i]);
        uint32_t kind = info->cpus[FIELD_GET(KEY_INDEX, keys[i])].kind;

        if (unique && FIELD_GET(KEY_PLACE_ID, keys[unique - 1]) == id) {
            if (kind == last_kind) { /* both kinds for one CPU is a known habit, this is not */
                repeated++;
                example = id;
            }
        } else {
            keys[unique++] =
                FIELD_PREP(KEY_PLACE, FIELD_GET(KEY_INDEX, keys[i])) | FIELD_PREP(KEY_PLACE_ID, id);
        }
        last_kind = kind;
    }
    if (repeated)
        boot_warn(w, "APIC: %u enabled entries repeat an id (0x%x and others); the first counts",
                  repeated, example);
    sort_u64(keys, unique);
    return unique;
}

static bool id_is_listed(const uint64_t *keys, uint32_t n, uint32_t apic_id)
{
    for (uint32_t i = 0; i < n; i++)
        if (FIELD_GET(KEY_PLACE_ID, keys[i]) == apic_id)
            return true;
    return false;
}

uint32_t madt_cpu_list(const struct madt_info *info, uint32_t boot_apic_id, uint32_t *apic_ids,
                       uint32_t max, uint64_t *scratch, struct fw_warnings *w)
{
    uint32_t found = info ? unique_ids(info, scratch, w) : 0;
    uint32_t n = 0, left_out = 0, first_left_out = 0;

    if (boot_apic_id != FW_APIC_ID_NONE && max > 0) {
        apic_ids[n++] = boot_apic_id;
        if (info && !id_is_listed(scratch, found, boot_apic_id))
            boot_warn(w, "APIC: the boot CPU, APIC id 0x%x, is not in the table; added",
                      boot_apic_id);
    }
    for (uint32_t i = 0; i < found; i++) {
        uint32_t id = (uint32_t)FIELD_GET(KEY_PLACE_ID, scratch[i]);

        if (id == boot_apic_id)
            continue;
        if (n < max)
            apic_ids[n++] = id;
        else if (left_out++ == 0)
            first_left_out = id;
    }
    if (info && !info->foreign && n == 0 && max > 0)
        boot_warn(w, "APIC: none of its %u CPU entries is an enabled CPU", info->ncpus);
    if (left_out)
        boot_warn(w, "%u CPUs above the limit of %u left out, from APIC id 0x%x on", left_out, max,
                  first_left_out);
    return n;
}
