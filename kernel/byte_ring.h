/*
 * A ring of bytes over the caller's memory. No lock of its own.
 */
#ifndef KERNEL_BYTE_RING_H
#define KERNEL_BYTE_RING_H

#include "hv/bits.h"
#include "hv/types.h"

struct byte_ring {
    char *bytes;       /* [i] */
    uint32_t capacity; /* [i] a power of two */
    uint32_t head;     /* bytes ever put, modulo 2^32 */
    uint32_t tail;     /* bytes ever taken; head - tail <= capacity */
};

static inline struct byte_ring byte_ring_over(char *bytes, uint32_t capacity)
{
    return (struct byte_ring){.bytes = bytes, .capacity = capacity};
}

static inline uint32_t byte_ring_count(const struct byte_ring *r)
{
    return r->head - r->tail;
}

static inline uint32_t byte_ring_room(const struct byte_ring *r)
{
    return r->capacity - byte_ring_count(r);
}

/* All n bytes, or none and false. */
static inline bool byte_ring_put(struct byte_ring *r, const char *bytes, uint32_t n)
{
    if (n > byte_ring_room(r))
        return false;
    for (uint32_t i = 0; i < n; i++)
        r->bytes[r->head++ & (r->capacity - 1)] = bytes[i];
    return true;
}

static inline bool byte_ring_put_char(struct byte_ring *r, char c)
{
    return byte_ring_put(r, &c, 1);
}

static inline uint32_t byte_ring_take(struct byte_ring *r, char *bytes, uint32_t n)
{
    n = MIN(n, byte_ring_count(r));
    for (uint32_t i = 0; i < n; i++)
        bytes[i] = r->bytes[r->tail++ & (r->capacity - 1)];
    return n;
}

/* The bytes from `skip` behind the tail up to the ring's end or head: *bytes, and how many. */
static inline uint32_t byte_ring_peek(const struct byte_ring *r, uint32_t skip, const char **bytes)
{
    uint32_t at = (r->tail + skip) & (r->capacity - 1);

    *bytes = r->bytes + at;
    return MIN(byte_ring_count(r) - skip, r->capacity - at);
}

static inline void byte_ring_drop(struct byte_ring *r, uint32_t n)
{
    r->tail += n;
}

#endif
