/*
 * The runtime of the test guests: what a guest's main() may use.
 *
 * rt_main (main.c) brings up the console, the boot information, all CPUs and the paravirtual parts,
 * calls guest_main() on the boot CPU with interrupts on, and exits with what it returns.
 */
#ifndef GUEST_RT_RT_H
#define GUEST_RT_RT_H

#include <string.h>

#include "hv/bits.h"
#include "hv/types.h"
#include "tests/guests/rt/apic.h"
#include "tests/guests/rt/asm.h"
#include "tests/guests/rt/boot.h"
#include "tests/guests/rt/cpu.h"
#include "tests/guests/rt/lock.h"
#include "tests/guests/rt/print.h"
#include "tests/guests/rt/pv.h"
#include "tests/guests/rt/smp.h"
#include "tests/guests/rt/time.h"

enum {
    RT_EXIT_FAIL = 124,  /* rt_fail */
    RT_EXIT_FAULT = 125, /* an unexpected exception */
};

/* The guest itself; its result is the exit code, 0 to 127. */
int guest_main(void);

/* Ends the guest: writes the code to port 0xf4 (isa-debug-exit); else ends Bochs; else halts. */
_Noreturn void rt_exit(int code);

/* Prints "FAIL: why" and exits with RT_EXIT_FAIL. */
_Noreturn void rt_fail(const char *why);

#endif
