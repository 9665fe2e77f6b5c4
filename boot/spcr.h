/* SPCR: the serial port that firmware uses for its own console. See spcr.c. */
#ifndef BOOT_SPCR_H
#define BOOT_SPCR_H

#include "hv/firmware.h"
#include "hv/serial.h"

struct spcr_info {
    struct serial_config port; /* SERIAL_NONE: redirection is off, or not by a UART we know */
};

__attribute__((warn_unused_result)) int spcr_parse(const void *data, size_t bytes,
                                                   struct spcr_info *info, struct fw_warnings *w,
                                                   size_t *fault);

#endif
