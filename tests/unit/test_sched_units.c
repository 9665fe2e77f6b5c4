/*
 * smt=compute-unit: the two cores of an AMD family 15h unit in the scheduler's eyes.
 *
 * That they stay two cores in the listing is test_topology.c's; that they share a runqueue,
 * test_sched_arrange.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

/* Cores of one unit are taken like threads of one core, and only where the place names a unit. */
static void test_unit_is_packed_last(void **state)
{
    struct cpu_place places[4];
    struct sched_params p;

    (void)state;
    sched_params_default(&p);
    for (uint32_t units = 0; units < 2; units++) {
        struct machine_unit *u;
        struct machine *m;

        for (uint32_t cpu = 0; cpu < 4; cpu++)
            places[cpu] = (struct cpu_place){.cpu = cpu,
                                             .core = cpu,
                                             .unit = units ? 1 + cpu / 2 : 0,
                                             .asym_prio = (int32_t)(CPUS_MAX - 1 - cpu)};
        m = machine_new_places(places, 4, 1, &p);
        machine_hog(m, 256, 1);
        machine_settle(m);
        u = machine_unit(m, 256, 0, 0);
        machine_wake(m, u);
        assert_int_equal(u->unit.state, UNIT_RESERVED);
        assert_int_equal(u->unit.target, units ? 2 : 1);
        machine_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unit_is_packed_last)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
