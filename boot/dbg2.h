/* DBG2: the ports that firmware sets aside for debuggers. See dbg2.c. */
#ifndef BOOT_DBG2_H
#define BOOT_DBG2_H

#include "hv/firmware.h"
#include "hv/serial.h"

#define DBG2_PORTS_MAX 4

struct dbg2_info {
    uint32_t count; /* UARTs that we know; the rest is named in warnings */
    struct serial_config ports[DBG2_PORTS_MAX];
};

__attribute__((warn_unused_result)) int dbg2_parse(const void *data, size_t bytes,
                                                   struct dbg2_info *info, struct fw_warnings *w,
                                                   size_t *fault);

#endif
