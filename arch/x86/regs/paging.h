/* Entries of the CPU's own page tables. SDM 3A 4.5. */
#ifndef ARCH_X86_REGS_PAGING_H
#define ARCH_X86_REGS_PAGING_H

#include "hv/bits.h"

#define PTE_PRESENT    BIT(0)
#define PTE_WRITE      BIT(1)
#define PTE_USER       BIT(2)
#define PTE_UNCACHED   BITS(4, 3) /* PWT and PCD: PAT index 3 */
#define PTE_COMBINED   BIT(3)     /* PWT: PAT index 1, write-combining in PAT_HOST */
#define PTE_ACCESSED   BIT(5)
#define PTE_DIRTY      BIT(6)
#define PTE_LARGE      BIT(7) /* a 2 MiB or 1 GiB page */
#define PTE_GLOBAL     BIT(8)
#define PTE_ADDR       BITS(51, 12)
#define PTE_NO_EXECUTE BIT(63)

#define PT_ENTRIES     512u

#endif
