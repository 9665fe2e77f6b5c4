/*
 * The kinds of lock that the guest `lock` compares; numen-sim's workload of that name has the same.
 *
 * spin       test and set; of those that look when it comes free, any one gets it
 * ticket     first come, first served (rt/lock.h); what PLE does with its PAUSE loop is up to ple=
 * ticket-pv  the same, and a waiter halts after 2^spinlog turns and is kicked (rt/lock.h)
 * queued     a queue whose head may be overtaken; waiters halt and are kicked
 */
#ifndef GUEST_LOCK_KINDS_H
#define GUEST_LOCK_KINDS_H

#include "tests/guests/rt/rt.h"

struct queue_node {
    struct queue_node *next; /* [a] who waits behind */
    uint32_t is_head;        /* [a] set by the one before, when it has the lock */
    uint32_t halting;        /* [a] in HLT or about to be */
    uint32_t apic_id;
} __attribute__((aligned(64)));

struct any_lock {
    struct pv_lock ticket;
    uint32_t word;            /* [a] spin: 0 or 1; queued: enum queue_word */
    struct queue_node *tail;  /* [a] the last waiter */
    uint32_t halting_apic_id; /* of the head, written before the word says QUEUE_KICK */
    uint64_t count;           /* guarded by the lock: a lost update is a broken lock */
} __attribute__((aligned(64)));

struct kind {
    const char *name;
    bool is_pv;
    void (*take)(struct any_lock *lock);
    void (*drop)(struct any_lock *lock);
};

/* The kind of that name in `kind=`, or NULL. */
const struct kind *kind_chosen(void);

#endif
