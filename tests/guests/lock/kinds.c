/*
 * The lock kinds that rt/lock.c has not: test and set, and a queue with paravirtual halts.
 *
 * No wake of the queue is lost. A waiter raises `halting`, then looks whether it is head; the one
 * before makes it head, then looks at `halting`. A head writes its APIC id, then turns the word
 * from QUEUE_HELD into QUEUE_KICK, which only succeeds while the lock is held, and the unlocker's
 * exchange sees that. A kick is sticky, and a stale one makes a waiter look once more.
 */
#include "tests/guests/lock/kinds.h"

enum queue_word { QUEUE_FREE, QUEUE_HELD, QUEUE_KICK };

static struct queue_node nodes[RT_CPUS_MAX];

static bool word_change(struct any_lock *lock, uint32_t from, uint32_t to)
{
    return __atomic_load_n(&lock->word, __ATOMIC_RELAXED) == from &&
           __atomic_compare_exchange_n(&lock->word, &from, to, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

static void kick(uint32_t apic_id)
{
    cpu_this()->kicks++;
    pv_call(CALL_KICK_CPU, 0, apic_id, 0, 0);
}

static void spin_take(struct any_lock *lock)
{
    while (!word_change(lock, 0, 1))
        asm_pause();
}

static void spin_drop(struct any_lock *lock)
{
    __atomic_store_n(&lock->word, 0, __ATOMIC_RELEASE);
}

static void ticket_take(struct any_lock *lock)
{
    lock_take(&lock->ticket);
}

static void ticket_drop(struct any_lock *lock)
{
    lock_drop(&lock->ticket);
}

/* Spins until the node is head; false when that takes too long. */
static bool spin_for_head(struct queue_node *node)
{
    for (uint64_t i = 0; i < BIT(lock_spin_log); i++) {
        if (__atomic_load_n(&node->is_head, __ATOMIC_ACQUIRE))
            return true;
        asm_pause();
    }
    return false;
}

static void wait_for_head(struct queue_node *node)
{
    while (!spin_for_head(node)) {
        uint64_t flags = asm_irq_save();

        __atomic_store_n(&node->halting, 1, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&node->is_head, __ATOMIC_SEQ_CST)) {
            cpu_this()->halts++;
            asm_hlt();
        }
        __atomic_store_n(&node->halting, 0, __ATOMIC_SEQ_CST);
        asm_irq_restore(flags);
    }
}

static bool spin_for_word(struct any_lock *lock)
{
    for (uint64_t i = 0; i < BIT(lock_spin_log); i++) {
        if (word_change(lock, QUEUE_FREE, QUEUE_HELD))
            return true;
        asm_pause();
    }
    return false;
}

static void wait_for_word(struct any_lock *lock, const struct queue_node *node)
{
    while (!spin_for_word(lock)) {
        uint64_t flags = asm_irq_save();

        lock->halting_apic_id = node->apic_id;
        if (word_change(lock, QUEUE_HELD, QUEUE_KICK)) {
            cpu_this()->halts++;
            asm_hlt();
        }
        asm_irq_restore(flags);
    }
}

/* By the new holder. A head in HLT is left there until the unlock, as in Linux: it could only spin.
 */
static void make_next_head(struct any_lock *lock, struct queue_node *node)
{
    struct queue_node *next, *self = node;

    if (__atomic_compare_exchange_n(&lock->tail, &self, NULL, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        return;
    while (!(next = __atomic_load_n(&node->next, __ATOMIC_ACQUIRE)))
        asm_pause();
    __atomic_store_n(&next->is_head, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&next->halting, __ATOMIC_SEQ_CST))
        return;
    lock->halting_apic_id = next->apic_id;
    __atomic_store_n(&lock->word, QUEUE_KICK, __ATOMIC_SEQ_CST);
}

static void queued_take(struct any_lock *lock)
{
    struct queue_node *node = &nodes[cpu_this()->index], *before;

    if (word_change(lock, QUEUE_FREE, QUEUE_HELD)) /* overtakes the queue, if there is one */
        return;
    node->next = NULL;
    node->is_head = 0;
    node->apic_id = cpu_this()->apic_id;
    before = __atomic_exchange_n(&lock->tail, node, __ATOMIC_SEQ_CST);
    if (before) {
        __atomic_store_n(&before->next, node, __ATOMIC_RELEASE);
        wait_for_head(node);
    }
    wait_for_word(lock, node);
    make_next_head(lock, node);
}

static void queued_drop(struct any_lock *lock)
{
    if (__atomic_exchange_n(&lock->word, QUEUE_FREE, __ATOMIC_SEQ_CST) == QUEUE_KICK)
        kick(lock->halting_apic_id);
}

static const struct kind kinds[] = {
    {"spin", false, spin_take, spin_drop},
    {"ticket", false, ticket_take, ticket_drop},
    {"ticket-pv", true, ticket_take, ticket_drop},
    {"queued", true, queued_take, queued_drop},
};

const struct kind *kind_chosen(void)
{
    for (uint32_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (opt_is("kind", kinds[i].name))
            return &kinds[i];
    return NULL;
}
