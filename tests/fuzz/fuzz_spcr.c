/* SPCR reader. */
#include "fuzz.h"

#include "boot/spcr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct fw_warnings warnings;
    struct spcr_info info;
    size_t fault;

    warnings.count = warnings.dropped = 0;
    if (spcr_parse(data, bytes, &info, &warnings, &fault)) {
        FUZZ_CHECK(info.port.space == SERIAL_NONE);
        return 0;
    }
    if (info.port.space == SERIAL_NONE)
        return 0;
    FUZZ_CHECK(info.port.space <= SERIAL_PCI);
    FUZZ_CHECK(info.port.base || info.port.space == SERIAL_PCI);
    FUZZ_CHECK(info.port.space != SERIAL_IO || info.port.base + 7 * info.port.stride <= UINT16_MAX);
    FUZZ_CHECK(info.port.stride <= 4 && info.port.width <= info.port.stride);
    FUZZ_CHECK(info.port.baud <= info.port.clock_hz / 16);
    FUZZ_CHECK(info.port.irq < 16);
    FUZZ_CHECK(info.port.pci == SERIAL_PCI_NONE || info.port.pci <= UINT16_MAX);
    return 0;
}
