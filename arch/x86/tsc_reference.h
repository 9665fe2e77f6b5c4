/* Clocks of known rate to measure the TSC by. See tsc_reference.c. */
#ifndef ARCH_X86_TSC_REFERENCE_H
#define ARCH_X86_TSC_REFERENCE_H

#include "arch/x86/tsc_measure.h"
#include "hv/firmware.h"

/* By the best reference there is: PM timer, else HPET, else PIT. hz 0 when none of them moves. */
struct tsc_rate tsc_reference_measure(const struct fadt_info *fadt, paddr_t hpet);

#endif
