/*
 * Work too long for one go between two guests: resumable items, one bounded step at a time.
 *
 * A step takes about 100 us at most and returns true when the item is done; the item may then be
 * freed or queued again. Items of one CPU take turns. They run when the CPU is idle (work_step)
 * and, so that a busy CPU gets them done too, for a small share of its time (work_take_share on
 * HAZARD_WORK).
 */
#ifndef KERNEL_WORK_H
#define KERNEL_WORK_H

#include "hv/types.h"
#include "kernel/timer.h"

struct cpu;

struct work {
    bool (*step)(struct work *work); /* [i] */
    struct work *next;               /* [a] in an inbox, then [c] in the CPU's list */
};

/* Embedded in struct cpu. */
struct work_list {
    struct work *inbox; /* [a] newest first; any CPU pushes, the owner takes all */
    struct work *head;  /* [c] in turn */
    struct work *tail;  /* [c] */
    ns_t share_after;   /* [c] when the CPU's next share is due */
    struct timer timer; /* [c] asks for it */
};

/* From any CPU. The item must not be queued already. */
void work_queue(struct cpu *cpu, struct work *work);

/* This CPU: one step of the item whose turn it is. False when there is none. */
bool work_step(void);

/*
 * This CPU, busy with guests, on HAZARD_WORK: use a share if it is due. The next one is asked for
 * by HAZARD_WORK again, no earlier than a period later.
 */
void work_take_share(ns_t now);

#endif
