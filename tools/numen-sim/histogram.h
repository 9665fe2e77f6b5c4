/*
 * Percentiles of durations: buckets of 1/16 of an octave, so that a value read back is at most
 * 6.25 % too large. Constant size, no allocation.
 */
#ifndef NUMEN_SIM_HISTOGRAM_H
#define NUMEN_SIM_HISTOGRAM_H

#include "hv/types.h"

#define HISTOGRAM_STEPS   16u /* per octave */
#define HISTOGRAM_BUCKETS (64u * HISTOGRAM_STEPS)

struct histogram {
    uint64_t count;
    uint64_t max;
    uint32_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t value);

/* The least value that `permille` of all lie at or below; 0 for an empty one. */
uint64_t histogram_at(const struct histogram *h, uint32_t permille);

#endif
