/*
 * Between the kernel and the pure scheduler in sched/. See schedule.c.
 */
#ifndef KERNEL_SCHEDULE_H
#define KERNEL_SCHEDULE_H

#include "kernel/vcpu.h"
#include "sched/sched.h"

struct cpu;

extern struct sched *sched; /* [i] the machine's one scheduler */

/*
 * Boot CPU, once every CPU's place is known: parameters from the options, runqueues. 0 or -ENOMEM.
 */
int schedule_init(void);

/*
 * The console, on CPU 0, has set an option: the scheduler goes by it from now on. 0, or -ETIMEDOUT
 * when the CPUs could not be stopped for it: nothing has changed then.
 */
__attribute__((warn_unused_result)) int schedule_params_changed(void);

/* On each CPU, before its loop. */
void schedule_cpu_init(struct cpu *cpu);

/* HAZARD_SCHED: pick, and switch if another vCPU or none is to run. */
void schedule(struct cpu *cpu);

/* For this CPU's current vCPU; they take effect at the next pass of the hazard loop. */
void schedule_yield(void);
void schedule_sleep(void);               /* with the vCPU's lock held */
bool schedule_yield_to(struct vcpu *to); /* true if `to` was ready and is preferred now */

/* For any vCPU, with its lock held. */
void schedule_wake(struct vcpu *v);
void schedule_interrupt(struct vcpu *v); /* if it runs on another CPU, make that CPU look */

#endif
