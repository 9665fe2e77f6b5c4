/*
 * The kernel's own memory: whole pages from the node asked for, through mm/page.
 *
 * For objects that live as long as a VM or the machine. Nothing on an exit, wake or pick path
 * allocates.
 */
#ifndef KERNEL_MEM_H
#define KERNEL_MEM_H

#include "hv/types.h"

/* 2^order pages on `node`, or as near to it as there are any; PADDR_NONE when there are none. */
paddr_t mem_alloc_pages(uint32_t order, uint32_t node);
void mem_free_pages(paddr_t pa, uint32_t order);

/*
 * Zeroed memory in the direct map, rounded up to 2^k pages; NULL when there is none. Free with the
 * same size.
 */
void *mem_zalloc(size_t bytes, uint32_t node);
void mem_free(void *p, size_t bytes);

#endif
