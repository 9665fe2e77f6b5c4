/*
 * The end: one CPU tells why, all others stop. See panic.c; panic() itself is in printk.h.
 *
 * panic_enter and panic_leave frame a longer report (arch/x86/trap.c).
 */
#ifndef KERNEL_PANIC_H
#define KERNEL_PANIC_H

#include "hv/types.h"

/* The first CPU to come goes on alone, the console writes at once from here on; others halt. */
void panic_enter(void);

_Noreturn void panic_leave(void);

#endif
