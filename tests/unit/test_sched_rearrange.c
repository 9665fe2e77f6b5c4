/*
 * Another arrangement, other parameters, while units run, wait, sleep and are being saved.
 *
 * test_sched_random.c does the same at random all the time; here is what must be kept, by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

#define ARRANGEMENTS 6u

/* 2 sockets x 2 cores x 2 threads. */
static struct machine *machine_eight(void)
{
    struct sched_params p;

    sched_params_default(&p);
    return machine_new(2, 2, 2, 2, &p);
}

static void arrange(struct machine *m, uint32_t arrangement)
{
    m->params.arrangement = (enum runq_arrangement)arrangement;
    sched_rearrange(m->s, &m->params, m->now);
    sched_check(m->s);
}

static void test_runqueues_of_each(void **state)
{
    static const uint32_t counts[ARRANGEMENTS] = {8, 4, 2, 2, 2, 1};
    struct machine *m = machine_eight();

    (void)state;
    for (uint32_t i = 0; i < 2 * ARRANGEMENTS; i++) {
        arrange(m, i % ARRANGEMENTS);
        assert_int_equal(sched_runq_count(m->s), counts[i % ARRANGEMENTS]);
        machine_settle(m);
    }
    m->params.max_cpus_runqueue = 2;
    arrange(m, RUNQ_ALL);
    assert_int_equal(sched_runq_count(m->s), 4);
    machine_free(m);
}

/* At the very moment of the change: who runs runs on, and everybody has the credit he had. */
static void test_keeps_what_units_have(void **state)
{
    struct machine *m = machine_eight();
    int64_t credit_ns[20];
    struct unit *cur[8];

    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        machine_hog(m, 64 << i % 4, 0);
    for (uint32_t turn = 0; turn < 3 * ARRANGEMENTS; turn++) {
        machine_run(m, m->now + 7 * NS_PER_MS);
        for (uint32_t cpu = 0; cpu < 8; cpu++) /* so that the last charge is of now */
            cur[cpu] = machine_pick(m, cpu);
        machine_settle(m);
        for (uint32_t i = 0; i < 20; i++)
            credit_ns[i] = sched_unit_credit(m->s, &m->units[i].unit);
        for (uint32_t cpu = 0; cpu < 8; cpu++)
            cur[cpu] = m->cpus[cpu].cur;
        arrange(m, turn % ARRANGEMENTS);
        for (uint32_t i = 0; i < 20; i++)
            assert_int_equal(sched_unit_credit(m->s, &m->units[i].unit), credit_ns[i]);
        for (uint32_t cpu = 0; cpu < 8; cpu++)
            assert_true(unit_is_running(cur[cpu]) && cur[cpu]->cpu == cpu);
    }
    machine_free(m);
}

/* A unit whose registers are being saved is nobody's until sched_saved, before and after. */
static void test_leaving_unit_stays_with_its_cpu(void **state)
{
    struct machine *m = machine_eight();
    struct machine_unit *u = machine_hog(m, 256, 1), *v;

    (void)state;
    machine_settle(m);
    assert_ptr_equal(m->cpus[0].cur, &u->unit);
    v = machine_hog(m, 1024, 1);
    while (m->cpus[0].cur == &u->unit) {
        m->now += 10 * NS_PER_MS;
        machine_pick_only(m, 0);
    }
    assert_ptr_equal(m->cpus[0].saving, &u->unit);
    arrange(m, RUNQ_PER_CPU);
    assert_true(u->unit.on_cpu && u->unit.state == UNIT_LEAVING);
    machine_saved(m, 0);
    assert_int_equal(u->unit.state, UNIT_QUEUED);
    assert_true(unit_is_running(&v->unit));
    machine_free(m);
}

/* Reserved for a CPU that has not come yet: it still finds it. An offline CPU stays offline. */
static void test_slot_and_offline(void **state)
{
    struct machine *m = machine_eight();
    struct machine_unit *u = machine_unit(m, 256, BIT(5), 0);

    (void)state;
    assert_int_equal(sched_cpu_offline(m->s, 6, m->now), 0);
    machine_settle(m);
    machine_wake(m, u);
    assert_int_equal(u->unit.state, UNIT_RESERVED);
    arrange(m, RUNQ_PER_CORE);
    assert_false(sched_cpu_is_online(m->s, 6));
    assert_ptr_equal(machine_pick(m, 5), &u->unit);
    assert_null(machine_pick(m, 6));
    machine_free(m);
}

/* Bounds of credit that shrink and grow: everybody is within them at once, and time goes on. */
static void test_credit_bounds(void **state)
{
    static const uint32_t init_ms[] = {10, 1, 25, 2, 10};
    struct machine *m = machine_eight();

    (void)state;
    for (uint32_t i = 0; i < 24; i++)
        machine_hog(m, 1u << i % 12, i % 3 ? 0 : 3);
    for (uint32_t i = 0; i < ARRAY_SIZE(init_ms); i++) {
        m->params.credit_init_ns = init_ms[i] * NS_PER_MS;
        m->params.carryover_ns = m->params.credit_init_ns / 20;
        m->params.slice_max_ns = init_ms[i] * NS_PER_MS;
        m->params.ratelimit_ns = i % 2 ? 0 : NS_PER_MS;
        arrange(m, RUNQ_PER_SOCKET);
        machine_run(m, m->now + 100 * NS_PER_MS); /* sched_check at every event */
        assert_int_equal(machine_busy_cpus(m), 8);
    }
    machine_free(m);
}

/* Soft affinity switched off is forgotten by those that run and wait, switched on it counts again.
 */
static void test_soft_affinity_switch(void **state)
{
    struct machine *m = machine_eight();
    struct machine_unit *u = machine_unit(m, 256, 0, 0xf0);

    (void)state;
    assert_int_equal(u->unit.soft_reach, m->s->runqs[1].fold);
    m->params.soft_affinity = false;
    arrange(m, RUNQ_PER_SOCKET);
    assert_true(u->unit.soft_none);
    m->params.soft_affinity = true;
    arrange(m, RUNQ_PER_SOCKET);
    assert_false(u->unit.soft_none);
    machine_free(m);
}

/* A runqueue's load is that of its units, so balancing starts from what is true. */
static void test_loads_follow(void **state)
{
    struct machine *m = machine_eight();
    uint64_t one = 1ull << LOAD_FRAC_BITS;

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        machine_hog(m, 256, BIT(i));
    machine_run(m, m->now + 3 * NS_PER_SEC);
    arrange(m, RUNQ_ALL);
    assert_int_equal(load_of_runq(m->s, &m->s->runqs[0], m->now), 4 * one);
    arrange(m, RUNQ_PER_CORE);
    assert_int_equal(load_of_runq(m->s, &m->s->runqs[0], m->now), 2 * one);
    assert_int_equal(load_of_runq(m->s, &m->s->runqs[3], m->now), 0);
    machine_free(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runqueues_of_each),
        cmocka_unit_test(test_keeps_what_units_have),
        cmocka_unit_test(test_leaving_unit_stays_with_its_cpu),
        cmocka_unit_test(test_slot_and_offline),
        cmocka_unit_test(test_credit_bounds),
        cmocka_unit_test(test_soft_affinity_switch),
        cmocka_unit_test(test_loads_follow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
