/*
 * The wake-up drawn in docs/scheduler.md, step by step, so that the page stays true.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

static struct machine *m;
static struct machine_unit *b, *d, *u, *v, *w;

/* A unit that ran on `cpu`, sleeps, and may run anywhere in `hard`. */
static struct machine_unit *sleeper(uint32_t cpu, uint64_t hard)
{
    struct machine_unit *unit = machine_unit(m, 256, 1ull << cpu, 0);

    machine_wake(m, unit);
    machine_settle(m);
    machine_sleep(m, cpu);
    machine_affinity(m, unit, hard, 0);
    return unit;
}

/* t0: A, B, C on CPUs 0, 2, 3 and D on 4, all past the rate limit, B with the least credit. */
static int machine_set_up(void **state)
{
    struct sched_params p;

    (void)state;
    sched_params_default(&p);
    m = machine_new(2, 2, 2, 1, &p);
    u = sleeper(1, 0);
    v = sleeper(3, 0);
    w = sleeper(1, 0xf);
    b = machine_hog(m, 256, 1ull << 2);
    machine_run(m, m->now + 2 * NS_PER_MS);
    machine_hog(m, 256, 1ull << 0);
    machine_hog(m, 256, 1ull << 3);
    d = machine_hog(m, 256, 1ull << 4);
    machine_run(m, m->now + 2 * NS_PER_MS);
    machine_affinity(m, b, 0, 0);
    return 0;
}

static int machine_tear_down(void **state)
{
    (void)state;
    machine_free(m);
    return 0;
}

static void play_to_t3(void)
{
    machine_wake(m, u);
    assert_int_equal(u->unit.state, UNIT_RESERVED);
    assert_int_equal(u->unit.target, 1);
    machine_wake(m, v);
    assert_int_equal(v->unit.target, 6);
    machine_settle(m);
    machine_wake(m, w);
    assert_int_equal(w->unit.target, 2);
    assert_ptr_equal(machine_pick_only(m, 2), &w->unit);
    assert_int_equal(b->unit.state, UNIT_LEAVING);
    machine_saved(m, 2);
    assert_int_equal(b->unit.state, UNIT_QUEUED);
}

static void test_waiter_goes_to_idle_thread(void **state)
{
    (void)state;
    play_to_t3();
    machine_run(m, m->now + NS_PER_MS);
    assert_true(unit_is_running(&b->unit));
    assert_int_equal(b->unit.cpu, 5);
}

static void test_waiter_is_pulled(void **state)
{
    (void)state;
    play_to_t3();
    assert_ptr_equal(m->cpus[4].cur, &d->unit);
    assert_ptr_equal(machine_sleep(m, 4), &b->unit);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_waiter_goes_to_idle_thread, machine_set_up,
                                        machine_tear_down),
        cmocka_unit_test_setup_teardown(test_waiter_is_pulled, machine_set_up, machine_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
