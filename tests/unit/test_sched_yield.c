/*
 * Yields, to the others and to one unit by name: who runs next, and what it costs.
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

static void test_yield_goes_behind_all(void **state)
{
    struct machine *m = machine_default(1, 1, 1, 1);
    struct unit *seen[4];

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        machine_hog(m, 256, 0);
    machine_settle(m);
    for (uint32_t i = 0; i < 4; i++) {
        seen[i] = m->cpus[0].cur;
        sched_yield_current(m->s, 0); /* at one moment: the rate limit does not hold it */
        machine_pick(m, 0);
        for (uint32_t j = 0; j < i; j++)
            assert_ptr_not_equal(seen[i], seen[j]);
    }
    assert_ptr_equal(m->cpus[0].cur, seen[0]);
    machine_free(m);
}

/* Behind the others whatever its credit: else two with much of it pass the CPU back and forth. */
static void test_yield_goes_behind_poorer(void **state)
{
    struct machine *m = machine_default(1, 1, 1, 1);
    struct machine_unit *poor[2], *rich;
    struct unit *second, *third;

    (void)state;
    poor[0] = machine_hog(m, 256, 0);
    poor[1] = machine_hog(m, 256, 0);
    machine_run(m, m->now + 8 * NS_PER_MS);
    rich = machine_hog(m, 256, 0);
    machine_settle(m);
    machine_run(m, m->now + NS_PER_MS);
    assert_ptr_equal(m->cpus[0].cur, &rich->unit);
    sched_yield_current(m->s, 0);
    second = machine_pick(m, 0);
    sched_yield_current(m->s, 0);
    third = machine_pick(m, 0);
    assert_ptr_not_equal(second, third);
    assert_true(second == &poor[0]->unit || second == &poor[1]->unit);
    assert_true(third == &poor[0]->unit || third == &poor[1]->unit);
    machine_free(m);
}

static void test_yield_alone_goes_on(void **state)
{
    struct machine *m = machine_default(1, 1, 1, 1);
    struct machine_unit *u = machine_hog(m, 256, 0);

    (void)state;
    machine_settle(m);
    sched_yield_current(m->s, 0);
    assert_ptr_equal(machine_pick(m, 0), &u->unit);
    assert_int_equal(m->cpus[0].deadline, NS_NEVER);
    machine_free(m);
}

static void test_yield_costs_no_share(void **state)
{
    struct machine *m = machine_default(1, 1, 1, 1);
    struct machine_unit *yields = machine_hog(m, 256, 0), *other = machine_hog(m, 256, 0);

    (void)state;
    machine_settle(m);
    for (uint32_t i = 0; i < 20000; i++) {
        machine_run(m, m->now + 100 * NS_PER_US);
        if (m->cpus[0].cur == &yields->unit && i % 70 == 0) {
            sched_yield_current(m->s, 0);
            machine_pick(m, 0);
        }
    }
    assert_true(machine_ran(m, yields) > machine_ran(m, other) / 100 * 97);
    machine_free(m);
}

static void test_yield_to(void **state)
{
    struct machine *m = machine_default(1, 1, 1, 1);
    struct machine_unit *u[5];

    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        u[i] = machine_hog(m, 256, 0);
    machine_settle(m);
    assert_ptr_equal(m->cpus[0].cur, &u[0]->unit);
    assert_false(sched_yield_to(m->s, 0, &u[0]->unit, m->now)); /* never itself */
    assert_true(sched_yield_to(m->s, 0, &u[3]->unit, m->now));
    assert_int_equal(m->cpus[0].kicked, false); /* the caller picks anyway */
    assert_ptr_equal(machine_pick(m, 0), &u[3]->unit);
    sched_unit_pause(m->s, &u[4]->unit, m->now);
    assert_false(sched_yield_to(m->s, 0, &u[4]->unit, m->now)); /* paused */
    assert_ptr_equal(machine_pick(m, 0), &u[3]->unit);
    machine_free(m);
}

static void test_yield_to_another_runqueue(void **state)
{
    struct machine *m = machine_default(2, 1, 1, 1);
    struct machine_unit *a = machine_hog(m, 256, 1), *b = machine_hog(m, 256, 2);
    struct machine_unit *target = machine_hog(m, 256, 2);

    (void)state;
    machine_settle(m);
    assert_true(unit_is_ready(&target->unit) || unit_is_ready(&b->unit));
    if (unit_is_running(&target->unit))
        target = b;
    assert_ptr_equal(m->cpus[0].cur, &a->unit);
    /* CPU 1's unit has just come: the rate limit protects it. */
    assert_false(sched_yield_to(m->s, 0, &target->unit, m->now));
    assert_false(m->cpus[1].kicked);
    m->now += m->s->params.ratelimit_ns;
    assert_true(sched_yield_to(m->s, 0, &target->unit, m->now));
    assert_true(m->cpus[1].kicked);
    assert_ptr_equal(machine_pick(m, 0), &a->unit);
    machine_settle(m);
    assert_ptr_equal(m->cpus[1].cur, &target->unit);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yield_goes_behind_all),
        cmocka_unit_test(test_yield_goes_behind_poorer),
        cmocka_unit_test(test_yield_alone_goes_on),
        cmocka_unit_test(test_yield_costs_no_share),
        cmocka_unit_test(test_yield_to),
        cmocka_unit_test(test_yield_to_another_runqueue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
