/*
 * The memory map: overlaps, trimming, claims, and a comparison with a page-by-page model.
 */
#include "fixture_acpi.h"

#include "boot/memmap.h"

#define K4 PAGE_BYTES

static struct mem_range ranges[64];
static struct memmap map;

static void check_invariants(void)
{
    for (uint32_t i = 0; i < map.count; i++) {
        const struct mem_range *r = &map.ranges[i];

        assert_true(r->length > 0 && r->type < MEM_TYPES && r->base + r->length > r->base);
        if (i == 0)
            continue;
        assert_true(r[-1].base + r[-1].length <= r->base);
        if (r[-1].base + r[-1].length == r->base)
            assert_int_not_equal(r[-1].type, r->type);
    }
    assert_true(map.count <= map.capacity);
}

static void expect(const struct mem_range *want, uint32_t n)
{
    check_invariants();
    assert_int_equal(map.count, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(map.ranges[i].base == want[i].base);
        assert_true(map.ranges[i].length == want[i].length);
        assert_int_equal(map.ranges[i].type, want[i].type);
    }
}

static void test_pc(void **state)
{
    (void)state;
    memmap_init(&map, ranges, ARRAY_SIZE(ranges)); /* a PC's map, out of order */
    memmap_add(&map, 0x100000, 0x7ee0000, MEM_RAM);
    memmap_add(&map, 0xf0000, 0x10000, MEM_RESERVED);
    memmap_add(&map, 0, 0x9fc00, MEM_RAM);
    memmap_add(&map, 0x9fc00, 0x400, MEM_RESERVED);
    memmap_add(&map, 0x7fe0000, 0x20000, MEM_ACPI);
    memmap_trim(&map);
    expect((const struct mem_range[]){{0, 0x9f000, MEM_RAM},
                                      {0x9fc00, 0x400, MEM_RESERVED},
                                      {0xf0000, 0x10000, MEM_RESERVED},
                                      {0x100000, 0x7ee0000, MEM_RAM},
                                      {0x7fe0000, 0x20000, MEM_ACPI}},
           5);
    assert_true(memmap_ram_bytes(&map, 0, UINT64_MAX) == 0x9f000 + 0x7ee0000);
    assert_true(memmap_ram_bytes(&map, 0x9e000, 0x63000) == 0x1000 + 0x1000);
    assert_int_equal(memmap_find(&map, 0xfffff)->type, MEM_RESERVED);
    assert_null(memmap_find(&map, 0xa0000));
    assert_null(memmap_find(&map, 1ull << 40));
}

static void test_overlap(void **state)
{
    (void)state;
    memmap_init(&map, ranges, ARRAY_SIZE(ranges)); /* the severer type wins, whatever the order */
    memmap_add(&map, 0, 10 * K4, MEM_RAM);
    memmap_add(&map, 2 * K4, 2 * K4, MEM_RESERVED);
    memmap_add(&map, 3 * K4, 4 * K4, MEM_ACPI);
    memmap_add(&map, 8 * K4, 4 * K4, MEM_RAM);
    expect((const struct mem_range[]){{0, 2 * K4, MEM_RAM},
                                      {2 * K4, 2 * K4, MEM_RESERVED},
                                      {4 * K4, 3 * K4, MEM_ACPI},
                                      {7 * K4, 5 * K4, MEM_RAM}},
           4);
}

static void test_extremes(void **state)
{
    (void)state;
    memmap_init(&map, ranges, ARRAY_SIZE(ranges));
    memmap_add(&map, 0x1000, 0, MEM_RAM);
    memmap_add(&map, UINT64_MAX - 5, 100, MEM_RAM);
    memmap_add(&map, 1ull << 52, 1, MEM_RAM);
    assert_int_equal(map.count, 0);
    memmap_add(&map, 0x1000, UINT64_MAX, MEM_RAM);
    assert_true(map.ranges[0].base + map.ranges[0].length == 1ull << 52);
    assert_true(memmap_ram_bytes(&map, 0x3000, UINT64_MAX) == (1ull << 52) - 0x3000);
    memmap_claim(&map, 1ull << 60, 1, MEM_CLAIM_IMAGE);
    memmap_claim(&map, 0x2000, 0, MEM_CLAIM_IMAGE);
    assert_int_equal(map.count, 1);
    assert_null(memmap_find(&map, 0));
    memmap_init(&map, ranges, ARRAY_SIZE(ranges));
    memmap_add(&map, (1ull << 52) - K4, 1ull << 51, MEM_RAM); /* its end alone is too high */
    memmap_add(&map, 0x10001, K4, MEM_RAM);                   /* no whole page in it */
    memmap_trim(&map);
    expect((const struct mem_range[]){{(1ull << 52) - K4, K4, MEM_RAM}}, 1);
}

static void test_claims(void **state)
{
    (void)state;
    memmap_init(&map, ranges, ARRAY_SIZE(ranges));
    memmap_add(&map, 0, 16 * K4, MEM_RAM);
    memmap_add(&map, 8 * K4, K4, MEM_RESERVED);
    memmap_claim(&map, K4 + 5, K4, MEM_CLAIM_IMAGE);        /* rounds to pages 1 and 2 */
    memmap_claim(&map, 2 * K4, 2 * K4, MEM_CLAIM_MODULE);   /* the later kind wins page 2 */
    memmap_claim(&map, 7 * K4, 3 * K4, MEM_CLAIM_BOOTINFO); /* page 8 stays reserved */
    memmap_claim(&map, 15 * K4, 99 * K4, MEM_CLAIM_BOOTINFO);
    expect((const struct mem_range[]){{0, K4, MEM_RAM},
                                      {K4, K4, MEM_CLAIM_IMAGE},
                                      {2 * K4, 2 * K4, MEM_CLAIM_MODULE},
                                      {4 * K4, 3 * K4, MEM_RAM},
                                      {7 * K4, K4, MEM_CLAIM_BOOTINFO},
                                      {8 * K4, K4, MEM_RESERVED},
                                      {9 * K4, K4, MEM_CLAIM_BOOTINFO},
                                      {10 * K4, 5 * K4, MEM_RAM},
                                      {15 * K4, K4, MEM_CLAIM_BOOTINFO}},
           9);
    assert_true(memmap_ram_bytes(&map, 0, UINT64_MAX) == 15 * K4);
}

static void test_take(void **state)
{
    (void)state;
    memmap_init(&map, ranges, ARRAY_SIZE(ranges));
    memmap_add(&map, 0, 100 * K4, MEM_RAM);
    memmap_add(&map, 1ull << 32, 64 * MIB, MEM_RAM);
    assert_true(memmap_take(&map, 5, K4, 0, 1ull << 32, MEM_CLAIM_EARLY) == 99 * K4);
    assert_true(memmap_take(&map, K4, 16 * K4, 0, 1ull << 32, MEM_CLAIM_EARLY) == 96 * K4);
    assert_true(memmap_take(&map, 3 * MIB, 2 * MIB, 0, UINT64_MAX, MEM_CLAIM_EARLY) ==
                (1ull << 32) + 60 * MIB);
    assert_true(memmap_take(&map, 10 * K4, K4, 0, 5 * K4, MEM_CLAIM_EARLY) == PADDR_NONE);
    assert_true(memmap_take(&map, 10 * K4, 64 * MIB, 1, 90 * K4, MEM_CLAIM_EARLY) == PADDR_NONE);
    assert_true(memmap_take(&map, 0, K4, 0, UINT64_MAX, MEM_CLAIM_EARLY) == PADDR_NONE);
    assert_true(memmap_take(&map, UINT64_MAX, K4, 0, UINT64_MAX, MEM_CLAIM_EARLY) == PADDR_NONE);
    check_invariants();
}

static void test_full_map_loses_ram_only(void **state)
{
    (void)state;
    memmap_init(&map, ranges, 8);
    for (uint64_t i = 0; i < 7; i++)
        memmap_add(&map, i * 10 * K4, (i + 1) * K4, MEM_RAM);
    memmap_add(&map, 200 * K4, K4, MEM_RESERVED); /* no room but by giving RAM up */
    check_invariants();
    assert_true(map.dropped > 0);
    memmap_claim(&map, 50 * K4, K4, MEM_CLAIM_IMAGE);
    assert_int_equal(memmap_find(&map, 50 * K4)->type, MEM_CLAIM_IMAGE);
    assert_int_equal(memmap_find(&map, 200 * K4)->type, MEM_RESERVED);
    assert_null(memmap_find(&map, 0));       /* the smallest went first */
    memmap_add(&map, 500 * K4, K4, MEM_RAM); /* and none is taken in any more */
    assert_null(memmap_find(&map, 500 * K4));
    for (uint64_t i = 0; i < 10; i++)
        memmap_add(&map, (1000 + 2 * i) * K4, K4, MEM_BAD);
    check_invariants();
    memmap_init(&map, ranges, 1);
    memmap_add(&map, 0, K4, MEM_BAD);
    memmap_claim(&map, 0, K4, MEM_CLAIM_IMAGE);
    assert_int_equal(map.count, 0);
}

#define MODEL_PAGES 64

/* Random ranges against an array with a type per page. */
static void test_model(void **state)
{
    int model[MODEL_PAGES];
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        memmap_init(&map, ranges, ARRAY_SIZE(ranges));
        for (int i = 0; i < MODEL_PAGES; i++)
            model[i] = -1;
        for (int k = 0; k < 12; k++) {
            uint32_t base, length, type;

            seed = seed * 1664525 + 1013904223;
            base = (seed >> 8) % MODEL_PAGES;
            length = 1 + (seed >> 16) % 20;
            type = (seed >> 24) % MEM_TYPES;
            if (type > MEM_RAM && type <= MEM_CLAIM_EARLY)
                memmap_claim(&map, base * K4, length * K4, (enum mem_type)type);
            else
                memmap_add(&map, base * K4, length * K4, type);
            for (uint32_t i = base; i < base + length && i < MODEL_PAGES; i++)
                if ((int)type > model[i] && (type == MEM_RAM || type > MEM_CLAIM_EARLY ||
                                             (model[i] >= 0 && model[i] <= MEM_CLAIM_EARLY)))
                    model[i] = (int)type;
        }
        check_invariants();
        for (uint32_t i = 0; i < MODEL_PAGES; i++) {
            const struct mem_range *r = memmap_find(&map, i * K4);

            assert_int_equal(r ? (int)r->type : -1, model[i]);
        }
    }
}

static void test_types(void **state)
{
    (void)state;
    assert_int_equal(memmap_type_of_e820(1), MEM_RAM);
    assert_int_equal(memmap_type_of_e820(2), MEM_RESERVED);
    assert_int_equal(memmap_type_of_e820(3), MEM_ACPI);
    assert_int_equal(memmap_type_of_e820(4), MEM_NVS);
    assert_int_equal(memmap_type_of_e820(5), MEM_BAD);
    assert_int_equal(memmap_type_of_e820(7), MEM_PERSISTENT);
    assert_int_equal(memmap_type_of_e820(12), MEM_PERSISTENT);
    assert_int_equal(memmap_type_of_e820(0), MEM_RESERVED);
    for (uint32_t type = 1; type <= 4; type++)
        assert_int_equal(memmap_type_of_efi(type), MEM_RAM);
    assert_int_equal(memmap_type_of_efi(5), MEM_RESERVED); /* runtime services */
    assert_int_equal(memmap_type_of_efi(7), MEM_RAM);
    assert_int_equal(memmap_type_of_efi(8), MEM_BAD);
    assert_int_equal(memmap_type_of_efi(9), MEM_ACPI);
    assert_int_equal(memmap_type_of_efi(10), MEM_NVS);
    assert_int_equal(memmap_type_of_efi(14), MEM_PERSISTENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pc),       cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_extremes), cmocka_unit_test(test_claims),
        cmocka_unit_test(test_take),     cmocka_unit_test(test_full_map_loses_ram_only),
        cmocka_unit_test(test_model),    cmocka_unit_test(test_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
