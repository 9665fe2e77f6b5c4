/*
 * The buddy allocator of page.h.
 *
 * Free lists are kept by range, since a block and its buddy always lie in one range and links can
 * then be 32-bit offsets: 12 bytes of metadata a page. A node's ranges are tried in turn; each has
 * a word that tells which orders it can serve. Only the first page of a block carries a state, so
 * handing in or splitting a gigabyte touches a few words.
 *
 * Invariants, under the node's lock: a FREE head of order o is on heads[o] of its range, and its
 * buddy is not a FREE head of the same order; node->free is the sum over all lists, and with
 * node->taken it makes node->managed; bit o of orders says whether heads[o] is empty.
 */
#include "mm/page.h"

#include <errno.h>
#include <string.h>

#include "hv/atomic.h"
#include "hv/bits.h"

enum page_state {
    PAGE_INSIDE, /* no block begins here: inside one, or never handed in */
    PAGE_FREE,
    PAGE_TAKEN,
};

#define LINK_NONE  UINT32_MAX
#define RANGE_NONE UINT32_MAX
#define NODE_NONE  UINT32_MAX

static uint64_t order_pages(uint32_t order)
{
    return 1ull << order;
}

uint64_t page_metadata_bytes(uint64_t npages)
{
    return npages * sizeof(struct page);
}

/* ---- free lists of one range ---- */

static void list_push(struct page_range *range, uint32_t at, uint32_t order)
{
    struct page *page = &range->pages[at];
    uint32_t head = range->heads[order];

    page->state = PAGE_FREE;
    page->order = (uint8_t)order;
    page->prev = LINK_NONE;
    page->next = head;
    if (head != LINK_NONE)
        range->pages[head].prev = at;
    range->heads[order] = at;
    range->orders |= 1u << order;
}

static void list_remove(struct page_range *range, uint32_t at)
{
    struct page *page = &range->pages[at];
    uint32_t order = page->order;

    if (page->prev == LINK_NONE)
        range->heads[order] = page->next;
    else
        range->pages[page->prev].next = page->next;
    if (page->next != LINK_NONE)
        range->pages[page->next].prev = page->prev;
    if (range->heads[order] == LINK_NONE)
        range->orders &= ~(1u << order);
    page->state = PAGE_INSIDE;
}

/* ---- blocks of one range; pages are named by their offset in it ---- */

/* The buddy's offset, or LINK_NONE when it does not lie whole within the range. */
static uint32_t block_buddy(const struct page_range *range, uint32_t at, uint32_t order)
{
    pfn_t buddy = (range->base_pfn + at) ^ order_pages(order);

    if (buddy < range->base_pfn || buddy - range->base_pfn + order_pages(order) > range->npages)
        return LINK_NONE;
    return (uint32_t)(buddy - range->base_pfn);
}

/* Give a block back, joined with its buddies as far up as they are free. */
static void block_release(struct page_range *range, uint32_t at, uint32_t order)
{
    while (order < PAGE_ORDER_MAX) {
        uint32_t buddy = block_buddy(range, at, order);

        if (buddy == LINK_NONE || range->pages[buddy].state != PAGE_FREE ||
            range->pages[buddy].order != order)
            break;
        list_remove(range, buddy);
        range->pages[at].state = PAGE_INSIDE;
        at = MIN(at, buddy);
        order++;
    }
    list_push(range, at, order);
}

/* Take the smallest block that serves and put the upper halves back. LINK_NONE: none is left. */
static uint32_t block_take(struct page_range *range, uint32_t order)
{
    uint32_t fit = range->orders >> order << order;
    uint32_t have, at;

    if (!fit)
        return LINK_NONE;
    have = (uint32_t)__builtin_ctz(fit);
    at = range->heads[have];
    list_remove(range, at);
    while (have > order) {
        have--;
        list_push(range, at + (uint32_t)order_pages(have), have);
    }
    range->pages[at].state = PAGE_TAKEN;
    range->pages[at].order = (uint8_t)order;
    return at;
}

/* ---- the pool ---- */

/* The last range that begins at or below pfn and holds it, or NULL. */
static struct page_range *range_of(const struct page_pool *pool, pfn_t pfn)
{
    uint32_t low = 0, high = pool->nranges;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (pool->ranges[mid].base_pfn <= pfn)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low || pfn - pool->ranges[low - 1].base_pfn >= pool->ranges[low - 1].npages)
        return NULL;
    return &pool->ranges[low - 1];
}

static int ranges_check(const struct page_range ranges[], uint32_t nranges, uint32_t nnodes)
{
    pfn_t end = 0;

    for (uint32_t i = 0; i < nranges; i++) {
        const struct page_range *r = &ranges[i];

        if (r->node >= nnodes || !r->npages || r->npages >= LINK_NONE || !r->pages ||
            r->base_pfn < end || r->base_pfn > (UINT64_MAX >> PAGE_SHIFT) - r->npages)
            return -EINVAL;
        end = r->base_pfn + r->npages;
    }
    return 0;
}

/* Every row of the fallback order begins with its node and names each node once. */
static int fallback_check(const uint8_t fallback[], uint32_t nnodes)
{
    for (uint32_t node = 0; node < nnodes; node++) {
        uint64_t seen = 0;

        for (uint32_t i = 0; i < nnodes; i++) {
            uint32_t other = fallback[node * nnodes + i];

            if (other >= nnodes || (seen & BIT(other)) || (!i && other != node))
                return -EINVAL;
            seen |= BIT(other);
        }
    }
    return 0;
}

int page_init(struct page_pool *pool, struct page_range ranges[], uint32_t nranges, uint32_t nnodes,
              const uint8_t fallback[])
{
    if (!nnodes || nnodes > NODES_MAX || ranges_check(ranges, nranges, nnodes) ||
        fallback_check(fallback, nnodes))
        return -EINVAL;

    pool->ranges = ranges;
    pool->nranges = nranges;
    pool->nnodes = nnodes;
    pool->fallback = fallback;
    for (uint32_t node = 0; node < nnodes; node++) {
        struct page_node *n = &pool->nodes[node];

        spin_init(&n->lock, LOCK_NODE);
        n->first_range = RANGE_NONE;
        n->managed = n->free = n->taken = 0;
    }
    /* From the top down, so that a node's list goes up and low memory is used first. */
    for (uint32_t i = nranges; i-- > 0;) {
        struct page_range *r = &ranges[i];

        memset(r->pages, 0, page_metadata_bytes(r->npages));
        memset(r->heads, 0xff, sizeof(r->heads));
        r->managed = 0;
        r->orders = 0;
        r->next = pool->nodes[r->node].first_range;
        pool->nodes[r->node].first_range = i;
    }
    return 0;
}

/* Counters are read without the lock by listings; the lock orders the writers. */
static void count_add(uint64_t *count, uint64_t pages)
{
    atomic_set(count, *count + pages);
}

/* Hand in pages [at, at + n) of a range as the largest aligned blocks. The node is locked. */
static void range_add(struct page_node *node, struct page_range *range, uint64_t at, uint64_t n)
{
    ASSERT(range->managed + n <= range->npages);
    range->managed += n;
    count_add(&node->managed, n);
    count_add(&node->free, n);
    while (n) {
        pfn_t pfn = range->base_pfn + at;
        uint32_t fit = 63u - (uint32_t)__builtin_clzll(n);
        uint32_t aligned = pfn ? (uint32_t)__builtin_ctzll(pfn) : PAGE_ORDER_MAX;
        uint32_t order = MIN(MIN(fit, aligned), PAGE_ORDER_MAX);

        ASSERT(range->pages[at].state == PAGE_INSIDE);
        block_release(range, (uint32_t)at, order);
        at += order_pages(order);
        n -= order_pages(order);
    }
}

uint64_t page_add_free(struct page_pool *pool, paddr_t base, uint64_t bytes)
{
    pfn_t first = (base >> PAGE_SHIFT) + ((base & (PAGE_BYTES - 1)) != 0);
    pfn_t end = (base + bytes) >> PAGE_SHIFT;
    uint64_t taken = 0;

    ASSERT(base + bytes >= base);
    for (uint32_t i = 0; i < pool->nranges; i++) {
        struct page_range *range = &pool->ranges[i];
        struct page_node *node = &pool->nodes[range->node];
        pfn_t from = MAX(first, range->base_pfn);
        pfn_t to = MIN(end, range->base_pfn + range->npages);

        if (from >= to)
            continue;
        spin_lock(&node->lock);
        range_add(node, range, from - range->base_pfn, to - from);
        spin_unlock(&node->lock);
        taken += (to - from) << PAGE_SHIFT;
    }
    return taken;
}

static paddr_t node_take(struct page_pool *pool, struct page_node *node, uint32_t order)
    MUST_HOLD(node->lock)
{
    for (uint32_t i = node->first_range; i != RANGE_NONE; i = pool->ranges[i].next) {
        struct page_range *range = &pool->ranges[i];
        uint32_t at = block_take(range, order);

        if (at != LINK_NONE) {
            atomic_set(&node->free, node->free - order_pages(order));
            node->taken += order_pages(order);
            return (range->base_pfn + at) << PAGE_SHIFT;
        }
    }
    return PADDR_NONE;
}

paddr_t page_alloc(struct page_pool *pool, uint32_t order, uint32_t node, uint32_t flags)
{
    uint32_t tries = flags & PAGE_FALLBACK ? pool->nnodes : 1;

    ASSERT(order <= PAGE_ORDER_MAX && node < pool->nnodes);
    for (uint32_t i = 0; i < tries; i++) {
        struct page_node *n = &pool->nodes[pool->fallback[node * pool->nnodes + i]];
        paddr_t base;

        spin_lock(&n->lock);
        base = node_take(pool, n, order);
        spin_unlock(&n->lock);
        if (base != PADDR_NONE)
            return base;
    }
    return PADDR_NONE;
}

void page_free(struct page_pool *pool, paddr_t base, uint32_t order)
{
    struct page_range *range = range_of(pool, base >> PAGE_SHIFT);
    struct page_node *node;
    uint32_t at;

    ASSERT(range && IS_ALIGNED(base, PAGE_BYTES));
    node = &pool->nodes[range->node];
    at = (uint32_t)((base >> PAGE_SHIFT) - range->base_pfn);
    spin_lock(&node->lock);
    ASSERT(range->pages[at].state == PAGE_TAKEN && range->pages[at].order == order);
    block_release(range, at, order);
    count_add(&node->free, order_pages(order));
    node->taken -= order_pages(order);
    spin_unlock(&node->lock);
}

uint32_t page_node_of(const struct page_pool *pool, paddr_t paddr)
{
    const struct page_range *range = range_of(pool, paddr >> PAGE_SHIFT);

    return range ? range->node : NODE_NONE;
}

uint64_t page_free_bytes(const struct page_pool *pool, uint32_t node)
{
    return atomic_get(&pool->nodes[node].free) << PAGE_SHIFT;
}

uint64_t page_managed_bytes(const struct page_pool *pool, uint32_t node)
{
    return atomic_get(&pool->nodes[node].managed) << PAGE_SHIFT;
}

void page_usage(struct page_pool *pool, uint32_t node, struct page_usage *usage)
{
    struct page_node *n = &pool->nodes[node];

    spin_lock(&n->lock);
    *usage = (struct page_usage){n->managed << PAGE_SHIFT, n->free << PAGE_SHIFT,
                                 n->taken << PAGE_SHIFT};
    spin_unlock(&n->lock);
}

/* Walk one range's lists; returns the free pages on them. */
static uint64_t range_check(const struct page_range *range)
{
    uint64_t free_pages = 0;

    for (uint32_t order = 0; order < PAGE_ORDERS; order++) {
        uint32_t prev = LINK_NONE;

        ASSERT((range->heads[order] != LINK_NONE) == (range->orders >> order & 1));
        for (uint32_t at = range->heads[order]; at != LINK_NONE; at = range->pages[at].next) {
            const struct page *page = &range->pages[at];
            uint32_t buddy = order < PAGE_ORDER_MAX ? block_buddy(range, at, order) : LINK_NONE;

            ASSERT(page->state == PAGE_FREE && page->order == order && page->prev == prev);
            ASSERT(IS_ALIGNED(range->base_pfn + at, order_pages(order)));
            ASSERT(buddy == LINK_NONE || range->pages[buddy].state != PAGE_FREE ||
                   range->pages[buddy].order != order);
            free_pages += order_pages(order);
            prev = at;
        }
    }
    return free_pages;
}

void page_check(struct page_pool *pool, uint32_t node)
{
    struct page_node *n = &pool->nodes[node];
    uint64_t free_pages = 0;

    spin_lock(&n->lock);
    for (uint32_t i = n->first_range; i != RANGE_NONE; i = pool->ranges[i].next)
        free_pages += range_check(&pool->ranges[i]);
    ASSERT(free_pages == n->free && n->free + n->taken == n->managed);
    spin_unlock(&n->lock);
}
