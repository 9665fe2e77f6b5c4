/* SRAT to struct srat_info. See srat.c. */
#ifndef BOOT_SRAT_H
#define BOOT_SRAT_H

#include "hv/firmware.h"

/* As madt_parse; info->cpus, info->mem and their capacities are set by the caller. */
__attribute__((warn_unused_result)) int srat_parse(const void *data, size_t bytes,
                                                   struct srat_info *info, struct fw_warnings *w,
                                                   size_t *fault);

#endif
