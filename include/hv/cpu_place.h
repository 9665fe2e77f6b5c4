/*
 * Where one CPU stands in the machine: the only topology that the scheduler and the placement see.
 *
 * Numbers are dense and machine-wide: cores, LLCs and sockets by ascending APIC id,
 * nodes by ascending proximity domain; `thread` is the index within the core.
 */
#ifndef HV_CPU_PLACE_H
#define HV_CPU_PLACE_H

#include "hv/types.h"

struct cpu_place {
    uint32_t cpu;     /* Numen's CPU number: 0 is the boot CPU, then MADT order */
    uint32_t apic_id; /* 32-bit x2APIC id */
    uint32_t thread;  /* index in its core, from 0 */
    uint32_t core;    /* machine-wide */
    uint32_t unit;   /* cores that idle selection takes for siblings: one number, from 1; 0: none */
    uint32_t llc;    /* machine-wide last-level-cache domain */
    uint32_t socket; /* machine-wide */
    uint32_t node;   /* dense NUMA node number */
    /* Higher is preferred by asymmetric packing. The kind of core is asym_prio / CPUS_MAX. */
    int32_t asym_prio;
};

/* Threads of one core, and cores of one unit: both are chosen after a core that is wholly idle. */
static inline bool cpu_place_siblings(const struct cpu_place *a, const struct cpu_place *b)
{
    return a->socket == b->socket && (a->core == b->core || (a->unit && a->unit == b->unit));
}

#endif
