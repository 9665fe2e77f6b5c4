/*
 * Physical pages: a buddy allocator for every NUMA node, falling back by distance.
 *
 * A pool is made of ranges: stretches of page numbers of one node, each with an array of struct
 * page in memory that the caller places (best on the node itself). A node may have several ranges
 * and they may interleave with other nodes'. Nothing is free at first; page_add_free hands in what
 * the memory map allows, and a page never handed in is never given out.
 *
 * Blocks are 2^order pages, order 0..PAGE_ORDER_MAX (4 KiB to 1 GiB), aligned to their size, and go
 * back in the size they came in; buddies join as far as the range lets them. Each operation is
 * O(PAGE_ORDER_MAX + ranges of the node). Page contents are never touched.
 *
 * Freeing what is not an allocated block of that order (twice, foreign, wrong order) is an ASSERT.
 */
#ifndef MM_PAGE_H
#define MM_PAGE_H

#include "hv/lock.h"
#include "hv/types.h"

#define PAGE_ORDER_MAX 18u /* 1 GiB */
#define PAGE_ORDER_2M  9u
#define PAGE_ORDERS    (PAGE_ORDER_MAX + 1)

enum {
    PAGE_EXACT_NODE = 0,    /* this node or nothing */
    PAGE_FALLBACK = 1 << 0, /* else the next in the node's order */
};

/* One page frame. Only a block's first page says anything. [N] the node's lock. */
struct page {
    uint32_t next; /* [N] in a free list: offset within the range of the neighbours */
    uint32_t prev; /* [N] */
    uint8_t state; /* [N] enum page_state of page.c; 0: no block begins here */
    uint8_t order; /* [N] of the block that begins here */
    uint16_t pad;
};

_Static_assert(sizeof(struct page) == 12, "page metadata is 0.3 % of memory");

struct page_range {
    pfn_t base_pfn;              /* [i] */
    uint64_t npages;             /* [i] 1..2^32-2 */
    uint32_t node;               /* [i] */
    uint32_t next;               /* [i] next range of the node, or UINT32_MAX */
    struct page *pages;          /* [i] page_metadata_bytes(npages) of memory */
    uint64_t managed;            /* [N] pages ever handed in */
    uint32_t orders;             /* [N] bit o: heads[o] is not empty */
    uint32_t heads[PAGE_ORDERS]; /* [N] free lists */
};

struct page_node {
    struct spinlock lock;
    uint32_t first_range; /* [i] or UINT32_MAX */
    uint64_t managed;     /* [a] pages; written under the lock */
    uint64_t free;        /* [a] pages; written under the lock */
    uint64_t taken;       /* [N] pages given out; with `free` it makes `managed` */
};

struct page_pool {
    struct page_range *ranges; /* [i] ascending base_pfn, without overlap */
    uint32_t nranges;          /* [i] */
    uint32_t nnodes;           /* [i] */
    const uint8_t *fallback;   /* [i] nnodes rows of nnodes: nodes from near to far, itself first */
    struct page_node nodes[NODES_MAX];
};

/* Bytes of struct page that a range of that many pages needs. */
uint64_t page_metadata_bytes(uint64_t npages);

/*
 * Set up an empty pool over ranges[], of which base_pfn, npages, node and pages are filled in. The
 * arrays stay in use. -EINVAL: out of order, overlapping, empty, a bad node or a bad fallback row.
 */
int page_init(struct page_pool *pool, struct page_range ranges[], uint32_t nranges, uint32_t nnodes,
              const uint8_t fallback[]) __attribute__((warn_unused_result));

/*
 * Hand in free memory, whole pages inside [base, base + bytes). Parts outside every range are left
 * out. Returns the bytes taken in. No page may be handed in twice.
 */
uint64_t page_add_free(struct page_pool *pool, paddr_t base, uint64_t bytes);

/* 2^order pages of `node`, or PADDR_NONE. Contents are whatever was there. */
paddr_t page_alloc(struct page_pool *pool, uint32_t order, uint32_t node, uint32_t flags)
    __attribute__((warn_unused_result));

void page_free(struct page_pool *pool, paddr_t base, uint32_t order);

/* The node whose range holds the address, or UINT32_MAX. */
uint32_t page_node_of(const struct page_pool *pool, paddr_t paddr);

/* Bytes of the node free now, and bytes it was ever handed. */
uint64_t page_free_bytes(const struct page_pool *pool, uint32_t node);
uint64_t page_managed_bytes(const struct page_pool *pool, uint32_t node);

/* A node's account at one moment, each counted for itself: free + taken == managed. */
struct page_usage {
    uint64_t managed_bytes;
    uint64_t free_bytes;
    uint64_t taken_bytes;
};

void page_usage(struct page_pool *pool, uint32_t node, struct page_usage *usage);

/* Recompute what the lists hold and ASSERT that it equals the counts: debug builds and tests. */
void page_check(struct page_pool *pool, uint32_t node);

#endif
