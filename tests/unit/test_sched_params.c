/*
 * Options to scheduler parameters and back; what the preset switches off.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/cmdline.h"
#include "hv/bits.h"
#include "hv/options.h"
#include "sched/sched.h"

static void set(struct options *o, const char *name, const char *value)
{
    assert_int_equal(option_set(o, option_find(name), value), 0);
}

static void assert_all_show(const struct options *a, const struct options *b)
{
    for (uint32_t id = 0; id < OPTION_COUNT; id++) {
        char left[OPTION_TEXT_CHARS], right[OPTION_TEXT_CHARS];

        option_format(a, (enum option_id)id, left, sizeof(left));
        option_format(b, (enum option_id)id, right, sizeof(right));
        if (strcmp(left, right) != 0)
            fail_msg("%s: %s, not %s", option_table[id].name, left, right);
    }
}

/* The option table's defaults are those of the scheduler. */
static void test_defaults_agree(void **state)
{
    struct options table, shown;
    struct sched_params p;

    (void)state;
    options_default(&table);
    shown = table;
    sched_params_default(&p);
    sched_params_show(&p, &shown);
    assert_all_show(&table, &shown);
}

static const struct {
    const char *name, *value;
} settings[] = {
    {"credit2_runqueue", "core"},
    {"sched_credit2_max_cpus_runqueue", "7"},
    {"sched_credit_init_us", "5000"},
    {"sched_carryover_us", "250"},
    {"sched_slice_min_us", "100"},
    {"sched_slice_max_us", "3000"},
    {"sched_ratelimit_us", "2000"},
    {"sched_credit2_migrate_resist", "0"},
    {"credit2_load_window_shift", "24"},
    {"credit2_balance_under", "-2"},
    {"credit2_balance_over", "1"},
    {"sched_balance_period_us", "1000"},
    {"asym", "off"},
    {"asym_busy", "on"},
    {"sched_smt_aware", "off"},
    {"sched_newidle_pull", "off"},
    {"sched_neighbour_wake", "off"},
    {"sched_overdue_push", "off"},
    {"sched_smt_spread", "off"},
    {"sched_stay_warm", "off"},
    {"sched_soft_affinity", "off"},
    {"sched_numa_cost", "off"},
};

/* Each alone, under each preset: it is what it was set to, and settable while running. */
static void test_each_option(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2 * ARRAY_SIZE(settings); i++) {
        uint32_t row = i / 2;
        enum option_id id = option_find(settings[row].name);
        struct options o, shown;
        struct sched_params p, plain;
        char text[OPTION_TEXT_CHARS];

        assert_int_equal(option_table[id].when, OPTION_WHEN_RUNTIME);
        options_default(&o);
        set(&o, "sched_preset", i % 2 ? "credit2-2016" : "default");
        sched_params_options(&plain, &o);
        set(&o, settings[row].name, settings[row].value);
        sched_params_options(&p, &o);
        if (i % 2 == 0)
            assert_memory_not_equal(&p, &plain, sizeof(p));
        options_default(&shown);
        sched_params_show(&p, &shown);
        option_format(&shown, id, text, sizeof(text));
        assert_string_equal(text, settings[row].value);
    }
}

static void test_values(void **state)
{
    struct options o;
    struct sched_params p;

    (void)state;
    options_default(&o);
    for (uint32_t i = 0; i < ARRAY_SIZE(settings); i++)
        set(&o, settings[i].name, settings[i].value);
    sched_params_options(&p, &o);
    assert_int_equal(p.arrangement, RUNQ_PER_CORE);
    assert_int_equal(p.max_cpus_runqueue, 7);
    assert_int_equal(option_table[OPTION_sched_credit2_max_cpus_runqueue].max, RUNQ_CPUS_MAX);
    assert_int_equal(p.credit_init_ns, 5 * NS_PER_MS);
    assert_int_equal(p.carryover_ns, 250 * NS_PER_US);
    assert_int_equal(p.slice_min_ns, 100 * NS_PER_US);
    assert_int_equal(p.slice_max_ns, 3 * NS_PER_MS);
    assert_int_equal(p.ratelimit_ns, 2 * NS_PER_MS);
    assert_int_equal(p.migrate_resist_ns, 0);
    assert_int_equal(p.load_window_shift, 24);
    assert_int_equal(p.load_tolerance_under, 1ull << 30);
    assert_int_equal(p.load_tolerance_over, 1ull << 33);
    assert_int_equal(p.balance_period_ns, NS_PER_MS);
    assert_true(p.asym_busy);
    assert_false(p.asym || p.smt_aware || p.newidle_pull || p.neighbour_wake || p.overdue_push);
    assert_false(p.smt_spread || p.soft_affinity || p.numa_cost);
}

/* What seed 1 measured: shorter slices, no rate limit, no soft affinity, nothing of Numen's own. */
static void test_preset_credit2_2016(void **state)
{
    struct sched_params p, d;

    (void)state;
    sched_params_default(&d);
    assert_int_equal(sched_params_preset(&p, "credit2-2016"), 0);
    assert_int_equal(p.slice_max_ns, 2 * NS_PER_MS);
    assert_int_equal(p.ratelimit_ns, 0);
    assert_false(p.asym || p.asym_busy || p.newidle_pull || p.neighbour_wake || p.overdue_push);
    assert_false(p.smt_spread || p.soft_affinity || p.numa_cost);
    assert_true(p.smt_aware);
    assert_int_equal(p.arrangement, RUNQ_PER_SOCKET);
    assert_int_equal(p.max_cpus_runqueue, d.max_cpus_runqueue);
    assert_int_equal(p.credit_init_ns, 10 * NS_PER_MS);
    assert_int_equal(p.carryover_ns, 500 * NS_PER_US);
    assert_int_equal(p.slice_min_ns, 500 * NS_PER_US);
    assert_int_equal(p.migrate_resist_ns, 500 * NS_PER_US);
    assert_int_equal(p.load_window_shift, 30);
    assert_int_equal(p.load_tolerance_under, 1ull << 32);
    assert_int_equal(p.load_tolerance_over, 1ull << 29);
    assert_int_equal(sched_params_preset(&p, "credit3"), -EINVAL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_agree),
        cmocka_unit_test(test_each_option),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_preset_credit2_2016),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
