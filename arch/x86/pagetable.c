/*
 * The page-table walker, and the three formats it knows.
 *
 * Decides: which leaf size serves a piece of a range, when a table is made, when a large leaf is
 * split. Does not decide: what is mapped where, when TLBs are flushed, where tables come from.
 *
 * Invariants: a level counts from 1 (4 KiB leaves) to 4 (the root). An entry becomes present only
 * once the table below it is complete. Tables that run empty stay until pagetable_fini, so a walk
 * by another CPU never meets a freed one.
 *
 * Source: Intel SDM vol. 3, 4.5 and 29.3.2; AMD APM vol. 2, 5.3 and 15.25.
 */
#include "arch/x86/pagetable.h"

#include <errno.h>

#include "arch/x86/regs/paging.h"
#include "hv/assert.h"
#include "hv/atomic.h"
#include "hv/bits.h"

#define ROOT_LEVEL   4u
#define ADDRESS_BITS 48u

#define EPT_READ     BIT(0)
#define EPT_WRITE    BIT(1)
#define EPT_EXEC     BIT(2)
#define EPT_WB       FIELD_PREP(BITS(5, 3), 6)
#define EPT_UC       FIELD_PREP(BITS(5, 3), 0)

/*
 * Accessed and dirty are set from the start: nobody reads them, and the walker need not write them.
 */
const struct pt_format pt_format_host = {
    .present = PTE_PRESENT,
    .table = PTE_PRESENT | PTE_WRITE | PTE_USER,
    .leaf = PTE_PRESENT | PTE_ACCESSED | PTE_DIRTY,
    .rights = {{0, 0},
               {PTE_WRITE, 0},
               {0, PTE_NO_EXECUTE},
               {PTE_USER, 0},
               {PTE_GLOBAL, 0},
               {PTE_UNCACHED, 0},
               {PTE_COMBINED, 0}},
};

const struct pt_format pt_format_ept = {
    .present = EPT_READ | EPT_WRITE | EPT_EXEC,
    .table = EPT_READ | EPT_WRITE | EPT_EXEC,
    .leaf = 0,
    .rights =
        {{EPT_READ, 0}, {EPT_WRITE, 0}, {EPT_EXEC, 0}, {0, 0}, {0, 0}, {EPT_UC, EPT_WB}, {0, 0}},
};

/* A nested walk counts as a user's access, whatever the guest's ring (APM 15.25.5). */
const struct pt_format pt_format_npt = {
    .present = PTE_PRESENT,
    .table = PTE_PRESENT | PTE_WRITE | PTE_USER,
    .leaf = PTE_PRESENT | PTE_USER | PTE_ACCESSED | PTE_DIRTY,
    .rights =
        {{0, 0}, {PTE_WRITE, 0}, {0, PTE_NO_EXECUTE}, {0, 0}, {0, 0}, {PTE_UNCACHED, 0}, {0, 0}},
};

static uint64_t level_bytes(unsigned level)
{
    ASSERT(level >= 1);
    return PAGE_BYTES << (9 * (level - 1));
}

static bool is_present(const struct pagetable *pt, uint64_t entry)
{
    return entry & pt->format->present;
}

static bool is_leaf(uint64_t entry, unsigned level)
{
    return level == 1 || (entry & PTE_LARGE);
}

static uint64_t *entry_of(const struct pagetable *pt, paddr_t table, uint64_t va, unsigned level)
{
    uint64_t *entries = pt->memory->at(table);

    return &entries[va / level_bytes(level) % PT_ENTRIES];
}

/* Release pairs with the hardware's walk: the table below is complete before it can be reached. */
static void entry_set(uint64_t *entry, uint64_t value)
{
    atomic_set_release(entry, value);
}

static uint64_t leaf_bits(const struct pt_format *format, unsigned rights)
{
    uint64_t bits = format->leaf;

    for (unsigned i = 0; i < ARRAY_SIZE(format->rights); i++)
        bits |= rights & BIT(i) ? format->rights[i].with : format->rights[i].without;
    return bits;
}

static bool range_is_valid(uint64_t va, uint64_t bytes)
{
    uint64_t low = va & BITS(ADDRESS_BITS - 1, 0);

    return IS_ALIGNED(va | bytes, PAGE_BYTES) && bytes && bytes <= BIT(ADDRESS_BITS) - low;
}

int pagetable_init(struct pagetable *pt, const struct pt_format *format,
                   const struct pt_memory *memory, void *context, unsigned largest_level)
{
    *pt = (struct pagetable){
        .format = format,
        .memory = memory,
        .context = context,
        .root = memory->alloc(context),
        .largest_level = largest_level,
    };
    return pt->root == PADDR_NONE ? -ENOMEM : 0;
}

static void free_table(struct pagetable *pt, paddr_t table, unsigned level)
{
    const uint64_t *entries = pt->memory->at(table);

    for (unsigned i = 0; level > 1 && i < PT_ENTRIES; i++)
        if (is_present(pt, entries[i]) && !is_leaf(entries[i], level))
            free_table(pt, entries[i] & PTE_ADDR, level - 1);
    pt->memory->free(pt->context, table);
}

void pagetable_fini(struct pagetable *pt)
{
    if (pt->root != PADDR_NONE)
        free_table(pt, pt->root, ROOT_LEVEL);
    pt->root = PADDR_NONE;
}

/*
 * The entry for va at `level`, making tables on the way; NULL with *error set when that cannot be.
 */
static uint64_t *walk_making(struct pagetable *pt, uint64_t va, unsigned level, int *error)
{
    uint64_t *entry = entry_of(pt, pt->root, va, ROOT_LEVEL);

    for (unsigned at = ROOT_LEVEL; at > level; at--) {
        if (!is_present(pt, *entry)) {
            paddr_t table = pt->memory->alloc(pt->context);

            if (table == PADDR_NONE) {
                *error = -ENOMEM;
                return NULL;
            }
            entry_set(entry, table | pt->format->table);
        } else if (is_leaf(*entry, at)) {
            *error = -EEXIST;
            return NULL;
        }
        entry = entry_of(pt, *entry & PTE_ADDR, va, at - 1);
    }
    return entry;
}

/*
 * The lowest entry on va's path that exists: a leaf, or one not present. Its level goes to *level.
 */
static uint64_t *walk_existing(const struct pagetable *pt, uint64_t va, unsigned *level)
{
    uint64_t *entry = entry_of(pt, pt->root, va, ROOT_LEVEL);
    unsigned at = ROOT_LEVEL;

    while (is_present(pt, *entry) && !is_leaf(*entry, at)) {
        at--;
        entry = entry_of(pt, *entry & PTE_ADDR, va, at);
    }
    *level = at;
    return entry;
}

static unsigned best_level(const struct pagetable *pt, uint64_t va, paddr_t pa, uint64_t bytes)
{
    unsigned level = pt->largest_level;

    while (level > 1 && (!IS_ALIGNED(va | pa, level_bytes(level)) || bytes < level_bytes(level)))
        level--;
    return level;
}

/* One leaf at va, in the largest size that fits there. Returns its bytes, or a negative error. */
static int64_t map_leaf(struct pagetable *pt, uint64_t va, paddr_t pa, uint64_t bytes,
                        uint64_t bits)
{
    unsigned level = best_level(pt, va, pa, bytes);
    int error = 0;
    uint64_t *entry = walk_making(pt, va, level, &error);

    /* A table left from small pages, perhaps an empty one, is used rather than replaced. */
    while (entry && level > 1 && is_present(pt, *entry) && !is_leaf(*entry, level))
        entry = walk_making(pt, va, --level, &error);
    if (!entry)
        return error;
    if (is_present(pt, *entry))
        return -EEXIST;
    entry_set(entry, pa | bits | (level > 1 ? PTE_LARGE : 0));
    return (int64_t)level_bytes(level);
}

int pagetable_map(struct pagetable *pt, uint64_t va, paddr_t pa, uint64_t bytes, unsigned rights)
{
    uint64_t bits = leaf_bits(pt->format, rights);

    if (!range_is_valid(va, bytes) || (pa & ~PTE_ADDR) || !(rights & PT_READ))
        return -EINVAL;
    while (bytes) {
        int64_t done = map_leaf(pt, va, pa, bytes, bits);

        if (done < 0)
            return (int)done;
        va += (uint64_t)done;
        pa += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return 0;
}

/* Replace a large leaf by a table of the next smaller ones that map the same. */
static int split_leaf(struct pagetable *pt, uint64_t *entry, unsigned level)
{
    paddr_t table = pt->memory->alloc(pt->context);
    uint64_t below = *entry & ~(level == 2 ? PTE_LARGE : 0);
    uint64_t *entries;

    if (table == PADDR_NONE)
        return -ENOMEM;
    entries = pt->memory->at(table);
    for (unsigned i = 0; i < PT_ENTRIES; i++)
        entries[i] = below + i * level_bytes(level - 1);
    entry_set(entry, table | pt->format->table);
    return 0;
}

int pagetable_unmap(struct pagetable *pt, uint64_t va, uint64_t bytes)
{
    if (!range_is_valid(va, bytes))
        return -EINVAL;
    while (bytes) {
        unsigned level;
        uint64_t *entry = walk_existing(pt, va, &level);
        uint64_t whole = level_bytes(level);
        uint64_t step = MIN(whole - va % whole, bytes);

        if (is_present(pt, *entry) && step < whole) {
            int error = split_leaf(pt, entry, level);

            if (error)
                return error;
            continue;
        }
        if (is_present(pt, *entry))
            entry_set(entry, 0);
        va += step;
        bytes -= step;
    }
    return 0;
}

paddr_t pagetable_lookup(const struct pagetable *pt, uint64_t va, uint64_t want_bytes,
                         uint64_t *run_bytes)
{
    paddr_t first = PADDR_NONE;
    uint64_t run = 0;

    do {
        unsigned level;
        uint64_t entry = *walk_existing(pt, va + run, &level);
        uint64_t offset = (va + run) & (level_bytes(level) - 1);
        paddr_t pa = (entry & PTE_ADDR & ~(level_bytes(level) - 1)) + offset;

        if (!is_present(pt, entry) || (run && pa != first + run))
            break;
        if (!run)
            first = pa;
        run += level_bytes(level) - offset;
    } while (run < want_bytes);
    if (run_bytes)
        *run_bytes = run;
    return first;
}
