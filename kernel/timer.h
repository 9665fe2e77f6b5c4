/*
 * One-shot timers in a heap per CPU.
 *
 * A timer is embedded by its user. Arming puts it on the calling CPU's heap (moving it there from another),
 * O(log n). Handlers run from the hazard loop of the CPU that holds the timer, without the heap's lock,
 * with the timer already off the heap; they may arm it again. Lock rank LOCK_TIMER.
 */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include "hv/types.h"

struct cpu;

struct timer {
    ns_t deadline;                             /* [heap lock] NS_NEVER when off */
    void (*fn)(struct timer *timer, ns_t now); /* [i] */
    uint32_t cpu;                              /* [heap lock] heap it is on; CPUMASK_NONE when off */
    uint32_t slot;                             /* [heap lock] place in that heap */
};

void timer_init(struct timer *timer, void (*fn)(struct timer *timer, ns_t now));
void timer_arm(struct timer *timer, ns_t deadline); /* on this CPU; replaces an earlier deadline */
bool timer_cancel(struct timer *timer);             /* true if it was armed; on return fn does not run any more */
void timer_run_due(ns_t now);                       /* this CPU: run what is due, then program the hardware */
int timer_cpu_init(struct cpu *cpu);                /* makes cpu->timers on the CPU's node; 0 or -ENOMEM */

#endif
