/*
 * The clock: the TSC, measured and made one for all CPUs. See tsc.c; arch_now is in kernel/arch.h.
 */
#ifndef ARCH_X86_TSC_H
#define ARCH_X86_TSC_H

#include "boot/fadt.h"
#include "hv/types.h"

struct cpu;

/* Boot CPU: measure the rate, start the clock at 0. */
void tsc_init(const struct fadt_info *fadt, paddr_t hpet);

/* Wait, within a bound, on any CPU; before tsc_init by a guess of the rate that is too long. */
void tsc_delay(ns_t ns);

/*
 * One round on both sides, at the same time: the boot CPU for a new CPU, and that CPU for itself.
 */
void tsc_compare_boot(struct cpu *cpu);
void tsc_compare_new(void);

#endif
