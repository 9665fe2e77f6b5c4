/*
 * Two busy threads of one core and another core with none: one of the two moves, and only one, to a
 * core that is still idle when it comes (sched/spread.c).
 *
 * CPUs of machine_new(sockets, cores, threads, nodes): siblings adjacent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

static struct machine *machine_smt(uint32_t cores, uint32_t threads)
{
    struct sched_params p;

    sched_params_default(&p);
    return machine_new(1, cores, threads, 1, &p);
}

/* 2 cores x 2 threads. */
static struct machine *machine_arranged(enum runq_arrangement arrangement)
{
    struct sched_params p;

    sched_params_default(&p);
    p.arrangement = arrangement;
    return machine_new(1, 2, 2, 1, &p);
}

static void unpin_all(struct machine *m)
{
    for (uint32_t i = 0; i < m->nunits; i++)
        machine_affinity(m, &m->units[i], 0, 0);
}

static uint32_t busy_of(const struct machine *m, uint32_t first, uint32_t count)
{
    uint32_t busy = 0;

    for (uint32_t cpu = first; cpu < first + count; cpu++)
        busy += m->cpus[cpu].cur != NULL;
    return busy;
}

/* Both threads of an idle core look at the same moment, and both ask. */
static void test_one_of_two_leaves(void **state)
{
    struct machine *m = machine_smt(2, 2);

    (void)state;
    machine_hog(m, 256, 3);
    machine_hog(m, 256, 3);
    machine_settle(m);
    unpin_all(m);
    m->now += 2 * NS_PER_MS;
    machine_pick(m, 2); /* asks one */
    machine_pick(m, 3); /* finds that the core will be even: asks nobody */
    assert_int_equal(m->cpus[0].kicked + m->cpus[1].kicked, 1);
    machine_settle(m);
    assert_int_equal(busy_of(m, 0, 2), 1);
    assert_int_equal(busy_of(m, 2, 2), 1);
    machine_free(m);
}

/* Two cores are packed, one is idle, and its threads ask a unit of each: the second is sent back.
 */
static void test_core_is_taken_meanwhile(void **state)
{
    struct machine *m = machine_smt(3, 2);

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        machine_hog(m, 256, 0xf);
    machine_settle(m);
    unpin_all(m);
    m->now += 2 * NS_PER_MS;
    machine_pick(m, 4);
    machine_pick(m, 5);
    assert_int_equal(m->cpus[2].kicked + m->cpus[3].kicked, 1);
    assert_int_equal(m->cpus[0].kicked + m->cpus[1].kicked, 1);
    machine_settle(m);
    machine_run(m, m->now + 5 * NS_PER_MS);
    assert_int_equal(busy_of(m, 4, 2), 1);
    assert_int_equal(machine_busy_cpus(m), 4);
    machine_free(m);
}

/* Four on one core of four threads, and three idle cores: in the end each has one. */
static void test_four_on_one_core(void **state)
{
    struct machine *m = machine_smt(4, 4);

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        machine_hog(m, 256, 0xf);
    machine_settle(m);
    unpin_all(m);
    m->now += 2 * NS_PER_MS;
    for (uint32_t cpu = 4; cpu < 16; cpu++)
        machine_pick(m, cpu);
    machine_run(m, m->now + 20 * NS_PER_MS);
    for (uint32_t core = 0; core < 4; core++)
        assert_int_equal(busy_of(m, 4 * core, 4), 1);
    machine_free(m);
}

/* The packed core is another runqueue's, whose lock is taken just then: it is asked later. */
static void test_lock_is_taken(void **state)
{
    struct machine *m = machine_arranged(RUNQ_PER_CORE);

    (void)state;
    machine_hog(m, 256, 3);
    machine_hog(m, 256, 3);
    machine_settle(m);
    unpin_all(m);
    m->now += 2 * NS_PER_MS;
    m->check = false; /* it would wait for the lock */
    spin_lock(&m->s->runqs[0].lock);
    machine_pick(m, 2);
    spin_unlock(&m->s->runqs[0].lock);
    m->check = true;
    assert_int_equal(m->cpus[2].deadline, m->now + m->s->least_ns);
    machine_run(m, m->now + 2 * NS_PER_MS);
    assert_int_equal(busy_of(m, 0, 2), 1);
    assert_int_equal(busy_of(m, 2, 2), 1);
    machine_free(m);
}

/*
 * Both had to run on one core and no longer do: an idle one is found, in their runqueue or beside
 * it, though it fell idle long ago and their CPUs have no deadline.
 */
static void test_pin_is_widened(void **state)
{
    static const enum runq_arrangement rows[] = {RUNQ_PER_SOCKET, RUNQ_PER_CORE};

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct machine *m = machine_arranged(rows[i]);

        machine_hog(m, 256, 1);
        machine_hog(m, 256, 2);
        machine_run(m, m->now + NS_PER_SEC);
        assert_int_equal(busy_of(m, 0, 2), 2);
        machine_affinity(m, &m->units[0], 0, 0);
        machine_run(m, m->now + 20 * NS_PER_MS);
        assert_int_equal(busy_of(m, 0, 2), 1);
        assert_int_equal(busy_of(m, 2, 2), 1);
        machine_free(m);
    }
}

/* The averages were too low for a move when it woke: it looks again each slice. */
static void test_leaves_for_a_core_nearby(void **state)
{
    struct machine *m = machine_arranged(RUNQ_PER_CORE);
    struct machine_unit *u;

    (void)state;
    machine_hog(m, 256, 1);
    u = machine_unit(m, 256, 2, 0);
    machine_wake(m, u);
    machine_settle(m);
    machine_sleep(m, 1);
    machine_affinity(m, u, 0, 0);
    m->s->runqs[0].load.recent = 0;
    m->s->runqs[0].load.at = m->now;
    m->s->runqs[1].load.recent = 1ull << LOAD_FRAC_BITS;
    m->s->runqs[1].load.at = m->now;
    machine_wake(m, u);
    machine_settle(m);
    assert_int_equal(busy_of(m, 0, 2), 2);
    machine_run(m, m->now + NS_PER_SEC);
    assert_int_equal(busy_of(m, 0, 2), 1);
    assert_int_equal(busy_of(m, 2, 2), 1);
    machine_free(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_of_two_leaves), cmocka_unit_test(test_core_is_taken_meanwhile),
        cmocka_unit_test(test_four_on_one_core),  cmocka_unit_test(test_lock_is_taken),
        cmocka_unit_test(test_pin_is_widened),    cmocka_unit_test(test_leaves_for_a_core_nearby),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
