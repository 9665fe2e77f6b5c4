/*
 * Which node each page of a VM comes from.
 *
 * Decides: a page belongs to the home node of its virtual node, as a large one while a large one
 * fits and is free there, else as a small one; only when the home node has nothing left is the
 * nearest node asked, in the same order of sizes. Near memory is worth more than a large page: a
 * TLB miss is rare, a remote read is not. What a page really came from, page_node_of tells.
 */
#include "hv/bits.h"
#include "mm/placement.h"

uint32_t placement_vnode_at(const struct placement *p, uint64_t offset)
{
    uint32_t i = 0;

    while (i + 1 < p->count && offset >= p->vnode[i].bytes)
        offset -= p->vnode[i++].bytes;
    return i;
}

paddr_t placement_take_page(struct page_pool *pool, const struct placement *p, uint64_t offset,
                            uint64_t left, uint32_t *order)
{
    static const uint32_t flags[] = {PAGE_EXACT_NODE, PAGE_FALLBACK};
    uint64_t large = PAGE_BYTES << PAGE_ORDER_2M;
    uint32_t node = p->vnode[placement_vnode_at(p, offset)].node;
    bool fits = left >= large && IS_ALIGNED(offset, large);

    for (uint32_t i = 0; i < ARRAY_SIZE(flags); i++) {
        paddr_t pa = PADDR_NONE;

        *order = PAGE_ORDER_2M;
        if (fits)
            pa = page_alloc(pool, *order, node, flags[i]);
        if (pa == PADDR_NONE) {
            *order = 0;
            pa = page_alloc(pool, *order, node, flags[i]);
        }
        if (pa != PADDR_NONE)
            return pa;
    }
    return PADDR_NONE;
}
