/*
 * The two halves of the paravirtual ticket lock; the idea is in lock.h.
 *
 * No wake is lost: the waiter publishes wait_lock, then raises `halting`, then reads `owner`; the
 * unlocker writes `owner`, then reads `halting`, then wait_lock. All four are sequentially
 * consistent, so either the waiter sees its turn or the unlocker sees the waiter. A kick may be
 * stale (for an earlier wait): the waiter looks again after every HLT.
 */
#include "tests/guests/rt/lock.h"
#include "tests/guests/rt/rt.h"

bool lock_is_pv;
uint32_t lock_spin_log = 15;

void lock_init(void)
{
    lock_spin_log = (uint32_t)MIN(opt_u64("spinlog", 15), 30);
    lock_is_pv = pv_has(PV_UNHALT) && !opt_flag("nopvspin");
}

bool lock_spin(const struct pv_lock *lock, uint32_t ticket)
{
    for (uint64_t i = 0; i < BIT(lock_spin_log); i++) {
        if (__atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE) == ticket)
            return true;
        asm_pause();
    }
    return false;
}

static void lock_halt(struct pv_lock *lock, uint32_t ticket)
{
    struct cpu *cpu = cpu_this();
    uint64_t flags = asm_irq_save();

    cpu->wait_ticket = ticket;
    __atomic_store_n(&cpu->wait_lock, lock, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&lock->halting, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&lock->owner, __ATOMIC_SEQ_CST) != ticket) {
        cpu->halts++;
        asm_hlt();
    }
    __atomic_store_n(&cpu->wait_lock, NULL, __ATOMIC_SEQ_CST);
    __atomic_fetch_sub(&lock->halting, 1, __ATOMIC_SEQ_CST);
    asm_irq_restore(flags);
}

void lock_take(struct pv_lock *lock)
{
    uint32_t ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);

    while (!lock_spin(lock, ticket))
        if (lock_is_pv)
            lock_halt(lock, ticket);
}

static void lock_kick(struct pv_lock *lock, uint32_t ticket)
{
    for (uint32_t i = 0; i < smp_count; i++) {
        struct cpu *cpu = smp_cpus[i];

        if (__atomic_load_n(&cpu->wait_lock, __ATOMIC_SEQ_CST) != lock ||
            __atomic_load_n(&cpu->wait_ticket, __ATOMIC_RELAXED) != ticket)
            continue;
        cpu_this()->kicks++;
        pv_call(CALL_KICK_CPU, 0, cpu->apic_id, 0, 0);
        return;
    }
}

void lock_drop(struct pv_lock *lock)
{
    uint32_t next = lock->owner + 1; /* only the holder writes it */

    if (!lock_is_pv) {
        __atomic_store_n(&lock->owner, next, __ATOMIC_RELEASE);
        return;
    }
    __atomic_store_n(&lock->owner, next, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&lock->halting, __ATOMIC_SEQ_CST))
        lock_kick(lock, next);
}
