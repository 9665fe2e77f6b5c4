/* Work items: turns, bounded shares, items queued from other CPUs and from their own steps. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hv/bits.h"
#include "tests/unit/fake_cpus.h"

#include "kernel/work.c" /* with the CPUs above */

static ns_t fake_now;
static ns_t armed_for;

ns_t arch_now(void)
{
    return fake_now;
}

void timer_init(struct timer *timer, void (*fn)(struct timer *timer, ns_t now))
{
    timer->fn = fn;
}

void timer_arm(struct timer *timer, ns_t deadline)
{
    (void)timer;
    armed_for = deadline;
}

struct job {
    struct work work;
    uint32_t steps_left;
    char name;
};

static char order[64];

static bool job_step(struct work *work)
{
    struct job *job = container_of(work, struct job, work);
    size_t n = strlen(order);

    order[n] = job->name;
    order[n + 1] = 0;
    fake_now += 40 * NS_PER_US;
    return --job->steps_left == 0;
}

static struct job job_of(char name, uint32_t steps)
{
    return (struct job){.work = {.step = job_step}, .steps_left = steps, .name = name};
}

static int set_up(void **state)
{
    (void)state;
    fake_cpus_init();
    order[0] = 0;
    fake_now = 1000 * NS_PER_MS;
    armed_for = NS_NEVER;
    return 0;
}

static void test_items_take_turns(void **state)
{
    struct job a = job_of('a', 3), b = job_of('b', 1), c = job_of('c', 2);

    (void)state;
    work_queue(cpus[0], &a.work);
    work_queue(cpus[0], &b.work);
    work_queue(cpus[0], &c.work);
    assert_int_equal(cpus[0]->hazard, HAZARD_WORK);
    while (work_step())
        ;
    assert_string_equal(order, "abcaca");
}

static void test_busy_cpu_gives_a_share(void **state)
{
    struct job a = job_of('a', 7);

    (void)state;
    work_queue(cpus[0], &a.work);
    work_take_share(fake_now); /* three steps of 40 us fill 100 us */
    assert_string_equal(order, "aaa");
    assert_int_equal(armed_for, 1000 * NS_PER_MS + PERIOD_NS);
    work_take_share(fake_now); /* too early */
    assert_string_equal(order, "aaa");
    fake_now = armed_for;
    work_take_share(fake_now);
    assert_string_equal(order, "aaaaaa");
    fake_now = armed_for;
    armed_for = NS_NEVER;
    work_take_share(fake_now);
    assert_string_equal(order, "aaaaaaa");
    assert_int_equal(armed_for, NS_NEVER);
}

static bool requeue_step(struct work *work)
{
    struct job *job = container_of(work, struct job, work);

    if (--job->steps_left)
        work_queue(cpus[1], work);
    return true;
}

static void test_step_moves_its_item(void **state)
{
    struct job a = job_of('a', 2);

    (void)state;
    a.work.step = requeue_step;
    work_queue(cpus[0], &a.work);
    assert_true(work_step());
    assert_false(work_step());
    fake_me = &fake_cpu[1];
    assert_true(work_step());
    assert_false(work_step());
    assert_int_equal(a.steps_left, 0);
}

#define STRESS_ITEMS 20000u

static struct job items[3][STRESS_ITEMS];
static uint32_t done; /* [c] of CPU 0 */

static bool count_step(struct work *work)
{
    (void)work;
    done++;
    return true;
}

static void *queue_many(void *arg)
{
    struct job *mine = arg;

    for (uint32_t i = 0; i < STRESS_ITEMS; i++) {
        mine[i].work.step = count_step;
        work_queue(cpus[0], &mine[i].work);
    }
    return NULL;
}

static void test_queueing_from_everywhere(void **state)
{
    pthread_t threads[3];

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, queue_many, items[i]), 0);
    while (done < 3 * STRESS_ITEMS)
        work_step();
    for (uint32_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_false(work_step());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_items_take_turns, set_up),
        cmocka_unit_test_setup(test_busy_cpu_gives_a_share, set_up),
        cmocka_unit_test_setup(test_step_moves_its_item, set_up),
        cmocka_unit_test_setup(test_queueing_from_everywhere, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
