/* SLIT to struct slit_info. See slit.c. */
#ifndef BOOT_SLIT_H
#define BOOT_SLIT_H

#include "hv/firmware.h"

/* As madt_parse. info->rows points into `data`, which must outlive it. */
__attribute__((warn_unused_result)) int slit_parse(const void *data, size_t bytes,
                                                   struct slit_info *info, struct fw_warnings *w,
                                                   size_t *fault);

#endif
