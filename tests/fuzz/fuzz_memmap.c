/* Changes of a memory map of few entries, six bytes of input each. */
#include "fuzz.h"

#include "boot/memmap.h"

static void check(const struct memmap *map)
{
    FUZZ_CHECK(map->count <= map->capacity);
    for (uint32_t i = 0; i < map->count; i++) {
        const struct mem_range *r = &map->ranges[i];

        FUZZ_CHECK(r->length > 0 && r->base + r->length > r->base && r->type < MEM_TYPES);
        FUZZ_CHECK(i == 0 || r[-1].base + r[-1].length <= r->base);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct mem_range ranges[16];
    static uint8_t refused[256]; /* chunk was named as something else than RAM: never free */
    struct memmap map;

    memset(refused, 0, sizeof(refused));
    memmap_init(&map, ranges, ARRAY_SIZE(ranges));
    for (; bytes >= 6; data += 6, bytes -= 6) {
        uint64_t base = (uint64_t)data[1] << 16, length = (uint64_t)data[2] << 16 | data[3];
        uint32_t type = data[4] % MEM_TYPES;

        switch (data[0] % 4) {
        case 0:
            memmap_trim(&map);
            break;
        case 1:
            memmap_claim(&map, base, length, MEM_CLAIM_MODULE);
            break;
        case 2:
            (void)memmap_take(&map, length, 1ull << (12 + data[5] % 20), base, UINT64_MAX,
                              MEM_CLAIM_EARLY);
            break;
        default:
            if (mem_type_is_ram(type))
                type = MEM_RAM;
            memmap_add(&map, base, length, type);
            for (uint32_t i = data[1]; type != MEM_RAM && i < 256u && i < data[1] + data[2]; i++)
                refused[i] = 1;
        }
        check(&map);
    }
    for (uint32_t i = 0; i < sizeof(refused); i++) {
        const struct mem_range *r = memmap_find(&map, (paddr_t)i << 16);

        FUZZ_CHECK(!refused[i] || !r || r->type != MEM_RAM);
    }
    return 0;
}
