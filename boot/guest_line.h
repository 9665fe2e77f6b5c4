/* A boot module's line to struct guest_config. See guest_line.c. */
#ifndef BOOT_GUEST_LINE_H
#define BOOT_GUEST_LINE_H

#include "hv/firmware.h"
#include "hv/guest_config.h"

#define GUEST_ERROR_CHARS 120

struct guest_line_error {
    size_t offset; /* in the line: the faulty word */
    char text[GUEST_ERROR_CHARS];
};

/*
 * 0; or -EINVAL, with one clear line in *error and *config unspecified. Unknown keys are named in a
 * warning and ignored.
 */
__attribute__((warn_unused_result)) int guest_line_parse(const char *line,
                                                         struct guest_config *config,
                                                         struct guest_line_error *error,
                                                         struct fw_warnings *w);

#endif
