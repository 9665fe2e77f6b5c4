/*
 * Random machines, random parameters, random events: thousands of short lives under every check.
 *
 * After each event sched_check recomputes every invariant. Time is conserved: what CPUs were busy
 * is what units ran, what units waited or were parked is what the test saw. And no allowed CPU
 * stays idle while a unit waits for longer than the rate limit and one re-armed try. Kicks arrive
 * late, registers are saved late, CPUs come and go. A failure prints its seed; SCHED_SEED=n runs
 * one, SCHED_SEEDS=n that many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/runq.h"
#include "tests/unit/sched_machine.h"

#define EVENTS       250
#define KICK_LATENCY (20 * NS_PER_US)
#define CPU_SET(m)   (((m)->ncpus == 64 ? 0 : 1ull << (m)->ncpus) - 1)

struct life {
    struct machine *m;
    uint64_t random;
    ns_t kick_at[MACHINE_CPUS]; /* when a pending kick arrives */
    ns_t save_at[MACHINE_CPUS];
    ns_t busy_ns;
    ns_t unit_wait_ns[MACHINE_UNITS];
    ns_t unit_capped_ns[MACHINE_UNITS];
    bool strict; /* all of Numen's own are on: nobody waits beside an idle CPU */
};

static uint64_t random_next(struct life *l)
{
    l->random ^= l->random << 13;
    l->random ^= l->random >> 7;
    l->random ^= l->random << 17;
    return l->random * 0x2545f4914f6cdd1dull;
}

static uint32_t below(struct life *l, uint32_t n)
{
    return (uint32_t)((random_next(l) >> 32) % n);
}

/* Idle, and under sched-gran=core no sibling runs, saves or is about to run another VM's unit. */
static bool is_open(const struct life *l, uint32_t cpu, uint32_t vm_id)
{
    const struct machine *m = l->m;

    for (uint32_t other = 0; m->params.gran == SCHED_GRAN_CORE && other < m->ncpus; other++) {
        const struct machine_cpu *o = &m->cpus[other];

        if (other == cpu || m->places[other].core != m->places[cpu].core)
            continue;
        if ((o->cur && o->cur->vm_id != vm_id) || (o->saving && o->saving->vm_id != vm_id) ||
            (!o->cur && o->kicked))
            return false;
    }
    return !m->cpus[cpu].cur && !m->cpus[cpu].kicked && !m->cpus[cpu].saving;
}

static bool waits_beside_idle(const struct life *l, const struct machine_unit *u)
{
    const struct machine *m = l->m;

    if (!u->present || u->unit.state != UNIT_QUEUED)
        return false;
    for (uint32_t cpu = 0; cpu < m->ncpus; cpu++) {
        if (m->cpus[cpu].online && is_open(l, cpu, u->unit.vm_id) &&
            (u->unit.hard_all || (u->hard[0] >> cpu & 1)))
            return true;
    }
    return false;
}

static void check_waiting(struct life *l)
{
    struct machine *m = l->m;
    ns_t bound = 2 * MAX(m->params.ratelimit_ns, m->params.slice_min_ns) + 4 * KICK_LATENCY;

    for (uint32_t i = 0; i < m->nunits; i++) {
        struct machine_unit *u = &m->units[i];

        if (!waits_beside_idle(l, u))
            u->waiting_since = NS_NEVER;
        else if (u->waiting_since == NS_NEVER)
            u->waiting_since = m->now;
        if (l->strict && u->waiting_since != NS_NEVER)
            ASSERT(m->now - u->waiting_since <= bound);
    }
}

static void account_step(struct life *l, ns_t step)
{
    struct machine *m = l->m;

    for (uint32_t cpu = 0; cpu < m->ncpus; cpu++)
        l->busy_ns += m->cpus[cpu].cur ? step : 0;
    for (uint32_t i = 0; i < m->nunits; i++) {
        const struct unit *u = &m->units[i].unit;

        if (u->state == UNIT_PARKED)
            l->unit_capped_ns[i] += step;
        else if (u->wants && !u->paused && u->state != UNIT_RUNNING)
            l->unit_wait_ns[i] += step;
    }
}

static ns_t cpu_due(const struct life *l, uint32_t cpu)
{
    const struct machine_cpu *c = &l->m->cpus[cpu];

    if (c->saving)
        return l->save_at[cpu];
    return c->kicked ? MIN(l->kick_at[cpu], c->deadline) : c->deadline;
}

static void pick(struct life *l, uint32_t cpu)
{
    machine_saved(l->m, cpu);
    machine_pick_only(l->m, cpu);
    l->save_at[cpu] = l->m->now + (below(l, 3) ? 0 : below(l, 5000));
    if (l->save_at[cpu] == l->m->now)
        machine_saved(l->m, cpu);
}

static void note_kicks(struct life *l, const bool before[])
{
    for (uint32_t cpu = 0; cpu < l->m->ncpus; cpu++)
        if (l->m->cpus[cpu].kicked && !before[cpu])
            l->kick_at[cpu] = l->m->now + below(l, KICK_LATENCY);
}

static void cpu_answer(struct life *l, uint32_t cpu)
{
    if (l->m->cpus[cpu].saving)
        machine_saved(l->m, cpu);
    else
        pick(l, cpu);
}

/* Lets time pass until `until`, CPUs answering what falls due. */
static void pass(struct life *l, ns_t until)
{
    struct machine *m = l->m;

    for (;;) {
        uint32_t first = 0;
        ns_t due;
        bool refill, before[MACHINE_CPUS];

        for (uint32_t cpu = 0; cpu < m->ncpus; cpu++)
            if (cpu_due(l, cpu) < cpu_due(l, first))
                first = cpu;
        refill = machine_refill_at(m) <= cpu_due(l, first);
        due = MAX(refill ? machine_refill_at(m) : cpu_due(l, first), m->now);
        account_step(l, MIN(due, until) - m->now);
        m->now = MIN(due, until);
        check_waiting(l);
        if (due > until)
            return;
        for (uint32_t cpu = 0; cpu < m->ncpus; cpu++)
            before[cpu] = m->cpus[cpu].kicked;
        if (refill) {
            machine_refill_due(m);
        } else {
            before[first] = false;
            cpu_answer(l, first);
        }
        note_kicks(l, before);
    }
}

static void toggle_cpu(struct life *l, uint32_t cpu)
{
    struct machine *m = l->m;
    struct machine_cpu *c = &m->cpus[cpu];

    if (c->online && sched_cpu_offline(m->s, cpu, m->now) == 0) {
        c->online = false;
    } else if (!c->online && sched_cpu_online(m->s, cpu, m->now) == 0) {
        c->online = true;
        c->kicked = true; /* a CPU that comes picks first */
        l->kick_at[cpu] = m->now;
    }
}

/* Into a cap, out of one, or a cap that changes. */
static void cap_event(struct life *l, struct machine_unit *u)
{
    struct machine *m = l->m;
    struct cap *cap = &m->caps[below(l, m->ncaps)].cap;

    switch (below(l, 3)) {
    case 0:
        sched_unit_set_cap(m->s, &u->unit, NULL, m->now);
        break;
    case 1:
        cap_set(cap, 1 + below(l, below(l, 2) ? 20 : 400), 1 + below(l, m->nunits), m->now);
        break;
    default:
        sched_unit_set_cap(m->s, &u->unit, cap, m->now);
    }
}

static void unit_event(struct life *l, struct machine_unit *u)
{
    struct machine *m = l->m;

    switch (below(l, 13)) {
    case 0:
        sched_unit_pause(m->s, &u->unit, m->now);
        break;
    case 1:
    case 2:
        sched_unit_unpause(m->s, &u->unit, m->now);
        break;
    case 3:
        sched_unit_set_weight(m->s, &u->unit, 1 + below(l, 1024), m->now);
        break;
    case 4:
        machine_affinity(m, u, random_next(l) & CPU_SET(m), random_next(l) & CPU_SET(m));
        break;
    case 5:
        machine_affinity(m, u, 0, random_next(l) & random_next(l) & CPU_SET(m));
        break;
    case 6:
        cap_event(l, u);
        break;
    default:
        machine_wake(m, u);
    }
}

static void cpu_event(struct life *l, uint32_t cpu)
{
    struct machine *m = l->m;
    struct machine_cpu *c = &m->cpus[cpu];

    if (c->saving || (!c->online && !c->cur))
        return;
    switch (below(l, 6)) {
    case 0:
        sched_yield_current(m->s, cpu);
        break;
    case 1:
        if (!sched_yield_to(m->s, cpu, &m->units[below(l, m->nunits)].unit, m->now))
            return;
        break;
    case 2:
        break;
    default:
        sched_sleep(m->s, cpu);
        if (c->cur && !below(l, 8))
            machine_wake(m, c->cur->owner); /* a wake that comes between sleep and pick */
    }
    pick(l, cpu);
}

static void choose_params(struct life *l, struct sched_params *p, bool strict)
{
    sched_params_default(p);
    if (!strict && below(l, 2))
        ASSERT(sched_params_preset(p, "credit2-2016") == 0);
    p->arrangement = (enum runq_arrangement)below(l, 6);
    p->max_cpus_runqueue = 1 + below(l, 16);
    p->credit_init_ns = (1 + below(l, 25)) * NS_PER_MS;
    p->carryover_ns = below(l, 2) * p->credit_init_ns;
    p->load_window_shift = 20 + below(l, 12);
    p->slice_max_ns = (1 + below(l, 20)) * NS_PER_MS;
    p->soft_affinity = below(l, 4) != 0;
    if (strict)
        return;
    p->smt_aware = below(l, 2);
    p->asym = below(l, 2);
    p->asym_busy = below(l, 2);
    p->newidle_pull = below(l, 2);
    p->neighbour_wake = below(l, 2);
    p->overdue_push = below(l, 2);
    p->smt_spread = below(l, 2);
    p->ratelimit_ns = below(l, 2) * NS_PER_MS;
}

/* Any parameters and any arrangement, whoever runs, waits or is being saved. */
static void rearrange(struct life *l)
{
    struct machine *m = l->m;

    enum sched_gran gran = m->params.gran;

    choose_params(l, &m->params, l->strict);
    m->params.gran = gran;
    if (gran == SCHED_GRAN_CORE && m->params.arrangement == RUNQ_PER_CPU)
        m->params.arrangement = RUNQ_PER_SOCKET;
    sched_rearrange(m->s, &m->params, m->now);
    for (uint32_t i = 0; i < m->nunits; i++)
        m->units[i].waiting_since = NS_NEVER; /* the bound counts from here */
}

static void one_event(struct life *l)
{
    struct machine *m = l->m;
    bool before[MACHINE_CPUS];

    for (uint32_t cpu = 0; cpu < m->ncpus; cpu++)
        before[cpu] = m->cpus[cpu].kicked;
    if (below(l, 50) == 0)
        rearrange(l);
    else if (below(l, 100) == 0)
        toggle_cpu(l, below(l, m->ncpus));
    else if (below(l, 2))
        unit_event(l, &m->units[below(l, m->nunits)]);
    else
        cpu_event(l, below(l, m->ncpus));
    note_kicks(l, before);
    sched_check(m->s);
    check_waiting(l);
}

static void check_conserved(struct life *l)
{
    struct machine *m = l->m;
    uint64_t ran = 0;

    for (uint32_t i = 0; i < m->nunits; i++) {
        uint64_t run_ns, wait_ns;

        unit_times(&m->units[i].unit, m->now, &run_ns, &wait_ns);
        ran += run_ns;
        ASSERT(wait_ns == l->unit_wait_ns[i]);
        ASSERT(unit_capped_ns(&m->units[i].unit, m->now) == l->unit_capped_ns[i]);
    }
    ASSERT(ran == l->busy_ns);
}

static void live(uint64_t seed)
{
    static struct life life;
    struct life *l = &life;
    struct sched_params p;
    uint32_t sockets, nunits;

    memset(l, 0, sizeof(*l));
    l->random = seed * 0x9e3779b97f4a7c15ull + 1;
    for (int i = 0; i < 4; i++)
        random_next(l);
    l->strict = below(l, 3) != 0;
    choose_params(l, &p, l->strict);
    if (p.arrangement != RUNQ_PER_CPU && below(l, 2))
        p.gran = SCHED_GRAN_CORE;
    sockets = 1 + below(l, 3);
    l->m = machine_new(sockets, 1 + below(l, 4), 1 << below(l, 3), 1 + below(l, sockets), &p);
    nunits = 1 + below(l, 3 * l->m->ncpus);
    for (uint32_t i = 0; i < 3; i++)
        machine_cap(l->m, 1 + below(l, 200), 1 + below(l, 8));
    for (uint32_t i = 0; i < nunits; i++) {
        l->m->vm_id = 1 + below(l, 4);
        machine_unit(l->m, 1 + below(l, 512), below(l, 2) ? 0 : random_next(l) & CPU_SET(l->m),
                     below(l, 2) ? 0 : random_next(l) & CPU_SET(l->m));
    }
    for (uint32_t i = 0; i < EVENTS; i++) {
        pass(l, l->m->now + below(l, below(l, 4) ? 100 * NS_PER_US : 5 * NS_PER_MS));
        one_event(l);
    }
    pass(l, l->m->now + 50 * NS_PER_MS);
    check_conserved(l);
    machine_free(l->m);
}

static uint64_t seed_now;

_Noreturn void assert_failed(const char *expr, const char *file, int line)
{
    fprintf(stderr, "seed %llu: %s:%d: ASSERT(%s)\n", (unsigned long long)seed_now, file, line,
            expr);
    abort();
}

static void test_random_lives(void **state)
{
    const char *one = getenv("SCHED_SEED");
    const char *many = getenv("SCHED_SEEDS");
    uint64_t first = one ? strtoull(one, NULL, 0) : 1;
    uint64_t count = one ? 1 : many ? strtoull(many, NULL, 0) : 1000;

    (void)state;
    for (seed_now = first; seed_now < first + count; seed_now++)
        live(seed_now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_lives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
