/*
 * Random numbers: xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64. Integers only, so
 * that a seed gives the same run everywhere.
 */
#ifndef NUMEN_SIM_RANDOM_H
#define NUMEN_SIM_RANDOM_H

#include "hv/types.h"

struct random {
    uint64_t state[4];
};

void random_seed(struct random *r, uint64_t seed);
uint64_t random_u64(struct random *r);

/* 0..n-1, n > 0. */
uint64_t random_below(struct random *r, uint64_t n);

/* Evenly from mean - mean * percent / 100 to mean + mean * percent / 100. */
ns_t random_around(struct random *r, ns_t mean, uint32_t percent);

/* Exponential with this mean, cut at 16 means: the gaps of a Poisson process. */
ns_t random_exponential(struct random *r, ns_t mean);

#endif
