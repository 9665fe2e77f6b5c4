/*
 * CPUID as data: what one CPU answers, captured once and read by pure code.
 *
 * Whoever captures a dump asks only for leaves up to the maxima in leaf 0 and 0x80000000, since a
 * CPU answers beyond them with another leaf's data. A leaf that is not in the dump reads as zero.
 */
#ifndef HV_CPUID_H
#define HV_CPUID_H

#include "hv/types.h"

struct cpuid_regs {
    uint32_t eax, ebx, ecx, edx;
};

struct cpuid_entry {
    uint32_t leaf;
    uint32_t subleaf; /* 0 where the leaf has none */
    struct cpuid_regs regs;
};

struct cpuid_dump {
    const struct cpuid_entry *entries; /* any order; the first of equal ones counts */
    uint32_t count;
};

static inline struct cpuid_regs cpuid_dump_lookup(struct cpuid_dump dump, uint32_t leaf,
                                                  uint32_t subleaf)
{
    for (uint32_t i = 0; i < dump.count; i++)
        if (dump.entries[i].leaf == leaf && dump.entries[i].subleaf == subleaf)
            return dump.entries[i].regs;
    return (struct cpuid_regs){0, 0, 0, 0};
}

#endif
