/* The few FADT fields that Numen needs. See fadt.c. */
#ifndef BOOT_FADT_H
#define BOOT_FADT_H

#include "hv/firmware.h"

__attribute__((warn_unused_result)) int fadt_parse(const void *data, size_t bytes,
                                                   struct fadt_info *info, struct fw_warnings *w,
                                                   size_t *fault);

#endif
