/*
 * What mm/ asks of whoever links it: in the image kernel/ supplies it, in hosted programs the test.
 */
#ifndef MM_MM_HOST_H
#define MM_MM_HOST_H

#include "hv/types.h"

/*
 * The memory at a page as the CPU addresses it. A block of 2^order pages is contiguous there and
 * aligned as it is physically, at least up to 2 MiB.
 */
void *mm_host_map(paddr_t paddr);

/* The inverse, for addresses that mm_host_map gave. */
paddr_t mm_host_unmap(const void *va);

#endif
