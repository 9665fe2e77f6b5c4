/*
 * Each fault that credit2 had once, as a test that fails when the fault is there.
 *
 * In the order of the list in tests/host/test_numen_sim_faults.py, whose faults are put back to
 * show that they are caught. The one about budgets is test_sched_caps.c's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

static struct sched_params defaults(void)
{
    struct sched_params p;

    sched_params_default(&p);
    return p;
}

static struct machine *machine_default(uint32_t sockets, uint32_t cores, uint32_t threads)
{
    struct sched_params p = defaults();

    return machine_new(sockets, cores, threads, 1, &p);
}

/* Credit far below zero starves a unit while CPUs idle. */
static void fault_deep_debt_starves(void **state)
{
    struct machine *m = machine_default(1, 2, 1);
    struct machine_unit *light = machine_hog(m, 1, 0), *heavy = machine_hog(m, 1024, 0);

    (void)state;
    machine_run(m, m->now + NS_PER_SEC);
    assert_true(sched_unit_credit(m->s, &light->unit) >= -(int64_t)(10 * NS_PER_MS));
    assert_int_equal(machine_ran(m, light), NS_PER_SEC);
    assert_int_equal(machine_ran(m, heavy), NS_PER_SEC);
    machine_free(m);
}

/* A reset because some unit was passed over, though the head of the queue has credit. */
static void fault_reset_for_a_skipped_unit(void **state)
{
    struct machine *m = machine_default(1, 1, 1);
    struct machine_unit *spent = machine_hog(m, 256, 0), *fresh = machine_hog(m, 256, 0);
    uint64_t resets;

    (void)state;
    machine_settle(m);
    spin_lock(&m->s->runqs[0].lock);
    queue_remove(&m->s->runqs[0], m->cpus[0].cur == &spent->unit ? &fresh->unit : &spent->unit);
    spin_unlock(&m->s->runqs[0].lock);
    if (m->cpus[0].cur == &spent->unit)
        spent = fresh; /* the one that waits */
    credit_set(&m->s->runqs[0], &spent->unit, -(int64_t)NS_PER_MS);
    spent->unit.order = spent->unit.key;
    queue_insert(m->s, &m->s->runqs[0], &spent->unit);
    resets = m->events[TRACE_SCHED_RESET];
    assert_true(sched_yield_to(m->s, 0, &spent->unit, m->now));
    assert_ptr_equal(machine_pick(m, 0), &spent->unit);
    assert_int_equal(m->events[TRACE_SCHED_RESET], resets);
    machine_free(m);
}

/* An entry that may not run here ends the scan, and the CPU idles while another waits. */
static void fault_scan_ends_at_pinned_entry(void **state)
{
    struct machine *m = machine_default(1, 2, 1);
    struct machine_unit *last;

    (void)state;
    for (uint32_t i = 0; i < 50; i++)
        machine_hog(m, 256, 1);
    machine_settle(m);
    last = machine_hog(m, 256, 2);
    machine_settle(m);
    machine_sleep(m, 1);
    sched_check(m->s);
    machine_run(m, m->now + NS_PER_MS);
    machine_wake(m, last);
    machine_hog(m, 256, 2);
    machine_settle(m);
    machine_sleep(m, 1);
    assert_non_null(m->cpus[1].cur);
    machine_free(m);
}

/* Another CPU takes a woken unit before the CPU that was tickled for it has come. */
static void fault_steal_before_tickled_cpu(void **state)
{
    struct machine *m = machine_default(1, 4, 1);
    struct machine_unit *u = machine_hog(m, 256, 0);

    (void)state;
    assert_int_equal(u->unit.target, 0);
    for (uint32_t cpu = 1; cpu < 4; cpu++)
        assert_null(machine_pick(m, cpu));
    assert_ptr_equal(machine_pick(m, 0), &u->unit);
    machine_free(m);
}

/* Tickle without a mark: two wake-ups at once land on one CPU. */
static void fault_tickle_without_mark(void **state)
{
    struct machine *m = machine_default(1, 4, 2);
    uint32_t seen = 0;

    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct machine_unit *u = machine_hog(m, 256, 0);

        assert_int_equal(u->unit.state, UNIT_RESERVED);
        assert_false(seen & BIT(u->unit.target));
        seen |= (uint32_t)BIT(u->unit.target);
        if (i == 3) /* so far one on each core */
            assert_int_equal(seen, 0x55);
    }
    machine_free(m);
}

/* Sibling masks that include CPUs of another runqueue. */
static void fault_siblings_of_other_runqueue(void **state)
{
    struct sched_params p = defaults();
    struct machine *m;

    (void)state;
    p.arrangement = RUNQ_PER_CPU;
    m = machine_new(1, 2, 2, 1, &p);
    for (uint32_t cpu = 0; cpu < 4; cpu++) {
        assert_int_equal(m->s->cpus[cpu].siblings, m->s->cpus[cpu].bit);
        assert_int_equal(m->s->cpus[cpu].rq->smt_idle, 1);
    }
    machine_hog(m, 256, 1);
    machine_settle(m);
    assert_int_equal(m->s->cpus[1].rq->smt_idle, 1);
    machine_free(m);
}

/* Balancing before the idle mask is updated: a CPU tickles itself for what it is about to run. */
static void fault_balance_tickles_itself(void **state)
{
    struct machine *m = machine_default(2, 1, 1);
    uint64_t kicks;

    (void)state;
    machine_hog(m, 256, 1);
    machine_hog(m, 256, 2);
    for (uint32_t i = 0; i < 3; i++)
        machine_hog(m, 256, 0);
    machine_settle(m);
    m->now += 2 * NS_PER_MS;
    kicks = m->cpus[1].kicks;
    machine_sleep(m, 1);
    assert_non_null(m->cpus[1].cur);
    assert_int_equal(m->cpus[1].kicks, kicks);
    machine_free(m);
}

/* A retry loop that never gives up on a contended lock; and what was not done is done later. */
static void fault_retries_contended_lock(void **state)
{
    struct machine *m = machine_default(2, 1, 1);
    struct machine_unit *u = machine_unit(m, 256, 0, 0);

    (void)state;
    machine_hog(m, 256, 1);
    machine_settle(m);
    spin_lock(&m->s->runqs[1].lock);
    m->check = false;
    machine_wake(m, u); /* the neighbour is idle but its lock is taken */
    assert_int_equal(u->unit.state, UNIT_QUEUED);
    machine_pick(m, 0);
    spin_unlock(&m->s->runqs[1].lock);
    spin_lock(&m->s->runqs[0].lock);
    assert_null(machine_pick(m, 1)); /* the other way round: nothing to pull while that is taken */
    spin_unlock(&m->s->runqs[0].lock);
    m->check = true;
    assert_true(m->cpus[0].deadline <= m->now + NS_PER_MS);
    assert_true(m->cpus[1].deadline <= m->now + NS_PER_MS);
    machine_run(m, m->now + NS_PER_MS);
    assert_int_equal(machine_busy_cpus(m), 2);
    machine_free(m);
}

/* A running unit is sent elsewhere, and nobody makes its CPU reschedule. */
static void fault_migrates_running_without_kick(void **state)
{
    struct machine *m = machine_default(2, 1, 1);
    struct machine_unit *u = machine_hog(m, 256, 1);

    (void)state;
    machine_settle(m);
    machine_affinity(m, u, 2, 0);
    assert_true(m->cpus[0].kicked);
    machine_settle(m);
    assert_null(m->cpus[0].cur);
    assert_ptr_equal(m->cpus[1].cur, &u->unit);
    machine_free(m);
}

/* The load of a unit that keeps running stays what it was when it started. */
static void fault_load_of_running_unit_stale(void **state)
{
    struct machine *m = machine_default(1, 1, 1);
    struct machine_unit *u = machine_hog(m, 256, 0);
    uint64_t one = 1ull << LOAD_FRAC_BITS;
    ns_t start = m->now;

    (void)state;
    machine_settle(m);
    m->now += 300 * NS_PER_MS;
    assert_true(load_at(&u->unit.load, 1, m->now, 30) > one / 4);
    assert_true(load_of_runq(m->s, &m->s->runqs[0], m->now) > one / 4);
    m->now = start + 2 * NS_PER_SEC;
    assert_int_equal(load_of_runq(m->s, &m->s->runqs[0], m->now), one);
    machine_free(m);
}

/* The first CPU a unit is given is not online. */
static void fault_initial_cpu_offline(void **state)
{
    struct machine *m = machine_default(2, 2, 1);
    struct machine_unit *u;

    (void)state;
    for (uint32_t cpu = 0; cpu < 3; cpu++) {
        assert_int_equal(sched_cpu_offline(m->s, cpu, m->now), 0);
        m->cpus[cpu].online = false;
    }
    u = machine_unit(m, 256, 0, 3);
    assert_int_equal(u->unit.cpu, 3);
    machine_wake(m, u);
    machine_settle(m);
    assert_ptr_equal(m->cpus[3].cur, &u->unit);
    machine_free(m);
}

/*
 * Places of a CPU that never came up put others into one runqueue; or the first free one is taken.
 */
static void fault_failed_cpu_spoils_arrangement(void **state)
{
    struct cpu_place places[5];
    struct sched_params p = defaults();
    size_t bytes = ALIGN_UP(sched_bytes(5), 64ul);
    void *mem = aligned_alloc(64, bytes);
    static const uint32_t order[] = {3, 0, 2, 1};
    struct sched *s;

    (void)state;
    assert_non_null(mem);
    for (uint32_t i = 0; i < bytes / 8; i++)
        ((uint64_t *)mem)[i] = 0;
    for (uint32_t cpu = 0; cpu < 5;
         cpu++) /* CPU 4 failed: all zero, like a second thread of core 0 */
        places[cpu] = (struct cpu_place){.cpu = cpu, .core = cpu % 4, .socket = cpu % 4 / 2};
    s = sched_init(mem, &p, places, 5, NULL, 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(sched_cpu_online(s, order[i], 1), 0);
    for (uint32_t cpu = 0; cpu < 4; cpu++)
        assert_int_equal(sched_cpu_runq(s, cpu), cpu / 2);
    /* The missing sibling does not keep core 0 from being fully idle. */
    for (uint32_t cpu = 0; cpu < 4; cpu++) {
        ns_t deadline;

        assert_null(sched_pick(s, cpu, 2, &deadline));
    }
    assert_int_equal(s->runqs[0].smt_idle, s->runqs[0].online);
    sched_check(s);
    free(mem);
}

/* Runs too short for one tick of credit are free. */
static void fault_short_runs_are_free(void **state)
{
    struct machine *m = machine_default(1, 1, 1);
    struct machine_unit *light = machine_unit(m, 300, 0, 0), *heavy = machine_unit(m, 301, 0, 0);
    int64_t before;

    (void)state;
    (void)heavy;
    machine_wake(m, light);
    machine_settle(m);
    before = sched_unit_credit(m->s, &light->unit);
    for (uint32_t i = 0; i < 30000; i++) { /* 30000 x 1 ns x 301/300 = 30100 ns of credit */
        m->now++;
        sched_unit_set_weight(m->s, &heavy->unit, 301, m->now);
        machine_pick(m, 0);
    }
    assert_int_equal(before - sched_unit_credit(m->s, &light->unit), 30100);
    assert_int_equal(machine_ran(m, light), 30000);
    machine_free(m);
}

/* A CPU under the rate limit is tickled, for nothing. */
static void fault_tickles_protected_cpu(void **state)
{
    struct machine *m = machine_default(1, 1, 1);
    struct machine_unit *woken = machine_unit(m, 256, 0, 0);
    struct machine_unit *runs = machine_hog(m, 256, 0);
    ns_t start = m->now;

    (void)state;
    machine_settle(m);
    m->now += 600 * NS_PER_US;
    machine_wake(m, woken);
    assert_false(m->cpus[0].kicked);
    assert_int_equal(m->cpus[0].deadline, start + NS_PER_MS);
    assert_ptr_equal(m->cpus[0].cur, &runs->unit);
    machine_run(m, start + NS_PER_MS);
    assert_ptr_equal(m->cpus[0].cur, &woken->unit);
    machine_free(m);
}

/* Two hogs, two runqueues: they change places at every reset. Three on two: no hopping either. */
static void fault_hogs_change_places(void **state)
{
    (void)state;
    for (uint32_t hogs = 2; hogs <= 3; hogs++) {
        struct machine *m = machine_default(2, 1, 1);
        uint64_t migrations;

        for (uint32_t i = 0; i < hogs; i++)
            machine_hog(m, 256, 0);
        machine_run(m, m->now + 5 * NS_PER_SEC);
        migrations = m->events[TRACE_SCHED_MIGRATE]; /* of those that did not even run there, too */
        for (uint32_t i = 0; i < hogs; i++)
            migrations += m->units[i].unit.migrations;
        assert_true(migrations <= 4);
        if (hogs == 2)
            assert_true(m->cpus[0].picks + m->cpus[1].picks < 100);
        machine_free(m);
    }
}

/* Cores with and without SMT in one runqueue. */
static void fault_hybrid_core_masks(void **state)
{
    static const uint32_t core_of[] = {0, 0, 1, 1, 2, 3};
    struct cpu_place places[6];
    struct sched_params p = defaults();
    struct machine *m;
    uint32_t seen = 0;

    (void)state;
    for (uint32_t cpu = 0; cpu < 6; cpu++)
        places[cpu] = (struct cpu_place){.cpu = cpu, .core = core_of[cpu]};
    m = machine_new_places(places, 6, 1, &p);
    for (uint32_t i = 0; i < 4; i++)
        seen |= (uint32_t)BIT(machine_hog(m, 256, 0)->unit.target);
    assert_int_equal(seen, 0x35); /* CPUs 0, 2, 4, 5: four cores before any second thread */
    machine_free(m);
}

/* Load judged without regard to how many CPUs share it: the bigger runqueue is emptied. */
static void fault_load_judged_on_wrong_queue(void **state)
{
    struct cpu_place places[6];
    struct sched_params p = defaults();
    struct machine *m;

    (void)state;
    for (uint32_t cpu = 0; cpu < 6; cpu++) /* sockets of 4 and of 2 CPUs */
        places[cpu] = (struct cpu_place){.cpu = cpu, .core = cpu, .socket = cpu / 4};
    m = machine_new_places(places, 6, 1, &p);
    for (uint32_t i = 0; i < 9; i++)
        machine_hog(m, 256, 0xf);
    for (uint32_t i = 0; i < 6; i++)
        machine_hog(m, 256, 0x30);
    machine_run(m, m->now + 2 * NS_PER_SEC);
    for (uint32_t i = 0; i < 15; i++)
        machine_affinity(m, &m->units[i], 0, 0);
    machine_run(m, m->now + 3 * NS_PER_SEC);
    /* Nine on four CPUs are less than six on two: one moves, and from the smaller to the larger. */
    assert_int_equal(m->s->runqs[0].nr_active, 10);
    assert_int_equal(m->s->runqs[1].nr_active, 5);
    machine_free(m);
}

/* A CPU goes offline with units queued for it, running on it, reserved for it, pinned to it. */
static void fault_offline_loses_units(void **state)
{
    struct machine *m = machine_default(2, 1, 1);
    ns_t start = m->now;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        machine_hog(m, 256, i < 2 ? 1 : 0);
    machine_hog(m, 256, 1);
    assert_int_equal(sched_cpu_offline(m->s, 0, m->now), 0);
    m->cpus[0].online = false;
    machine_run(m, start + 100 * NS_PER_MS);
    assert_null(m->cpus[0].cur);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(machine_ran(m, &m->units[i]) > 20 * NS_PER_MS);
    assert_int_equal(sched_cpu_offline(m->s, 1, m->now), -EBUSY /* the last one */);
    assert_int_equal(sched_cpu_online(m->s, 0, m->now), 0);
    m->cpus[0].online = true;
    machine_run(m, m->now + 100 * NS_PER_MS);
    assert_int_equal(m->units[0].unit.cpu, 0); /* pinned ones are back */
    assert_int_equal(m->units[1].unit.cpu, 0);
    machine_free(m);
}

/* One that waits for a CPU that goes may then use others, which run on without a deadline. */
static void fault_offline_forgets_waiting(void **state)
{
    struct machine *m = machine_default(2, 2, 1);
    ns_t start = m->now;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        machine_hog(m, 256, i < 1 ? 2 : 1);
    machine_run(m, start + 100 * NS_PER_MS);
    assert_int_equal(sched_cpu_offline(m->s, 0, m->now), 0);
    m->cpus[0].online = false;
    machine_run(m, start + 200 * NS_PER_MS);
    assert_true(machine_ran(m, &m->units[1]) + machine_ran(m, &m->units[2]) > 280 * NS_PER_MS);
    machine_free(m);
}

/* The hand-over: what one CPU has just requeued is picked by another that finds it in the queue. */
static void fault_picked_while_being_saved(void **state)
{
    struct machine *m = machine_default(1, 2, 1);
    struct machine_unit *u[3];
    struct unit *leaving;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        u[i] = machine_hog(m, 256, 0);
    machine_settle(m);
    (void)u;
    leaving = m->cpus[0].cur;
    sched_yield_current(m->s, 0);
    machine_pick_only(m, 0);
    assert_ptr_equal(m->cpus[0].saving, leaving);
    sched_sleep(m->s, 1);
    assert_null(machine_pick(m, 1)); /* nothing else waits; `leaving` is not to be had */
    machine_saved(m, 0);
    machine_settle(m);
    assert_ptr_equal(m->cpus[1].cur, leaving);
    machine_free(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault_deep_debt_starves),
        cmocka_unit_test(fault_reset_for_a_skipped_unit),
        cmocka_unit_test(fault_scan_ends_at_pinned_entry),
        cmocka_unit_test(fault_steal_before_tickled_cpu),
        cmocka_unit_test(fault_tickle_without_mark),
        cmocka_unit_test(fault_siblings_of_other_runqueue),
        cmocka_unit_test(fault_balance_tickles_itself),
        cmocka_unit_test(fault_retries_contended_lock),
        cmocka_unit_test(fault_migrates_running_without_kick),
        cmocka_unit_test(fault_load_of_running_unit_stale),
        cmocka_unit_test(fault_initial_cpu_offline),
        cmocka_unit_test(fault_failed_cpu_spoils_arrangement),
        cmocka_unit_test(fault_short_runs_are_free),
        cmocka_unit_test(fault_tickles_protected_cpu),
        cmocka_unit_test(fault_hogs_change_places),
        cmocka_unit_test(fault_hybrid_core_masks),
        cmocka_unit_test(fault_load_judged_on_wrong_queue),
        cmocka_unit_test(fault_offline_loses_units),
        cmocka_unit_test(fault_offline_forgets_waiting),
        cmocka_unit_test(fault_picked_while_being_saved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
