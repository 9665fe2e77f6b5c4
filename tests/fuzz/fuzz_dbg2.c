/* DBG2 reader. */
#include "fuzz.h"

#include "boot/dbg2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct fw_warnings warnings;
    struct dbg2_info info;
    size_t fault;

    warnings.count = warnings.dropped = 0;
    if (dbg2_parse(data, bytes, &info, &warnings, &fault)) {
        FUZZ_CHECK(info.count == 0);
        return 0;
    }
    FUZZ_CHECK(info.count <= DBG2_PORTS_MAX);
    for (uint32_t i = 0; i < info.count; i++) {
        const struct serial_config *port = &info.ports[i];

        FUZZ_CHECK(port->base && (port->space == SERIAL_IO || port->space == SERIAL_MMIO));
        FUZZ_CHECK(port->stride && port->stride <= 4 && port->width <= port->stride);
        FUZZ_CHECK(port->baud <= port->clock_hz / 16);
    }
    return 0;
}
