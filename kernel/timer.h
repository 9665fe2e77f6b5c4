/*
 * One-shot timers, a tree of them per CPU.
 *
 * A timer is embedded by its user; nothing is allocated when it is armed. Arming puts it on the
 * calling CPU's tree (moving it there from another), O(log n). Handlers run from the hazard loop of
 * the CPU that holds the timer, without the tree's lock, with the timer already off; they may arm
 * it again.
 *
 * timer_cancel, and timer_arm when it moves a timer, wait for a handler that runs on another CPU.
 * Their callers hold no lock that the handler takes. Lock rank LOCK_TIMER.
 */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include <bsd/sys/tree.h>

#include "hv/types.h"

struct cpu;

struct timer {
    RB_ENTRY(timer) node;                      /* [T] lock of the tree of `cpu` */
    ns_t deadline;                             /* [T] NS_NEVER when off */
    void (*fn)(struct timer *timer, ns_t now); /* [i] */
    uint32_t cpu; /* [T] whose tree it is on, or was on last; changes under that tree's lock */
};

void timer_init(struct timer *timer, void (*fn)(struct timer *timer, ns_t now));
void timer_arm(struct timer *timer, ns_t deadline); /* on this CPU; replaces an earlier deadline */
bool timer_cancel(struct timer *timer); /* true: it was armed. fn does not run any more then */
void timer_run_due(ns_t now);           /* this CPU: run what is due, then program the hardware */

/*
 * The timers of an idle CPU with a higher number than this one come here, but those that make the
 * CPU itself look: its slice and its share of work.
 */
void timer_adopt(struct cpu *from);

/* Makes cpu->timers on the CPU's node; 0 or -ENOMEM. CPU 0's comes before any timer_arm. */
__attribute__((warn_unused_result)) int timer_cpu_init(struct cpu *cpu);

#endif
