/*
 * All other CPUs wait while one thing is done. See gather.c.
 */
#ifndef KERNEL_GATHER_H
#define KERNEL_GATHER_H

/*
 * CPU 0, from its loop, holding no lock: `fn` runs while every other CPU waits between two things
 * in its own loop. 0, or -ETIMEDOUT when one did not come, and then `fn` was not called.
 */
__attribute__((warn_unused_result)) int gather_call(void (*fn)(void *arg), void *arg);

/* Every other CPU, on HAZARD_GATHER. */
void gather_wait(void);

#endif
