/* com1=. */
#include "fuzz.h"

#include "boot/serial_option.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);
    struct serial_option option;
    size_t fault;

    FUZZ_CHECK(text);
    memcpy(text, data, bytes);
    text[bytes] = 0;
    if (serial_option_parse(text, &option, &fault)) {
        FUZZ_CHECK(fault <= strlen(text));
        FUZZ_CHECK(option.config.base == SERIAL_COM1 && !option.has_place);
    } else {
        FUZZ_CHECK(option.config.data_bits >= 5 && option.config.data_bits <= 8);
        FUZZ_CHECK(option.config.baud <= option.config.clock_hz / 16);
        FUZZ_CHECK(option.config.irq < 16 && option.config.stride <= 16);
        FUZZ_CHECK(option.config.base || option.config.space == SERIAL_PCI);
    }
    free(text);
    return 0;
}
