/*
 * One word for the runqueues that a unit may go to, on machines with more of them than bits; and
 * one for the CPUs of a runqueue that it may run on.
 */
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <stdlib.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

/* A runqueue for each CPU, 64 CPUs a node. */
static struct machine *machine_of(uint32_t ncpus)
{
    struct sched_params p;

    sched_params_default(&p);
    p.arrangement = RUNQ_PER_CPU;
    return machine_new(MAX(ncpus / 64, 1u), MIN(ncpus, 64u), 1, MAX(ncpus / 64, 1u), &p);
}

/* Neighbours share a bit, others do not; up to 64 runqueues nobody shares one. */
static void test_neighbours_share(void **state)
{
    static const struct {
        uint32_t ncpus, together;
    } rows[] = {{2, 1}, {64, 1}, {128, 2}, {256, 4}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct machine *m = machine_of(rows[i].ncpus);
        const struct runq *runqs = m->s->runqs;

        assert_int_equal(m->s->nrunqs, rows[i].ncpus);
        for (uint32_t a = 0; a < rows[i].ncpus; a++)
            for (uint32_t b = 0; b < a; b++)
                assert_int_equal(runqs[a].fold == runqs[b].fold,
                                 a / rows[i].together == b / rows[i].together);
        machine_free(m);
    }
}

/* What a search asks for is what one would get by looking at each runqueue. */
static void test_fold_of_hints(void **state)
{
    struct machine *m = machine_of(256);
    struct sched *s = m->s;

    (void)state;
    srand(1);
    for (int round = 0; round < 300; round++) {
        const struct runq *home = &s->runqs[rand() % 256];
        uint64_t expected = 0;

        for (uint32_t id = 0; id < 256; id++) {
            bool on = rand() % 256 < round;

            runq_hint_set(s, &s->runqs[id], HINT_WAITING, on);
            expected |= on && id != home->id ? s->runqs[id].fold : 0;
        }
        assert_int_equal(neighbour_fold(s, home, HINT_WAITING), expected);
    }
    machine_free(m);
}

/* A unit kept to one node does not look as if the idle CPUs of the others were for it. */
static void test_pinned_to_a_node(void **state)
{
    struct machine *m = machine_of(256);

    (void)state;
    for (uint32_t i = 0; i < 64; i++)
        machine_wake(m, machine_hog(m, 256, UINT64_MAX)); /* CPUs 0 to 63 */
    machine_settle(m);
    for (uint32_t i = 0; i < 64; i++) {
        const struct unit *u = &m->units[i].unit;

        assert_true(unit_is_running(u));
        assert_int_equal(u->reach & neighbour_fold(m->s, u->rq, HINT_IDLE), 0);
    }
    machine_free(m);
}

/* A unit's masks in one runqueue are the same whether its CPUs' numbers follow one another or not.
 */
static void test_local_masks(void **state)
{
    struct sched_params p;
    struct machine *m;
    struct machine_unit *u;

    (void)state;
    sched_params_default(&p);
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        struct cpu_place places[96];

        for (uint32_t cpu = 0; cpu < 96; cpu++)
            places[cpu] = (struct cpu_place){.cpu = cpu,
                                             .core = cpu,
                                             .socket = cpu / 12,
                                             .llc = cpu / 12,
                                             .asym_prio = shuffled ? (int32_t)(cpu * 7 % 96) : 0};
        m = machine_new_places(places, 96, 1, &p);
        u = machine_unit(m, 256, 0, 0);
        srand(2);
        for (int round = 0; round < 100; round++) {
            machine_affinity(m, u, (uint64_t)rand() << 33 | (uint64_t)rand() << 11 | 1, rand());
            for (uint32_t id = 0; id < m->s->nrunqs; id++) {
                const struct runq *rq = &m->s->runqs[id];
                uint64_t hard, soft;

                assert_int_equal(rq->in_a_row, !shuffled);
                affinity_local(m->s, rq, &u->unit, &hard, &soft);
                runq_for_each_bit (bit, rq->cpus) {
                    uint32_t cpu = runq_cpu(m->s, rq, bit)->cpu;

                    assert_int_equal(!!(hard & bit), affinity_allows(&u->unit, cpu));
                    assert_int_equal(!!(soft & bit), affinity_prefers(&u->unit, cpu));
                }
                assert_int_equal((hard | soft) & ~rq->cpus, 0);
            }
        }
        machine_free(m);
    }
}

/* Many units ahead of it might come, if their CPUs of that runqueue were online: not in its way. */
static void test_pull_passes_over_offline_affinity(void **state)
{
    struct machine_unit *last;
    struct sched_params p;
    struct machine *m;

    (void)state;
    sched_params_default(&p);
    m = machine_new(2, 2, 1, 1, &p);
    assert_int_equal(sched_cpu_offline(m->s, 1, m->now), 0);
    m->cpus[1].online = false;
    assert_int_equal(sched_cpu_offline(m->s, 0, m->now), 0);
    m->cpus[0].online = false;
    for (uint32_t i = 0; i < 30; i++)
        machine_hog(m, 256, 0xe); /* CPUs 1 to 3 */
    last = machine_hog(m, 256, 0);
    machine_settle(m);
    assert_int_equal(last->unit.state, UNIT_QUEUED);
    assert_int_equal(sched_cpu_online(m->s, 0, m->now), 0);
    m->cpus[0].online = true;
    machine_settle(m);
    assert_ptr_equal(m->cpus[0].cur, &last->unit);
    machine_free(m);
}

/*
 * CPU 61 is its last preferred one, 62 and 63 share the bit: with all preferred ones taken it stays
 * where it is, rather than go from one neighbour of home to the other for ever.
 */
static void test_neighbours_of_home_are_not_home(void **state)
{
    struct sched_params p;
    struct machine *m;
    struct machine_unit *u;

    (void)state;
    sched_params_default(&p);
    p.arrangement = RUNQ_PER_CPU;
    m = machine_new(2, 66, 1, 2, &p);
    assert_int_equal(m->s->runqs[61].fold, m->s->runqs[63].fold);
    for (uint32_t cpu = 0; cpu < 62; cpu++)
        machine_wake(m, machine_hog(m, 256, 1ull << cpu));
    machine_settle(m);
    u = machine_unit(m, 256, 0, BIT(62) - 1);
    u->run_ns = NS_PER_SEC;
    machine_wake(m, u);
    machine_run(m, m->now + NS_PER_SEC);
    assert_in_range(u->unit.migrations, 0, 2);
    machine_free(m);
}

/* CPU 3 runs out of work while the kick that CPU 0's coming sends to CPU 4 is under way. */
static void sleep_on_cpu_3(struct machine *m, uint32_t cpu)
{
    struct unit *prev = m->cpus[3].cur;
    ns_t deadline;

    if (cpu != 4)
        return;
    m->on_kick = NULL;
    sched_sleep(m->s, 3);
    m->cpus[3].cur = sched_pick(m->s, 3, m->now, &deadline);
    m->cpus[3].deadline = deadline;
    sched_saved(m->s, prev, m->now);
}

/*
 * A CPU comes back, and the one unit that is kept to it is stolen, just then, from a runqueue that
 * has not been told into one that has: its masks are worked out anew all the same.
 */
static void test_moved_while_a_cpu_comes(void **state)
{
    struct machine *m = machine_of(8);
    struct machine_unit *u, *v;

    (void)state;
    m->check = false; /* kicks come amid a change */
    assert_int_equal(sched_cpu_offline(m->s, 0, m->now), 0);
    m->cpus[0].online = false;
    for (uint32_t cpu = 1; cpu < 8; cpu++)
        if (cpu != 4)
            machine_wake(m, machine_hog(m, 256, 1ull << cpu));
    v = machine_hog(m, 256, 1ull << 4);
    machine_wake(m, v);
    machine_settle(m);
    u = machine_hog(m, 256, 1ull << 5);
    machine_wake(m, u);
    machine_affinity(m, u, 1, 0); /* offline: anywhere */
    machine_affinity(m, v, 1, 0);
    machine_settle(m);
    m->on_kick = sleep_on_cpu_3;
    assert_int_equal(sched_cpu_online(m->s, 0, m->now), 0);
    m->cpus[0].online = true;
    assert_null(m->on_kick);
    machine_settle(m);
    machine_run(m, m->now + NS_PER_SEC);
    assert_false(u->unit.hard_all);
    assert_int_equal(u->unit.cpu, 0);
    sched_check(m->s);
    machine_free(m);
}

/* Two share the only core that they may use, next to an idle one whose bit is the same: they stay.
 */
static void test_core_next_door_is_barred(void **state)
{
    struct sched_params p;
    struct machine *m;
    ns_t since[2];

    (void)state;
    sched_params_default(&p);
    p.arrangement = RUNQ_PER_CORE;
    m = machine_new(1, 128, 2, 1, &p);
    for (uint32_t i = 0; i < 2; i++)
        machine_wake(m, machine_hog(m, 256, 1ull << i));
    machine_settle(m);
    assert_int_equal(m->s->runqs[0].fold, m->s->runqs[1].fold);
    for (uint32_t i = 0; i < 2; i++)
        since[i] = m->units[i].unit.picked_at;
    machine_run(m, m->now + NS_PER_SEC);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(m->units[i].unit.picked_at, since[i]);
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neighbours_share),
        cmocka_unit_test(test_fold_of_hints),
        cmocka_unit_test(test_pinned_to_a_node),
        cmocka_unit_test(test_local_masks),
        cmocka_unit_test(test_pull_passes_over_offline_affinity),
        cmocka_unit_test(test_neighbours_of_home_are_not_home),
        cmocka_unit_test(test_moved_while_a_cpu_comes),
        cmocka_unit_test(test_core_next_door_is_barred),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
