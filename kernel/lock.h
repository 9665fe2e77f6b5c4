/* How CPUs wait for spinlocks (kernel/lock.c). */
#ifndef KERNEL_LOCK_H
#define KERNEL_LOCK_H

/* From here on a waiter does not keep its place in line. For CPUs that are not always running. */
void lock_waiters_barge(void);

#endif
