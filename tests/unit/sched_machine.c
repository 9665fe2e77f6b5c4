/*
 * The small machine of sched_machine.h.
 */
#include <stdlib.h>
#include <string.h>

#include "hv/assert.h"
#include "hv/bits.h"
#include "sched/sched_host.h"
#include "tests/unit/sched_machine.h"

/* The one under test: the host calls carry no instance. A test without one gets this. */
static struct machine no_machine;
static struct machine *machine = &no_machine;

void sched_host_kick(uint32_t cpu)
{
    machine->cpus[cpu].kicked = true;
    machine->cpus[cpu].kicks++;
    if (machine->on_kick)
        machine->on_kick(machine, cpu);
}

void sched_host_arm(uint32_t cpu, ns_t deadline)
{
    if (deadline < machine->cpus[cpu].deadline)
        machine->cpus[cpu].deadline = deadline;
}

void sched_host_refill(struct cap *cap, ns_t at)
{
    struct machine_cap *c = container_of(cap, struct machine_cap, cap);

    ASSERT(c->refill_at == NS_NEVER); /* once at a time */
    c->refill_at = at;
}

void sched_host_trace(uint32_t cpu, uint32_t event, uint64_t a, uint64_t b)
{
    (void)cpu;
    (void)a;
    (void)b;
    ASSERT(event < TRACE_EVENT_COUNT);
    machine->events[event]++;
}

static void machine_check(struct machine *m)
{
    if (!m->check)
        return;
    sched_check(m->s);
    sched_check_affinity(m->s);
}

struct machine *machine_new_places(const struct cpu_place *places, uint32_t ncpus, uint32_t nnodes,
                                   const struct sched_params *p)
{
    struct machine *m = calloc(1, sizeof(*m));
    size_t bytes = ALIGN_UP(sched_bytes(ncpus), 64ul);

    ASSERT(m && ncpus <= MACHINE_CPUS);
    machine = m;
    m->params = *p;
    m->ncpus = ncpus;
    m->check = true;
    m->vm_id = 1;
    m->now = NS_PER_SEC;
    memcpy(m->places, places, ncpus * sizeof(*places));
    m->mem = aligned_alloc(64, bytes);
    ASSERT(m->mem);
    memset(m->mem, 0, bytes);
    m->s = sched_init(m->mem, p, places, ncpus, NULL, nnodes);
    for (uint32_t cpu = 0; cpu < ncpus; cpu++) {
        m->cpus[cpu].deadline = NS_NEVER;
        m->cpus[cpu].online = true;
        ASSERT(sched_cpu_online(m->s, cpu, m->now) == 0);
    }
    machine_settle(m);
    machine_check(m);
    return m;
}

struct machine *machine_new(uint32_t sockets, uint32_t cores, uint32_t threads, uint32_t nodes,
                            const struct sched_params *p)
{
    static struct cpu_place places[MACHINE_CPUS];
    uint32_t cpu = 0;

    for (uint32_t socket = 0; socket < sockets; socket++)
        for (uint32_t core = 0; core < cores; core++)
            for (uint32_t thread = 0; thread < threads; thread++, cpu++)
                places[cpu] = (struct cpu_place){
                    .cpu = cpu,
                    .thread = thread,
                    .core = socket * cores + core,
                    .llc = socket,
                    .socket = socket,
                    .node = socket % nodes,
                };
    return machine_new_places(places, cpu, nodes, p);
}

void machine_free(struct machine *m)
{
    free(m->mem);
    free(m);
    machine = &no_machine;
}

static void mask_fill(uint64_t words[MACHINE_WORDS], uint64_t bits)
{
    memset(words, bits ? 0 : 0xff, MACHINE_WORDS * sizeof(*words));
    if (bits)
        words[0] = bits;
}

struct machine_unit *machine_unit(struct machine *m, uint32_t weight, uint64_t hard, uint64_t soft)
{
    struct machine_unit *u = &m->units[m->nunits];
    struct unit_params params = {
        .weight = weight,
        .hard = cpumask_over(u->hard, m->ncpus),
        .soft = cpumask_over(u->soft, m->ncpus),
        .owner = u,
        .vm_id = m->vm_id,
        .index = m->nunits,
    };

    ASSERT(m->nunits++ < MACHINE_UNITS);
    mask_fill(u->hard, hard);
    mask_fill(u->soft, soft);
    u->left_ns = u->run_ns = NS_NEVER;
    u->wake_at = NS_NEVER;
    u->waiting_since = NS_NEVER;
    u->present = true;
    unit_init(&u->unit, &params);
    sched_unit_insert(m->s, &u->unit, m->now);
    machine_check(m);
    return u;
}

struct machine_unit *machine_hog(struct machine *m, uint32_t weight, uint64_t hard)
{
    struct machine_unit *u = machine_unit(m, weight, hard, 0);

    machine_wake(m, u);
    return u;
}

struct machine_unit *machine_burst(struct machine *m, ns_t run, ns_t sleep)
{
    struct machine_unit *u = machine_unit(m, WEIGHT_DEFAULT, 0, 0);

    u->left_ns = u->run_ns = run;
    u->sleep_ns = sleep;
    machine_wake(m, u);
    return u;
}

void machine_affinity(struct machine *m, struct machine_unit *u, uint64_t hard, uint64_t soft)
{
    uint64_t hard_words[MACHINE_WORDS], soft_words[MACHINE_WORDS];

    mask_fill(hard_words, hard);
    mask_fill(soft_words, soft);
    sched_unit_set_affinity(m->s, &u->unit, cpumask_over(hard_words, m->ncpus),
                            cpumask_over(soft_words, m->ncpus), m->now);
    machine_check(m);
}

void machine_wake(struct machine *m, struct machine_unit *u)
{
    u->wake_at = NS_NEVER;
    sched_wake(m->s, &u->unit, m->now);
    machine_check(m);
}

struct cap *machine_cap(struct machine *m, uint32_t percent, uint32_t nunits)
{
    struct machine_cap *c = &m->caps[m->ncaps];

    ASSERT(m->ncaps++ < MACHINE_CAPS);
    c->refill_at = NS_NEVER;
    cap_init(&c->cap);
    cap_set(&c->cap, percent, nunits, m->now);
    return &c->cap;
}

ns_t machine_refill_at(const struct machine *m)
{
    ns_t first = NS_NEVER;

    for (uint32_t i = 0; i < m->ncaps; i++)
        first = MIN(first, m->caps[i].refill_at);
    return first;
}

void machine_refill_due(struct machine *m)
{
    for (uint32_t i = 0; i < m->ncaps; i++) {
        if (m->caps[i].refill_at > m->now)
            continue;
        m->caps[i].refill_at = NS_NEVER;
        sched_cap_refill(m->s, &m->caps[i].cap, m->now);
        machine_check(m);
    }
}

/* What the CPU's unit ran since the last look comes off its burst. */
static void account(struct machine *m, struct machine_cpu *c)
{
    struct machine_unit *u = c->cur ? c->cur->owner : NULL;
    ns_t ran = m->now - c->ran_until;

    c->ran_until = m->now;
    if (u && u->left_ns != NS_NEVER)
        u->left_ns -= ran < u->left_ns ? ran : u->left_ns;
}

/* The machine's own view of core scheduling: nothing of another VM runs or is saved beside it. */
static void check_siblings(const struct machine *m, uint32_t cpu, const struct unit *next)
{
    for (uint32_t other = 0; other < m->ncpus; other++) {
        const struct machine_cpu *o = &m->cpus[other];

        if (other == cpu || !cpu_place_siblings(&m->places[other], &m->places[cpu]))
            continue;
        ASSERT(!o->cur || o->cur->vm_id == next->vm_id);
        ASSERT(!o->saving || o->saving->vm_id == next->vm_id);
    }
}

struct unit *machine_pick_only(struct machine *m, uint32_t cpu)
{
    struct machine_cpu *c = &m->cpus[cpu];
    struct unit *prev = c->cur;
    struct unit *next;
    ns_t deadline = 0;

    ASSERT(!c->saving);
    account(m, c);
    c->kicked = false;
    c->picks++;
    c->deadline = NS_NEVER;
    next = sched_pick(m->s, cpu, m->now, &deadline);
    ASSERT(deadline > m->now);
    if (deadline < c->deadline)
        c->deadline = deadline;
    for (uint32_t other = 0; next && other < m->ncpus; other++)
        ASSERT(other == cpu || (m->cpus[other].cur != next && m->cpus[other].saving != next));
    if (m->params.gran == SCHED_GRAN_CORE && next)
        check_siblings(m, cpu, next);
    ASSERT(!next || (next->on_cpu && next->cpu == cpu && next->wants && !next->paused));
    c->cur = next;
    c->saving = prev != next ? prev : NULL;
    c->switches += prev != next;
    machine_check(m);
    return next;
}

void machine_saved(struct machine *m, uint32_t cpu)
{
    struct unit *prev = m->cpus[cpu].saving;

    if (!prev)
        return;
    m->cpus[cpu].saving = NULL;
    sched_saved(m->s, prev, m->now);
    machine_check(m);
}

struct unit *machine_pick(struct machine *m, uint32_t cpu)
{
    struct unit *next = machine_pick_only(m, cpu);

    machine_saved(m, cpu);
    return next;
}

struct unit *machine_sleep(struct machine *m, uint32_t cpu)
{
    sched_sleep(m->s, cpu);
    return machine_pick(m, cpu);
}

void machine_settle(struct machine *m)
{
    bool again = true;

    for (uint32_t turns = 0; again; turns++) {
        ASSERT(turns < 1000); /* CPUs that kick each other for ever */
        again = false;
        for (uint32_t cpu = 0; cpu < m->ncpus; cpu++) {
            if (!m->cpus[cpu].kicked)
                continue;
            again = true;
            machine_pick(m, cpu);
        }
    }
}

/* The earliest of all deadlines, ends of bursts and wake-ups. */
static ns_t next_event(const struct machine *m)
{
    ns_t next = machine_refill_at(m);

    for (uint32_t cpu = 0; cpu < m->ncpus; cpu++) {
        const struct machine_cpu *c = &m->cpus[cpu];
        const struct machine_unit *u = c->cur ? c->cur->owner : NULL;

        if (c->deadline < next)
            next = c->deadline;
        if (u && u->left_ns != NS_NEVER && c->ran_until + u->left_ns < next)
            next = c->ran_until + u->left_ns;
    }
    for (uint32_t i = 0; i < m->nunits; i++)
        if (m->units[i].wake_at < next)
            next = m->units[i].wake_at;
    return next;
}

static void cpu_event(struct machine *m, uint32_t cpu)
{
    struct machine_cpu *c = &m->cpus[cpu];
    struct machine_unit *u = c->cur ? c->cur->owner : NULL;

    account(m, c);
    if (u && u->left_ns == 0) {
        u->left_ns = u->run_ns;
        u->wake_at = m->now + u->sleep_ns;
        machine_sleep(m, cpu);
    } else if (c->deadline <= m->now) {
        machine_pick(m, cpu);
    }
}

void machine_run(struct machine *m, ns_t until)
{
    machine_settle(m);
    for (;;) {
        ns_t next = next_event(m);

        if (next > until)
            break;
        m->now = next > m->now ? next : m->now;
        for (uint32_t cpu = 0; cpu < m->ncpus; cpu++)
            cpu_event(m, cpu);
        for (uint32_t i = 0; i < m->nunits; i++)
            if (m->units[i].wake_at <= m->now)
                machine_wake(m, &m->units[i]);
        machine_refill_due(m);
        machine_settle(m);
    }
    m->now = until;
}

uint64_t machine_ran(struct machine *m, struct machine_unit *u)
{
    uint64_t run_ns, wait_ns;

    unit_times(&u->unit, m->now, &run_ns, &wait_ns);
    return run_ns;
}

uint32_t machine_busy_cpus(const struct machine *m)
{
    uint32_t n = 0;

    for (uint32_t cpu = 0; cpu < m->ncpus; cpu++)
        n += m->cpus[cpu].cur != NULL;
    return n;
}
