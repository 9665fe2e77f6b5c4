/*
 * When caches and memory are worth more than what is idle: moves between runqueues by load
 * (sched/worth.c), and units that run briefly (unit_runs_briefly).
 *
 * CPUs of machine_new(sockets, cores, threads, nodes): siblings adjacent, a node a socket.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

#define ONE      (1ull << LOAD_FRAC_BITS)
#define SHORT    (100 * NS_PER_US)
#define LONG     (5 * NS_PER_MS)
#define LONG_AGO (NS_PER_SEC / 4)
#define HOME     0x0fu /* 2 sockets x 2 cores x 2 threads: the first socket */
#define REMOTE   0xf0u

static struct machine *machine_of(uint32_t sockets, uint32_t cores, uint32_t threads)
{
    struct sched_params p;

    sched_params_default(&p);
    return machine_new(sockets, cores, threads, sockets, &p);
}

/* Asleep, last on `cpu`, and known to run for `burst_ns` between two sleeps. */
static struct machine_unit *sleeper(struct machine *m, uint32_t cpu, uint64_t soft, ns_t burst_ns)
{
    struct machine_unit *u = machine_unit(m, 256, 1ull << cpu, 0);

    machine_wake(m, u);
    machine_settle(m);
    machine_sleep(m, cpu);
    machine_affinity(m, u, 0, soft);
    u->unit.burst_ns = burst_ns;
    return u;
}

static void set_load(struct machine *m, uint32_t runq, uint64_t percent)
{
    struct runq *rq = &m->s->runqs[runq];

    rq->load.recent = percent * ONE / 100;
    rq->load.at = m->now;
}

/* Of `own` per cent of a CPU, at home or away; is an idle core, or thread, elsewhere worth it? */
static const struct {
    const char *what;
    ns_t burst_ns;
    uint64_t own, here, there;
    ns_t ago_ns; /* since it came to its runqueue */
    bool away, preference, core;
    bool worth;
} moves[] = {
    {"free cores there, crowded or not here", LONG, 80, 160, 100, 0, false, true, true, true},
    {"its own load does not fit the cores there", LONG, 80, 160, 130, 0, false, true, true, false},
    {"nor is a thread worth it for being idle", LONG, 80, 160, 100, 0, false, true, false, false},
    {"more to do here by more than it makes", LONG, 80, 330, 230, 0, false, true, false, true},
    {"by no more than remote memory takes", LONG, 80, 330, 245, 0, false, true, false, false},
    {"which is nothing without a preference", LONG, 80, 330, 245, 0, false, false, false, true},
    {"no preference, and room here", LONG, 80, 160, 0, 0, false, false, true, false},
    {"it runs briefly", SHORT, 80, 330, 0, 0, false, true, true, false},
    {"home has room", LONG, 80, 100, 110, 0, true, true, true, true},
    {"home has room for a short one, too", SHORT, 80, 100, 110, 0, true, true, true, true},
    {"home is full", LONG, 80, 100, 130, 0, true, true, true, false},
    {"what made it leave is not yet undone", LONG, 80, 280, 215, 0, true, true, true, false},
    {"here it is fuller than at home", LONG, 80, 330, 255, 0, true, true, true, true},
    {"away for long, whatever the loads", LONG, 80, 100, 230, LONG_AGO, true, true, false, true},
    {"long here, without a preference", LONG, 80, 160, 100, LONG_AGO, false, false, false, false},
};

static void test_worth_moving(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
        struct machine *m = machine_of(2, 2, 2);
        uint64_t soft = !moves[i].preference ? 0 : moves[i].away ? REMOTE : HOME;
        struct machine_unit *u = sleeper(m, 0, soft, moves[i].burst_ns);
        struct worth w;
        bool worth;

        u->unit.moved_at = m->now;
        m->now += moves[i].ago_ns;
        set_load(m, 0, moves[i].here);
        set_load(m, 1, moves[i].there);
        u->unit.load.recent = moves[i].own * ONE / 100;
        u->unit.load.at = m->now;
        w = worth_of(m->s, &u->unit, m->now);
        worth = worth_moving(&w, &m->s->runqs[1], moves[i].core);
        if (worth != moves[i].worth)
            fail_msg("%s", moves[i].what);
        machine_free(m);
    }
}

/* Eight sleepers of one socket's memory: they spread over both and stay where they are. */
static void test_neighbours_settle(void **state)
{
    struct machine *m = machine_of(2, 4, 2);
    uint64_t before = 0, after = 0;

    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct machine_unit *u = machine_burst(m, 3 * NS_PER_MS + i * 10 * NS_PER_US,
                                               600 * NS_PER_US + i * 7 * NS_PER_US);

        machine_affinity(m, u, 0, 0xff);
    }
    machine_run(m, m->now + 500 * NS_PER_MS);
    assert_true(m->s->runqs[0].nr_members > 0 && m->s->runqs[1].nr_members > 0);
    for (uint32_t i = 0; i < 8; i++)
        before += m->units[i].unit.migrations;
    machine_run(m, m->now + 500 * NS_PER_MS);
    for (uint32_t i = 0; i < 8; i++)
        after += m->units[i].unit.migrations;
    assert_in_range(after - before, 0, 60); /* of some 1,100 wake-ups */
    machine_free(m);
}

/* The last CPU, its sibling, and only then a core of its own. */
static void test_short_one_stays(void **state)
{
    struct machine *m = machine_of(1, 3, 2);
    struct machine_unit *u = sleeper(m, 2, 0, SHORT);

    (void)state;
    machine_hog(m, 256, 1u << 3);
    machine_settle(m);
    machine_wake(m, u);
    assert_int_equal(u->unit.target, 2); /* though cores 0 and 2 are idle */
    machine_settle(m);
    machine_sleep(m, 3);
    machine_sleep(m, 2);
    u->unit.burst_ns = SHORT;
    machine_hog(m, 256, 1u << 2);
    machine_settle(m);
    machine_wake(m, u);
    assert_int_equal(u->unit.target, 3);
    machine_settle(m);
    machine_sleep(m, 3);
    u->unit.burst_ns = SHORT;
    machine_hog(m, 256, 1u << 3);
    machine_settle(m);
    machine_wake(m, u);
    assert_int_equal(u->unit.target, 0);
    machine_free(m);
}

/* With every CPU of its node busy a short one waits; a long one takes the idle core. */
static void test_short_one_keeps_its_node(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct machine *m = machine_of(2, 1, 2);
        struct machine_unit *u = sleeper(m, 0, 0, i ? LONG : SHORT);

        machine_hog(m, 256, 1);
        machine_hog(m, 256, 2);
        machine_settle(m);
        machine_wake(m, u);
        assert_int_equal(u->unit.rq->id, i);
        machine_free(m);
    }
}

/* What a unit runs between wake-up and sleep is learnt within some bursts. */
static void test_burst_is_learnt(void **state)
{
    struct machine *m = machine_of(1, 2, 1);
    struct machine_unit *u = machine_burst(m, SHORT, SHORT);

    (void)state;
    assert_false(unit_runs_briefly(m->s, &u->unit));
    machine_run(m, m->now + 50 * 2 * SHORT);
    assert_true(unit_runs_briefly(m->s, &u->unit));
    assert_in_range(u->unit.burst_ns, SHORT / 2, 2 * SHORT);
    m->s->params.stay_warm = false;
    assert_false(unit_runs_briefly(m->s, &u->unit));
    machine_free(m);
}

/*
 * A CPU takes its own that runs briefly before one that is ahead by less than migrate_resist. One
 * that runs on would go on to be ahead: the other's share comes first.
 */
static void test_pick_keeps_caches(void **state)
{
    static const struct {
        ns_t burst_ns, behind_ns;
        bool keeps;
    } rows[] = {
        {SHORT, 400 * NS_PER_US, true},
        {SHORT, 600 * NS_PER_US, false},
        {LONG, 400 * NS_PER_US, false},
    };

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct machine *m = machine_of(1, 2, 1);
        struct machine_unit *own = sleeper(m, 0, 0, LONG), *other = sleeper(m, 1, 0, LONG);
        struct runq *rq = own->unit.rq;

        machine_hog(m, 256, 1);
        machine_hog(m, 256, 2);
        machine_settle(m);
        machine_wake(m, own);
        machine_wake(m, other);
        assert_int_equal(own->unit.state, UNIT_QUEUED);
        assert_int_equal(other->unit.state, UNIT_QUEUED);
        queue_remove(rq, &own->unit);
        own->unit.key = other->unit.key - rows[i].behind_ns;
        own->unit.order = own->unit.key;
        own->unit.burst_ns = rows[i].burst_ns;
        queue_insert(m->s, rq, &own->unit);
        assert_ptr_equal(machine_sleep(m, 0), rows[i].keeps ? &own->unit : &other->unit);
        machine_free(m);
    }
}

/*
 * An idle core is kept for a moment for what runs briefly; a busy pair leaves it alone, unless both
 * have run for a whole slice: the one that runs briefly might come and go for ever.
 */
static void test_core_is_kept(void **state)
{
    static const struct {
        ns_t burst_ns, packed_ns;
        bool asks;
    } rows[] = {
        {SHORT, 2 * NS_PER_MS, false},
        {SHORT, 11 * NS_PER_MS, true},
        {LONG, 2 * NS_PER_MS, true},
    };

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct machine *m = machine_of(1, 2, 2);
        struct machine_unit *u = machine_unit(m, 256, 1u << 2, 0);

        machine_hog(m, 256, 1);
        machine_hog(m, 256, 2);
        machine_settle(m);
        machine_affinity(m, &m->units[1], 0, 0);
        machine_affinity(m, &m->units[2], 0, 0);
        machine_wake(m, u);
        machine_settle(m);
        m->now += rows[i].packed_ns;
        u->unit.burst_ns = rows[i].burst_ns;
        machine_sleep(m, 2);
        assert_int_equal(m->cpus[0].kicked || m->cpus[1].kicked, rows[i].asks);
        machine_free(m);
    }
}

/* Away for long and nobody idle: it waits at home rather than here, unless home has more to do. */
static void test_waits_at_home(void **state)
{
    static const struct {
        ns_t ago_ns;
        uint64_t home; /* per cent of load there; 200 here */
        bool returns;
    } rows[] = {
        {LONG_AGO, 200, true},
        {LONG_AGO, 210, false},
        {NS_PER_MS, 200, false},
    };

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct machine *m = machine_of(2, 1, 2);
        struct machine_unit *u = sleeper(m, 0, 0xc, LONG);

        for (uint32_t cpu = 0; cpu < 4; cpu++)
            machine_hog(m, 256, 1ull << cpu);
        machine_settle(m);
        m->now += NS_PER_SEC;
        u->unit.moved_at = m->now - rows[i].ago_ns;
        set_load(m, 0, 200);
        set_load(m, 1, rows[i].home);
        machine_wake(m, u);
        assert_int_equal(u->unit.rq->id, rows[i].returns);
        machine_free(m);
    }
}

/* A CPU at home has gone idle since the waker looked at the hint: it is not left asleep. */
static void test_home_falls_idle(void **state)
{
    struct machine *m = machine_of(2, 1, 2);
    struct machine_unit *u = sleeper(m, 0, 0xc, LONG);

    (void)state;
    for (uint32_t cpu = 0; cpu < 3; cpu++)
        machine_hog(m, 256, 1ull << cpu);
    machine_settle(m);
    m->now += NS_PER_SEC;
    u->unit.moved_at = m->now - LONG_AGO;
    set_load(m, 0, 200);
    set_load(m, 1, 100);
    m->check = false;              /* it would find the hint wrong */
    m->s->hints[HINT_IDLE][0] = 0; /* as it was until just now */
    machine_wake(m, u);
    m->check = true;
    assert_int_equal(u->unit.rq->id, 1);
    assert_int_equal(u->unit.state, UNIT_RESERVED);
    assert_true(m->cpus[3].kicked);
    machine_free(m);
}

static void switch_home(struct machine *m, bool online)
{
    for (uint32_t cpu = 0; cpu < 4; cpu++) {
        assert_int_equal(
            online ? sched_cpu_online(m->s, cpu, m->now) : sched_cpu_offline(m->s, cpu, m->now), 0);
        m->cpus[cpu].online = online;
    }
}

/* It runs alone, without a deadline, when it is given a home elsewhere, or home comes back. */
static void test_goes_home(void **state)
{
    (void)state;
    for (uint32_t comes_back = 0; comes_back < 2; comes_back++) {
        struct machine *m = machine_of(2, 2, 2);
        struct machine_unit *u = machine_unit(m, 256, REMOTE, 0);

        if (comes_back) {
            machine_affinity(m, u, 0, HOME);
            switch_home(m, false);
        }
        machine_wake(m, u);
        machine_settle(m);
        assert_int_equal(u->unit.rq->id, 1);
        m->now += LONG_AGO;
        if (comes_back)
            switch_home(m, true);
        else
            machine_affinity(m, u, 0, HOME);
        machine_run(m, m->now + NS_PER_MS);
        assert_int_equal(u->unit.rq->id, 0);
        machine_free(m);
    }
}

/* After a reset clips what leads, its CPU looks again before the lead it had is used up. */
static void test_reset_shortens_slices(void **state)
{
    struct machine *m = machine_of(1, 2, 1);
    struct machine_unit *rich, *poor, *waits;
    struct runq *rq = &m->s->runqs[0];

    (void)state;
    rich = machine_hog(m, 256, 1);
    poor = machine_hog(m, 256, 2);
    machine_settle(m);
    waits = machine_hog(m, 256, 2);
    assert_int_equal(waits->unit.state, UNIT_QUEUED);
    queue_remove(rq, &waits->unit);
    waits->unit.key = -rq->given - NS_PER_MS;
    waits->unit.order = waits->unit.key;
    queue_insert(m->s, rq, &waits->unit);
    poor->unit.key = -rq->given;
    rich->unit.key = -rq->given + 9 * NS_PER_MS;
    rq->untimed = 0;
    m->now += 100 * NS_PER_US;
    m->cpus[0].deadline = m->now + 5 * NS_PER_MS; /* half of its lead */
    machine_pick(m, 1);
    assert_int_equal(m->events[TRACE_SCHED_RESET], 1);
    assert_true(m->cpus[0].deadline <= m->now + m->s->least_ns);
    machine_free(m);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worth_moving),    cmocka_unit_test(test_neighbours_settle),
        cmocka_unit_test(test_short_one_stays), cmocka_unit_test(test_short_one_keeps_its_node),
        cmocka_unit_test(test_burst_is_learnt), cmocka_unit_test(test_pick_keeps_caches),
        cmocka_unit_test(test_core_is_kept),    cmocka_unit_test(test_reset_shortens_slices),
        cmocka_unit_test(test_waits_at_home),   cmocka_unit_test(test_home_falls_idle),
        cmocka_unit_test(test_goes_home),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
