/* See random.h. The logarithm is worked out in integers: libm may differ between machines. */
#include "tools/numen-sim/random.h"

static uint64_t rotate(uint64_t x, unsigned by)
{
    return (x << by) | (x >> (64 - by));
}

void random_seed(struct random *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        r->state[i] = z ^ (z >> 31);
    }
}

uint64_t random_u64(struct random *r)
{
    uint64_t *s = r->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

/* The bias of the multiplication is below 2^-32 for every n that occurs. */
uint64_t random_below(struct random *r, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)random_u64(r) * n) >> 64);
}

ns_t random_around(struct random *r, ns_t mean, uint32_t percent)
{
    ns_t spread = mean * percent / 100;

    return mean - spread + random_below(r, 2 * spread + 1);
}

/*
 * -ln(u) for u = x / 2^32: the logarithm of base 2 bit by bit (squaring the mantissa), times ln 2.
 * 32.32 fixed point; x > 0.
 */
static uint64_t minus_ln(uint32_t x)
{
    uint32_t shift = (uint32_t)__builtin_clz(x);
    uint64_t mantissa = (uint64_t)x << shift << 31; /* 1.0 is 2^62 */
    uint64_t log2 = 0;
    const uint64_t ln_2 = 0xb17217f7; /* 0.32 */

    for (uint64_t bit = 1ull << 31; bit; bit >>= 1) {
        mantissa = (uint64_t)(((unsigned __int128)mantissa * mantissa) >> 62);
        if (mantissa >> 63) {
            mantissa >>= 1;
            log2 |= bit;
        }
    }
    log2 = ((uint64_t)(shift + 1) << 32) - log2;
    return (uint64_t)(((unsigned __int128)log2 * ln_2) >> 32);
}

ns_t random_exponential(struct random *r, ns_t mean)
{
    uint32_t x = (uint32_t)(random_u64(r) >> 32) | 1;
    ns_t value = (ns_t)(((unsigned __int128)minus_ln(x) * mean) >> 32);

    return value < 16 * mean ? value : 16 * mean;
}
