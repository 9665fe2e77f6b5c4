/*
 * numen-sim's small guest kernel: where tasks start, run, block and are woken, with and without a
 * cache that all vCPUs share. Run in a real simulation of four vCPUs on four CPUs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/numen-sim/guest.h"
#include "tools/numen-sim/sim.h"

#define VCPUS 4u

static struct scenario *scenario_of(bool shared)
{
    char path[] = "/tmp/numen-guest-XXXXXX";
    const char *const settings[] = {shared ? "vm.a.l3-cache=on" : "vm.a.l3-cache=off"};
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    struct scenario *scenario;

    assert_non_null(file);
    fputs("[machine]\nsockets=1\ncores=4\nthreads=1\n[vm a]\nvcpus=4\nworkload=messaging\n", file);
    fclose(file);
    scenario = scenario_read(path, settings, 1);
    unlink(path);
    assert_non_null(scenario);
    return scenario;
}

static uint32_t steps; /* how often a task asked what to do */

/* Every task works once, for 1 us, then waits. */
static void work_once(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_task *t)
{
    (void)sim;
    (void)g;
    (void)v;
    steps++;
    if (steps <= g->ntasks)
        guest_work(t, 1000);
    else
        guest_block(t);
}

struct fixture {
    struct scenario *scenario;
    struct sim *sim;
    struct guest g;
};

static void begin(struct fixture *f, bool shared, uint32_t ntasks)
{
    f->scenario = scenario_of(shared);
    f->sim = sim_new(f->scenario, 1);
    f->g = (struct guest){0};
    guest_init(&f->g, &f->sim->vms[0], ntasks, work_once);
    steps = 0;
}

static void finish(struct fixture *f)
{
    guest_free(&f->g);
    sim_free(f->sim);
    scenario_free(f->scenario);
}

static struct vcpu *vcpu(struct fixture *f, uint32_t index)
{
    return &f->sim->vms[0].vcpus[index];
}

/*
 * All tasks but those in the mask are taken off: blocked, and last on vCPU index % 4. All have
 * wanted to run for the whole of the time lately, so none goes to its waker for the sake of load.
 */
static void block_all_but(struct fixture *f, uint32_t running)
{
    for (uint32_t i = 0; i < VCPUS; i++)
        f->g.vcpus[i] = (struct guest_vcpu){0};
    for (uint32_t i = 0; i < f->g.ntasks; i++) {
        struct guest_task *t = &f->g.tasks[i];

        t->vcpu = i % VCPUS;
        t->load = 1024;
        t->loaded_at = f->sim->now;
        t->state = running >> i & 1 ? TASK_RUNNING : TASK_BLOCKED;
        if (t->state == TASK_RUNNING)
            f->g.vcpus[t->vcpu].current = t;
    }
}

static void test_tasks_start_spread(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, false, 6);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(f.g.vcpus[i].ready.count, i < 2 ? 2 : 1);
    guest_next(f.sim, &f.g, vcpu(&f, 0));
    assert_ptr_equal(f.g.vcpus[0].current, &f.g.tasks[0]);
    assert_int_equal(f.g.tasks[0].state, TASK_RUNNING);
    assert_int_equal(vcpu(&f, 0)->segment, SEGMENT_COMPUTE);
    finish(&f);
}

/* One without a task takes one that waits elsewhere before it halts. */
static void test_pulls_before_it_halts(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, false, 2); /* on vCPUs 0 and 1 */
    guest_next(f.sim, &f.g, vcpu(&f, 3));
    assert_ptr_equal(f.g.vcpus[3].current, &f.g.tasks[0]);
    assert_int_equal(f.g.tasks[0].vcpu, 3);
    guest_next(f.sim, &f.g, vcpu(&f, 2));
    assert_ptr_equal(f.g.vcpus[2].current, &f.g.tasks[1]);
    guest_next(f.sim, &f.g, vcpu(&f, 0));
    assert_int_equal(vcpu(&f, 0)->segment, SEGMENT_HALTING);
    finish(&f);
}

static void test_works_then_blocks(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, false, 1);
    guest_next(f.sim, &f.g, vcpu(&f, 0)); /* switched in, without work */
    guest_next(f.sim, &f.g, vcpu(&f, 0)); /* asks: 1 us */
    assert_int_equal(vcpu(&f, 0)->work, 1000 * WORK_PER_NS);
    guest_next(f.sim, &f.g, vcpu(&f, 0)); /* asks: blocks */
    assert_int_equal(f.g.tasks[0].state, TASK_BLOCKED);
    assert_int_equal(vcpu(&f, 0)->segment, SEGMENT_HALTING);
    finish(&f);
}

/* A wake-up of one that is not blocked is none; of one on the waker's own vCPU, no interrupt. */
static void test_wake_at_home(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, false, 8);
    block_all_but(&f, 1u << 1); /* task 1 runs on vCPU 1 */
    guest_wake(f.sim, &f.g, vcpu(&f, 1), &f.g.tasks[1], false);
    assert_int_equal(f.g.tasks[1].state, TASK_RUNNING);
    assert_int_equal(f.g.vcpus[1].ready.count, 0);
    guest_wake(f.sim, &f.g, vcpu(&f, 1), &f.g.tasks[5], false);
    assert_int_equal(f.g.tasks[5].state, TASK_READY);
    assert_int_equal(f.g.vcpus[1].ready.count, 1);
    assert_int_equal(vcpu(&f, 1)->counts.interrupts, 0);
    finish(&f);
}

/* Across caches: the wake list and an interrupt, one for all that are on it. */
static void test_wake_across_caches(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, false, 12);
    block_all_but(&f, 1u << 0 | 1u << 2); /* tasks 0 and 2 run on vCPUs 0 and 2 */
    guest_wake(f.sim, &f.g, vcpu(&f, 0), &f.g.tasks[6], false);
    guest_wake(f.sim, &f.g, vcpu(&f, 0), &f.g.tasks[10], false);
    assert_int_equal(f.g.vcpus[2].woken.count, 2);
    assert_int_equal(f.g.vcpus[2].ready.count, 0);
    assert_int_equal(vcpu(&f, 0)->counts.interrupts, 1);
    guest_arrived(f.sim, &f.g, vcpu(&f, 2), true);
    assert_int_equal(f.g.vcpus[2].woken.count, 0);
    assert_int_equal(f.g.vcpus[2].ready.count, 2);
    finish(&f);
}

/* With a shared cache a busy vCPU's queue is written to at once, without an interrupt. */
static void test_wake_within_the_cache(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, true, 8);
    block_all_but(&f, 0xf); /* all four are busy */
    guest_wake(f.sim, &f.g, vcpu(&f, 0), &f.g.tasks[6], false);
    assert_int_equal(f.g.vcpus[2].ready.count, 1);
    assert_int_equal(vcpu(&f, 0)->counts.interrupts, 0);
    finish(&f);
}

/* And an idle one that shares it is looked for, and interrupted. */
static void test_wake_finds_an_idle_one(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, true, 8);
    block_all_but(&f, 0x7); /* vCPU 3 has nothing to do */
    guest_wake(f.sim, &f.g, vcpu(&f, 0), &f.g.tasks[6], false);
    assert_int_equal(f.g.tasks[6].vcpu, 3);
    assert_int_equal(f.g.vcpus[3].ready.count, 1);
    assert_int_equal(vcpu(&f, 0)->counts.interrupts, 1);
    finish(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks_start_spread),     cmocka_unit_test(test_pulls_before_it_halts),
        cmocka_unit_test(test_works_then_blocks),      cmocka_unit_test(test_wake_at_home),
        cmocka_unit_test(test_wake_across_caches),     cmocka_unit_test(test_wake_within_the_cache),
        cmocka_unit_test(test_wake_finds_an_idle_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
