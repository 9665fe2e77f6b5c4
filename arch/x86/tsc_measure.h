/* Rates out of two clocks, one of them known; on clocks that a test can fake. See tsc_measure.c. */
#ifndef ARCH_X86_TSC_MEASURE_H
#define ARCH_X86_TSC_MEASURE_H

#include "hv/cpuid.h"
#include "hv/types.h"

/* A counter that is not the TSC. It counts up, and wraps at its mask. */
struct tsc_clock {
    const char *name;
    bool (*start)(struct tsc_clock *clock); /* finds it and fills the rest in; false: not there */
    uint32_t (*read)(const struct tsc_clock *clock);
    uint64_t hz;   /* below 2^32 */
    uint64_t mask; /* bits that count */
    uint16_t port;
    volatile uint32_t *regs;
};

/* What a measurement found; hz 0: nothing that could be believed. */
struct tsc_rate {
    uint64_t hz;
    const char *name;     /* the clock it was measured against */
    uint64_t uncertainty; /* TSC ticks that both edges of the run believed may be off */
    uint32_t runs;        /* how many were tried */
};

typedef uint64_t tsc_reader(void);

/* The TSC's rate by the first of n clocks, in their order, that is there and sound. */
struct tsc_rate tsc_measure(struct tsc_clock *clocks, uint32_t n, tsc_reader *tsc);

/* The rate of `counter` (its own hz is not looked at) by a TSC of rate tsc_hz. */
struct tsc_rate tsc_measure_counter(const struct tsc_clock *counter, tsc_reader *tsc,
                                    uint64_t tsc_hz);

/* By leaf 0x15 where all three numbers are there, else by 0x16, which is rounded; 0: neither. */
uint64_t tsc_hz_by_cpuid(struct cpuid_regs leaf15, struct cpuid_regs leaf16);

/* Whose word counts. */
enum tsc_verdict {
    TSC_MEASURED,  /* and the CPU says the same, or nothing */
    TSC_DISAGREED, /* measured; the CPU says something else */
    TSC_TOLD,      /* not to be measured: the CPU's word */
    TSC_GUESSED    /* neither: a rate that is rather too high, so that delays are too long */
};

enum tsc_verdict tsc_choose(uint64_t measured, uint64_t told, uint64_t *hz);

#define TSC_GUESS_HZ (5ull * 1000 * 1000 * 1000)

#endif
