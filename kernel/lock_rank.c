/*
 * Debug builds: every CPU keeps the stack of locks it holds, and takes them in ascending rank.
 *
 * Two of one rank are allowed when the caller says so (spin_lock_nested, spin_trylock). A lock that
 * is taken twice, out of order, or released by a CPU that does not hold it is a bug of the host.
 */
#ifdef HV_DEBUG

#include "hv/lock.h"
#include "kernel/cpu.h"

#define LOCKS_HELD_MAX 8u

struct lock_stack {
    uint32_t depth;
    const struct spinlock *held[LOCKS_HELD_MAX]; /* in the order taken */
};

static struct lock_stack stacks[CPUS_MAX]; /* [c] */

void lock_rank_push(const struct spinlock *lock, bool nested)
{
    struct lock_stack *s = &stacks[cpu_this()->id];

    ASSERT(s->depth < LOCKS_HELD_MAX);
    for (uint32_t i = 0; i < s->depth; i++) {
        ASSERT(s->held[i] != lock);
        ASSERT(s->held[i]->rank < lock->rank || (nested && s->held[i]->rank == lock->rank));
    }
    s->held[s->depth++] = lock;
}

void lock_rank_pop(const struct spinlock *lock)
{
    struct lock_stack *s = &stacks[cpu_this()->id];
    uint32_t i = s->depth;

    while (i && s->held[i - 1] != lock) /* mostly the last one taken */
        i--;
    ASSERT(i);
    for (; i < s->depth; i++)
        s->held[i - 1] = s->held[i];
    s->depth--;
}

#endif
