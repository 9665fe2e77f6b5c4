/* See memory.h. */
#include "tools/numen-sim/memory.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

void *sim_alloc(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes ? bytes : 1);

    if (!memory)
        errx(EXIT_FAILURE, "no memory for %zu x %zu bytes", count, bytes);
    return memory;
}

void *sim_alloc_aligned(size_t alignment, size_t bytes)
{
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void *memory = aligned_alloc(alignment, rounded);

    if (!memory)
        errx(EXIT_FAILURE, "no memory for %zu bytes", bytes);
    return memset(memory, 0, rounded);
}
