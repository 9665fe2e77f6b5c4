/*
 * Caps: shares, debt, order, changes while running, and that nobody is lost or starves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

#define LONG_NS (10 * NS_PER_SEC)

static struct machine *machine_of(uint32_t cores)
{
    struct sched_params p;
    struct machine *m;

    sched_params_default(&p);
    m = machine_new(1, cores, 1, 1, &p);
    m->check = false; /* test_sched_random.c checks every event; here runs are long */
    return m;
}

/* A VM of `n` hogs under `cap`; returns the first, the others follow. */
static struct machine_unit *hogs(struct machine *m, struct cap *cap, uint32_t n, uint64_t hard)
{
    struct machine_unit *first = &m->units[m->nunits];

    for (uint32_t i = 0; i < n; i++) {
        struct machine_unit *u = machine_unit(m, WEIGHT_DEFAULT, hard, 0);

        if (cap)
            sched_unit_set_cap(m->s, &u->unit, cap, m->now);
        machine_wake(m, u);
    }
    return first;
}

static uint64_t ran(struct machine *m, struct machine_unit *first, uint32_t n)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += machine_ran(m, first + i);
    return sum;
}

static void run_for(struct machine *m, ns_t length)
{
    machine_run(m, m->now + length);
    sched_check(m->s);
}

/* `got` is within `ppm` millionths of `want`. */
static void assert_near(uint64_t got, uint64_t want, uint64_t ppm)
{
    uint64_t slack = want / 1000000 * ppm;

    assert_in_range(got, want - slack, want + slack);
}

struct share_row {
    const char *name;
    uint32_t cpus, percent, vcpus, rivals; /* rivals: uncapped hogs */
};

static const struct share_row share_rows[] = {
    {"1 % alone", 1, 1, 1, 0},
    {"10 % alone", 1, 10, 1, 0},
    {"50 % alone", 1, 50, 1, 0},
    {"100 % of two vCPUs alone", 2, 100, 2, 0},
    {"250 % of four vCPUs alone", 4, 250, 4, 0},
    {"10 % of eight vCPUs alone", 8, 10, 8, 0},
    {"10 % beside a hog", 1, 10, 1, 1},
    {"30 % beside a hog", 1, 30, 1, 1},
    {"50 % beside four hogs on four CPUs", 4, 50, 2, 4},
    {"100 % of four vCPUs beside four hogs", 4, 100, 4, 4},
    {"150 % of four vCPUs beside three hogs", 4, 150, 4, 3},
};

static void test_share_is_the_cap(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(share_rows); i++) {
        const struct share_row *row = &share_rows[i];
        struct machine *m = machine_of(row->cpus);
        struct cap *cap = machine_cap(m, row->percent, row->vcpus);
        struct machine_unit *vm = hogs(m, cap, row->vcpus, 0);
        struct machine_unit *rivals = hogs(m, NULL, row->rivals, 0);
        uint64_t wanted = LONG_NS / 100 * row->percent, got, others;

        run_for(m, LONG_NS);
        got = ran(m, vm, row->vcpus);
        others = ran(m, rivals, row->rivals);
        print_message("%s: %llu us\n", row->name, (unsigned long long)(got / NS_PER_US));
        assert_near(got, wanted, 10000);
        if (row->rivals >= row->cpus) /* whatever the cap leaves is used */
            assert_near(others, row->cpus * LONG_NS - got, 100);
        machine_free(m);
    }
}

/* 100 % of one vCPU, and more than its share of a crowded CPU, are no limit at all. */
static void test_cap_above_the_share_limits_nothing(void **state)
{
    struct machine *m = machine_of(1);
    struct machine_unit *a = hogs(m, machine_cap(m, 100, 1), 1, 0);
    struct machine_unit *b = hogs(m, machine_cap(m, 80, 1), 1, 0);

    (void)state;
    run_for(m, LONG_NS);
    assert_near(ran(m, a, 1), LONG_NS / 2, 10000);
    assert_near(ran(m, b, 1), LONG_NS / 2, 10000);
    assert_true(unit_capped_ns(&a->unit, m->now) < LONG_NS / 100);
    machine_free(m);
}

static void test_vcpus_of_a_vm_share_evenly(void **state)
{
    static const uint32_t percents[] = {1, 10, 30, 50, 75, 100, 300};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(percents); i++) {
        struct machine *m = machine_of(4);
        struct machine_unit *vm = hogs(m, machine_cap(m, percents[i], 8), 8, 0);

        run_for(m, LONG_NS);
        for (uint32_t j = 0; j < 8; j++)
            assert_near(machine_ran(m, vm + j), LONG_NS / 800 * percents[i], 10000);
        machine_free(m);
    }
}

static void test_many_vms(void **state)
{
    struct machine *m = machine_of(4);
    struct machine_unit *vms[MACHINE_CAPS];

    (void)state;
    for (uint32_t i = 0; i < MACHINE_CAPS; i++)
        vms[i] = hogs(m, machine_cap(m, 5 + i, 2), 2, 0); /* 200 % in all */
    run_for(m, LONG_NS);
    for (uint32_t i = 0; i < MACHINE_CAPS; i++)
        assert_near(ran(m, vms[i], 2), LONG_NS / 100 * (5 + i), 10000);
    machine_free(m);
}

/* Time parked is neither load nor waiting; what a unit did adds up to the time that passed. */
static void test_parked_time_is_its_own(void **state)
{
    struct machine *m = machine_of(1);
    struct machine_unit *u = hogs(m, machine_cap(m, 25, 1), 1, 0);
    struct runq_info info;
    uint64_t run_ns, wait_ns, words[3];
    struct cpumask masks[3];

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        masks[i] = cpumask_over(&words[i], 1);
    run_for(m, LONG_NS);
    unit_times(&u->unit, m->now, &run_ns, &wait_ns);
    assert_near(unit_capped_ns(&u->unit, m->now), LONG_NS / 4 * 3, 10000);
    assert_int_equal(run_ns + wait_ns + unit_capped_ns(&u->unit, m->now), LONG_NS);
    assert_true(m->events[TRACE_SCHED_PARK] >= LONG_NS / CAP_PERIOD_NS - 1);
    assert_true(m->events[TRACE_SCHED_PARK] - m->events[TRACE_SCHED_UNPARK] <= 1);
    sched_runq_info(m->s, 0, m->now, &info, masks[0], masks[1], masks[2]);
    assert_near(info.load, 1ull << (LOAD_FRAC_BITS - 2), 20000);
    machine_free(m);
}

/* A CPU that came late to its pick ran its unit too long: later periods pay. */
static void test_overrun_is_debt(void **state)
{
    struct machine *m = machine_of(1);
    struct cap *cap = machine_cap(m, 10, 1);
    struct machine_unit *u = hogs(m, cap, 1, 0);
    ns_t from = m->now;

    (void)state;
    machine_settle(m);
    assert_ptr_equal(m->cpus[0].cur, &u->unit);
    m->now += 25 * NS_PER_MS; /* of a budget of 1 ms each 10 ms */
    machine_pick(m, 0);
    assert_int_equal(u->unit.state, UNIT_PARKED);
    assert_true(cap->budget_ns < -20 * (int64_t)NS_PER_MS);
    machine_run(m, from + 235 * NS_PER_MS);
    assert_int_equal(machine_ran(m, u), 25 * NS_PER_MS);
    machine_run(m, from + 500 * NS_PER_MS);
    assert_in_range(machine_ran(m, u), 48 * NS_PER_MS, 50 * NS_PER_MS);
    machine_free(m);
}

/* Sleeping for a minute earns one quota, not 6000. */
static void test_idle_time_is_not_saved_up(void **state)
{
    struct machine *m = machine_of(1);
    struct machine_unit *u = machine_unit(m, WEIGHT_DEFAULT, 0, 0);

    (void)state;
    sched_unit_set_cap(m->s, &u->unit, machine_cap(m, 50, 1), m->now);
    run_for(m, 60 * NS_PER_SEC);
    machine_wake(m, u);
    run_for(m, 100 * NS_PER_MS);
    assert_in_range(machine_ran(m, u), 50 * NS_PER_MS, 56 * NS_PER_MS);
    machine_free(m);
}

/* SCHEDULER 6: the best in credit is out of budget, work waits behind him, and idle is picked. */
static void test_no_idle_cpu_while_uncapped_work_waits(void **state)
{
    struct machine *m = machine_of(2);
    struct machine_unit *rich = hogs(m, machine_cap(m, 1, 4), 4, 0);
    struct machine_unit *work = hogs(m, NULL, 3, 0);
    uint64_t before;

    (void)state;
    run_for(m, 100 * NS_PER_MS); /* the capped ones have slept through resets */
    for (uint32_t i = 0; i < 1000; i++) {
        before = ran(m, work, 3) + ran(m, rich, 4);
        run_for(m, NS_PER_MS);
        assert_int_equal(ran(m, work, 3) + ran(m, rich, 4) - before, 2 * NS_PER_MS);
    }
    machine_free(m);
}

static void test_change_while_running(void **state)
{
    struct machine *m = machine_of(2);
    struct cap *cap = machine_cap(m, 20, 2);
    struct machine_unit *vm = hogs(m, NULL, 2, 0);
    static const uint32_t percents[] = {20, 150, 0, 5, 0, 60, 10, 200};
    uint64_t before;

    (void)state;
    m->check = true;
    for (size_t i = 0; i < ARRAY_SIZE(percents); i++) {
        if (percents[i])
            cap_set(cap, percents[i], 2, m->now);
        for (uint32_t j = 0; j < 2; j++)
            sched_unit_set_cap(m->s, &vm[j].unit, percents[i] ? cap : NULL, m->now);
        run_for(m, 37 * NS_PER_MS);
        before = ran(m, vm, 2);
        run_for(m, NS_PER_SEC);
        assert_near(ran(m, vm, 2) - before, NS_PER_SEC / 100 * (percents[i] ? percents[i] : 200),
                    20000);
    }
    machine_free(m);
}

/* A unit that sleeps early leaves its grant to one that is parked, and not only at the refill. */
static void test_rest_of_a_grant_goes_to_the_parked(void **state)
{
    struct machine *m = machine_of(3);
    struct cap *cap = machine_cap(m, 10, 8); /* two grants of 0.5 ms */
    struct machine_unit *vm = hogs(m, cap, 3, 0);

    (void)state;
    machine_settle(m);
    assert_int_equal(machine_busy_cpus(m), 2);
    assert_int_equal(vm[2].unit.state, UNIT_PARKED);
    m->now += 10 * NS_PER_US;
    machine_sleep(m, vm[0].unit.cpu);
    machine_settle(m);
    assert_int_equal(vm[2].unit.state, UNIT_RUNNING);
    machine_free(m);
}

static void test_parked_units_are_left_alone(void **state)
{
    struct machine *m = machine_of(1);
    struct machine_unit *vm = hogs(m, machine_cap(m, 10, 1), 1, 0);
    struct machine_unit *work = hogs(m, NULL, 1, 0);

    (void)state;
    m->check = true;
    run_for(m, 7 * NS_PER_MS);
    assert_int_equal(vm->unit.state, UNIT_PARKED);
    assert_ptr_equal(m->cpus[0].cur, &work->unit);
    assert_false(sched_yield_to(m->s, 0, &vm->unit, m->now));
    machine_wake(m, vm);
    assert_int_equal(vm->unit.state, UNIT_PARKED);
    sched_unit_set_weight(m->s, &vm->unit, 1000, m->now);
    machine_affinity(m, vm, 1, 1);
    assert_int_equal(vm->unit.state, UNIT_PARKED);
    sched_unit_pause(m->s, &vm->unit, m->now);
    assert_int_equal(vm->unit.state, UNIT_OFF);
    run_for(m, 50 * NS_PER_MS);
    sched_unit_unpause(m->s, &vm->unit, m->now);
    assert_int_not_equal(vm->unit.state, UNIT_OFF);
    run_for(m, NS_PER_SEC);
    assert_near(machine_ran(m, vm), NS_PER_SEC / 10, 30000);
    machine_free(m);
}

/* Its runqueue loses all its CPUs while a unit is parked there: it is placed elsewhere. */
static void test_cpu_goes_while_parked(void **state)
{
    struct sched_params p;
    struct machine *m;
    struct machine_unit *vm;
    ns_t from;

    (void)state;
    sched_params_default(&p);
    p.arrangement = RUNQ_PER_CPU;
    m = machine_new(1, 2, 1, 1, &p);
    vm = hogs(m, machine_cap(m, 50, 1), 1, 0);
    run_for(m, 8 * NS_PER_MS);
    assert_int_equal(vm->unit.state, UNIT_PARKED);
    assert_int_equal(sched_cpu_offline(m->s, vm->unit.cpu, m->now), 0);
    m->cpus[vm->unit.cpu].online = false;
    from = m->now;
    run_for(m, NS_PER_SEC);
    assert_near(machine_ran(m, vm), 5 * NS_PER_MS + (m->now - from) / 2, 20000);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share_is_the_cap),
        cmocka_unit_test(test_cap_above_the_share_limits_nothing),
        cmocka_unit_test(test_vcpus_of_a_vm_share_evenly),
        cmocka_unit_test(test_many_vms),
        cmocka_unit_test(test_parked_time_is_its_own),
        cmocka_unit_test(test_overrun_is_debt),
        cmocka_unit_test(test_idle_time_is_not_saved_up),
        cmocka_unit_test(test_no_idle_cpu_while_uncapped_work_waits),
        cmocka_unit_test(test_change_while_running),
        cmocka_unit_test(test_rest_of_a_grant_goes_to_the_parked),
        cmocka_unit_test(test_parked_units_are_left_alone),
        cmocka_unit_test(test_cpu_goes_while_parked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
