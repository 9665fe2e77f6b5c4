/*
 * Spinlocks: one owner at a time, in turn on bare metal, out of turn below a hypervisor.
 *
 * The lock's words tell how its waiters wait: a ticket each, or none. In turn each passes it on
 * once in a time slice where threads outnumber the processors, so there are few rounds.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hv/lock.h"
#include "kernel/lock.h"

#define WAITERS        3u
#define ROUNDS_TURN    50u
#define ROUNDS_BARGING 20000u

static struct spinlock lock = SPINLOCK_INIT(LOCK_NODE);
static uint64_t inside;  /* written with the lock held only */
static uint32_t arrived; /* [a] waiters that are about to want the lock */

static void *work(void *arg)
{
    const uint32_t *rounds = arg;

    __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < *rounds; i++) {
        spin_lock(&lock);
        inside++;
        spin_unlock(&lock);
    }
    return NULL;
}

static uint16_t tickets_out(void)
{
    return (uint16_t)(__atomic_load_n(&lock.next, __ATOMIC_RELAXED) - lock.owner);
}

/* Starts the waiters while the lock is held, until `tickets` are out; then lets them have it. */
static void contend(uint16_t tickets, uint32_t rounds)
{
    pthread_t threads[WAITERS];

    inside = arrived = 0;
    spin_lock(&lock);
    for (uint32_t i = 0; i < WAITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &rounds), 0);
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < WAITERS || tickets_out() < tickets)
        sched_yield();
    assert_int_equal(inside, 0);
    assert_int_equal(tickets_out(), tickets);
    spin_unlock(&lock);
    for (uint32_t i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(inside, WAITERS * rounds);
    assert_int_equal(tickets_out(), 0);
}

static void test_waiters_keep_their_place(void **state)
{
    (void)state;
    contend(1 + WAITERS, ROUNDS_TURN);
}

static void test_waiters_barge(void **state)
{
    (void)state;
    lock_waiters_barge();
    contend(1, ROUNDS_BARGING);
}

static void test_try(void **state)
{
    (void)state;
    assert_true(spin_trylock(&lock));
    assert_false(spin_trylock(&lock));
    spin_unlock(&lock);
    assert_true(spin_trylock(&lock));
    spin_unlock(&lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiters_keep_their_place),
        cmocka_unit_test(test_waiters_barge),
        cmocka_unit_test(test_try),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
