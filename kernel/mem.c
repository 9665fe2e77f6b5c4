/*
 * The kernel's memory: the page allocator over the machine's RAM, and pages from it.
 *
 * Decides: which stretches of RAM the allocator manages (those of the memory map, cut at node
 * borders), where its metadata lies (at the top of the stretch it describes, so on its own node),
 * and the order of fallback (by distance, then by number). Does not decide who gets what.
 * Invariant: only RAM that nobody has claimed is handed in.
 */
#include "kernel/mem.h"

#include <string.h>

#include "boot/memmap.h"
#include "hv/assert.h"
#include "hv/bits.h"
#include "hv/sort.h"
#include "kernel/arch.h"
#include "kernel/bringup.h"
#include "kernel/machine.h"
#include "kernel/mem_init.h"
#include "kernel/printk.h"
#include "mm/page.h"

#define PAGE_RANGES_MAX 512u

struct page_pool page_pool;

static struct page_range ranges[PAGE_RANGES_MAX];
static uint32_t nranges;
static uint8_t fallback[NODES_MAX * NODES_MAX];

/* Nodes by distance from each node. A key is distance over number; the node itself comes first. */
static void fallback_fill(const struct numa *numa)
{
    uint64_t keys[NODES_MAX];

    for (uint32_t from = 0; from < numa->nnodes; from++) {
        for (uint32_t to = 0; to < numa->nnodes; to++)
            keys[to] =
                (from == to ? 0 : (uint64_t)numa_distance(numa, from, to) + 1) * NODES_MAX + to;
        sort_u64(keys, numa->nnodes);
        for (uint32_t i = 0; i < numa->nnodes; i++)
            fallback[from * numa->nnodes + i] = (uint8_t)(keys[i] % NODES_MAX);
    }
}

static void range_add(paddr_t base, paddr_t end, uint32_t node)
{
    if (nranges == PAGE_RANGES_MAX) {
        pr_warn("RAM at 0x%lx left unused: more than %u stretches", base, PAGE_RANGES_MAX);
        return;
    }
    ranges[nranges++] = (struct page_range){
        .base_pfn = base >> PAGE_SHIFT,
        .npages = (end - base) >> PAGE_SHIFT,
        .node = node,
    };
}

/* Splits one run of RAM at node borders. RAM outside of every node is left unused. */
static void ranges_add_run(const struct numa *numa, paddr_t base, paddr_t end)
{
    while (base < end) {
        paddr_t stop;
        uint32_t node = numa_node_of(numa, base, &stop);

        stop = MIN(ALIGN_DOWN(stop, PAGE_BYTES), end);
        if (stop <= base)
            stop = base + PAGE_BYTES; /* a border inside a page: the page belongs to its start */
        if (node != NUMA_NODE_NONE)
            range_add(base, stop, node);
        base = stop;
    }
}

static void ranges_fill(const struct memmap *map, const struct numa *numa)
{
    for (uint32_t i = 0; i < map->count;) {
        paddr_t base = map->ranges[i].base, end = base;

        while (i < map->count && map->ranges[i].base == end && mem_type_is_ram(map->ranges[i].type))
            end += map->ranges[i++].length;
        if (end == base)
            i++;
        else if (base < arch_ram_limit())
            ranges_add_run(numa, base, MIN(end, arch_ram_limit()));
    }
}

/* On the stretch itself; where it is too full, anywhere. */
static void metadata_place(struct memmap *map, struct page_range *range)
{
    uint64_t bytes = ALIGN_UP(page_metadata_bytes(range->npages), PAGE_BYTES);
    paddr_t base = range->base_pfn << PAGE_SHIFT;
    paddr_t pa = memmap_take(map, bytes, PAGE_BYTES, base, base + (range->npages << PAGE_SHIFT),
                             MEM_CLAIM_EARLY);

    if (pa == PADDR_NONE)
        pa = memmap_take(map, bytes, PAGE_BYTES, MIB, arch_ram_limit(), MEM_CLAIM_EARLY);
    if (pa == PADDR_NONE)
        panic("no memory for the page allocator's %lu bytes", bytes);
    range->pages = phys_to_virt(pa);
}

void mem_init(void)
{
    struct memmap *map = &machine.map;

    fallback_fill(&machine.numa);
    ranges_fill(map, &machine.numa);
    for (uint32_t i = 0; i < nranges; i++)
        metadata_place(map, &ranges[i]);
    if (page_init(&page_pool, ranges, nranges, machine.numa.nnodes, fallback))
        panic("the memory map contradicts itself");
    for (uint32_t i = 0; i < map->count; i++) {
        if (map->ranges[i].type == MEM_RAM)
            page_add_free(&page_pool, map->ranges[i].base, map->ranges[i].length);
    }
    arch_memory_from_allocator();
}

paddr_t mem_alloc_pages(uint32_t order, uint32_t node)
{
    return page_alloc(&page_pool, order, node, PAGE_FALLBACK);
}

void mem_free_pages(paddr_t pa, uint32_t order)
{
    page_free(&page_pool, pa, order);
}

static uint32_t order_of(size_t bytes)
{
    uint64_t pages = (bytes + PAGE_BYTES - 1) >> PAGE_SHIFT;

    return pages <= 1 ? 0 : 64u - (uint32_t)__builtin_clzll(pages - 1);
}

void *mem_zalloc(size_t bytes, uint32_t node)
{
    uint32_t order = order_of(bytes);
    paddr_t pa = order > PAGE_ORDER_MAX ? PADDR_NONE : mem_alloc_pages(order, node);

    if (pa == PADDR_NONE)
        return NULL;
    return memset(phys_to_virt(pa), 0, ALIGN_UP(bytes, PAGE_BYTES));
}

void mem_free(void *p, size_t bytes)
{
    if (p)
        mem_free_pages(virt_to_phys(p), order_of(bytes));
}
