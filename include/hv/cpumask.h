/*
 * Sets of CPUs, sized at run time.
 *
 * A mask is a view: a word count and a pointer to words the caller owns, so the same code serves a
 * laptop and 4,096 simulated CPUs. All masks that meet in one operation have the same word count.
 * Nothing here is atomic; a mask belongs to whatever lock its owner names.
 */
#ifndef HV_CPUMASK_H
#define HV_CPUMASK_H

#include "hv/bits.h"
#include "hv/types.h"

struct cpumask {
    uint64_t *words; /* [i] bit c % 64 of word c / 64 is CPU c */
    uint32_t nwords; /* [i] */
};

#define CPUMASK_NONE UINT32_MAX /* "no such CPU" */

static inline uint32_t cpumask_nwords(uint32_t ncpus)
{
    return (ncpus + 63) / 64;
}

/* A mask over `words`, which has room for cpumask_nwords(ncpus) words and is not cleared here. */
static inline struct cpumask cpumask_over(uint64_t *words, uint32_t ncpus)
{
    return (struct cpumask){.words = words, .nwords = cpumask_nwords(ncpus)};
}

static inline void cpumask_set(struct cpumask m, uint32_t cpu)
{
    m.words[cpu / 64] |= 1ull << (cpu % 64);
}

static inline bool cpumask_has(struct cpumask m, uint32_t cpu)
{
    return (m.words[cpu / 64] >> (cpu % 64)) & 1;
}

static inline void cpumask_zero(struct cpumask m)
{
    for (uint32_t i = 0; i < m.nwords; i++)
        m.words[i] = 0;
}

static inline void cpumask_copy(struct cpumask dst, struct cpumask src)
{
    for (uint32_t i = 0; i < dst.nwords; i++)
        dst.words[i] = src.words[i];
}

static inline bool cpumask_empty(struct cpumask m)
{
    for (uint32_t i = 0; i < m.nwords; i++)
        if (m.words[i])
            return false;
    return true;
}

/* The lowest CPU >= `from` in the mask, or CPUMASK_NONE. */
static inline uint32_t cpumask_next(struct cpumask m, uint32_t from)
{
    uint32_t i = from / 64;
    uint64_t word;

    if (i >= m.nwords)
        return CPUMASK_NONE;
    word = m.words[i] & (~0ull << (from % 64));
    while (!word) {
        if (++i >= m.nwords)
            return CPUMASK_NONE;
        word = m.words[i];
    }
    return i * 64 + (uint32_t)__builtin_ctzll(word);
}

static inline uint32_t cpumask_first(struct cpumask m)
{
    return cpumask_next(m, 0);
}

#define cpumask_for_each(cpu, m) \
    for (uint32_t cpu = cpumask_first(m); cpu != CPUMASK_NONE; cpu = cpumask_next((m), cpu + 1))

#endif
