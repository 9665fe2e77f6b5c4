/*
 * Credit: shares by weight, rate limit, reset, slices, remainders, on the small machine.
 */
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

struct share_row {
    const char *name;
    uint32_t ncpus, nunits;
    uint32_t weights[8];
    uint32_t want[8];   /* parts per million of all CPU time */
    uint32_t error_ppm; /* of each unit's own share */
};

static const struct share_row share_rows[] = {
    {"two equal", 1, 2, {256, 256}, {500000, 500000}, 2000},
    {"three equal on two", 2, 3, {256, 256, 256}, {333333, 333333, 333333}, 10000},
    {"1:2 on one", 1, 2, {256, 512}, {333333, 666667}, 10000},
    {"1:2:4 on one", 1, 3, {128, 256, 512}, {142857, 285714, 571429}, 10000},
    /*
     * The lightest burns 11.8 ms of credit in one rate limit; what is below the floor is forgiven.
     */
    {"odd weights", 1, 3, {77, 301, 911}, {59736, 233514, 706750}, 20000},
    /* 16 parts over 4 CPUs: nobody's share is above a CPU (4 parts). */
    {"1:2:4, 8 on 4",
     4,
     8,
     {256, 256, 256, 256, 512, 512, 1024, 1024},
     {62500, 62500, 62500, 62500, 125000, 125000, 250000, 250000},
     10000},
    {"1:2:4 uneven, 8 on 4",
     4,
     8,
     {256, 256, 256, 512, 512, 512, 1024, 1024},
     {58824, 58824, 58824, 117647, 117647, 117647, 235294, 235294},
     10000},
};

static void test_weights_share(void **state)
{
    (void)state;
    for (size_t r = 0; r < ARRAY_SIZE(share_rows); r++) {
        const struct share_row *row = &share_rows[r];
        struct sched_params p = defaults();
        struct machine *m = machine_new(1, row->ncpus, 1, 1, &p);
        ns_t start = m->now;

        for (uint32_t i = 0; i < row->nunits; i++)
            machine_hog(m, row->weights[i], 0);
        machine_run(m, start + 10 * NS_PER_SEC);
        for (uint32_t i = 0; i < row->nunits; i++) {
            uint64_t want = 10 * NS_PER_SEC * row->ncpus / 1000000 * row->want[i];
            uint64_t got = machine_ran(m, &m->units[i]);
            uint64_t off = got > want ? got - want : want - got;

            if (off > want / 1000000 * row->error_ppm)
                print_message("%s: unit %u of weight %u ran %.3f %% off\n", row->name, i,
                              row->weights[i], 100.0 * ((double)got - (double)want) / (double)want);
            assert_true(off <= want / 1000000 * row->error_ppm);
        }
        machine_free(m);
    }
}

/* A CPU that picked when nobody waited takes its turn with a unit that comes later. */
static void test_latecomer_gets_its_share(void **state)
{
    struct sched_params p = defaults();
    struct machine *m = machine_new(1, 2, 1, 1, &p);
    ns_t start;

    (void)state;
    machine_hog(m, 256, 0);
    machine_hog(m, 256, 0);
    machine_settle(m);
    assert_int_equal(m->cpus[0].deadline, NS_NEVER);
    assert_int_equal(m->cpus[1].deadline, NS_NEVER);
    machine_run(m, m->now + 50 * NS_PER_MS);
    start = m->now;
    machine_hog(m, 256, 0);
    machine_run(m, start + 3 * NS_PER_SEC);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t ran = machine_ran(m, &m->units[i]) - (i < 2 ? 50 * NS_PER_MS : 0);

        assert_in_range(ran, 1980 * NS_PER_MS, 2020 * NS_PER_MS);
    }
    machine_free(m);
}

static void test_weight_change_takes_effect(void **state)
{
    struct sched_params p = defaults();
    struct machine *m = machine_new(1, 1, 1, 1, &p);
    struct machine_unit *a = machine_hog(m, 256, 0), *b = machine_hog(m, 256, 0);
    uint64_t a_ran, b_ran;

    (void)state;
    machine_run(m, m->now + NS_PER_SEC);
    a_ran = machine_ran(m, a);
    b_ran = machine_ran(m, b);
    sched_unit_set_weight(m->s, &b->unit, 768, m->now);
    machine_run(m, m->now + 4 * NS_PER_SEC);
    assert_in_range(machine_ran(m, a) - a_ran, 980 * NS_PER_MS, 1020 * NS_PER_MS);
    assert_in_range(machine_ran(m, b) - b_ran, 2980 * NS_PER_MS, 3020 * NS_PER_MS);
    machine_free(m);
}

/* Half asleep all the time, it has no more than the carry-over to show for it. */
static void test_sleep_earns_only_carryover(void **state)
{
    struct sched_params p = defaults();
    struct machine *m = machine_new(1, 1, 1, 1, &p);
    struct machine_unit *sleeper = machine_unit(m, 256, 0, 0);

    (void)state;
    machine_hog(m, 256, 0);
    machine_hog(m, 256, 0);
    machine_run(m, m->now + 5 * NS_PER_SEC);
    assert_true(m->events[TRACE_SCHED_RESET] > 200);
    assert_int_equal(sched_unit_credit(m->s, &sleeper->unit), 10500 * NS_PER_US);
    machine_free(m);
}

/* Slices stay within their bounds while somebody waits, and there are none when nobody does. */
static void test_slices(void **state)
{
    struct sched_params p = defaults();
    struct machine *m = machine_new(1, 1, 1, 1, &p);
    uint64_t before;

    (void)state;
    machine_hog(m, 256, 0);
    machine_run(m, m->now + NS_PER_SEC);
    assert_true(m->cpus[0].picks < 10);
    machine_hog(m, 256, 0);
    machine_settle(m);
    before = m->cpus[0].picks;
    machine_run(m, m->now + NS_PER_SEC);
    assert_in_range(m->cpus[0].picks - before, 100, 2000);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_share),
        cmocka_unit_test(test_latecomer_gets_its_share),
        cmocka_unit_test(test_weight_change_takes_effect),
        cmocka_unit_test(test_sleep_earns_only_carryover),
        cmocka_unit_test(test_slices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
