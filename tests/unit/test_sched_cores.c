/*
 * Core scheduling: one VM to a core, its turns, and that nobody starves or spins for it.
 *
 * CPUs of machine_new(sockets, cores, threads, nodes): siblings adjacent. After every event the
 * machine itself asserts that nothing of another VM runs or is saved beside what was picked, and
 * sched_check that no CPU idles beside a unit it may take.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/options.h"
#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

static struct machine *machine_cores(uint32_t sockets, uint32_t cores, uint32_t threads)
{
    struct sched_params p;

    sched_params_default(&p);
    p.gran = SCHED_GRAN_CORE;
    return machine_new(sockets, cores, threads, 1, &p);
}

static struct machine_unit *hog_of(struct machine *m, uint32_t vm_id, uint32_t weight,
                                   uint64_t hard)
{
    m->vm_id = vm_id;
    return machine_hog(m, weight, hard);
}

static void assert_near(uint64_t value, uint64_t wanted, uint32_t per_cent)
{
    assert_in_range(value, wanted - wanted * per_cent / 100, wanted + wanted * per_cent / 100);
}

/* A VM of two and one of a single unit on one core: each unit gets the same, a turn at a time. */
static void test_turns_are_fair(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *a0 = hog_of(m, 1, 256, 0), *a1 = hog_of(m, 1, 256, 0);
    struct machine_unit *b = hog_of(m, 2, 256, 0);

    (void)state;
    machine_run(m, m->now + 10 * NS_PER_SEC);
    assert_near(machine_ran(m, a0), 5 * NS_PER_SEC, 2);
    assert_near(machine_ran(m, a1), 5 * NS_PER_SEC, 2);
    assert_near(machine_ran(m, b), 5 * NS_PER_SEC, 2);
    machine_free(m);
}

static void test_turns_go_by_weight(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *a0 = hog_of(m, 1, 512, 0), *b0 = hog_of(m, 2, 256, 0);
    struct machine_unit *a1 = hog_of(m, 1, 512, 0), *b1 = hog_of(m, 2, 256, 0);

    (void)state;
    machine_run(m, m->now + 12 * NS_PER_SEC);
    assert_near(machine_ran(m, a0), 8 * NS_PER_SEC, 2);
    assert_near(machine_ran(m, a1), 8 * NS_PER_SEC, 2);
    assert_near(machine_ran(m, b0), 4 * NS_PER_SEC, 2);
    assert_near(machine_ran(m, b1), 4 * NS_PER_SEC, 2);
    machine_free(m);
}

/* Neither is ever away for long, whatever the number of its units. */
static void test_no_vm_is_locked_out(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *u[5];
    uint64_t ran[5] = {0};
    ns_t since[5];

    (void)state;
    for (uint32_t i = 0; i < 5; i++) { /* VMs of 1, 2 and 2 units */
        u[i] = hog_of(m, 1 + (i + 1) / 2, 256, 0);
        since[i] = m->now;
    }
    for (uint32_t ms = 0; ms < 3000; ms++) {
        machine_run(m, m->now + NS_PER_MS);
        for (uint32_t i = 0; i < 5; i++) {
            if (machine_ran(m, u[i]) != ran[i])
                since[i] = m->now;
            ran[i] = machine_ran(m, u[i]);
            assert_true(m->now - since[i] <= 3 * m->params.slice_max_ns);
        }
    }
    machine_free(m);
}

/* Two VMs of two units on two cores: each ends up with a core, and then nothing moves or ticks. */
static void test_cores_enough(void **state)
{
    struct machine *m = machine_cores(1, 2, 2);
    uint64_t picks = 0;

    (void)state;
    hog_of(m, 1, 256, 0);
    hog_of(m, 2, 256, 0);
    hog_of(m, 1, 256, 0);
    hog_of(m, 2, 256, 0);
    machine_run(m, m->now + 100 * NS_PER_MS);
    assert_int_equal(machine_busy_cpus(m), 4);
    for (uint32_t cpu = 0; cpu < 4; cpu++)
        picks -= m->cpus[cpu].picks;
    machine_run(m, m->now + NS_PER_SEC);
    for (uint32_t cpu = 0; cpu < 4; cpu++)
        picks += m->cpus[cpu].picks;
    assert_int_equal(picks, 0);
    machine_free(m);
}

/* The one that may not run beside is idle, not busy looking. */
static void test_forced_idle_does_not_spin(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *a = hog_of(m, 1, 256, 0), *b = hog_of(m, 2, 256, 0);

    (void)state;
    machine_run(m, m->now + NS_PER_SEC);
    assert_near(machine_ran(m, a), NS_PER_SEC / 2, 5);
    assert_near(machine_ran(m, b), NS_PER_SEC / 2, 5);
    assert_int_equal(machine_busy_cpus(m), 1);
    assert_true(m->cpus[0].picks < 4000 && m->cpus[1].picks < 4000);
    machine_free(m);
}

/* Each may run on one sibling only, and not the same: they take turns nevertheless. */
static void test_affinity_to_one_sibling(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *a = hog_of(m, 1, 256, 1), *b = hog_of(m, 2, 256, 2);

    (void)state;
    machine_run(m, m->now + 4 * NS_PER_SEC);
    assert_near(machine_ran(m, a), 2 * NS_PER_SEC, 2);
    assert_near(machine_ran(m, b), 2 * NS_PER_SEC, 2);
    machine_free(m);
}

/* The rendezvous, call by call: the core is the other's when the last one has saved. */
static void test_rendezvous(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *a0 = hog_of(m, 1, 256, 1), *a1 = hog_of(m, 1, 256, 2);
    struct machine_unit *b;

    (void)state;
    machine_settle(m);
    m->now += 5 * NS_PER_MS;
    b = hog_of(m, 2, 256, 0);
    assert_int_equal(b->unit.state, UNIT_QUEUED);
    assert_true(m->cpus[0].kicked || m->cpus[1].kicked);
    assert_null(machine_pick_only(m, 0)); /* asks for the turn and gives up what it ran */
    assert_true(m->cpus[1].kicked);
    assert_null(machine_pick_only(m, 1));
    machine_saved(m, 0);
    assert_false(m->cpus[0].kicked); /* CPU 1 still saves: it counts as running */
    assert_null(machine_pick_only(m, 0));
    machine_saved(m, 1);
    assert_true(m->cpus[0].kicked && m->cpus[1].kicked);
    assert_ptr_equal(machine_pick(m, 1), &b->unit);
    assert_null(machine_pick(m, 0)); /* a0 waits for its turn, in HLT */
    assert_int_equal(a0->unit.state, UNIT_QUEUED);
    assert_int_equal(a1->unit.state, UNIT_QUEUED);
    assert_true(m->cpus[0].deadline != NS_NEVER && m->cpus[1].deadline != NS_NEVER);
    machine_free(m);
}

/* A CPU that changes to another VM all alone keeps its sibling out until it has saved. */
static void test_saving_counts_as_running(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *b0, *b1;

    (void)state;
    hog_of(m, 1, 256, 1);
    machine_settle(m);
    m->now += 5 * NS_PER_MS;
    b0 = hog_of(m, 2, 256, 1);
    assert_ptr_equal(machine_pick_only(m, 0), &b0->unit);
    b1 = hog_of(m, 2, 256, 2);
    assert_int_equal(b1->unit.state, UNIT_QUEUED);
    assert_null(machine_pick_only(m, 1));
    machine_saved(m, 0);
    assert_true(m->cpus[1].kicked);
    assert_ptr_equal(machine_pick(m, 1), &b1->unit);
    machine_free(m);
}

static void test_yield_stays_in_the_vm(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *a2, *b;

    (void)state;
    hog_of(m, 1, 256, 1);
    hog_of(m, 1, 256, 2);
    machine_settle(m);
    a2 = hog_of(m, 1, 256, 0);
    b = hog_of(m, 2, 256, 0);
    assert_false(sched_yield_to(m->s, 0, &b->unit, m->now));
    assert_true(sched_yield_to(m->s, 0, &a2->unit, m->now));
    assert_ptr_equal(machine_pick(m, 0), &a2->unit);
    machine_free(m);
}

static void test_sibling_goes_offline(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *a = hog_of(m, 1, 256, 0), *b = hog_of(m, 2, 256, 0);

    (void)state;
    machine_run(m, m->now + 20 * NS_PER_MS);
    assert_int_equal(sched_cpu_offline(m->s, 1, m->now), 0);
    machine_run(m, m->now + NS_PER_SEC);
    assert_null(m->cpus[1].cur);
    assert_true(machine_ran(m, a) > NS_PER_SEC * 45 / 100);
    assert_true(machine_ran(m, b) > NS_PER_SEC * 45 / 100);
    machine_free(m);
}

/*
 * An idle CPU closes the core for another VM; the only one that runs there gives way, though its
 * unit has only just begun. Else the two would kick each other until its rate limit is over.
 */
static void test_lone_cpu_gives_way(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *a0 = hog_of(m, 1, 256, 0), *a1 = hog_of(m, 1, 256, 0);
    struct machine_unit *a2 = hog_of(m, 1, 256, 0), *b;
    uint64_t kicks;

    (void)state;
    machine_settle(m);
    (void)a1;
    credit_set(m->s->cpus[0].rq, &a2->unit, NS_PER_MS);
    a2->unit.order = a2->unit.key; /* the last of the three */
    m->now += 2 * NS_PER_MS;
    assert_ptr_equal(machine_sleep(m, 0), &a2->unit);
    assert_null(machine_sleep(m, 1));
    b = hog_of(m, 2, 256, 0);
    assert_int_equal(b->unit.state, UNIT_QUEUED);
    machine_wake(m, a0);
    assert_int_equal(a0->unit.target, 1);
    kicks = m->cpus[1].kicks;
    assert_null(machine_pick(m, 1)); /* the turn is due: the core closes */
    assert_true(m->cpus[0].kicked);
    assert_ptr_equal(machine_pick(m, 0), &b->unit);
    assert_int_equal(m->cpus[1].kicks, kicks);
    machine_free(m);
}

/* A CPU goes offline in the middle of a switch: what it runs still keeps its core. */
static void test_offline_while_saving(void **state)
{
    struct machine *m = machine_cores(1, 1, 2);
    struct machine_unit *a0 = hog_of(m, 1, 256, 2), *a1 = hog_of(m, 1, 256, 2);
    struct machine_unit *b;

    (void)state;
    machine_settle(m);
    sched_yield_current(m->s, 1);
    machine_pick_only(m, 1);
    assert_ptr_equal(m->cpus[1].saving, &a0->unit);
    assert_ptr_equal(m->cpus[1].cur, &a1->unit);
    assert_int_equal(sched_cpu_offline(m->s, 1, m->now), 0);
    m->cpus[1].online = false;
    machine_saved(m, 1);
    assert_int_equal(m->s->cpus[0].rq->smt_idle, 0);
    b = hog_of(m, 2, 256, 0);
    assert_int_equal(b->unit.state, UNIT_QUEUED);
    machine_settle(m);
    assert_null(m->cpus[1].cur);
    assert_non_null(m->cpus[0].cur);
    machine_free(m);
}

/* Four threads: VMs of one, two and four units on one core share it by units. */
static void test_four_threads(void **state)
{
    struct machine *m = machine_cores(1, 1, 4);
    struct machine_unit *u[7];

    (void)state;
    for (uint32_t i = 0; i < 7; i++)
        u[i] = hog_of(m, i < 1 ? 1 : i < 3 ? 2 : 3, 256, 0);
    machine_run(m, m->now + 9 * NS_PER_SEC);
    for (uint32_t i = 0; i < 7; i++)
        assert_near(machine_ran(m, u[i]), 3 * NS_PER_SEC, 3);
    machine_free(m);
}

/* Without siblings nothing changes: both run at once. */
static void test_one_thread_per_core(void **state)
{
    struct machine *m = machine_cores(1, 2, 1);

    (void)state;
    hog_of(m, 1, 256, 0);
    hog_of(m, 2, 256, 0);
    machine_settle(m);
    assert_int_equal(machine_busy_cpus(m), 2);
    machine_free(m);
}

/* A unit that waits goes to an idle core of another runqueue, or beside its own VM there. */
static void test_other_runqueues(void **state)
{
    struct machine *m = machine_cores(2, 1, 2);

    (void)state;
    hog_of(m, 1, 256, 1);
    hog_of(m, 2, 256, 4);
    machine_settle(m);
    hog_of(m, 1, 256, 0);
    hog_of(m, 2, 256, 0);
    machine_run(m, m->now + 10 * NS_PER_MS);
    assert_int_equal(machine_busy_cpus(m), 4);
    machine_free(m);
}

static void test_not_with_arrangement_cpu(void **state)
{
    struct options o = {.given = BIT(OPTION_credit2_runqueue)};
    struct sched_params p;

    (void)state;
    o.credit2_runqueue.word = RUNQ_PER_CPU;
    sched_params_options(&p, &o);
    assert_int_equal(p.arrangement, RUNQ_PER_CPU);
    o.sched_gran.word = GRAN_CORE;
    sched_params_options(&p, &o);
    assert_int_equal(p.arrangement, RUNQ_PER_SOCKET);
    assert_int_equal(p.gran, SCHED_GRAN_CORE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns_are_fair),
        cmocka_unit_test(test_turns_go_by_weight),
        cmocka_unit_test(test_no_vm_is_locked_out),
        cmocka_unit_test(test_cores_enough),
        cmocka_unit_test(test_forced_idle_does_not_spin),
        cmocka_unit_test(test_affinity_to_one_sibling),
        cmocka_unit_test(test_rendezvous),
        cmocka_unit_test(test_saving_counts_as_running),
        cmocka_unit_test(test_yield_stays_in_the_vm),
        cmocka_unit_test(test_sibling_goes_offline),
        cmocka_unit_test(test_lone_cpu_gives_way),
        cmocka_unit_test(test_offline_while_saving),
        cmocka_unit_test(test_four_threads),
        cmocka_unit_test(test_one_thread_per_core),
        cmocka_unit_test(test_other_runqueues),
        cmocka_unit_test(test_not_with_arrangement_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
