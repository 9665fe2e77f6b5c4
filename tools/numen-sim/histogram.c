/* See histogram.h. Values below 16 have a bucket each. */
#include "tools/numen-sim/histogram.h"

#include "hv/bits.h"

static uint32_t bucket_of(uint64_t value)
{
    uint32_t octave;

    if (value < HISTOGRAM_STEPS)
        return (uint32_t)value;
    octave = 63 - (uint32_t)__builtin_clzll(value); /* 4.. */
    return (octave - 3) * HISTOGRAM_STEPS +
           (uint32_t)((value >> (octave - 4)) & (HISTOGRAM_STEPS - 1));
}

static uint64_t bucket_top(uint32_t bucket)
{
    uint32_t octave = bucket / HISTOGRAM_STEPS + 3;
    uint64_t step = bucket % HISTOGRAM_STEPS;

    if (bucket < HISTOGRAM_STEPS)
        return bucket;
    return ((HISTOGRAM_STEPS + step + 1) << (octave - 4)) - 1;
}

void histogram_add(struct histogram *h, uint64_t value)
{
    h->count++;
    h->max = MAX(h->max, value);
    h->bucket[bucket_of(value)]++;
}

uint64_t histogram_at(const struct histogram *h, uint32_t permille)
{
    uint64_t wanted = (h->count * permille + 999) / 1000;
    uint64_t seen = 0;

    if (!h->count)
        return 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += h->bucket[i];
        if (seen >= MAX(wanted, 1u))
            return MIN(bucket_top(i), h->max);
    }
    return h->max;
}
