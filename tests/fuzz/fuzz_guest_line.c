/* The line of a guest: what is accepted keeps the promises that VM building rests on. */
#include "fuzz.h"

#include "boot/guest_line.h"

static struct fw_warnings warnings;
static struct guest_config config;

static void check_ranges(const struct guest_ranges *ranges)
{
    FUZZ_CHECK(ranges->count <= GUEST_RANGES_MAX);
    for (uint32_t i = 0; i < ranges->count; i++)
        FUZZ_CHECK(ranges->range[i].first <= ranges->range[i].last);
}

static void check(const char *line)
{
    struct guest_line_error error;

    if (guest_line_parse(line, &config, &error, &warnings)) {
        FUZZ_CHECK(error.offset <= strlen(line));
        FUZZ_CHECK(memchr(error.text, 0, sizeof(error.text)) && error.text[0]);
        return;
    }
    FUZZ_CHECK(config.vcpus >= 1 && config.vcpus <= GUEST_VCPUS_MAX);
    FUZZ_CHECK(config.sockets && config.cores && config.threads);
    FUZZ_CHECK((uint64_t)config.sockets * config.cores * config.threads == config.vcpus);
    FUZZ_CHECK(config.cap <= 100 * config.vcpus);
    FUZZ_CHECK(config.weight >= 1 && config.weight <= GUEST_WEIGHT_MAX);
    FUZZ_CHECK(config.memory_bytes && IS_ALIGNED(config.memory_bytes, PAGE_BYTES));
    FUZZ_CHECK((config.pv & ~GUEST_PV_ALL) == 0);
    check_ranges(&config.cpus);
    check_ranges(&config.nodes);
    FUZZ_CHECK(memchr(config.name, 0, sizeof(config.name)));
    FUZZ_CHECK(memchr(config.initrd, 0, sizeof(config.initrd)));
    FUZZ_CHECK(memchr(config.cmdline, 0, sizeof(config.cmdline)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *line = malloc(bytes + 1);

    FUZZ_CHECK(line);
    memcpy(line, data, bytes);
    line[bytes] = 0;
    warnings.count = warnings.dropped = 0;
    check(line);
    free(line);
    return 0;
}
