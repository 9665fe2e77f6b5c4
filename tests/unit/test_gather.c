/* Standstill: everybody waits while it is done, somebody missing means it is not. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/fake_cpus.h"

#include "kernel/gather.c" /* with the CPUs above */

#define TURNS 200u

static ns_t fake_now;           /* [a] every look at the clock takes a while */
static uint32_t inside;         /* [a] CPUs between two hazards, as if in sched/ */
static uint32_t stop;           /* [a] */
static uint32_t met[FAKE_CPUS]; /* gates waited at */

ns_t arch_now(void)
{
    return __atomic_fetch_add(&fake_now, NS_PER_US, __ATOMIC_RELAXED);
}

/* A CPU's loop: busy inside something, then a look at its hazards. */
static void *cpu_thread(void *arg)
{
    fake_me = arg;
    while (!atomic_get(&stop)) {
        __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
        if (atomic_exchange(&fake_me->hazard, 0) & HAZARD_GATHER) {
            gather_wait();
            met[fake_me->id]++;
        }
    }
    return NULL;
}

static void nobody_moves(void *arg)
{
    uint32_t *calls = arg;

    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(atomic_get(&inside), 0);
    (*calls)++;
}

static void test_all_wait(void **state)
{
    pthread_t threads[FAKE_CPUS];
    uint32_t calls = 0;

    (void)state;
    fake_cpus_init();
    for (uint32_t i = 1; i < FAKE_CPUS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, cpu_thread, &fake_cpu[i]), 0);
    for (uint32_t i = 0; i < TURNS; i++)
        while (gather_call(nobody_moves, &calls) < 0)
            continue; /* this clock says nothing of how long the threads had */
    atomic_set(&stop, 1);
    for (uint32_t i = 1; i < FAKE_CPUS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(met[i] > 0);
    }
    assert_int_equal(calls, TURNS);
}

/* It ends, nothing is done, and who comes later goes on at once. */
static void test_one_is_missing(void **state)
{
    uint32_t calls = 0;

    (void)state;
    fake_cpus_init();
    assert_int_equal(gather_call(nobody_moves, &calls), -ETIMEDOUT);
    assert_int_equal(calls, 0);
    fake_me = &fake_cpu[1];
    gather_wait();
    fake_me = &fake_cpu[0];
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_wait),
        cmocka_unit_test(test_one_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
