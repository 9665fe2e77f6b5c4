/*
 * Ticket spinlocks with ranks.
 *
 * Who finds a lock taken waits in spin_wait, which whoever links the code supplies: kernel/lock.c
 * in the image, where a hypervisor below makes waiters barge.
 *
 * Interrupts are off wherever the kernel runs, so there is one kind of lock and no irqsave form. A
 * CPU takes locks in ascending rank (docs/locking.md); two of equal rank only by spin_trylock or
 * with the lower id first and spin_lock_nested. Debug builds check that through lock_rank_push and
 * lock_rank_pop, which whoever links the code supplies (kernel/lock_rank.c in the image).
 *
 * The attributes feed clang's -Wthread-safety; gcc ignores them.
 */
#ifndef HV_LOCK_H
#define HV_LOCK_H

#include "hv/assert.h"
#include "hv/types.h"

#if defined(__clang__)
#define CAPABILITY(name)   __attribute__((capability(name)))
#define GUARDED_BY(lock)   __attribute__((guarded_by(lock)))
#define MUST_HOLD(...)     __attribute__((requires_capability(__VA_ARGS__)))
#define MUST_NOT_HOLD(...) __attribute__((locks_excluded(__VA_ARGS__)))
#define ACQUIRES(...)      __attribute__((acquire_capability(__VA_ARGS__)))
#define RELEASES(...)      __attribute__((release_capability(__VA_ARGS__)))
#define TRY_ACQUIRES(...)  __attribute__((try_acquire_capability(__VA_ARGS__)))
#define NO_THREAD_SAFETY   __attribute__((no_thread_safety_analysis))
#else
#define CAPABILITY(name)
#define GUARDED_BY(lock)
#define MUST_HOLD(...)
#define MUST_NOT_HOLD(...)
#define ACQUIRES(...)
#define RELEASES(...)
#define TRY_ACQUIRES(...)
#define NO_THREAD_SAFETY
#endif

enum lock_rank {
    LOCK_DEVICE = 10,
    LOCK_VM = 20,
    LOCK_VCPU = 30,
    LOCK_SCHED = 40,
    LOCK_RUNQ = 50,
    LOCK_CAP = 55,
    LOCK_NODE = 60,
    LOCK_TIMER = 70,
    LOCK_CONSOLE = 90,
};

struct CAPABILITY("spinlock") spinlock {
    uint16_t next;  /* [a] ticket the next comer takes */
    uint16_t owner; /* [a] ticket being served; fewer than 65536 CPUs, so no ticket meets itself */
    uint16_t rank;  /* [i] enum lock_rank */
};

#define SPINLOCK_INIT(r)                   \
    {                                      \
        .next = 0, .owner = 0, .rank = (r) \
    }

void lock_rank_push(const struct spinlock *lock, bool nested);
void lock_rank_pop(const struct spinlock *lock);

static inline void spin_init(struct spinlock *lock, enum lock_rank rank)
{
    *lock = (struct spinlock)SPINLOCK_INIT((uint16_t)rank);
}

/* Waits until the lock is taken by the caller. Ranks are not looked at. */
void spin_wait(struct spinlock *lock);

/* Takes the lock if it is free and nobody waits for it. Acquire pairs with spin_unlock. */
static inline bool spin_take(struct spinlock *lock)
{
    /* What spin_unlock stores to is acquired, owner; next only tells that nobody waits. */
    uint16_t owner = __atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE);

    return __atomic_compare_exchange_n(&lock->next, &owner, (uint16_t)(owner + 1), false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Takes a ticket and waits for its turn. */
static inline void spin_wait_turn(struct spinlock *lock)
{
    uint16_t ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);

    while (__atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE) != ticket)
        __builtin_ia32_pause();
}

static inline void spin_lock(struct spinlock *lock) ACQUIRES(*lock) NO_THREAD_SAFETY
{
    if (DEBUG_BUILD)
        lock_rank_push(lock, false);
    if (!spin_take(lock))
        spin_wait(lock);
}

/* A second lock of the same rank, whose owner has the higher id. */
static inline void spin_lock_nested(struct spinlock *lock) ACQUIRES(*lock) NO_THREAD_SAFETY
{
    if (DEBUG_BUILD)
        lock_rank_push(lock, true);
    if (!spin_take(lock))
        spin_wait(lock);
}

static inline bool spin_trylock(struct spinlock *lock) TRY_ACQUIRES(true, *lock) NO_THREAD_SAFETY
{
    if (!spin_take(lock))
        return false;
    if (DEBUG_BUILD)
        lock_rank_push(lock, true);
    return true;
}

static inline void spin_unlock(struct spinlock *lock) RELEASES(*lock) NO_THREAD_SAFETY
{
    if (DEBUG_BUILD)
        lock_rank_pop(lock);
    __atomic_store_n(&lock->owner, (uint16_t)(lock->owner + 1), __ATOMIC_RELEASE);
}

#endif
