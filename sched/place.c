/*
 * Where a unit that has become runnable goes.
 *
 * The order, within soft affinity first, then hard: for one that runs briefly its last CPU or a
 * sibling; a fully idle core; one of a neighbouring runqueue, or else a thread there, if that is
 * worth the move (worth.c); an idle thread; with none, any idle core of a neighbour; a busy CPU
 * whose unit has less credit; else it queues, at home if it has long been away and that is no
 * fuller. A unit for which a CPU was found is reserved for it:
 * it stands in that CPU's slot and not in the queue, so no other CPU can take it before the tickled
 * one comes.
 *
 * place_unit is called with the lock of u->rq and returns with the lock of what u->rq is then.
 *
 * Invariants: a reserved unit's CPU is tickled; a queued unit has an allowed online CPU here, none
 * of them is idle and untickled, and one of them has a deadline or a kick pending.
 */
#include "sched/runq.h"

/*
 * Make a CPU pick soon. Once is enough until it has come. Reads tickled; writes what idle_tickle
 * writes.
 */
void place_kick(struct sched *s, struct sched_cpu *c)
{
    if (c->rq->tickled & c->bit)
        return;
    idle_tickle(s, c);
    sched_host_kick(c->cpu);
}

/*
 * `c` is not tickled, so its slot is free. Reads key; writes the slot, order and state of the unit,
 * and what place_kick writes.
 */
void place_reserve(struct sched *s, struct sched_cpu *c, struct unit *u)
{
    ASSERT(!c->reserved);
    c->reserved = u;
    u->order = u->key;
    u->target = c->cpu;
    atomic_set(&u->state, UNIT_RESERVED);
    sched_host_trace(c->cpu, TRACE_SCHED_TICKLE, unit_trace_id(u), c->cpu);
    place_kick(s, c);
}

/*
 * Out of the queue or the slot, into the caller's hands. The tickled CPU will find an empty slot.
 * Reads state and target; writes state, the slot, and what queue_remove writes.
 */
void place_withdraw(struct sched *s, struct unit *u)
{
    if (u->state == UNIT_QUEUED)
        queue_remove(u->rq, u);
    else
        s->cpus[u->target].reserved = NULL;
    u->target = CPUMASK_NONE;
    u->preferred = false;
    atomic_set(&u->state, UNIT_LEAVING);
}

/*
 * CPUs that run on without a deadline, because nobody waited for them when they picked, get one:
 * else their units would outrun their share while the others take turns. Reads run_cpus and credit
 * of `u`, and of what runs there what credit_now and preempt_due read; reads and writes untimed.
 */
static void arm_untimed(struct sched *s, const struct unit *u, ns_t now)
{
    struct runq *rq = u->rq;
    int64_t credit_ns = credit_of(s, rq, u);
    uint64_t mask = s->whole_cores ? core_whole(s, rq, u->run_cpus) : u->run_cpus;

    runq_for_each_bit (bit, rq->untimed & mask) {
        struct sched_cpu *c = runq_cpu(s, rq, bit);
        int64_t ahead_ns = credit_now(s, rq, c->cur, now) - credit_ns;

        rq->untimed &= ~bit;
        sched_host_arm(c->cpu, preempt_due(s, c, ahead_ns, now));
    }
}

/*
 * Reads key, yielding, and what queue_last_order and arm_untimed read; writes order, yielding,
 * untimed, and what queue_insert writes.
 */
static void place_queue(struct sched *s, struct unit *u, ns_t now)
{
    struct runq *rq = u->rq;

    u->order = u->yielding ? queue_last_order(rq, u->key) : u->key;
    u->yielding = false;
    queue_insert(s, rq, u);
    if (rq->untimed)
        arm_untimed(s, u, now);
}

/*
 * An idle CPU of this runqueue, or the queue; the runqueue's lock stays. Reads soft_cpus, run_cpus,
 * and what idle_choose and place_queue read; writes what idle_choose and place_reserve or
 * place_queue write.
 */
void place_beside(struct sched *s, struct unit *u, ns_t now)
{
    struct runq *rq = u->rq;
    struct sched_cpu *c = idle_choose(s, rq, u, u->soft_cpus);

    if (!c)
        c = idle_choose(s, rq, u, u->run_cpus);
    if (c)
        place_reserve(s, c, u);
    else
        place_queue(s, u, now);
}

/*
 * Off its preferred CPUs altogether, any idle thread there is worth going home to. Reads soft_cpus,
 * soft_reach, and what neighbour_take_better reads; writes what that writes.
 */
static bool place_at_home(struct sched *s, struct unit *u, ns_t now)
{
    return neighbour_take_better(s, u, u->soft_cpus ? HINT_CORE : HINT_IDLE, u->soft_reach, now);
}

/*
 * The CPU it last ran on, or an idle sibling, for a unit that runs briefly. NULL: it does not, or
 * they are not to be had. Reads whole_cores, the idle masks, and cpu, soft_cpus and burst_ns of the
 * unit; writes nothing.
 */
static struct sched_cpu *warm_cpu(const struct sched *s, const struct unit *u)
{
    struct sched_cpu *last = &s->cpus[u->cpu];
    uint64_t set;

    if (s->whole_cores || last->rq != u->rq || !unit_runs_briefly(s, u))
        return NULL;
    set = idle_for(s, u->rq, u, u->soft_cpus & last->siblings);
    if (set & last->bit)
        return last;
    return set ? runq_cpu(s, u->rq, set & -set) : NULL;
}

/*
 * A fully idle core: at home before elsewhere, and one of another runqueue only if that is worth
 * the move (worth.c); then an idle thread of another runqueue, if that is. With a thread to be had
 * at home, the idle cores of this runqueue that are not home come after it. Reads soft_cpus,
 * run_cpus, soft_reach, reach, the idle masks, and what neighbour_take_better reads; writes what
 * idle_choose, place_reserve and neighbour_take_better write.
 */
static bool place_core(struct sched *s, struct unit *u, bool roam, ns_t now)
{
    struct runq *rq = u->rq;
    struct sched_cpu *c = idle_choose(s, rq, u, u->soft_cpus & rq->smt_idle);

    if (!c && roam && neighbour_take_better(s, u, HINT_CORE, u->soft_reach, now))
        return true;
    if (!c && !(u->soft_cpus & rq->idle & ~rq->tickled))
        c = idle_choose(s, rq, u, u->run_cpus & rq->smt_idle);
    if (c)
        place_reserve(s, c, u);
    if (c || !roam)
        return c;
    return neighbour_take_better(s, u, HINT_CORE, u->reach, now) ||
           neighbour_take_better(s, u, HINT_IDLE, u->reach, now);
}

/*
 * Reads idle, HINT_IDLE, neighbour_wake, smt_aware, soft_cpus, run_cpus, soft_reach, reach, and
 * what warm_cpu, place_core, place_at_home, idle_choose and neighbour_take read; writes what they
 * and place_reserve write.
 */
static bool place_idle(struct sched *s, struct unit *u, ns_t now)
{
    struct runq *rq = u->rq;
    bool roam = s->params.neighbour_wake && (u->reach & neighbour_fold(s, rq, HINT_IDLE));
    struct sched_cpu *c;

    if (!rq->idle && !roam)
        return false;
    c = rq->idle ? warm_cpu(s, u) : NULL;
    if (c) {
        place_reserve(s, c, u);
        return true;
    }
    if (s->params.smt_aware && place_core(s, u, roam, now))
        return true;
    c = idle_choose(s, rq, u, u->soft_cpus);
    if (!c && roam && place_at_home(s, u, now))
        return true;
    if (!c)
        c = idle_choose(s, rq, u, u->run_cpus);
    if (c)
        place_reserve(s, c, u);
    return c || (roam && neighbour_take(s, u, HINT_CORE, u->reach, now));
}

/*
 * When a queued unit may leave for an idle thread elsewhere, somebody must look then. Reads reach,
 * HINT_IDLE, overdue_push and least_ns; writes nothing.
 */
ns_t place_overdue_at(const struct sched *s, const struct unit *u, ns_t now)
{
    if (!s->params.overdue_push || !(u->reach & neighbour_fold(s, u->rq, HINT_IDLE)))
        return NS_NEVER;
    return now + s->least_ns; /* not the rate limit, which may be 0: time has to pass in between */
}

/*
 * Reads what preempt_choose, core_is_ours and place_overdue_at read; writes what place_reserve,
 * place_queue or place_kick write.
 */
static void place_busy(struct sched *s, struct unit *u, ns_t now)
{
    ns_t when;
    struct sched_cpu *c = preempt_choose(s, u->rq, u, now, &when);

    if (c && when == now && core_is_ours(s, c, u)) {
        place_reserve(s, c, u);
        return;
    }
    place_queue(s, u, now);
    if (c && when == now)
        place_kick(s, c); /* it will make room for another VM's turn */
    else if (c)
        sched_host_arm(c->cpu, MIN(when, place_overdue_at(s, u, now)));
}

/*
 * Nobody who may run it is idle. Reads neighbour_wake, soft_cpus, soft_reach, state, and what
 * neighbour_return and place_busy read; writes what they write.
 */
static void place_waiting(struct sched *s, struct unit *u, ns_t now)
{
    if (s->params.neighbour_wake && !u->soft_cpus && u->soft_reach)
        neighbour_return(s, u, now);
    if (u->state == UNIT_LEAVING)
        place_busy(s, u, now);
}

/* Reads credit; writes key, target, state, and what load_set_active writes. */
static void place_start(struct sched *s, struct unit *u, ns_t now)
{
    load_set_active(s, u, true, now);
    credit_set(u->rq, u, credit_of(s, u->rq, u));
    u->target = CPUMASK_NONE;
    atomic_set(&u->state, UNIT_LEAVING);
}

/*
 * A unit that woke, or may not stay where it was. It may end PARKED. Reads run_cpus, online, state,
 * and what cap_renew, place_idle and place_waiting read; writes what place_start, evacuate_unit,
 * cap_renew, cap_park, place_idle and place_waiting write.
 */
void place_unit(struct sched *s, struct unit *u, ns_t now)
{
    place_start(s, u, now);
    if (!(u->run_cpus & u->rq->online)) {
        evacuate_unit(s, u, now);
        if (u->state != UNIT_LEAVING)
            return;
    }
    if (!cap_admits(u, now))
        cap_park(s, u, now);
    else if (!place_idle(s, u, now))
        place_waiting(s, u, now);
}

/*
 * A unit that gave up its CPU to a better one and may still run there: that CPU's deadline already
 * counts on it, so nobody else needs to be disturbed unless he is idle. Reads cpu, run_cpus,
 * online, idle, reach, HINT_IDLE, and what place_unit and place_overdue_at read; writes what
 * place_idle and place_queue write, or else place_unit.
 */
void place_again(struct sched *s, struct unit *u, ns_t now)
{
    const struct sched_cpu *c = &s->cpus[u->cpu];
    struct runq *rq = u->rq;
    ns_t overdue_at;

    if (c->rq != rq || !(u->run_cpus & rq->online & c->bit)) {
        place_unit(s, u, now);
        return;
    }
    if (!rq->idle && !(u->reach & neighbour_fold(s, rq, HINT_IDLE))) {
        place_queue(s, u, now); /* nobody is idle */
        return;
    }
    if (place_idle(s, u, now))
        return;
    place_queue(s, u, now);
    overdue_at = place_overdue_at(s, u, now);
    if (overdue_at != NS_NEVER)
        sched_host_arm(c->cpu, overdue_at);
}
