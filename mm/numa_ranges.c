/*
 * Memory ranges of the nodes.
 *
 * Decides who owns which physical addresses: an enabled, volatile SRAT entry owns its range; where
 * two domains claim the same bytes the lower number keeps them; a hot-plug range counts only where
 * the memory map has RAM (Hyper-V flags all of its RAM so); RAM that no entry names goes to the
 * node of the nearest range that one names. Ranges of different nodes may interleave in any way.
 * Invariants: ranges are sorted, not empty, without overlap, neighbours of one node merged; after
 * the build every byte of RAM in the map lies in a range. When the table is full a range is
 * stretched over the hole between instead, which takes no RAM of another node. Source of the rules:
 * ACPI 6.4 section 5.2.16.2 and the tables in the field.
 */
#include <string.h>

#include "mm/numa_impl.h"

/* In range.node during the build: RAM without an entry, which draws no other to its node. */
#define NODE_ADOPTED ((uint32_t)BIT(31))

void pxm_add(struct pxm_set *set, uint32_t pxm)
{
    uint32_t at = 0;

    while (at < set->count && set->pxm[at] < pxm)
        at++;
    if (at < set->count && set->pxm[at] == pxm)
        return;
    if (set->count == NODES_MAX) {
        set->refused++;
        return;
    }
    memmove(&set->pxm[at + 1], &set->pxm[at], (set->count - at) * sizeof(set->pxm[0]));
    set->pxm[at] = pxm;
    set->count++;
}

uint32_t pxm_find(const struct pxm_set *set, uint32_t pxm)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->pxm[i] == pxm)
            return i;
    return NUMA_NODE_NONE;
}

bool numa_ram_extent(const struct numa *numa, const struct memmap *map, uint32_t i, paddr_t *base,
                     paddr_t *end)
{
    if (!map) {
        if (i >= numa->nranges)
            return false;
        *base = numa->range[i].base;
        *end = numa->range[i].end;
        return true;
    }
    if (i >= map->count)
        return false;
    *base = map->ranges[i].base;
    *end = *base + (mem_type_is_ram(map->ranges[i].type) ? map->ranges[i].length : 0);
    return true;
}

/* RAM of the map in [base, end). */
static uint64_t map_ram(const struct memmap *map, paddr_t base, paddr_t end)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < map->count; i++) {
        const struct mem_range *r = &map->ranges[i];
        paddr_t low = MAX(base, r->base), high = MIN(end, r->base + r->length);

        if (mem_type_is_ram(r->type) && low < high)
            sum += high - low;
    }
    return sum;
}

static paddr_t entry_end(const struct srat_mem *mem)
{
    paddr_t end = mem->base + mem->length;

    return end < mem->base ? UINT64_MAX : end;
}

static bool entry_counts(const struct srat_mem *mem)
{
    return (mem->flags & SRAT_ENABLED) && !(mem->flags & SRAT_MEM_NONVOLATILE) && mem->length;
}

uint64_t numa_entry_ram(const struct srat_mem *mem, const struct memmap *map)
{
    if (!entry_counts(mem))
        return 0;
    return map ? map_ram(map, mem->base, entry_end(mem)) : mem->length;
}

/* The first range that ends above `pa`, or nranges. */
static uint32_t range_from(const struct numa *numa, paddr_t pa)
{
    uint32_t low = 0, high = numa->nranges;

    while (low < high) {
        uint32_t mid = (low + high) / 2;

        if (numa->range[mid].end > pa)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static void range_remove(struct numa *numa, uint32_t i)
{
    memmove(&numa->range[i], &numa->range[i + 1], (numa->nranges - i - 1) * sizeof(numa->range[0]));
    numa->nranges--;
}

static void merge_with_next(struct numa *numa, uint32_t i)
{
    struct numa_range *r = &numa->range[i];

    if (i + 1 >= numa->nranges || r[1].node != r->node || r[1].base != r->end)
        return;
    r->end = r[1].end;
    range_remove(numa, i + 1);
}

/*
 * Inserts [base, end), which overlaps nothing, at place i. False: no room and no neighbour to join.
 */
static bool range_insert(struct numa *numa, uint32_t i, paddr_t base, paddr_t end, uint32_t node)
{
    struct numa_range *r = &numa->range[i];

    if (i > 0 && r[-1].node == node && r[-1].end == base) {
        r[-1].end = end;
        merge_with_next(numa, i - 1);
        return true;
    }
    if (i < numa->nranges && r->node == node && r->base == end) {
        r->base = base;
        return true;
    }
    if (numa->nranges == NUMA_RANGES_MAX)
        return false;
    memmove(r + 1, r, (numa->nranges - i) * sizeof(*r));
    *r = (struct numa_range){.base = base, .end = end, .node = node};
    numa->nranges++;
    return true;
}

/* What came of the entries, told in one line each at the end. */
struct range_faults {
    uint32_t overlaps;
    uint32_t no_room;
    paddr_t overlap_at;
    uint64_t homeless_bytes; /* RAM without an entry */
    paddr_t homeless_at;
};

/* Gives `node` what nobody has yet of [base, end). */
static void range_claim(struct numa *numa, paddr_t base, paddr_t end, uint32_t node,
                        struct range_faults *faults)
{
    while (base < end) {
        uint32_t i = range_from(numa, base);
        paddr_t stop = i < numa->nranges ? MIN(end, numa->range[i].base) : end;

        if (base < stop) {
            if (!range_insert(numa, i, base, stop, node))
                faults->no_room++;
            base = stop;
            continue;
        }
        if (numa->range[i].node != node && faults->overlaps++ == 0)
            faults->overlap_at = base;
        base = numa->range[i].end;
    }
}

static void entry_claim(struct numa *numa, const struct srat_mem *mem, const struct memmap *map,
                        uint32_t node, struct range_faults *faults)
{
    paddr_t end = entry_end(mem), low, high;

    if (!map || !(mem->flags & SRAT_MEM_HOTPLUG)) {
        range_claim(numa, mem->base, end, node, faults);
        return;
    }
    for (uint32_t i = 0; numa_ram_extent(numa, map, i, &low, &high); i++) {
        low = MAX(low, mem->base);
        high = MIN(high, end);
        if (low < high)
            range_claim(numa, low, high, node, faults);
    }
}

/*
 * Node of the range of firmware's that is nearest to the hole [base, end), the lower of two; `i` is
 * the first range above. Holes are met in ascending order, so only below are there adopted ones.
 */
static uint32_t nearest_node(const struct numa *numa, uint32_t i, paddr_t base, paddr_t end)
{
    const struct numa_range *above = i < numa->nranges ? &numa->range[i] : NULL, *below;

    while (i > 0 && (numa->range[i - 1].node & NODE_ADOPTED))
        i--;
    if (i == 0)
        return above ? above->node : 0;
    below = &numa->range[i - 1];
    return !above || base - below->end <= above->base - end ? below->node : above->node;
}

static void adopt_hole(struct numa *numa, uint32_t i, paddr_t base, paddr_t end,
                       struct range_faults *faults)
{
    uint32_t node = nearest_node(numa, i, base, end);

    if (faults->homeless_bytes == 0)
        faults->homeless_at = base;
    faults->homeless_bytes += end - base;
    if (range_insert(numa, i, base, end, node | NODE_ADOPTED))
        return;
    if (i > 0)
        numa->range[i - 1].end = end;
    else
        numa->range[i].base = base;
}

/* Adopted ranges become ranges like the others. */
static void settle_adopted(struct numa *numa)
{
    for (uint32_t i = 0; i < numa->nranges; i++)
        numa->range[i].node &= ~NODE_ADOPTED;
    for (uint32_t i = numa->nranges; i-- > 0;)
        merge_with_next(numa, i);
}

/* RAM of the map that lies in no range. */
static void adopt_homeless(struct numa *numa, const struct memmap *map, struct range_faults *faults)
{
    paddr_t base, end;

    for (uint32_t k = 0; numa_ram_extent(numa, map, k, &base, &end); k++) {
        while (base < end) {
            uint32_t i = range_from(numa, base);
            paddr_t stop = i < numa->nranges ? MIN(end, numa->range[i].base) : end;

            if (base < stop) {
                adopt_hole(numa, i, base, stop, faults);
                base = stop;
            } else {
                base = numa->range[i].end;
            }
        }
    }
}

void numa_ranges_build(struct numa *numa, const struct numa_input *in, const struct pxm_set *set,
                       struct fw_warnings *w)
{
    struct range_faults faults = {0};

    /*
     * Ascending domains, so that of two claims the lower number's comes first and keeps the bytes.
     */
    for (uint32_t node = 0; node < set->count; node++) {
        for (uint32_t i = 0; i < in->srat->nmem; i++) {
            const struct srat_mem *mem = &in->srat->mem[i];

            if (entry_counts(mem) && mem->pxm == set->pxm[node])
                entry_claim(numa, mem, in->map, node, &faults);
        }
    }
    if (in->map)
        adopt_homeless(numa, in->map, &faults);
    settle_adopted(numa);
    if (faults.overlaps)
        numa_warn(w, "SRAT: ranges of two domains overlap at 0x%lx; the lower domain keeps it",
                  faults.overlap_at);
    if (faults.no_room)
        numa_warn(w, "SRAT: more than %u memory ranges; %u left out", NUMA_RANGES_MAX,
                  faults.no_room);
    if (faults.homeless_bytes)
        numa_warn(w,
                  "SRAT: 0x%lx bytes of RAM from 0x%lx on have no entry; given to the nearest node",
                  faults.homeless_bytes, faults.homeless_at);
}

void numa_count_ram(struct numa *numa, const struct memmap *map)
{
    for (uint32_t n = 0; n < numa->nnodes; n++)
        numa->node[n].ram_bytes = 0;
    for (uint32_t i = 0; i < numa->nranges; i++) {
        const struct numa_range *r = &numa->range[i];

        numa->node[r->node].ram_bytes += map ? map_ram(map, r->base, r->end) : r->end - r->base;
    }
}

uint32_t numa_node_of(const struct numa *numa, paddr_t pa, paddr_t *end)
{
    uint32_t i = range_from(numa, pa);

    if (i == numa->nranges) {
        *end = UINT64_MAX;
        return NUMA_NODE_NONE;
    }
    if (numa->range[i].base > pa) {
        *end = numa->range[i].base;
        return NUMA_NODE_NONE;
    }
    *end = numa->range[i].end;
    return numa->range[i].node;
}
