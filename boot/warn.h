/* Warnings of the parsers: see hv/text.h for what the format knows. */
#ifndef BOOT_WARN_H
#define BOOT_WARN_H

#include "hv/firmware.h"

/* Appends one line to `w`, which may be NULL. */
__attribute__((format(printf, 2, 3))) void boot_warn(struct fw_warnings *w, const char *fmt, ...);

#endif
