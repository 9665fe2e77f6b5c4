/*
 * Which CPU a waking unit gets, and the hand-over: single calls on small machines.
 *
 * CPUs of machine_new(sockets, cores, threads, nodes): siblings adjacent, so on 2 x 2 x 2 CPUs 0
 * and 1 are a core, 0 to 3 a socket.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

static struct machine *machine_default(uint32_t sockets, uint32_t cores, uint32_t threads,
                                       uint32_t nodes)
{
    struct sched_params p;

    sched_params_default(&p);
    return machine_new(sockets, cores, threads, nodes, &p);
}

/* The CPU that was tickled for a unit. */
static uint32_t reserved_for(const struct machine_unit *u)
{
    return u->unit.state == UNIT_RESERVED ? u->unit.target : CPUMASK_NONE;
}

static void test_fully_idle_core_first(void **state)
{
    struct machine *m = machine_default(1, 2, 2, 1);
    struct machine_unit *u;

    (void)state;
    machine_hog(m, 256, 1);
    machine_settle(m);
    u = machine_hog(m, 256, 0);
    assert_int_equal(reserved_for(u), 2);
    u = machine_hog(m, 256, 0); /* cores 0 and 1 both have a busy or tickled thread */
    assert_int_equal(reserved_for(u), 1);
    u = machine_hog(m, 256, 0);
    assert_int_equal(reserved_for(u), 3);
    machine_free(m);
}

static void test_smt_awareness_off(void **state)
{
    struct sched_params p;
    struct machine *m;
    struct machine_unit *u;

    (void)state;
    sched_params_default(&p);
    p.smt_aware = false;
    m = machine_new(1, 2, 2, 1, &p);
    machine_hog(m, 256, 1);
    machine_settle(m);
    u = machine_hog(m, 256, 0);
    assert_int_equal(reserved_for(u), 1);
    machine_free(m);
}

static void test_last_cpu_if_its_core_is_idle(void **state)
{
    struct machine *m = machine_default(1, 4, 2, 1);
    struct machine_unit *u = machine_hog(m, 256, 1ull << 5);

    (void)state;
    machine_settle(m);
    machine_affinity(m, u, 0, 0);
    machine_sleep(m, 5);
    machine_wake(m, u);
    assert_int_equal(reserved_for(u), 5);
    machine_settle(m);
    /* Its sibling busy, another core idle: the idle core wins over the last CPU. */
    machine_sleep(m, 5);
    machine_hog(m, 256, 1ull << 4);
    machine_settle(m);
    machine_wake(m, u);
    assert_int_equal(reserved_for(u), 0);
    machine_free(m);
}

static void test_better_class_beats_warm_cache(void **state)
{
    struct cpu_place places[4];
    struct sched_params p;
    struct machine *m;
    struct machine_unit *u;

    (void)state;
    for (uint32_t cpu = 0; cpu < 4; cpu++) /* CPUs 0, 1: E-cores; 2, 3: P-cores */
        places[cpu] = (struct cpu_place){
            .cpu = cpu, .core = cpu, .asym_prio = (int32_t)((cpu / 2 + 1) * CPUS_MAX - cpu - 1)};
    sched_params_default(&p);
    m = machine_new_places(places, 4, 1, &p);
    u = machine_hog(m, 256, 1);
    machine_settle(m);
    machine_affinity(m, u, 0, 0);
    machine_sleep(m, 0);
    machine_wake(m, u);
    assert_int_equal(reserved_for(u), 2);
    machine_settle(m);
    machine_free(m);
}

static void test_soft_affinity_before_hard(void **state)
{
    struct machine *m = machine_default(1, 2, 2, 1);
    struct machine_unit *u;

    (void)state;
    machine_hog(m, 256, 4);
    machine_settle(m);
    u = machine_unit(m, 256, 0, 8); /* its preferred thread shares a core with the hog */
    machine_wake(m, u);
    assert_int_equal(reserved_for(u), 3);
    machine_settle(m);
    u = machine_unit(m, 256, 0, 8); /* taken: an idle core beyond */
    machine_wake(m, u);
    assert_int_equal(reserved_for(u), 0);
    machine_free(m);
}

static void test_neighbour_idle_core(void **state)
{
    struct machine *m = machine_default(2, 1, 2, 1);
    struct machine_unit *u;

    (void)state;
    u = machine_unit(m, 256, 0, 0);
    machine_hog(m, 256, 1);
    machine_hog(m, 256, 2);
    machine_settle(m);
    assert_int_equal(sched_cpu_runq(m->s, u->unit.cpu), 0);
    machine_wake(m, u);
    assert_int_equal(reserved_for(u), 2);
    assert_int_equal(u->unit.rq->id, 1);
    machine_free(m);
}

static void test_neighbour_same_node_first(void **state)
{
    struct machine *m = machine_default(4, 1, 1, 2); /* sockets 0, 2 on node 0; 1, 3 on node 1 */
    struct machine_unit *u = machine_unit(m, 256, 0, 0);

    (void)state;
    machine_hog(m, 256, 1);
    machine_settle(m);
    assert_int_equal(u->unit.cpu, 0);
    machine_wake(m, u);
    assert_int_equal(reserved_for(u), 2);
    machine_free(m);
}

/* An idle thread elsewhere, but no idle core: at once is too soon, the rate limit is the time. */
static void test_overdue_goes_to_idle_thread(void **state)
{
    struct machine *m = machine_default(2, 1, 2, 1);
    struct machine_unit *u = machine_unit(m, 256, 0, 0);
    ns_t start;

    (void)state;
    machine_hog(m, 256, 1);
    machine_hog(m, 256, 2);
    machine_hog(m, 256, 4);
    machine_settle(m);
    start = m->now;
    machine_wake(m, u);
    machine_settle(m);
    assert_int_equal(u->unit.state, UNIT_QUEUED);
    machine_run(m, start + NS_PER_MS);
    assert_int_equal(machine_busy_cpus(m), 4);
    machine_free(m);
}

static void test_newidle_pull(void **state)
{
    struct machine *m = machine_default(2, 1, 1, 1);

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        machine_hog(m, 256, 0);
    machine_settle(m);
    assert_int_equal(machine_busy_cpus(m), 2);
    m->now += NS_PER_US;
    machine_sleep(m,
                  m->s->runqs[0].nr_queued ? 1 : 0); /* the CPU whose runqueue has none waiting */
    machine_settle(m);
    assert_int_equal(machine_busy_cpus(m), 2);
    machine_free(m);
}

/*
 * Two on one core, then a whole core falls idle: one of the two moves there, from the higher CPU.
 */
static void test_idle_core_takes_from_packed_one(void **state)
{
    struct machine *m = machine_default(1, 2, 2, 1);
    struct machine_unit *a = machine_hog(m, 256, 1), *b = machine_hog(m, 256, 2);
    struct machine_unit *c = machine_hog(m, 256, 4);

    (void)state;
    machine_settle(m);
    machine_affinity(m, a, 0, 0);
    machine_affinity(m, b, 0, 0);
    machine_run(m, m->now + 2 * NS_PER_MS);
    (void)c;
    machine_sleep(m, 2);
    machine_settle(m);
    assert_int_equal(a->unit.cpu, 0);
    assert_int_equal(b->unit.cpu, 2);
    assert_true(unit_is_running(&b->unit));
    machine_free(m);
}

/* Cores of four threads, two busy in one and one in the other: the third goes beside the one. */
static void test_wakes_where_fewest_are_busy(void **state)
{
    (void)state;
    for (uint32_t smt_aware = 0; smt_aware < 2; smt_aware++) {
        struct sched_params p;
        struct machine *m;
        struct machine_unit *sleeper;

        sched_params_default(&p);
        p.smt_aware = smt_aware;
        m = machine_new(1, 2, 4, 1, &p);
        sleeper = machine_unit(m, 256, 0, 0);
        machine_hog(m, 256, BIT(0));
        machine_hog(m, 256, BIT(1));
        machine_hog(m, 256, BIT(4));
        machine_settle(m);
        machine_wake(m, sleeper); /* it last ran on CPU 0, whose core it leaves for a roomier one */
        assert_int_equal(reserved_for(sleeper), smt_aware ? 5 : 2);
        machine_free(m);
    }
}

/* It last ran on CPU 2, and its core has room at CPUs 1 to 3: the preferred thread is taken. */
static void test_wakes_on_the_preferred_sibling(void **state)
{
    (void)state;
    for (uint32_t asym = 0; asym < 2; asym++) {
        struct sched_params p;
        struct machine *m;
        struct machine_unit *sleeper;

        sched_params_default(&p);
        p.asym = asym;
        m = machine_new(1, 1, 4, 1, &p);
        sleeper = machine_hog(m, 256, BIT(2));
        machine_hog(m, 256, BIT(0));
        machine_settle(m);
        machine_sleep(m, 2);
        machine_affinity(m, sleeper, 0, 0);
        machine_settle(m);
        machine_wake(m, sleeper);
        assert_int_equal(reserved_for(sleeper), asym ? 1 : 2);
        machine_free(m);
    }
}

/* Three on one core and two on another: one of these sleeps, and one of the three takes its place.
 */
static void test_idle_thread_takes_from_crowded_core(void **state)
{
    (void)state;
    for (uint32_t sleepers = 0; sleepers < 2; sleepers++) {
        struct machine *m = machine_default(1, 2, 4, 1);
        struct machine_unit *moving;

        machine_hog(m, 256, BIT(0));
        machine_hog(m, 256, BIT(1));
        moving = machine_hog(m, 256, BIT(2));
        machine_hog(m, 256, BIT(4));
        machine_hog(m, 256, BIT(5));
        machine_hog(m, 256, BIT(6));
        machine_settle(m);
        machine_affinity(m, moving, 0, 0);
        machine_run(m, m->now + 2 * NS_PER_MS);
        machine_sleep(m, 5);
        if (sleepers) /* three beside two is even; three beside one is not */
            machine_sleep(m, 6);
        machine_settle(m);
        assert_int_equal(moving->unit.cpu, sleepers ? 6 : 2);
        assert_true(unit_is_running(&moving->unit));
        machine_free(m);
    }
}

static void test_preempts_least_credit(void **state)
{
    struct machine *m = machine_default(1, 2, 1, 1);
    struct machine_unit *sleeper = machine_unit(m, 256, 0, 0);

    (void)state;
    machine_hog(m, 256, 1);
    machine_run(m, m->now + 3 * NS_PER_MS);
    machine_hog(m, 256, 2);
    machine_run(m, m->now + 2 * NS_PER_MS);
    machine_wake(m, sleeper); /* CPU 0's unit has burnt 5 ms, CPU 1's 2 ms */
    assert_int_equal(reserved_for(sleeper), 0);
    machine_free(m);
}

static void test_wake_is_idempotent(void **state)
{
    struct machine *m = machine_default(1, 1, 1, 1);
    struct machine_unit *u = machine_hog(m, 256, 0);

    (void)state;
    machine_wake(m, u);
    machine_settle(m);
    machine_wake(m, u);
    assert_int_equal(u->unit.wakes, 1);
    assert_ptr_equal(m->cpus[0].cur, &u->unit);
    machine_free(m);
}

static void test_wake_between_sleep_and_pick(void **state)
{
    struct machine *m = machine_default(1, 1, 1, 1);
    struct machine_unit *u = machine_hog(m, 256, 0);

    (void)state;
    machine_settle(m);
    sched_sleep(m->s, 0);
    machine_wake(m, u);
    assert_ptr_equal(machine_pick(m, 0), &u->unit);
    machine_free(m);
}

/* Woken while its registers are being saved: no CPU may have it before sched_saved. */
static void test_wake_during_save(void **state)
{
    struct machine *m = machine_default(1, 2, 1, 1);
    struct machine_unit *u = machine_hog(m, 256, 1);

    (void)state;
    machine_settle(m);
    machine_affinity(m, u, 0, 0);
    sched_sleep(m->s, 0);
    assert_null(machine_pick_only(m, 0));
    assert_true(u->unit.on_cpu);
    machine_wake(m, u);
    assert_null(machine_pick(m, 1));
    assert_false(unit_is_ready(&u->unit));
    machine_saved(m, 0);
    assert_false(u->unit.on_cpu);
    assert_int_equal(reserved_for(u), 0);
    machine_free(m);
}

static void test_preempted_is_not_picked_before_saved(void **state)
{
    struct machine *m = machine_default(1, 2, 1, 1);
    struct machine_unit *a = machine_hog(m, 256, 0), *b = machine_hog(m, 256, 0);
    struct machine_unit *c = machine_hog(m, 256, 0);
    const struct unit *next;

    (void)state;
    machine_settle(m);
    (void)a;
    (void)b;
    (void)c;
    sched_yield_current(m->s, 0);
    next = machine_pick_only(m, 0);
    assert_non_null(next);
    assert_non_null(m->cpus[0].saving);
    assert_ptr_not_equal(next, m->cpus[0].saving);
    sched_yield_current(m->s, 1);
    machine_pick(m, 1); /* asserts that it does not get what CPU 0 still saves */
    machine_saved(m, 0);
    machine_free(m);
}

static void test_pause(void **state)
{
    struct machine *m = machine_default(1, 1, 1, 1);
    struct machine_unit *u = machine_hog(m, 256, 0);

    (void)state;
    machine_settle(m);
    sched_unit_pause(m->s, &u->unit, m->now);
    assert_true(m->cpus[0].kicked);
    machine_settle(m);
    assert_null(m->cpus[0].cur);
    machine_wake(m, u);
    machine_settle(m);
    assert_null(m->cpus[0].cur);
    sched_unit_unpause(m->s, &u->unit, m->now);
    machine_settle(m);
    assert_ptr_equal(m->cpus[0].cur, &u->unit);
    sched_unit_pause(m->s, &u->unit, m->now);
    machine_settle(m);
    sched_unit_remove(m->s, &u->unit, m->now);
    sched_check(m->s);
    machine_free(m);
}

/* A busy core at home against an idle one elsewhere: the whole core, and it is stayed on. */
static void test_idle_core_before_shared_thread_at_home(void **state)
{
    struct machine *m = machine_default(2, 2, 2, 2);
    struct machine_unit *u = machine_unit(m, 256, 0, 0xf);

    (void)state;
    machine_hog(m, 256, 1);
    machine_hog(m, 256, 4);
    machine_settle(m);
    machine_wake(m, u);
    assert_int_equal(reserved_for(u), 4);
    machine_run(m, m->now + 30 * NS_PER_MS);
    assert_int_equal(u->unit.cpu, 4);
    machine_sleep(m, 4);
    machine_wake(m, u);
    assert_int_equal(reserved_for(u), 4);
    machine_free(m);
}

/* No core is idle anywhere: a thread at home is better than one elsewhere. */
static void test_shared_thread_at_home_before_elsewhere(void **state)
{
    struct machine *m = machine_default(2, 1, 2, 2);
    struct machine_unit *u = machine_unit(m, 256, 0, 3);

    (void)state;
    machine_hog(m, 256, 1);
    machine_hog(m, 256, 4);
    machine_settle(m);
    machine_wake(m, u);
    assert_int_equal(reserved_for(u), 1);
    machine_free(m);
}

/* Pulled off its node while that was busy, it goes home when a CPU there falls idle. */
static void test_goes_home(void **state)
{
    struct machine *m = machine_default(2, 1, 1, 2);
    struct machine_unit *a = machine_hog(m, 256, 1), *u = machine_unit(m, 256, 0, 1);

    (void)state;
    machine_settle(m);
    machine_wake(m, u);
    machine_settle(m);
    assert_int_equal(u->unit.cpu, 1);
    sched_unit_pause(m->s, &a->unit, m->now);
    machine_run(m, m->now + 30 * NS_PER_MS);
    assert_int_equal(u->unit.cpu, 0);
    assert_true(unit_is_running(&u->unit));
    machine_free(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fully_idle_core_first),
        cmocka_unit_test(test_smt_awareness_off),
        cmocka_unit_test(test_last_cpu_if_its_core_is_idle),
        cmocka_unit_test(test_better_class_beats_warm_cache),
        cmocka_unit_test(test_soft_affinity_before_hard),
        cmocka_unit_test(test_neighbour_idle_core),
        cmocka_unit_test(test_neighbour_same_node_first),
        cmocka_unit_test(test_overdue_goes_to_idle_thread),
        cmocka_unit_test(test_newidle_pull),
        cmocka_unit_test(test_idle_core_takes_from_packed_one),
        cmocka_unit_test(test_wakes_where_fewest_are_busy),
        cmocka_unit_test(test_wakes_on_the_preferred_sibling),
        cmocka_unit_test(test_idle_thread_takes_from_crowded_core),
        cmocka_unit_test(test_preempts_least_credit),
        cmocka_unit_test(test_wake_is_idempotent),
        cmocka_unit_test(test_wake_between_sleep_and_pick),
        cmocka_unit_test(test_wake_during_save),
        cmocka_unit_test(test_preempted_is_not_picked_before_saved),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_idle_core_before_shared_thread_at_home),
        cmocka_unit_test(test_shared_thread_at_home_before_elsewhere),
        cmocka_unit_test(test_goes_home),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
