/*
 * The page allocator on made-up ranges: no page twice, none lost, whole again after every churn,
 * fallback by distance, and an ASSERT for every wrong free.
 *
 * A shadow array says for each page of the machine who owns it; it is compared with what the
 * allocator hands out, and page_check recounts the lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hv/bits.h"
#include "mm/page.h"

#define MACHINE_PAGES 0x50000u /* shadow covers page numbers below this */
#define RANGES_MAX    8u
#define BLOCKS_MAX    4096u

struct machine {
    struct page_pool pool;
    struct page_range ranges[RANGES_MAX];
    uint8_t owned[MACHINE_PAGES]; /* 0 unknown to the pool, 1 free, 2 taken */
    uint32_t nranges;
    uint32_t nnodes;
};

static jmp_buf assert_jump;
static bool assert_awaited;

void assert_failed(const char *expr, const char *file, int line)
{
    if (!assert_awaited)
        fail_msg("%s:%d: ASSERT(%s)", file, line, expr);
    assert_awaited = false;
    longjmp(assert_jump, 1);
}

/* Two nodes that interleave, the first beginning in the middle of a 2 MiB page. */
static const struct page_range interleaved[] = {
    {.base_pfn = 0x00003, .npages = 0x1fffd, .node = 0},
    {.base_pfn = 0x20000, .npages = 0x08000, .node = 1},
    {.base_pfn = 0x28000, .npages = 0x04001, .node = 0},
    {.base_pfn = 0x2d000, .npages = 0x13000, .node = 1},
    {.base_pfn = 0x40000, .npages = 0x00800, .node = 2},
};

static const uint8_t three_by_distance[] = {0, 2, 1, 1, 0, 2, 2, 1, 0};

static struct machine *machine_new(const struct page_range *ranges, uint32_t nranges,
                                   uint32_t nnodes, const uint8_t *fallback)
{
    struct machine *m = calloc(1, sizeof *m);

    assert_non_null(m);
    m->nranges = nranges;
    m->nnodes = nnodes;
    memcpy(m->ranges, ranges, nranges * sizeof *ranges);
    for (uint32_t i = 0; i < nranges; i++) {
        m->ranges[i].pages = malloc(page_metadata_bytes(ranges[i].npages));
        assert_non_null(m->ranges[i].pages);
        memset(m->ranges[i].pages, 0xa5, page_metadata_bytes(ranges[i].npages));
    }
    assert_int_equal(page_init(&m->pool, m->ranges, nranges, nnodes, fallback), 0);
    return m;
}

static void machine_free(struct machine *m)
{
    for (uint32_t i = 0; i < m->nranges; i++)
        free(m->ranges[i].pages);
    free(m);
}

static void machine_add(struct machine *m, pfn_t from, pfn_t to)
{
    uint64_t expected = 0;

    for (pfn_t pfn = from; pfn < to; pfn++)
        if (page_node_of(&m->pool, pfn << PAGE_SHIFT) != UINT32_MAX) {
            m->owned[pfn] = 1;
            expected += PAGE_BYTES;
        }
    assert_int_equal(page_add_free(&m->pool, from << PAGE_SHIFT, (to - from) << PAGE_SHIFT),
                     expected);
}

static uint64_t shadow_bytes(const struct machine *m, uint32_t node, uint8_t owned)
{
    uint64_t bytes = 0;

    for (pfn_t pfn = 0; pfn < MACHINE_PAGES; pfn++)
        if (m->owned[pfn] == owned && page_node_of(&m->pool, pfn << PAGE_SHIFT) == node)
            bytes += PAGE_BYTES;
    return bytes;
}

static void machine_check(struct machine *m)
{
    for (uint32_t node = 0; node < m->nnodes; node++) {
        struct page_usage usage;

        page_check(&m->pool, node);
        page_usage(&m->pool, node, &usage);
        assert_int_equal(usage.free_bytes, page_free_bytes(&m->pool, node));
        assert_int_equal(usage.taken_bytes, shadow_bytes(m, node, 2));
        assert_int_equal(usage.managed_bytes, page_managed_bytes(&m->pool, node));
        assert_int_equal(page_free_bytes(&m->pool, node), shadow_bytes(m, node, 1));
    }
}

static paddr_t machine_take(struct machine *m, uint32_t order, uint32_t node, uint32_t flags)
{
    paddr_t base = page_alloc(&m->pool, order, node, flags);

    if (base == PADDR_NONE)
        return base;
    assert_true(IS_ALIGNED(base, PAGE_BYTES << order));
    for (uint64_t i = 0; i < 1ull << order; i++) {
        assert_int_equal(m->owned[(base >> PAGE_SHIFT) + i], 1);
        m->owned[(base >> PAGE_SHIFT) + i] = 2;
    }
    return base;
}

static void machine_give(struct machine *m, paddr_t base, uint32_t order)
{
    page_free(&m->pool, base, order);
    for (uint64_t i = 0; i < 1ull << order; i++)
        m->owned[(base >> PAGE_SHIFT) + i] = 1;
}

static struct machine *interleaved_new(void)
{
    struct machine *m = machine_new(interleaved, ARRAY_SIZE(interleaved), 3, three_by_distance);

    machine_add(m, 0, 0x2a000);
    machine_add(m, 0x2a001, 0x4f000); /* leaves a page out, and runs over the last range */
    return m;
}

static void pages_handed_in_are_all_given_out(void **state)
{
    struct machine *m = interleaved_new();

    (void)state;
    machine_check(m);
    for (uint32_t node = 0; node < 3; node++) {
        uint64_t bytes = page_free_bytes(&m->pool, node);

        assert_int_equal(bytes, page_managed_bytes(&m->pool, node));
        for (; bytes; bytes -= PAGE_BYTES)
            assert_int_not_equal(machine_take(m, 0, node, PAGE_EXACT_NODE), PADDR_NONE);
        assert_int_equal(machine_take(m, 0, node, PAGE_EXACT_NODE), PADDR_NONE);
        assert_int_equal(page_free_bytes(&m->pool, node), 0);
    }
    assert_int_equal(machine_take(m, 0, 1, PAGE_FALLBACK), PADDR_NONE);
    machine_check(m);
    machine_free(m);
}

static void freed_pages_join_to_what_they_were(void **state)
{
    static const struct page_range one[] = {{.base_pfn = 0, .npages = 0x40000, .node = 0}};
    static const uint8_t self[] = {0};
    struct machine *m = machine_new(one, 1, 1, self);
    static paddr_t pages[0x40000];

    (void)state;
    machine_add(m, 0, 0x40000);
    for (uint32_t i = 0; i < ARRAY_SIZE(pages); i++)
        pages[i] = machine_take(m, 0, 0, 0);
    assert_int_equal(page_free_bytes(&m->pool, 0), 0);
    for (uint32_t i = 0; i < ARRAY_SIZE(pages); i += 2) /* even ones, then odd ones downwards */
        machine_give(m, pages[i], 0);
    assert_int_equal(machine_take(m, 1, 0, 0), PADDR_NONE);
    for (uint32_t i = ARRAY_SIZE(pages); i > 0; i -= 2)
        machine_give(m, pages[i - 1], 0);
    machine_check(m);
    assert_int_equal(m->ranges[0].orders, BIT(PAGE_ORDER_MAX));
    assert_int_equal(machine_take(m, PAGE_ORDER_MAX, 0, 0), 0);
    machine_free(m);
}

static void fallback_goes_by_distance(void **state)
{
    struct machine *m = interleaved_new();
    uint32_t order = PAGE_ORDER_2M, at = 0;
    static const uint32_t by_distance[] = {0, 2, 1};
    paddr_t base;

    (void)state;
    while ((base = machine_take(m, order, 0, PAGE_FALLBACK)) != PADDR_NONE) {
        uint32_t node = page_node_of(&m->pool, base);

        while (at < 3 && by_distance[at] != node)
            at++;
        assert_true(at < 3); /* never back to a nearer node */
    }
    assert_int_equal(at, 2);
    assert_int_equal(machine_take(m, order, 2, PAGE_FALLBACK), PADDR_NONE);
    machine_check(m);
    machine_free(m);
}

static void blocks_never_cross_ranges(void **state)
{
    static const struct page_range twins[] = {{.base_pfn = 0x100, .npages = 0x100, .node = 0},
                                              {.base_pfn = 0x200, .npages = 0x200, .node = 0}};
    static const uint8_t self[] = {0};
    struct machine *m = machine_new(twins, 2, 1, self);

    (void)state;
    machine_add(m, 0, 0x1000);
    assert_int_equal(page_managed_bytes(&m->pool, 0), 0x300 * PAGE_BYTES);
    assert_int_equal(machine_take(m, 9, 0, 0), 0x200 << PAGE_SHIFT);
    assert_int_equal(machine_take(m, 8, 0, 0), 0x100 << PAGE_SHIFT);
    assert_int_equal(machine_take(m, 0, 0, 0), PADDR_NONE);
    machine_give(m, 0x200 << PAGE_SHIFT, 9);
    machine_give(m, 0x100 << PAGE_SHIFT, 8);
    machine_check(m);
    machine_free(m);
}

enum misuse {
    FREE_ANOTHER_SIZE,
    FREE_INSIDE,
    FREE_NEVER_HANDED_IN,
    FREE_NO_MEMORY,
    FREE_UNALIGNED,
    FREE_TWICE,
    ADD_TWICE,
    ALLOC_TOO_LARGE,
    MISUSES
};

static void misuse_commit(struct machine *m, enum misuse what)
{
    static const paddr_t never_in = 0x2a000ull << PAGE_SHIFT, no_memory = 1ull << 40;
    paddr_t base = machine_take(m, 3, 1, 0);

    switch (what) {
    case FREE_ANOTHER_SIZE:
        page_free(&m->pool, base, 2);
        break;
    case FREE_INSIDE:
        page_free(&m->pool, base + PAGE_BYTES, 0);
        break;
    case FREE_NEVER_HANDED_IN:
        page_free(&m->pool, never_in, 0);
        break;
    case FREE_NO_MEMORY:
        page_free(&m->pool, no_memory, 0);
        break;
    case FREE_UNALIGNED:
        page_free(&m->pool, base + 8, 3);
        break;
    case FREE_TWICE:
        page_free(&m->pool, base, 3);
        page_free(&m->pool, base, 3);
        break;
    case ADD_TWICE:
        page_add_free(&m->pool, 0x100ull << PAGE_SHIFT, PAGE_BYTES);
        break;
    default:
        base = page_alloc(&m->pool, PAGE_ORDER_MAX + 1, 0, 0);
    }
}

static bool misuse_fires(struct machine *m, enum misuse what)
{
    assert_awaited = true;
    if (setjmp(assert_jump))
        return true;
    misuse_commit(m, what);
    return false;
}

static void misuse_is_caught(void **state)
{
    (void)state;
    for (enum misuse what = 0; what < MISUSES; what++) {
        struct machine *m = interleaved_new();

        if (!misuse_fires(m, what))
            fail_msg("misuse %d passed", what);
        machine_free(m);
    }
}

static void bad_layouts_are_refused(void **state)
{
    static struct page pages[64];
    static struct page_pool pool;
    static const uint8_t two[] = {0, 1, 1, 0};
    static const uint8_t twice[] = {0, 0, 1, 0}, not_self[] = {1, 0, 1, 0}, beyond[] = {0, 2, 1, 0};
    struct page_range good[] = {{.base_pfn = 0, .npages = 8, .node = 0, .pages = pages},
                                {.base_pfn = 8, .npages = 8, .node = 1, .pages = pages + 8}};
    struct page_range r[2];

    (void)state;
    assert_int_equal(page_init(&pool, good, 2, 2, two), 0);
    assert_int_not_equal(page_init(&pool, good, 2, 2, twice), 0);
    assert_int_not_equal(page_init(&pool, good, 2, 2, not_self), 0);
    assert_int_not_equal(page_init(&pool, good, 2, 2, beyond), 0);
    assert_int_not_equal(page_init(&pool, good, 2, 0, two), 0);
    assert_int_not_equal(page_init(&pool, good, 2, NODES_MAX + 1, two), 0);
    for (uint32_t fault = 0; fault < 6; fault++) {
        memcpy(r, good, sizeof r);
        r[1].base_pfn = fault == 0 ? 7 : r[1].base_pfn;
        r[1].npages = fault == 1 ? 0 : r[1].npages;
        r[1].node = fault == 2 ? 2 : r[1].node;
        r[1].pages = fault == 3 ? NULL : r[1].pages;
        r[1].npages = fault == 4 ? 1ull << 32 : r[1].npages;
        r[1].base_pfn = fault == 5 ? UINT64_MAX - 4 : r[1].base_pfn;
        assert_int_not_equal(page_init(&pool, r, 2, 2, two), 0);
    }
}

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Mostly small blocks, now and then up to 64 MiB; frees in random order. */
static void random_operations_lose_nothing(void **state)
{
    struct machine *m = interleaved_new();
    static paddr_t bases[BLOCKS_MAX];
    static uint8_t orders[BLOCKS_MAX];
    uint32_t orders_before[RANGES_MAX];
    uint32_t seed = 2026, count = 0;

    (void)state;
    for (uint32_t i = 0; i < m->nranges; i++)
        orders_before[i] = m->ranges[i].orders;
    for (uint32_t op = 0; op < 10000; op++) {
        uint32_t node = random_next(&seed) % 3;
        uint32_t order = random_next(&seed) % (random_next(&seed) % 8 ? 5 : 15);

        if (count < BLOCKS_MAX && random_next(&seed) % 100 < 55) {
            uint32_t flags = random_next(&seed) % 2 ? PAGE_FALLBACK : PAGE_EXACT_NODE;
            paddr_t base = machine_take(m, order, node, flags);

            if (base == PADDR_NONE)
                continue;
            assert_true(flags == PAGE_FALLBACK || page_node_of(&m->pool, base) == node);
            bases[count] = base;
            orders[count++] = (uint8_t)order;
        } else if (count) {
            uint32_t victim = random_next(&seed) % count;

            machine_give(m, bases[victim], orders[victim]);
            bases[victim] = bases[--count];
            orders[victim] = orders[count];
        }
        if (op % 500 == 0)
            machine_check(m);
    }
    while (count--)
        machine_give(m, bases[count], orders[count]);
    machine_check(m);
    for (uint32_t i = 0; i < m->nranges; i++) /* everything has joined again */
        assert_int_equal(m->ranges[i].orders, orders_before[i]);
    machine_free(m);
}

static void unaligned_memory_is_rounded_inwards(void **state)
{
    struct machine *m = machine_new(interleaved, 1, 1, (const uint8_t[]){0});

    (void)state;
    assert_int_equal(page_add_free(&m->pool, 0x10001, 0x2fff), 2 * PAGE_BYTES);
    assert_int_equal(page_add_free(&m->pool, 0x20001, 0xffe), 0);
    assert_int_equal(page_node_of(&m->pool, 0x2000), UINT32_MAX); /* below the first range */
    assert_int_equal(page_node_of(&m->pool, 0x3000), 0);
    page_check(&m->pool, 0);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_handed_in_are_all_given_out),
        cmocka_unit_test(freed_pages_join_to_what_they_were),
        cmocka_unit_test(fallback_goes_by_distance),
        cmocka_unit_test(blocks_never_cross_ranges),
        cmocka_unit_test(misuse_is_caught),
        cmocka_unit_test(bad_layouts_are_refused),
        cmocka_unit_test(random_operations_lose_nothing),
        cmocka_unit_test(unaligned_memory_is_rounded_inwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
