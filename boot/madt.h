/* MADT to struct madt_info, and that to the list of CPUs. See madt.c and cpu_list.c. */
#ifndef BOOT_MADT_H
#define BOOT_MADT_H

#include "hv/firmware.h"

/*
 * Reads the table at `data` (header included, `bytes` readable). info->cpus and info->cpu_capacity
 * are set by the caller. 0; -EINVAL: unusable from the offset *fault on. An entry of impossible
 * length ends the table with a warning; what came before stands.
 */
__attribute__((warn_unused_result)) int madt_parse(const void *data, size_t bytes,
                                                   struct madt_info *info, struct fw_warnings *w,
                                                   size_t *fault);

/*
 * The CPUs to use: `boot_apic_id` first (FW_APIC_ID_NONE: not known, table order throughout), then
 * enabled entries in table order, each id once. `scratch` has room for info->ncpus keys. At most
 * `max` ids are written, the rest named in a warning. A boot CPU that the table lacks is added,
 * with a warning. `info` may be NULL (no table): then the boot CPU alone. Returns the number of
 * CPUs.
 */
uint32_t madt_cpu_list(const struct madt_info *info, uint32_t boot_apic_id, uint32_t *apic_ids,
                       uint32_t max, uint64_t *scratch, struct fw_warnings *w);

#endif
