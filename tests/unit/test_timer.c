/* Timers: order, the hardware's deadline, moves between CPUs, cancelling what runs. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "hv/bits.h"
#include "tests/unit/fake_cpus.h"

#include "kernel/timer.c" /* with the CPUs above */

static ns_t hardware[FAKE_CPUS]; /* what each CPU's timer is set to */

void arch_timer_set(ns_t deadline)
{
    hardware[cpu_this()->id] = deadline;
}

static int set_up(void **state)
{
    (void)state;
    fake_cpus_init();
    for (uint32_t i = 0; i < FAKE_CPUS; i++) {
        assert_int_equal(timer_cpu_init(&fake_cpu[i]), 0);
        hardware[i] = NS_NEVER;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FAKE_CPUS; i++)
        free(fake_cpu[i].timers);
    return 0;
}

/* ---- one CPU ---- */

#define TIMERS 300u

struct probe {
    struct timer timer;
    ns_t armed_for;
    uint32_t fired;
};

static ns_t last_fired;

static void probe_fn(struct timer *timer, ns_t now)
{
    struct probe *p = container_of(timer, struct probe, timer);

    assert_true(p->armed_for <= now);
    assert_true(p->armed_for >= last_fired);
    last_fired = p->armed_for;
    p->fired++;
}

static void arm(struct probe *p, ns_t deadline)
{
    p->armed_for = deadline;
    timer_arm(&p->timer, deadline);
}

static ns_t earliest(const struct probe *probes)
{
    ns_t first = NS_NEVER;

    for (uint32_t i = 0; i < TIMERS; i++)
        first = MIN(first, probes[i].armed_for);
    return first;
}

/* Random arms and cancels against a plain array. */
static void test_random_against_model(void **state)
{
    static struct probe probes[TIMERS];
    ns_t now = 0;

    (void)state;
    srand(1);
    for (uint32_t i = 0; i < TIMERS; i++) {
        timer_init(&probes[i].timer, probe_fn);
        probes[i].armed_for = NS_NEVER;
    }
    for (uint32_t event = 0; event < 20000; event++) {
        struct probe *p = &probes[rand() % TIMERS];

        if (rand() % 3)
            arm(p, now + (ns_t)(rand() % 1000));
        else if (timer_cancel(&p->timer))
            p->armed_for = NS_NEVER;
        else
            assert_int_equal(p->armed_for, NS_NEVER);
        assert_true(hardware[0] <= earliest(probes)); /* early is allowed, late is not */
        if (rand() % 8)
            continue;
        now += (ns_t)(rand() % 200);
        last_fired = 0;
        do {
            timer_run_due(now);
        } while (hardware[0] <= now);
        for (uint32_t i = 0; i < TIMERS; i++) {
            if (probes[i].armed_for <= now) {
                assert_int_equal(probes[i].fired, 1);
                probes[i].armed_for = NS_NEVER;
            } else {
                assert_int_equal(probes[i].fired, 0);
            }
            probes[i].fired = 0;
        }
        assert_int_equal(hardware[0], earliest(probes));
    }
}

static uint32_t greedy_runs;

static void greedy_fn(struct timer *timer, ns_t now)
{
    greedy_runs++;
    timer_arm(timer, now - 1);
}

static void test_handler_that_arms_in_the_past(void **state)
{
    struct timer timer;

    (void)state;
    timer_init(&timer, greedy_fn);
    timer_arm(&timer, 10);
    timer_run_due(10);
    assert_int_equal(greedy_runs, RUNS_MAX);
    assert_int_equal(hardware[0], 9);
    assert_true(timer_cancel(&timer));
    timer_arm(&timer, NS_NEVER);
    assert_false(timer_cancel(&timer));
}

static void self_cancel_fn(struct timer *timer, ns_t now)
{
    (void)now;
    assert_false(timer_cancel(timer)); /* and does not wait for itself */
    greedy_runs = 0;
}

static void test_handler_cancels_itself(void **state)
{
    struct timer timer;

    (void)state;
    greedy_runs = 1;
    timer_init(&timer, self_cancel_fn);
    timer_arm(&timer, 5);
    timer_run_due(5);
    assert_int_equal(greedy_runs, 0);
    assert_int_equal(hardware[0], NS_NEVER);
}

/* ---- several ---- */

static void test_arming_moves_the_timer(void **state)
{
    struct probe p = {0};

    (void)state;
    last_fired = 0;
    timer_init(&p.timer, probe_fn);
    fake_me = &fake_cpu[1];
    arm(&p, 100);
    assert_int_equal(hardware[1], 100);
    fake_me = &fake_cpu[2];
    arm(&p, 200);
    assert_int_equal(hardware[2], 200);
    fake_me = &fake_cpu[1];
    timer_run_due(300);
    assert_int_equal(p.fired, 0);
    assert_int_equal(hardware[1], NS_NEVER);
    fake_me = &fake_cpu[2];
    timer_run_due(300);
    assert_int_equal(p.fired, 1);
    fake_me = &fake_cpu[0];
}

/*
 * A vCPU's life: armed on CPU 2, which runs the handler in a thread of its own, and then cancelled,
 * or armed anew, from CPU 1. After that the handler must not run.
 */
#define STRESS_ROUNDS 20000u

static struct timer stressed;
static uint32_t inside;    /* [a] handlers running */
static bool is_cancelled;  /* [a] */
static bool is_over;       /* [a] */
static uint64_t runs_on_2; /* [a] */

static void stress_fn(struct timer *timer, ns_t now)
{
    (void)timer;
    (void)now;
    if (atomic_fetch_add(&inside, 1))
        abort();
    for (uint32_t i = 0; i < 20; i++) {
        if (atomic_get(&is_cancelled))
            abort();
        __builtin_ia32_pause();
    }
    if (fake_me == &fake_cpu[2])
        atomic_fetch_add(&runs_on_2, 1);
    atomic_fetch_add(&inside, (uint32_t)-1);
}

static void *run_cpu_2(void *arg)
{
    (void)arg;
    fake_me = &fake_cpu[2];
    while (!atomic_get(&is_over))
        timer_run_due(10);
    return NULL;
}

/* A CPU that goes off gives its timers to CPU 0, but not its slice; who cancels finds them there.
 */
static void test_adoption(void **state)
{
    struct probe p = {0}, q = {0};
    struct timer *slice = &fake_cpu[2].slice;

    (void)state;
    last_fired = 0;
    timer_init(&p.timer, probe_fn);
    timer_init(&q.timer, probe_fn);
    timer_init(slice, probe_fn);
    fake_me = &fake_cpu[2];
    arm(&p, 100);
    arm(&q, 200);
    timer_arm(slice, 50);
    fake_me = &fake_cpu[0];
    timer_adopt(&fake_cpu[2]);
    assert_int_equal(hardware[0], 100);
    assert_int_equal(slice->cpu, 2);
    assert_int_equal(slice->deadline, 50);
    fake_me = &fake_cpu[3];
    assert_true(timer_cancel(&q.timer));
    fake_me = &fake_cpu[0];
    timer_run_due(300);
    assert_int_equal(p.fired, 1);
    assert_int_equal(q.fired, 0);
    assert_true(timer_cancel(slice));
}

static void test_cancel_waits_for_a_running_handler(void **state)
{
    pthread_t thread;

    (void)state;
    timer_init(&stressed, stress_fn);
    assert_int_equal(pthread_create(&thread, NULL, run_cpu_2, NULL), 0);
    for (uint32_t i = 0; i < STRESS_ROUNDS; i++) {
        fake_me = &fake_cpu[2];
        timer_arm(&stressed, 5);
        for (uint32_t spin = i % 64; spin; spin--)
            __builtin_ia32_pause();
        fake_me = &fake_cpu[1];
        if (i % 2) {
            timer_arm(&stressed, 5);
            timer_run_due(10);
        }
        timer_cancel(&stressed);
        atomic_set(&is_cancelled, true);
        assert_int_equal(atomic_get(&inside), 0);
        atomic_set(&is_cancelled, false);
    }
    atomic_set(&is_over, true);
    pthread_join(thread, NULL);
    assert_true(runs_on_2 > 0);
    fake_me = &fake_cpu[0];
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_random_against_model),   TEST(test_handler_that_arms_in_the_past),
        TEST(test_handler_cancels_itself), TEST(test_adoption),
        TEST(test_arming_moves_the_timer), TEST(test_cancel_waits_for_a_running_handler),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
