/*
 * Multiboot information; the first byte chooses the protocol, the rest is the memory from 64 KiB
 * on.
 */
#include "fuzz.h"

#include "boot/memmap.h"
#include "boot/multiboot.h"

static struct boot_info info;

static void check(void)
{
    FUZZ_CHECK(info.arena_used <= info.arena_capacity);
    FUZZ_CHECK(info.nmodules <= BOOT_MODULES_MAX && info.rsdp_bytes <= BOOT_RSDP_BYTES);
    FUZZ_CHECK(strlen(info.cmdline) < info.arena_capacity);
    FUZZ_CHECK(strlen(info.loader) < info.arena_capacity);
    for (uint32_t i = 0; i < info.nmodules; i++) {
        FUZZ_CHECK(info.modules[i].end >= info.modules[i].start);
        FUZZ_CHECK(strlen(info.modules[i].string) < info.arena_capacity);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct mem_range ranges[48];
    static struct memmap map;
    static struct fw_warnings warnings;
    static char arena[1024];
    struct fuzz_phys phys = {.base = 0x10000};
    struct phys_view view = {.map = fuzz_map, .ctx = &phys};
    size_t fault;

    if (bytes < 1)
        return 0;
    phys.data = data + 1;
    phys.bytes = bytes - 1;
    warnings.count = warnings.dropped = 0;
    memmap_init(&map, ranges, ARRAY_SIZE(ranges));
    info.map = &map;
    info.arena = arena;
    info.arena_capacity = sizeof(arena);
    if (multiboot_parse(&info, &view, data[0] & 1 ? MULTIBOOT2_MAGIC : MULTIBOOT1_MAGIC, 0x10000,
                        &warnings, &fault) == 0)
        boot_claim_all(&info, 0x100000, 0x200000);
    check();
    return 0;
}
