/*
 * Checks of the `pv` guest: one line each (`ok name`, `FAIL name: why`, `skip name: why`), counted.
 *
 * Tests that may hang run on vCPU 1 (`other`) while vCPU 0 watches: a task reports its progress as
 * stages, and other_end() gets a stuck vCPU back by NMI, then by INIT and SIPI.
 */
#ifndef GUEST_PV_CHECK_H
#define GUEST_PV_CHECK_H

#include "tests/guests/rt/rt.h"

enum {
    SETTLE_US = 20000,     /* long enough for a vCPU to halt, or for a wrong wake to show */
    PATIENCE_US = 2000000, /* a hang detector: more than a busy host needs */
};

extern uint32_t checks_passed, checks_failed;

/* Returns ok. */
bool check(bool ok, const char *name, const char *why, ...) __attribute__((format(printf, 3, 4)));
void check_skip(const char *name, const char *why);

/* Traps and interrupts of `vector` that vCPU `index` has taken. */
uint32_t irqs_of(uint32_t index, uint32_t vector);

/* Waits until vCPU `index` has taken `count` of `vector` in all; false after PATIENCE_US. */
bool irqs_wait(uint32_t index, uint32_t vector, uint32_t count);

/* Work for vCPU 1, which calls other_stage with 1, 2, ... as it gets on. */
void other_start(void (*task)(void *arg), void *arg);
void other_stage(uint32_t stage);
bool other_wait_stage(uint32_t stage); /* false after PATIENCE_US */
uint32_t other_stage_now(void);
bool other_end(void); /* false when the task had to be ended by force */

/* Executes WRMSR or RDMSR that must raise #GP. */
void check_wrmsr_faults(const char *name, uint32_t msr, uint64_t value);
void check_rdmsr_faults(const char *name, uint32_t msr);

/* The groups. */
void hyper_tests(void);
void halt_tests(void);
void clock_tests(void);
void timer_tests(void);
void lapic_tests(void);
void ipi_tests(void);

#endif
