/*
 * How a CPU waits for a spinlock that is taken.
 *
 * On bare metal in turn: a ticket keeps sixty CPUs that want one lock fair to each other. Below a
 * hypervisor that is ruin, as the next in turn may be a CPU that does not run: with 8 CPUs on 2
 * host threads a lock is handed on once in a host's time slice, and the machine crawls while all
 * spin. There the lock goes to whichever CPU that runs finds it free (barging). Both ways agree on
 * what a free lock is, so that the way may change while locks are held.
 *
 * Source: Ouyang and Lange, Preemptable Ticket Spinlocks (VEE 2013), for the trouble.
 */
#include "kernel/lock.h"

#include "hv/lock.h"

static bool barging; /* [i] */

void lock_waiters_barge(void)
{
    barging = true;
}

void spin_wait(struct spinlock *lock)
{
    if (!barging) {
        spin_wait_turn(lock);
        return;
    }
    do {
        while (__atomic_load_n(&lock->next, __ATOMIC_RELAXED) !=
               __atomic_load_n(&lock->owner, __ATOMIC_RELAXED))
            __builtin_ia32_pause();
    } while (!spin_take(lock));
}
