/*
 * Time of the guests: the TSC and its frequency.
 *
 * Source of the frequency, first that answers: kvmclock, PIT channel 2 (absent under Numen), CPUID
 * 0x40000010, 0x15, 0x16; else 1 GHz is taken, and `time_source` says so.
 */
#ifndef GUEST_RT_TIME_H
#define GUEST_RT_TIME_H

#include "tests/guests/rt/asm.h"

extern uint64_t time_tsc_khz;   /* [i] */
extern const char *time_source; /* [i] */

void time_init(void);

static inline uint64_t time_from_us(uint64_t us)
{
    return asm_rdtsc() + us * time_tsc_khz / 1000;
}

static inline bool time_passed(uint64_t deadline)
{
    return (int64_t)(asm_rdtsc() - deadline) >= 0;
}

static inline void time_delay_us(uint64_t us)
{
    uint64_t deadline = time_from_us(us);

    while (!time_passed(deadline))
        asm_pause();
}

#endif
