/*
 * Ticket lock with a paravirtual slow path.
 *
 * A waiter spins 2^lock_spin_log times, then names its lock and ticket in its CPU's structure and
 * halts with interrupts off; the unlocker looks for the CPU that holds the next ticket and kicks it
 * by hypercall 5. The kick is sticky, so one that comes before the HLT makes it return at once.
 * Without PV_UNHALT, or with `nopvspin`, it is a plain ticket lock. Not from interrupt handlers.
 */
#ifndef GUEST_RT_LOCK_H
#define GUEST_RT_LOCK_H

#include "hv/types.h"

struct pv_lock {
    uint32_t next;    /* [a] ticket of the next comer */
    uint32_t owner;   /* [a] ticket being served */
    uint32_t halting; /* [a] waiters that are halted or about to be */
} __attribute__((aligned(64)));

extern bool lock_is_pv;        /* [i] */
extern uint32_t lock_spin_log; /* [i] option spinlog=, 15 as in Linux */

void lock_init(void);
void lock_take(struct pv_lock *lock);
void lock_drop(struct pv_lock *lock);

/* Spins 2^lock_spin_log turns at most; true when the ticket's turn came. */
bool lock_spin(const struct pv_lock *lock, uint32_t ticket);

#endif
