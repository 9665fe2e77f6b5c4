/*
 * The invariants that hold after every event, beyond those that the scheduler asserts of itself.
 *
 * - Everything in sched_check: masks equal to recomputed ones, a unit on exactly one queue, credit
 *   within its bounds. Now and then, and at the end, what affinity comes to (sched_check_affinity).
 * - CPUs and units agree: what a CPU runs, the scheduler says it runs, and nothing runs twice.
 * - No unit waits while a CPU that it may use has been idle for longer than the rate limit and one
 *   more try (SCHEDULER: "A runnable unit never waits longer"), given time for kicks to arrive.
 * - Under sched-gran=core siblings run and save units of one VM, and "may use" means a core that no
 *   other VM has or is about to have.
 * - The clock goes on. This is looked at without --check, too.
 *
 * A breach ends the program with what it was and the last events; so does an ASSERT of the linked
 * code that fails, with or without --check.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "hv/assert.h"
#include "hv/bits.h"
#include "tools/numen-sim/record.h"
#include "tools/numen-sim/vcpu.h"

#define AT_ONCE_MAX     1000u /* events of one moment, for each CPU and vCPU */
#define AFFINITY_EVENTS 256   /* wrong masks stay wrong until a CPU comes or goes */
#define TRIES_MAX       64    /* that fail in a row: at half of all locks taken, one in 2^64 */

/* The code that asserts knows no simulation: one runs at a time. */
static const struct sim *watched;

void check_watch(const struct sim *sim)
{
    watched = sim;
}

static _Noreturn void stop(const struct sim *sim)
{
    if (sim && sim->record)
        record_print_last(sim->record, stderr);
    exit(EXIT_FAILURE);
}

__attribute__((format(printf, 2, 3))) static _Noreturn void breach(const struct sim *sim,
                                                                   const char *format, ...)
{
    va_list args;

    fprintf(stderr,
            "numen-sim: check failed at %llu ns: ", (unsigned long long)(sim->now - SIM_BEGIN));
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    stop(sim);
}

void assert_failed(const char *expr, const char *file, int line)
{
    fprintf(stderr, "numen-sim: check failed at %llu ns: %s:%d: ASSERT(%s)\n",
            (unsigned long long)(watched ? watched->now - SIM_BEGIN : 0), file, line, expr);
    stop(watched);
}

/* Does a sibling of `c` run or save a unit of another VM? NULL: none does. */
static const struct sim_cpu *stranger_beside(const struct sim *sim, const struct sim_cpu *c,
                                             uint32_t vm_id)
{
    for (uint32_t i = 0; sim->params.gran == SCHED_GRAN_CORE && i < sim->ncpus; i++) {
        const struct sim_cpu *other = &sim->cpus[i];

        if (other == c || !cpu_place_siblings(&sim->places[i], &sim->places[c->cpu]))
            continue;
        if ((other->cur && other->cur->unit.vm_id != vm_id) ||
            (other->saving && other->saving->vm_id != vm_id))
            return other;
    }
    return NULL;
}

/* Every CPU is looked at, so what is saved on one is compared with what runs on the others. */
static void check_siblings(const struct sim *sim, const struct sim_cpu *c)
{
    const struct sim_cpu *other = c->cur ? stranger_beside(sim, c, c->cur->unit.vm_id) : NULL;

    if (other)
        breach(sim, "CPU %u runs %s/%u while CPU %u of its core has another VM", c->cpu,
               c->cur->vm->name, c->cur->index, other->cpu);
}

static void check_cpu(const struct sim *sim, const struct sim_cpu *c)
{
    const struct unit *u = c->cur ? &c->cur->unit : NULL;

    if (u && (u->state != UNIT_RUNNING || u->cpu != c->cpu || !u->on_cpu))
        breach(sim, "CPU %u runs %s/%u, which is in state %u on CPU %u", c->cpu, c->cur->vm->name,
               c->cur->index, u->state, u->cpu);
    if (c->saving && (!c->saving->on_cpu || c->saving->state == UNIT_QUEUED))
        breach(sim, "CPU %u is still saving a unit that somebody may take", c->cpu);
    if (!u && !c->saving && !c->event.slot && (c->kick_at != NS_NEVER || c->deadline != NS_NEVER))
        breach(sim, "CPU %u has something to do and no event", c->cpu);
    check_siblings(sim, c);
}

/* Idle, and nothing on its way. */
static bool is_free(const struct sim_cpu *c)
{
    return !c->cur && !c->saving && c->kick_at == NS_NEVER;
}

/* What an idle CPU may take to come: the limit, once more for a lock that was not had, the way. */
static ns_t patience(const struct sim *sim)
{
    const struct machine_config *m = &sim->scenario->machine;
    ns_t limit = MAX(sim->params.ratelimit_ns, sim->params.slice_min_ns);

    limit *= m->contention ? TRIES_MAX : 2;
    return limit + m->wake_ns + m->ipi_ns + 2 * m->switch_ns + m->exit_ns;
}

/* A core whose sibling has been kicked may be about to run anybody's. */
static bool is_open_to(const struct sim *sim, const struct sim_cpu *c, const struct unit *u)
{
    for (uint32_t i = 0; sim->params.gran == SCHED_GRAN_CORE && i < sim->ncpus; i++)
        if (!sim->cpus[i].cur && sim->cpus[i].kick_at != NS_NEVER &&
            cpu_place_siblings(&sim->places[i], &sim->places[c->cpu]))
            return false;
    return !stranger_beside(sim, c, u->vm_id);
}

static bool may_use_a_free_cpu(const struct sim *sim, const struct vcpu *v)
{
    for (uint32_t i = 0; i < sim->ncpus; i++)
        if (is_free(&sim->cpus[i]) && sched_cpu_is_online(sim->s, i) &&
            cpumask_has(v->unit.hard, i) && is_open_to(sim, &sim->cpus[i], &v->unit))
            return true;
    return false;
}

static void check_waiting(struct sim *sim, struct vcpu *v)
{
    if (v->unit.state != UNIT_QUEUED || !may_use_a_free_cpu(sim, v)) {
        v->neglected_since = NS_NEVER;
        return;
    }
    v->neglected_since = MIN(v->neglected_since, sim->now);
    if (sim->params.newidle_pull && sim->params.overdue_push &&
        sim->now - v->neglected_since > patience(sim))
        breach(sim, "%s/%u has waited %llu ns beside an idle CPU", v->vm->name, v->index,
               (unsigned long long)(sim->now - v->neglected_since));
}

void check_clock(const struct sim *sim)
{
    uint64_t most = AT_ONCE_MAX * (sim->ncpus + (uint64_t)scenario_total_vcpus(sim->scenario));

    if (sim->at_once > most)
        breach(sim, "the clock stands still: %llu events at one moment",
               (unsigned long long)sim->at_once);
}

void check_all(struct sim *sim)
{
    sched_check(sim->s);
    if (sim->nevents % AFFINITY_EVENTS == 0)
        sched_check_affinity(sim->s);
    for (uint32_t i = 0; i < sim->ncpus; i++)
        check_cpu(sim, &sim->cpus[i]);
    for (uint32_t i = 0; i < sim->nvms; i++)
        for (uint32_t j = 0; j < sim->vms[i].nvcpus; j++)
            check_waiting(sim, &sim->vms[i].vcpus[j]);
}
