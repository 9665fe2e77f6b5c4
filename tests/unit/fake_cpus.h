/*
 * Hosted stand-ins for the CPUs of kernel/cpu.h: each test thread says which CPU it is.
 *
 * Included before the .c file under test, which then finds this cpu_this instead of the one that
 * reads GS.
 */
#ifndef TESTS_UNIT_FAKE_CPUS_H
#define TESTS_UNIT_FAKE_CPUS_H

#include <stdlib.h>

#define cpu_this cpu_by_gs
#include "kernel/cpu.h"
#undef cpu_this

#include "kernel/mem.h"

#define FAKE_CPUS 4u

struct cpu *cpus[CPUS_MAX];
uint32_t cpu_count = FAKE_CPUS;

static struct cpu fake_cpu[FAKE_CPUS];
static _Thread_local struct cpu *fake_me = &fake_cpu[0];

static inline struct cpu *cpu_this(void)
{
    return fake_me;
}

void cpu_hazard(struct cpu *cpu, uint32_t bits)
{
    atomic_fetch_or(&cpu->hazard, bits);
}

void *mem_zalloc(size_t bytes, uint32_t node)
{
    (void)node;
    return calloc(1, bytes);
}

static inline void fake_cpus_init(void)
{
    fake_me = &fake_cpu[0];
    for (uint32_t i = 0; i < FAKE_CPUS; i++) {
        fake_cpu[i] = (struct cpu){.self = &fake_cpu[i], .id = i};
        cpus[i] = &fake_cpu[i];
    }
}

#endif
