/*
 * The guest's CPUs: found and started one after the other, then given work.
 *
 * There are no ACPI tables: APIC ids are tried upwards from 0 by INIT/SIPI with a bounded wait, and
 * an id that does not answer is left out. `cpus=N` stops after N CPUs; without it, the ids of the
 * boot CPU's package (leaf 0xB, else leaf 1) are tried, then those of each next package while its
 * first id answers. A CPU is numbered in the order of its start.
 */
#ifndef GUEST_RT_SMP_H
#define GUEST_RT_SMP_H

#include "tests/guests/rt/cpu.h"

#define SMP_IDS_MAX   1024u /* IDS_MAX of ap.S */
#define AP_TRAMPOLINE 0x8000u

enum smp_state {
    SMP_WAITED_FOR, /* its SIPI is sent */
    SMP_UP,
    SMP_GIVEN_UP, /* it did not answer in time; parks if it still comes */
};

extern struct cpu *smp_cpus[RT_CPUS_MAX]; /* [i] after smp_start */
extern uint32_t smp_count;                /* [i] after smp_start */

/* Makes the running CPU CPU 0 with its descriptors, APIC and paravirtual parts. */
void smp_init_boot_cpu(void);
void smp_start(void);

/* Has CPU `index` run fn(arg) with interrupts on; not the caller's own. One task at a time. */
void smp_run(uint32_t index, void (*fn)(void *), void *arg);
bool smp_is_done(uint32_t index);
void smp_wait(uint32_t index);

/* Runs fn(arg) on CPUs 0 to n-1, the caller being CPU 0, and waits for all. */
void smp_run_first(uint32_t n, void (*fn)(void *), void *arg);

/* Sends INIT, and INIT + SIPI, to a CPU that is up; true when it came up again. */
void smp_send_init(uint32_t index);
bool smp_restart(uint32_t index);

#endif
