/* The entry that libFuzzer calls, and what the targets share. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hv/firmware.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* A broken promise of the code under test is a crash like any other. */
#define FUZZ_CHECK(expr) \
    do {                 \
        if (!(expr))     \
            abort();     \
    } while (0)

/* Physical memory that holds the input at `base` and nothing else. */
struct fuzz_phys {
    paddr_t base;
    const uint8_t *data;
    size_t bytes;
};

static inline const void *fuzz_map(void *ctx, paddr_t pa, size_t bytes)
{
    const struct fuzz_phys *p = ctx;

    if (pa < p->base || pa - p->base > p->bytes || bytes > p->bytes - (pa - p->base))
        return NULL;
    return p->data + (pa - p->base);
}

#endif
