/* The hypervisor's command line and the line of a guest, from the same text. */
#include "fuzz.h"

#include "boot/cmdline.h"
#include "boot/guest_line.h"

static struct fw_warnings warnings;
static struct guest_config config;

static void check_guest(const char *line)
{
    struct guest_line_error error;

    if (guest_line_parse(line, &config, &error, &warnings)) {
        FUZZ_CHECK(error.offset <= strlen(line) && strlen(error.text) < sizeof(error.text));
        return;
    }
    FUZZ_CHECK(config.vcpus >= 1 && config.vcpus <= GUEST_VCPUS_MAX);
    FUZZ_CHECK(config.sockets * config.cores * config.threads == config.vcpus);
    FUZZ_CHECK(config.cpus.count <= GUEST_RANGES_MAX && config.nodes.count <= GUEST_RANGES_MAX);
    for (uint32_t i = 0; i < config.cpus.count; i++)
        FUZZ_CHECK(config.cpus.range[i].first <= config.cpus.range[i].last);
    FUZZ_CHECK(memchr(config.name, 0, sizeof(config.name)));
    FUZZ_CHECK(memchr(config.cmdline, 0, sizeof(config.cmdline)));
}

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
    check_guest(line);
    free(line);
    return 0;
}
