/*
 * The page allocator behind kernel/mem.h: its set-up, and the pool for who asks for more than
 * pages.
 */
#ifndef KERNEL_MEM_INIT_H
#define KERNEL_MEM_INIT_H

#include "mm/page.h"

extern struct page_pool page_pool;

/* From machine.map and machine.numa, when both are known. */
void mem_init(void);

#endif
