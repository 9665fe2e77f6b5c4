/* Clocks of known rate to measure the TSC by. See tsc_reference.c. */
#ifndef ARCH_X86_TSC_REFERENCE_H
#define ARCH_X86_TSC_REFERENCE_H

#include "boot/fadt.h"
#include "hv/types.h"

/*
 * TSC ticks per second as measured against the best reference there is: PM timer, else HPET, else
 * PIT; *name says which. 0 when none of them moves.
 */
uint64_t tsc_reference_measure(const struct fadt_info *fadt, paddr_t hpet, const char **name);

#endif
