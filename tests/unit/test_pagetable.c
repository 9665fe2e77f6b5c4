/*
 * The page-table walker in its three formats, on memory that counts its pages and can run out.
 *
 * Besides single cases, a model check maps and unmaps random ranges and compares every lookup with
 * a plain array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/x86/pagetable.h"
#include "hv/bits.h"

#define FAR_HIGH 0xffffffff80000000ull

struct host {
    unsigned pages; /* out now */
    unsigned limit;
};

static paddr_t host_alloc(void *context)
{
    struct host *host = context;
    void *page;

    if (host->pages == host->limit)
        return PADDR_NONE;
    page = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
    assert_non_null(page);
    memset(page, 0, PAGE_BYTES);
    host->pages++;
    return (paddr_t)(uintptr_t)page;
}

static void host_free(void *context, paddr_t page)
{
    struct host *host = context;

    host->pages--;
    free((void *)(uintptr_t)page);
}

static void *host_at(paddr_t page)
{
    return (void *)(uintptr_t)page;
}

static const struct pt_memory memory = {host_alloc, host_free, host_at};

static void start(struct pagetable *pt, struct host *host, const struct pt_format *format,
                  unsigned largest)
{
    *host = (struct host){.limit = 10000};
    assert_int_equal(pagetable_init(pt, format, &memory, host, largest), 0);
}

static void finish(struct pagetable *pt, struct host *host)
{
    pagetable_fini(pt);
    assert_int_equal(host->pages, 0);
}

/* The raw leaf entry of va, and its level. */
static uint64_t raw_leaf(const struct pagetable *pt, uint64_t va, unsigned *level)
{
    uint64_t table = pt->root;

    for (unsigned at = 4;; at--) {
        uint64_t entry = ((uint64_t *)host_at(table))[(va >> (12 + 9 * (at - 1))) % 512];

        if (!(entry & 7) || at == 1 || (entry & BIT(7))) {
            *level = at;
            return entry;
        }
        table = entry & BITS(51, 12);
    }
}

static void formats_have_their_bits(void **state)
{
    static const struct {
        const struct pt_format *format;
        unsigned rights;
        uint64_t small, large;
    } rows[] = {
        {&pt_format_host, PT_READ, BIT(63) | 0x61, BIT(63) | 0xe1},
        {&pt_format_host, PT_READ | PT_EXEC, 0x61, 0xe1},
        {&pt_format_host, PT_READ | PT_WRITE | PT_GLOBAL, BIT(63) | 0x163, BIT(63) | 0x1e3},
        {&pt_format_host, PT_READ | PT_WRITE | PT_UNCACHED, BIT(63) | 0x7b, BIT(63) | 0xfb},
        {&pt_format_host, PT_RWX | PT_USER, 0x67, 0xe7},
        {&pt_format_ept, PT_RWX, 0x37, 0xb7},
        {&pt_format_ept, PT_READ, 0x31, 0xb1},
        {&pt_format_ept, PT_READ | PT_WRITE | PT_UNCACHED, 0x03, 0x83},
        {&pt_format_npt, PT_RWX, 0x67, 0xe7},
        {&pt_format_npt, PT_READ, BIT(63) | 0x65, BIT(63) | 0xe5},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        struct pagetable pt;
        struct host host;
        unsigned level;

        start(&pt, &host, rows[i].format, 2);
        assert_int_equal(pagetable_map(&pt, 0x1000, 0xabc000, PAGE_BYTES, rows[i].rights), 0);
        assert_int_equal(pagetable_map(&pt, 4 * MIB, 8 * MIB, 2 * MIB, rows[i].rights), 0);
        assert_true(raw_leaf(&pt, 0x1000, &level) == (0xabc000 | rows[i].small));
        assert_int_equal(level, 1);
        assert_true(raw_leaf(&pt, 4 * MIB, &level) == (8 * MIB | rows[i].large));
        assert_int_equal(level, 2);
        finish(&pt, &host);
    }
}

static void leaf_size_follows_alignment(void **state)
{
    static const struct {
        unsigned largest;
        uint64_t va, pa, bytes, probe;
        unsigned level;
    } rows[] = {
        {3, 0, 0, GIB, 0, 3},
        {2, 0, 0, GIB, 0, 2},
        {1, 0, 0, 4 * MIB, 0, 1},
        {3, GIB, 3 * GIB, 2 * GIB, 2 * GIB, 3},
        {3, GIB, 2 * MIB, GIB, GIB, 2},
        {3, 0x1000, 0x1000, 4 * MIB, 0x1000, 1},
        {3, 0x1000, 0x1000, 4 * MIB, 2 * MIB, 2},
        {3, 0x1000, 0x1000, 4 * MIB, 4 * MIB, 1},
        {3, 0, 0x1000, 4 * MIB, 2 * MIB, 1},
        {3, FAR_HIGH, 2 * MIB, 2 * MIB, FAR_HIGH, 2},
    };

    (void)state;
    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        struct pagetable pt;
        struct host host;
        unsigned level;
        uint64_t run;

        start(&pt, &host, &pt_format_ept, rows[i].largest);
        assert_int_equal(pagetable_map(&pt, rows[i].va, rows[i].pa, rows[i].bytes, PT_RWX), 0);
        raw_leaf(&pt, rows[i].probe, &level);
        assert_int_equal(level, rows[i].level);
        assert_true(pagetable_lookup(&pt, rows[i].va + 5, UINT64_MAX, &run) == rows[i].pa + 5);
        assert_true(run == rows[i].bytes - 5);
        assert_true(pagetable_lookup(&pt, rows[i].va - 1, 1, NULL) == PADDR_NONE);
        assert_true(pagetable_lookup(&pt, rows[i].va + rows[i].bytes, 1, NULL) == PADDR_NONE);
        finish(&pt, &host);
    }
}

static void bad_requests_are_refused(void **state)
{
    struct pagetable pt;
    struct host host;

    (void)state;
    start(&pt, &host, &pt_format_npt, 3);
    assert_int_equal(pagetable_map(&pt, 1, 0, PAGE_BYTES, PT_RWX), -EINVAL);
    assert_int_equal(pagetable_map(&pt, 0, 1, PAGE_BYTES, PT_RWX), -EINVAL);
    assert_int_equal(pagetable_map(&pt, 0, BIT(52), PAGE_BYTES, PT_RWX), -EINVAL);
    assert_int_equal(pagetable_map(&pt, 0, 0, 0, PT_RWX), -EINVAL);
    assert_int_equal(pagetable_map(&pt, 0, 0, PAGE_BYTES, PT_WRITE), -EINVAL);
    assert_int_equal(pagetable_map(&pt, BIT(48) - PAGE_BYTES, 0, 2 * PAGE_BYTES, PT_RWX), -EINVAL);
    assert_int_equal(pagetable_unmap(&pt, 0, 1), -EINVAL);
    assert_int_equal(pagetable_map(&pt, 0, 0, 2 * MIB, PT_RWX), 0);
    assert_int_equal(pagetable_map(&pt, 0x1000, 0, PAGE_BYTES, PT_RWX), -EEXIST);
    assert_int_equal(pagetable_map(&pt, 0, 0, 2 * MIB, PT_RWX), -EEXIST);
    finish(&pt, &host);
}

static void memory_running_out_is_an_error(void **state)
{
    struct pagetable pt;
    struct host host = {.limit = 0};

    (void)state;
    assert_int_equal(pagetable_init(&pt, &pt_format_npt, &memory, &host, 3), -ENOMEM);
    pagetable_fini(&pt);
    for (unsigned limit = 1; limit < 5; limit++) {
        start(&pt, &host, &pt_format_npt, 3);
        host.limit = limit;
        assert_int_equal(pagetable_map(&pt, 0, 0, PAGE_BYTES, PT_RWX), limit < 4 ? -ENOMEM : 0);
        finish(&pt, &host);
    }
    start(&pt, &host, &pt_format_npt, 3);
    assert_int_equal(pagetable_map(&pt, 0, 0, GIB, PT_RWX), 0);
    host.limit = host.pages + 1;
    assert_int_equal(pagetable_unmap(&pt, 0x5000, PAGE_BYTES), -ENOMEM);
    assert_true(pagetable_lookup(&pt, 0x5123, 1, NULL) == 0x5123);
    finish(&pt, &host);
}

static void unmapping_splits_large_leaves(void **state)
{
    struct pagetable pt;
    struct host host;
    unsigned level;
    uint64_t run;

    (void)state;
    start(&pt, &host, &pt_format_ept, 3);
    assert_int_equal(pagetable_map(&pt, GIB, 4 * GIB, GIB, PT_READ), 0);
    assert_int_equal(pagetable_unmap(&pt, GIB + 0x5000, PAGE_BYTES), 0);
    assert_true(pagetable_lookup(&pt, GIB, UINT64_MAX, &run) == 4 * GIB);
    assert_int_equal(run, 0x5000);
    assert_true(pagetable_lookup(&pt, GIB + 0x5000, 1, NULL) == PADDR_NONE);
    assert_true(pagetable_lookup(&pt, GIB + 0x6000, UINT64_MAX, &run) == 4 * GIB + 0x6000);
    assert_true(run == GIB - 0x6000);
    assert_true(raw_leaf(&pt, GIB + 0x6000, &level) == (4 * GIB + 0x6000) + 0x31);
    assert_true(raw_leaf(&pt, GIB + 2 * MIB, &level) == 4 * GIB + 2 * MIB + 0xb1);
    /*
     * A hole in a table takes a small page; then the whole is unmapped and takes large ones again.
     */
    assert_int_equal(pagetable_map(&pt, GIB + 0x5000, 0x7000, PAGE_BYTES, PT_RWX), 0);
    assert_true(pagetable_lookup(&pt, GIB + 0x5001, 1, NULL) == 0x7001);
    assert_int_equal(pagetable_unmap(&pt, 0, 8 * GIB), 0);
    assert_true(pagetable_lookup(&pt, GIB, 1, NULL) == PADDR_NONE);
    assert_int_equal(pagetable_map(&pt, GIB, 4 * GIB, GIB, PT_READ), 0);
    assert_true(pagetable_lookup(&pt, GIB, UINT64_MAX, &run) == 4 * GIB);
    assert_true(run == GIB);
    finish(&pt, &host);
}

#define MODEL_PAGES 4096u /* 16 MiB around a 1 GiB border */
#define MODEL_BASE  (GIB - 8 * MIB)

static void model_check(const struct pagetable *pt, const uint64_t *model)
{
    for (unsigned page = 0; page < MODEL_PAGES; page++)
        assert_true(pagetable_lookup(pt, MODEL_BASE + page * PAGE_BYTES, 1, NULL) == model[page]);
}

/* Maps a range where the model is free, or unmaps one; aligned to 2 MiB half of the time. */
static void model_step(struct pagetable *pt, uint64_t *model)
{
    unsigned align = rand() % 2 ? 512 : 1;
    unsigned first = (unsigned)rand() % MODEL_PAGES / align * align;
    unsigned wish = (1 + (unsigned)rand() % (1024 / align)) * align;
    unsigned count = MIN(wish, MODEL_PAGES - first);
    uint64_t va = MODEL_BASE + first * PAGE_BYTES;
    uint64_t pa = 64 * GIB + ((uint64_t)rand() % 65536 / align * align) * PAGE_BYTES;
    bool taken = false;

    for (unsigned i = 0; i < count; i++)
        taken |= model[first + i] != PADDR_NONE;
    if (taken)
        assert_int_equal(pagetable_unmap(pt, va, count * PAGE_BYTES), 0);
    else
        assert_int_equal(pagetable_map(pt, va, pa, count * PAGE_BYTES, PT_RWX), 0);
    for (unsigned i = 0; i < count; i++)
        model[first + i] = taken ? PADDR_NONE : pa + i * PAGE_BYTES;
}

static void random_changes_follow_the_model(void **state)
{
    static uint64_t model[MODEL_PAGES];
    struct pagetable pt;
    struct host host;

    (void)state;
    srand(1);
    for (unsigned i = 0; i < MODEL_PAGES; i++)
        model[i] = PADDR_NONE;
    start(&pt, &host, &pt_format_npt, 3);
    for (unsigned round = 0; round < 300; round++) {
        model_step(&pt, model);
        model_check(&pt, model);
    }
    finish(&pt, &host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_have_their_bits),
        cmocka_unit_test(leaf_size_follows_alignment),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(memory_running_out_is_an_error),
        cmocka_unit_test(unmapping_splits_large_leaves),
        cmocka_unit_test(random_changes_follow_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
