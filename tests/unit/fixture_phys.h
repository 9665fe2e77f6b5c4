/*
 * A little physical memory for tests: a few pieces of bytes at chosen addresses. What is asked for
 * outside one piece cannot be read.
 */
#ifndef TESTS_UNIT_FIXTURE_PHYS_H
#define TESTS_UNIT_FIXTURE_PHYS_H

#include "fixture_acpi.h"

#define PHYS_PIECES 24

struct phys {
    uint32_t count;
    struct {
        paddr_t base;
        size_t bytes;
        const uint8_t *data;
    } piece[PHYS_PIECES];
};

static inline void phys_add(struct phys *p, paddr_t base, const void *data, size_t bytes)
{
    assert_true(p->count < PHYS_PIECES);
    p->piece[p->count].base = base;
    p->piece[p->count].bytes = bytes;
    p->piece[p->count++].data = data;
}

static inline const void *phys_map(void *ctx, paddr_t pa, size_t bytes)
{
    const struct phys *p = ctx;

    for (uint32_t i = 0; i < p->count; i++)
        if (pa >= p->piece[i].base && pa - p->piece[i].base <= p->piece[i].bytes &&
            bytes <= p->piece[i].bytes - (pa - p->piece[i].base))
            return p->piece[i].data + (pa - p->piece[i].base);
    return NULL;
}

static inline struct phys_view phys_view(struct phys *p)
{
    return (struct phys_view){.map = phys_map, .ctx = p};
}

#endif
