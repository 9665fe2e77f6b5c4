/*
 * Instructions of the page allocator: one node, one range of 2 GiB.
 *
 * Decides the states in which an operation is counted: a page of the wanted size lies on its list
 * (hit), or only a whole GiB is free and must be halved all the way down (split); a page goes back
 * alone (plain), or is the last that its GiB lacks and joins all the way up (join). These are the
 * least and the most that one operation can cost in a node of one range.
 */
#include "hv/bits.h"
#include "mm/page.h"
#include "tests/bench/bench.h"

#define RANGE_PAGES (1u << (PAGE_ORDER_MAX + 1))

static struct page_pool pool;
static struct page_range range = {.base_pfn = 0, .npages = RANGE_PAGES, .node = 0};
static const uint8_t fallback[] = {0};

static paddr_t take(uint32_t order)
{
    return page_alloc(&pool, order, 0, PAGE_EXACT_NODE);
}

/* Whole GiBs alone are free before and after. */
static void bench_pages(void)
{
    paddr_t first, second;

    BENCH(alloc_4k_split, first = take(0));
    BENCH(alloc_4k_hit, second = take(0));
    BENCH_EXPECT(second == (first ^ PAGE_BYTES));
    BENCH(free_4k, page_free(&pool, second, 0));
    BENCH(free_4k_join, page_free(&pool, first, 0));
}

static void bench_large_pages(void)
{
    paddr_t first, second;

    BENCH(alloc_2m_split, first = take(PAGE_ORDER_2M));
    BENCH(alloc_2m_hit, second = take(PAGE_ORDER_2M));
    BENCH_EXPECT(second == (first ^ (PAGE_BYTES << PAGE_ORDER_2M)));
    BENCH(free_2m, page_free(&pool, second, PAGE_ORDER_2M));
    BENCH(free_2m_join, page_free(&pool, first, PAGE_ORDER_2M));
}

int main(void)
{
    range.pages = calloc(1, page_metadata_bytes(RANGE_PAGES));
    BENCH_EXPECT(range.pages && page_init(&pool, &range, 1, 1, fallback) == 0);
    page_add_free(&pool, 0, (uint64_t)RANGE_PAGES << PAGE_SHIFT);
    BENCH_NOTHING();
    bench_pages();
    bench_large_pages();
    page_check(&pool, 0);
    BENCH_EXPECT(page_free_bytes(&pool, 0) == (uint64_t)RANGE_PAGES << PAGE_SHIFT);
    BENCH_EXPECT(range.orders == BIT(PAGE_ORDER_MAX));
    return 0;
}
