/*
 * Giving up the CPU: to the others, or to one unit by name.
 *
 * A yield costs no credit. The yielding unit is queued behind all that wait then and keeps its
 * credit for when it runs again. Directed yield reserves the target for this CPU if it waits in
 * this CPU's runqueue and may run here, the rate limit notwithstanding: the target holds what
 * others spin for, and this CPU's time is given freely. Else for the CPU of its own runqueue whose
 * unit has the least credit, but not within that unit's rate limit: it may hold a lock itself, and
 * where many spin, holders would take the CPU from each other before any of them got on.
 */
#include "sched/runq.h"

/* Reads cur; writes yielding of what runs there. */
void sched_yield_current(struct sched *s, uint32_t cpu)
{
    struct sched_cpu *c = &s->cpus[cpu];

    /*
     * No lock: only this CPU changes cur, and only a CPU's own pick reads yielding of what it runs.
     */
    if (c->cur)
        c->cur->yielding = true;
}

/*
 * The CPU that is to run `target`, whose lock is held; NULL: it must wait for its turn. Reads its
 * run_cpus, what preempt_choose and core_is_ours read, picked_at of what runs there, and
 * ratelimit_ns; writes nothing.
 */
static struct sched_cpu *choose_cpu(struct sched *s, struct sched_cpu *c, struct unit *target,
                                    ns_t now)
{
    struct runq *rq = target->rq;
    struct sched_cpu *to;
    ns_t when;

    if (c->rq == rq && (target->run_cpus & c->bit) && core_is_ours(s, c, target))
        return c;
    to = preempt_choose(s, rq, target, now, &when);
    if (!to || to->cur->picked_at + s->params.ratelimit_ns > now)
        return NULL;
    return core_is_ours(s, to, target) ? to : NULL;
}

/*
 * `c` is the yielding CPU itself (picks at once, so it needs no kick) or one that is not tickled.
 * Reads its slot; writes what place_withdraw and place_reserve write of the target, preferred, the
 * idle masks, and where place_beside puts what it displaces.
 */
static void hand_over(struct sched *s, struct sched_cpu *c, struct unit *target, bool kick,
                      ns_t now)
{
    struct unit *displaced = c->reserved;

    place_withdraw(s, target);
    if (displaced) {
        place_withdraw(s, displaced);
        place_beside(s, displaced, now);
    }
    if (!kick)
        idle_tickle(s, c);
    place_reserve(s, c, target);
    target->preferred = true;
}

/*
 * Takes the lock of the target's runqueue. Reads cur, state of the target, and what choose_cpu
 * reads; writes what hand_over writes, and yielding of what runs here.
 */
bool sched_yield_to(struct sched *s, uint32_t cpu, struct unit *target, ns_t now) NO_THREAD_SAFETY
{
    struct sched_cpu *c = &s->cpus[cpu];
    struct sched_cpu *to = NULL;

    if (!c->cur || target == c->cur || !unit_is_ready(target))
        return false;
    runq_lock_unit(target);
    if (target->state == UNIT_QUEUED) /* a RESERVED one has its CPU already */
        to = choose_cpu(s, c, target, now);
    if (to) {
        hand_over(s, to, target, to != c, now);
        sched_host_trace(cpu, TRACE_SCHED_YIELD_TO, unit_trace_id(target), cpu);
    }
    runq_unlock_unit(target);
    if (to)
        c->cur->yielding = true;
    return to != NULL;
}
