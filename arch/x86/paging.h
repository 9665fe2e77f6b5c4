/* The hypervisor's own page tables. See paging.c; layout.h for the address space. */
#ifndef ARCH_X86_PAGING_H
#define ARCH_X86_PAGING_H

#include "arch/x86/pagetable.h"
#include "hv/types.h"

/* Rights of what paging_map is for: never writable and executable at once. */
enum paging_use {
    PAGING_TEXT = PT_READ | PT_EXEC | PT_GLOBAL,
    PAGING_RODATA = PT_READ | PT_GLOBAL,
    PAGING_DATA = PT_READ | PT_WRITE | PT_GLOBAL,
    PAGING_VIDEO = PT_READ | PT_WRITE | PT_GLOBAL | PT_WRITE_COMBINED,
    PAGING_DEVICE = PT_READ | PT_WRITE | PT_GLOBAL | PT_UNCACHED,
};

/* Where tables come from; the context is a uint32_t, the node they are best on, or NULL: any. */
extern const struct pt_memory paging_table_memory;

/* Boot CPU only, and only at addresses that were never mapped, so no TLB needs telling. */
__attribute__((warn_unused_result)) int paging_map(uint64_t va, paddr_t pa, uint64_t bytes,
                                                   enum paging_use use);

/* Point this CPU at the final tables. */
void paging_load(void);

/*
 * A table of its own for the AP trampoline: `page` mapped where it is, read and execute only,
 * beside the hypervisor's own half. Returns its root, below 4 GiB, or PADDR_NONE.
 * paging_trampoline_end unmaps the page when no AP is under way any more.
 */
paddr_t paging_trampoline_begin(paddr_t page);
void paging_trampoline_end(void);

#endif
