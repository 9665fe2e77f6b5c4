/*
 * One four-level page table in any of the three formats an x86 machine walks: the host's own, EPT,
 * NPT.
 *
 * Pure: memory for tables comes through callbacks, so the same code runs in hosted tests. The
 * caller serialises changes to one table and does the TLB invalidation; walks by the hardware may
 * go on at any time, since every change is a single 8-byte store of a complete entry.
 */
#ifndef ARCH_X86_PAGETABLE_H
#define ARCH_X86_PAGETABLE_H

#include "hv/types.h"

enum pt_right {
    PT_READ = 1u << 0,
    PT_WRITE = 1u << 1,
    PT_EXEC = 1u << 2,
    PT_USER = 1u << 3,           /* host only: ring 3 may use it */
    PT_GLOBAL = 1u << 4,         /* host only: survives a CR3 load */
    PT_UNCACHED = 1u << 5,       /* else write-back */
    PT_WRITE_COMBINED = 1u << 6, /* host only, and not with PT_UNCACHED */
};

#define PT_RWX (PT_READ | PT_WRITE | PT_EXEC)

/*
 * What an entry's bits mean. Bits 51:12 are the address and bit 7 marks a large leaf in all three.
 */
struct pt_format {
    uint64_t present; /* an entry with any of these set is in use */
    uint64_t table;   /* bits of an entry that names a lower table */
    uint64_t leaf;    /* bits of every leaf */
    struct {
        uint64_t with;    /* added to a leaf that has the right */
        uint64_t without; /* added to a leaf that lacks it */
    } rights[7];          /* in the order of enum pt_right */
};

extern const struct pt_format pt_format_host;
extern const struct pt_format pt_format_ept;
extern const struct pt_format pt_format_npt;

struct pt_memory {
    paddr_t (*alloc)(void *context); /* a zeroed page, or PADDR_NONE */
    void (*free)(void *context, paddr_t page);
    void *(*at)(paddr_t page); /* where the code can touch it */
};

struct pagetable {
    const struct pt_format *format; /* [i] */
    const struct pt_memory *memory; /* [i] */
    void *context;                  /* [i] for the callbacks: a node, a test */
    paddr_t root;                   /* [i] */
    unsigned largest_level;         /* [i] of a leaf: 1 for 4 KiB, 2 for 2 MiB, 3 for 1 GiB */
};

/* Sets up the fields and allocates the root. 0 or -ENOMEM. */
int pagetable_init(struct pagetable *pt, const struct pt_format *format,
                   const struct pt_memory *memory, void *context, unsigned largest_level);

/* Frees every table, the root included; not the pages they map. */
void pagetable_fini(struct pagetable *pt);

/*
 * Map [va, va+bytes) to [pa, pa+bytes) in the largest leaves that fit. va, pa, bytes are multiples
 * of 4 KiB; va is taken modulo 2^48. 0, -EINVAL, -EEXIST (something is mapped there already),
 * -ENOMEM; on the last two a leading part of the range may be mapped, which pagetable_unmap
 * removes.
 */
__attribute__((warn_unused_result)) int pagetable_map(struct pagetable *pt, uint64_t va, paddr_t pa,
                                                      uint64_t bytes, unsigned rights);

/* Unmap what is mapped in the range, splitting large leaves at its ends. 0, -EINVAL or -ENOMEM. */
__attribute__((warn_unused_result)) int pagetable_unmap(struct pagetable *pt, uint64_t va,
                                                        uint64_t bytes);

/*
 * Where va is mapped, or PADDR_NONE. *run_bytes, unless NULL, becomes the number of bytes from va
 * on that are contiguous there, counted no further than `want_bytes` asks for.
 */
paddr_t pagetable_lookup(const struct pagetable *pt, uint64_t va, uint64_t want_bytes,
                         uint64_t *run_bytes);

#endif
