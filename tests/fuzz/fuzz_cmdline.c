/* The hypervisor's command line; what it sets can be written out and read again. */
#include "fuzz.h"

#include "boot/cmdline.h"

static struct fw_warnings warnings;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct options options;
    char *line = malloc(bytes + 1);

    FUZZ_CHECK(line);
    memcpy(line, data, bytes);
    line[bytes] = 0;
    warnings.count = warnings.dropped = 0;
    options_default(&options);
    cmdline_parse(&options, line, &warnings);
    for (uint32_t id = 0; id < OPTION_COUNT; id++) {
        char text[OPTION_TEXT_CHARS];

        option_format(&options, (enum option_id)id, text, sizeof(text));
        FUZZ_CHECK(option_table[id].kind == OPTION_KIND_TEXT ||
                   option_set(&options, (enum option_id)id, text) == 0);
    }
    free(line);
    return 0;
}
