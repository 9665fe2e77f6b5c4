/* How long the boot took, in ticks of the TSC. See boot_time.c. */
#ifndef KERNEL_BOOT_TIME_H
#define KERNEL_BOOT_TIME_H

#include "hv/types.h"

extern uint64_t boot_entry_tsc; /* [i] written by head.S, its first act */

/* Boot CPU: these ticks were spent in delays that the start of the other CPUs asks for. */
void boot_time_waited(uint64_t ticks);

/* Boot CPU, when all CPUs are up and its loop comes next: one line with the sums. */
void boot_time_print(void);

#endif
