/*
 * Waking, falling asleep, and the end of a hand-over.
 *
 * A wake of a unit that runs, or whose registers are still being saved, only sets `wants`: the next
 * pick keeps it, or sched_saved places it. So no CPU runs a unit before the one that ran it has
 * saved it, and no wake is lost.
 */
#include "sched/runq.h"

/*
 * Takes the runqueue's lock. Reads state and paused; reads and writes wants; writes wakes, and what
 * place_unit or load_set_active writes.
 */
void sched_wake(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY
{
    runq_lock_unit(u);
    if (!u->wants) {
        u->wants = true;
        u->wakes++;
        sched_host_trace(u->cpu, TRACE_SCHED_WAKE, unit_trace_id(u), u->cpu);
        if (!u->paused && u->state == UNIT_OFF)
            place_unit(s, u, now);
        else if (!u->paused)
            load_set_active(s, u, true, now);
    }
    runq_unlock_unit(u);
}

/*
 * The pick that follows charges for the time until then. Takes the runqueue's lock. Reads cur;
 * writes wants of what runs there.
 */
void sched_sleep(struct sched *s, uint32_t cpu)
{
    struct sched_cpu *c = &s->cpus[cpu];

    spin_lock(&c->rq->lock);
    if (c->cur)
        c->cur->wants = false;
    spin_unlock(&c->rq->lock);
}

/*
 * Takes the runqueue's lock, then for the parked units of its cap theirs. Reads wants, paused,
 * target, and what cap_admits reads; writes on_cpu, and what core_saved writes; then state, target,
 * yielding, grant_ns and pool of one that is OFF, and what cap_serve writes; or what cap_admits,
 * and cap_park, spread_move or place_again write.
 */
void sched_saved(struct sched *s, struct unit *prev, ns_t now) NO_THREAD_SAFETY
{
    struct cap *serve = NULL; /* of a unit that leaves some of its grant to parked ones */

    runq_lock_unit(prev);
    ASSERT(prev->state == UNIT_LEAVING && prev->on_cpu);
    /* Release: whoever sees it clear without the lock also sees the saved registers. */
    atomic_set_release(&prev->on_cpu, false);
    if (s->whole_cores)
        core_saved(s, prev);
    if (!prev->wants || prev->paused) {
        prev->target = CPUMASK_NONE;
        prev->yielding = false;
        atomic_set(&prev->state, UNIT_OFF);
        if (prev->cap && cap_give_back(prev))
            serve = prev->cap;
    } else if (!cap_admits(prev, now)) {
        cap_park(s, prev, now);
    } else if (prev->target == CPUMASK_NONE || !spread_move(s, prev, now)) {
        place_again(s, prev, now);
    }
    runq_unlock_unit(prev);
    if (serve)
        cap_serve(s, serve, now);
}
