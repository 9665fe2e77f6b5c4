/*
 * Bit masks, register fields, alignment, and the usual small macros.
 *
 * Registers are described by masks (BIT, BITS) and read or built with FIELD_GET and FIELD_PREP, so
 * no shift number stands in code.
 */
#ifndef HV_BITS_H
#define HV_BITS_H

#include <stddef.h>
#include <stdint.h>

#define BIT(n)                  (1ull << (n))
#define BITS(h, l)              ((~0ull >> (63 - (h))) & (~0ull << (l))) /* bits h..l, both included */

#define FIELD_GET(mask, value)  (((uint64_t)(value) & (mask)) >> __builtin_ctzll(mask))
#define FIELD_PREP(mask, value) (((uint64_t)(value) << __builtin_ctzll(mask)) & (mask))

#define ARRAY_SIZE(a)           (sizeof(a) / sizeof((a)[0]))

/* Round to a multiple of `align`, a power of two. ALIGN_UP wraps to 0 above 2^64 - align. */
#define ALIGN_DOWN(x, align)            ((x) & ~((align)-1))
#define ALIGN_UP(x, align)              (((x) + ((align)-1)) & ~((align)-1))
#define IS_ALIGNED(x, align)            (((x) & ((align)-1)) == 0)

#define MIN(a, b)                       ((a) < (b) ? (a) : (b))
#define MAX(a, b)                       ((a) > (b) ? (a) : (b))

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Smallest n with 2^n >= x; 0 for x <= 1. x <= 2^31. */
static inline unsigned bits_log2_ceil(uint32_t x)
{
    return x <= 1 ? 0 : 32u - (unsigned)__builtin_clz(x - 1);
}

/* Bits set. In plain arithmetic: POPCNT is not on every CPU, and the image has no libgcc. */
static inline uint32_t bits_count(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (uint32_t)((x * 0x0101010101010101ull) >> 56);
}

#endif
