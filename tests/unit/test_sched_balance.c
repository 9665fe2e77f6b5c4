/*
 * Evening out between runqueues: averages, moves, swaps, and what a remote node costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

/* Without the quick ways, so that only the averages are at work. */
static struct machine *machine_averages(uint32_t sockets, uint32_t cores, uint32_t nodes)
{
    struct sched_params p;

    sched_params_default(&p);
    p.newidle_pull = false;
    p.neighbour_wake = false;
    p.overdue_push = false;
    p.smt_spread = false;
    return machine_new(sockets, cores, 1, nodes, &p);
}

static void free_all(struct machine *m, uint64_t soft)
{
    for (uint32_t i = 0; i < m->nunits; i++)
        machine_affinity(m, &m->units[i], 0, soft);
}

static void test_moves_to_idle_runqueue(void **state)
{
    struct machine *m = machine_averages(2, 2, 1);

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        machine_hog(m, 256, 3);
    machine_run(m, m->now + 2 * NS_PER_SEC);
    assert_int_equal(m->s->runqs[0].nr_active, 4);
    free_all(m, 0);
    machine_run(m, m->now + 2 * NS_PER_SEC);
    assert_int_equal(m->s->runqs[0].nr_active, 2);
    assert_int_equal(m->s->runqs[1].nr_active, 2);
    machine_free(m);
}

/*
 * Six kept to the first two of three runqueues; the third, idle, differs most from both, but nobody
 * may go there.
 */
static void test_looks_where_units_may_go(void **state)
{
    struct machine *m = machine_averages(3, 2, 1);

    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        machine_hog(m, 256, 3);
    machine_run(m, m->now + 2 * NS_PER_SEC);
    assert_int_equal(m->s->runqs[0].nr_active, 6);
    for (uint32_t i = 0; i < m->nunits; i++)
        machine_affinity(m, &m->units[i], 0xf, 0);
    machine_run(m, m->now + 2 * NS_PER_SEC);
    assert_int_equal(m->s->runqs[0].nr_active, 3);
    assert_int_equal(m->s->runqs[1].nr_active, 3);
    machine_free(m);
}

/* Four on the home node's two CPUs, two remote CPUs idle: half a CPU here or 10/20 of one there. */
static void test_remote_must_pay(void **state)
{
    (void)state;
    for (uint32_t crowd = 4; crowd <= 6; crowd += 2) {
        struct machine *m = machine_averages(2, 2, 2);

        for (uint32_t i = 0; i < crowd; i++)
            machine_hog(m, 256, 3);
        machine_run(m, m->now + 2 * NS_PER_SEC);
        free_all(m, 3);
        machine_run(m, m->now + 2 * NS_PER_SEC);
        if (crowd == 4)
            assert_int_equal(m->s->runqs[1].nr_active, 0);
        else
            assert_in_range(m->s->runqs[1].nr_active, 1, 2);
        machine_free(m);
    }
}

/*
 * 1.0 and 1.0 beside three of 0.4: no single move helps (a gap of 0.8 would become one of 1.2), an
 * exchange does. The window is hours long, so the averages are what the test says.
 */
static void test_swap(void **state)
{
    uint64_t tenth = (1ull << LOAD_FRAC_BITS) / 10;
    struct machine *m = machine_averages(2, 1, 1);
    struct sched_params p = m->params;
    uint32_t moved = 0, back = 0;

    (void)state;
    p.load_window_shift = 50;
    sched_rearrange(m->s, &p, m->now);
    for (uint32_t i = 0; i < 5; i++)
        machine_hog(m, 256, i < 2 ? 1 : 2)->unit.load.avg = tenth * (i < 2 ? 10 : 4);
    m->s->runqs[0].load.avg = tenth * 20;
    m->s->runqs[1].load.avg = tenth * 12;
    free_all(m, 0);
    machine_run(m, m->now + 200 * NS_PER_MS);
    for (uint32_t i = 0; i < 5; i++) {
        moved += i < 2 && m->units[i].unit.rq->id == 1;
        back += i >= 2 && m->units[i].unit.rq->id == 0;
    }
    assert_int_equal(moved, 1);
    assert_int_equal(back, 1);
    assert_int_equal(m->events[TRACE_SCHED_MIGRATE], 2);
    machine_free(m);
}

static void test_load_average(void **state)
{
    struct load l = {.avg = 0, .at = 1000};
    uint64_t one = 1ull << LOAD_FRAC_BITS;

    (void)state;
    assert_int_equal(load_at(&l, 1, 1000, 30), 0);
    assert_in_range(load_at(&l, 1, 1000 + (1u << 29), 30), one / 2, one / 2);
    assert_int_equal(load_at(&l, 3, 1000 + (1ull << 30), 30), 3 * one);
    assert_int_equal(load_at(&l, 1, 0, 30), 0); /* a clock slightly behind */
    assert_true(load_at(&l, 1, 1001, 30) > 0);  /* a nanosecond is not lost */
    l.avg = 100000 * one;
    assert_true(load_at(&l, 0, 1000 + (1u << 29), 30) == 50000 * one);
}

/*
 * A pass made by a CPU that has been tickled for a unit, and has come, must not give that CPU's
 * slot away to the unit that it moves here.
 */
static void test_pass_leaves_the_slot_alone(void **state)
{
    struct machine *m = machine_averages(2, 1, 1);
    struct machine_unit *waker;

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        machine_hog(m, 256, 2);
    waker = machine_unit(m, 256, 1, 0);
    machine_run(m, m->now + 2 * NS_PER_SEC);
    for (uint32_t i = 0; i < 4; i++)
        machine_affinity(m, &m->units[i], 0, 0);
    machine_wake(m, waker);
    assert_int_equal(waker->unit.state, UNIT_RESERVED);
    m->s->runqs[0].balance_due = true;
    machine_pick(m, 0);
    assert_int_equal(m->s->runqs[0].nr_active, 2);
    assert_true(unit_is_running(&waker->unit) || unit_is_ready(&waker->unit));
    machine_free(m);
}

/* Cores 0..n-1 of one thread, a runqueue each, CPU 0 preferred. */
static struct machine *machine_preferring(uint32_t cores, const struct sched_params *p)
{
    static struct cpu_place places[8];

    for (uint32_t cpu = 0; cpu < cores; cpu++)
        places[cpu] =
            (struct cpu_place){.cpu = cpu, .core = cpu, .asym_prio = (int32_t)(CPUS_MAX - 1 - cpu)};
    return machine_new_places(places, cores, 1, p);
}

/*
 * Three CPUs with two hogs each, CPU 0 balances. Priority does not count: it leaves the others
 * alone. With the old fault it takes from CPU 1, although nobody is less busy than CPU 0.
 */
static void test_busy_target_ignores_priority(void **state)
{
    (void)state;
    for (uint32_t fault = 0; fault < 2; fault++) {
        struct sched_params p;
        struct machine *m;

        sched_params_default(&p);
        p.arrangement = RUNQ_PER_CPU;
        p.newidle_pull = p.neighbour_wake = p.overdue_push = p.smt_spread = false;
        p.asym_busy = fault;
        m = machine_preferring(3, &p);
        for (uint32_t i = 0; i < 6; i++)
            machine_hog(m, 256, BIT(i % 3));
        machine_run(m, m->now + 3 * NS_PER_SEC);
        free_all(m, 0);
        m->s->runqs[0].balance_due = true;
        machine_run(m, m->now + NS_PER_SEC);
        if (fault)
            assert_in_range(m->s->runqs[0].nr_active, 3, 6);
        else
            assert_int_equal(m->s->runqs[0].nr_active, 2);
        machine_free(m);
    }
}

/* The same with one hog each: nothing waits, and with the old fault what runs has to come. */
static void test_fault_moves_what_runs(void **state)
{
    (void)state;
    for (uint32_t fault = 0; fault < 2; fault++) {
        struct sched_params p;
        struct machine *m;

        sched_params_default(&p);
        p.arrangement = RUNQ_PER_CPU;
        p.newidle_pull = p.neighbour_wake = p.overdue_push = p.smt_spread = false;
        p.asym_busy = fault;
        m = machine_preferring(3, &p);
        for (uint32_t i = 0; i < 3; i++)
            machine_hog(m, 256, BIT(i));
        machine_run(m, m->now + NS_PER_SEC);
        free_all(m, 0);
        m->s->runqs[0].balance_due = true;
        machine_pick(m, 0);
        machine_settle(m);
        assert_int_equal(m->s->runqs[0].nr_active, fault ? 2 : 1);
        assert_int_equal(m->s->runqs[1].nr_active, fault ? 0 : 1);
        assert_int_equal(m->s->runqs[2].nr_active, 1);
        machine_free(m);
    }
}

/* An idle target, its whole core idle, pulls from the least preferred of those that have work. */
static void test_idle_target_pulls_from_lowest_priority(void **state)
{
    (void)state;
    for (uint32_t asym = 0; asym < 2; asym++) {
        struct sched_params p;
        struct machine *m;
        struct machine_unit *short_one;

        sched_params_default(&p);
        p.arrangement = RUNQ_PER_CPU;
        p.asym = asym;
        m = machine_preferring(4, &p);
        short_one = machine_hog(m, 256, 1);
        for (uint32_t i = 0; i < 6; i++)
            machine_hog(m, 256, BIT(1 + i % 3));
        machine_run(m, m->now + NS_PER_SEC);
        free_all(m, 0);
        assert_ptr_equal(m->cpus[0].cur, &short_one->unit);
        assert_non_null(machine_sleep(m, 0));
        assert_int_equal(m->s->runqs[3].nr_active, asym ? 1 : 2);
        assert_int_equal(m->s->runqs[1].nr_active, asym ? 2 : 1);
        machine_free(m);
    }
}

/*
 * Two units away from home, where a CPU idles that they may not use: without a rate limit they once
 * changed places for ever, at one moment.
 */
static void test_homesick_without_rate_limit(void **state)
{
    struct machine_unit *u[2];
    struct sched_params p;
    struct machine *m;

    (void)state;
    sched_params_default(&p);
    p.ratelimit_ns = 0;
    m = machine_new(2, 2, 1, 2, &p);
    machine_hog(m, 256, 4); /* at home CPU 2 is taken, and 3 idles */
    for (uint32_t i = 0; i < 2; i++)
        u[i] = machine_hog(m, 256, 1);
    machine_settle(m);
    for (uint32_t i = 0; i < 2; i++)
        machine_affinity(m, u[i], 5, 4);
    machine_settle(m);
    for (uint32_t i = 0; i < 20; i++) {
        m->now = MAX(m->now, m->cpus[0].deadline);
        machine_pick(m, 0);
        assert_true(m->cpus[0].deadline >= m->now + p.slice_min_ns);
    }
    machine_free(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_homesick_without_rate_limit),
        cmocka_unit_test(test_moves_to_idle_runqueue),
        cmocka_unit_test(test_looks_where_units_may_go),
        cmocka_unit_test(test_remote_must_pay),
        cmocka_unit_test(test_swap),
        cmocka_unit_test(test_load_average),
        cmocka_unit_test(test_pass_leaves_the_slot_alone),
        cmocka_unit_test(test_busy_target_ignores_priority),
        cmocka_unit_test(test_fault_moves_what_runs),
        cmocka_unit_test(test_idle_target_pulls_from_lowest_priority),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
