/*
 * Caps: a budget of CPU time per VM and period, shared by its units.
 *
 * Decides who may run on at all, never who goes first. A unit takes a grant out of the pool before
 * it is queued, and keeps it until it sleeps; so nothing in a queue or a slot is out of budget, and
 * no search of sched/ ever meets such a unit. A pick bounds its deadline by the grant. At the
 * grant's end the unit takes another one, or is parked: in no queue, in no load, in line. A refill
 * serves the line in order, so the units of a VM share its cap evenly; who comes while somebody is
 * parked goes behind him, even if the period has just ended.
 *
 * Nothing is done by the clock while nobody is parked: the pool earns what is due when it is
 * next looked at, a quota per period and never more than one quota in all.
 *
 * A unit without a cap has an endless grant: the tests of pick.c and place.c are one comparison.
 *
 * Locks: the cap's under the runqueue's. Serving the line goes the other way round: it looks at the
 * first unit under the cap's lock, drops it, locks the unit's runqueue and looks again; `serving`
 * keeps the unit from being freed meanwhile. `armed` is cleared by the refill itself when it needs
 * no more locks, so a host may wait for a handler that runs when it arms a timer anew.
 */
#include "sched/cap.h"

#include "sched/runq.h"

/* A smaller rest of a period's budget is not worth a switch: what it takes too much is debt. */
#define GRANT_LEAST_NS (50 * NS_PER_US)
#define GRANT_USUAL_NS (500 * NS_PER_US)

/* Reads nothing; writes every field. */
void cap_init(struct cap *cap)
{
    *cap = (struct cap){0};
    spin_init(&cap->lock, LOCK_CAP);
    TAILQ_INIT(&cap->parked);
}

/*
 * Adds what is due at `now`: debts are paid first. Reads quota_ns; reads and writes budget_ns and
 * period_end. No overflow: of the periods only as many count as fill the pool.
 */
static void cap_earn(struct cap *cap, ns_t now) MUST_HOLD(cap->lock)
{
    uint64_t periods, missing;

    if (now < cap->period_end)
        return;
    periods = (now - cap->period_end) / CAP_PERIOD_NS + 1;
    cap->period_end += periods * CAP_PERIOD_NS;
    missing = (uint64_t)((int64_t)cap->quota_ns - cap->budget_ns);
    periods = MIN(periods, missing / cap->quota_ns + 1);
    cap->budget_ns += (int64_t)MIN(missing, periods * cap->quota_ns);
}

/*
 * Where all units want to run, each gets as many grants of a period as the others, or the line
 * makes them take turns: a rest that goes to whoever asks first would go to the same ones each
 * time. Pure.
 */
static ns_t grant_of(ns_t quota_ns, uint32_t nunits)
{
    ns_t part_ns = quota_ns / nunits;

    if (part_ns >= 2 * GRANT_USUAL_NS)
        return part_ns / 2;
    return part_ns >= GRANT_USUAL_NS / 2 ? part_ns : GRANT_USUAL_NS;
}

/* Takes the cap's lock. Reads and writes quota_ns, budget_ns and period_end; writes grant_ns. */
void cap_set(struct cap *cap, uint32_t percent, uint32_t nunits, ns_t now)
{
    ns_t quota_ns = percent * (CAP_PERIOD_NS / 100);

    ASSERT(percent && nunits);
    spin_lock(&cap->lock);
    if (cap->quota_ns) {
        cap_earn(cap, now);
    } else {
        cap->budget_ns = (int64_t)quota_ns;
        cap->period_end = now + CAP_PERIOD_NS;
    }
    cap->quota_ns = quota_ns;
    cap->grant_ns = grant_of(quota_ns, nunits);
    cap->budget_ns = MIN(cap->budget_ns, (int64_t)quota_ns);
    spin_unlock(&cap->lock);
}

/*
 * Reads grant_ns of the pool; reads and writes its budget_ns, which is above 0; writes the unit's
 * grant_ns.
 */
static void cap_grant(struct cap *cap, struct unit *u) MUST_HOLD(cap->lock)
{
    int64_t grant_ns = MIN(cap->budget_ns, (int64_t)cap->grant_ns);

    grant_ns = MAX(grant_ns, (int64_t)GRANT_LEAST_NS);
    cap->budget_ns -= grant_ns;
    u->grant_ns = grant_ns;
}

/*
 * The unit has used its grant up; may it have another? Moves what it ran beyond the grant to the
 * pool as debt. Takes the cap's lock. Reads parked, quota_ns and grant_ns of the pool; reads and
 * writes its budget_ns and period_end, and the unit's grant_ns.
 */
bool cap_renew(struct unit *u, ns_t now)
{
    struct cap *cap = u->cap;
    bool granted;

    spin_lock(&cap->lock);
    cap_earn(cap, now);
    cap->budget_ns += u->grant_ns;
    u->grant_ns = 0;
    granted = cap->budget_ns > 0 && TAILQ_EMPTY(&cap->parked);
    if (granted)
        cap_grant(cap, u);
    spin_unlock(&cap->lock);
    return granted;
}

/*
 * The unit stops wanting to run: what is left of its grant, or its debt, goes to the pool. True: a
 * parked one can use it. Who then does not call cap_serve leaves that to the refill which the first
 * one parked has asked for: good enough for what is rare, while a unit may fall asleep thousands of
 * times a second. Takes the cap's lock. Reads parked and quota_ns; reads and writes budget_ns and
 * the unit's grant_ns.
 */
bool cap_give_back(struct unit *u)
{
    struct cap *cap = u->cap;
    bool useful;

    spin_lock(&cap->lock);
    cap->budget_ns = MIN(cap->budget_ns + u->grant_ns, (int64_t)cap->quota_ns);
    u->grant_ns = 0;
    useful = cap->budget_ns > 0 && !TAILQ_EMPTY(&cap->parked);
    spin_unlock(&cap->lock);
    return useful;
}

/*
 * A runnable unit in the caller's hands, without a grant: in line. Takes the cap's lock. Reads
 * budget_ns and period_end; reads and writes parked and armed of the pool; writes the unit's state,
 * yielding and target, and what load_set_active writes.
 */
void cap_park(struct sched *s, struct unit *u, ns_t now)
{
    struct cap *cap = u->cap;

    load_set_active(s, u, false, now);
    u->yielding = false;
    u->target = CPUMASK_NONE;
    atomic_set(&u->state, UNIT_PARKED);
    spin_lock(&cap->lock);
    TAILQ_INSERT_TAIL(&cap->parked, u, parked);
    sched_host_trace(u->cpu, TRACE_SCHED_PARK, unit_trace_id(u), cap->period_end);
    if (!cap->armed) {
        cap->armed = true;
        sched_host_refill(cap, cap->budget_ns > 0 ? now : cap->period_end);
    }
    spin_unlock(&cap->lock);
}

/*
 * Out of the line, for good or for another state; still PARKED. Takes the cap's lock. Reads active
 * and state; writes since and capped_ns of the unit, and parked of the pool.
 */
void cap_unpark(struct unit *u, ns_t now)
{
    load_account_wait(u, now);
    spin_lock(&u->cap->lock);
    TAILQ_REMOVE(&u->cap->parked, u, parked);
    spin_unlock(&u->cap->lock);
}

/*
 * The first in line if there is budget for him, held on to by `serving`; or NULL. Takes the cap's
 * lock. Reads parked and quota_ns; reads and writes budget_ns, period_end and serving.
 */
static struct unit *serve_next(struct cap *cap, ns_t now)
{
    struct unit *u = NULL;

    spin_lock(&cap->lock);
    if (!TAILQ_EMPTY(&cap->parked))
        cap_earn(cap, now);
    if (cap->budget_ns > 0)
        u = TAILQ_FIRST(&cap->parked);
    if (u)
        atomic_set(&cap->serving, cap->serving + 1);
    spin_unlock(&cap->lock);
    return u;
}

/*
 * Under the lock of the unit's runqueue: a grant for one that is still parked here. Takes the cap's
 * lock. Reads cap and state of the unit; reads and writes budget_ns of the pool; writes its parked,
 * and the unit's grant_ns.
 */
static bool serve_grant(struct cap *cap, struct unit *u)
{
    bool granted = false;

    if (u->state != UNIT_PARKED || u->cap != cap)
        return false;
    spin_lock(&cap->lock);
    if (cap->budget_ns > 0) {
        TAILQ_REMOVE(&cap->parked, u, parked);
        cap_grant(cap, u);
        sched_host_trace(u->cpu, TRACE_SCHED_UNPARK, unit_trace_id(u), (uint64_t)u->grant_ns);
        granted = true;
    }
    spin_unlock(&cap->lock);
    return granted;
}

/*
 * Release: whoever sees `serving` at 0 sees that the unit is held on to no more. Takes the cap's
 * lock. Reads and writes serving.
 */
static void serve_done(struct cap *cap)
{
    spin_lock(&cap->lock);
    atomic_set_release(&cap->serving, cap->serving - 1);
    spin_unlock(&cap->lock);
}

/*
 * Places parked units while there is budget, first come, first served. No lock held. Ends because
 * each turn takes a unit out of the line or finds that somebody else has. Reads and writes the
 * pool; writes grant_ns of the units, and what place_unit writes.
 */
void cap_serve(struct sched *s, struct cap *cap, ns_t now) NO_THREAD_SAFETY
{
    struct unit *u;

    while ((u = serve_next(cap, now)) != NULL) {
        runq_lock_unit(u);
        if (serve_grant(cap, u))
            place_unit(s, u, now);
        runq_unlock_unit(u);
        serve_done(cap);
    }
}

/* Reads and writes the pool; writes what cap_serve writes. */
void sched_cap_refill(struct sched *s, struct cap *cap, ns_t now)
{
    cap_serve(s, cap, now);
    spin_lock(&cap->lock);
    cap->armed = !TAILQ_EMPTY(&cap->parked);
    if (cap->armed)
        sched_host_refill(cap, cap->budget_ns > 0 ? now : cap->period_end);
    spin_unlock(&cap->lock);
}

/* Reads serving; writes nothing. */
void cap_wait_quiet(const struct cap *cap)
{
    /* Acquire pairs with serve_done. */
    while (atomic_get_acquire(&cap->serving))
        __builtin_ia32_pause();
}

/*
 * Takes the runqueue's lock. Reads state; reads and writes cap, grant_ns and the pools of both
 * caps. Writes, of one that runs, what credit_charge and place_kick write; of one that was parked,
 * what cap_unpark and place_unit write; of one that is to be parked, what place_withdraw and
 * cap_park write.
 */
void sched_unit_set_cap(struct sched *s, struct unit *u, struct cap *cap, ns_t now) NO_THREAD_SAFETY
{
    struct runq *rq = runq_lock_unit(u);
    bool was_parked = u->state == UNIT_PARKED;

    if (u->state == UNIT_RUNNING)
        credit_charge(s, rq, u, now);
    if (was_parked)
        cap_unpark(u, now);
    if (u->cap)
        (void)cap_give_back(u); /* parked ones: at the next refill */
    u->cap = cap;
    u->grant_ns = cap ? 0 : GRANT_ENDLESS;
    if (was_parked) {
        place_unit(s, u, now);
    } else if (u->state == UNIT_RUNNING) {
        place_kick(s, &s->cpus[u->cpu]); /* its deadline knows nothing of a grant */
    } else if (unit_is_ready(u) && !cap_admits(u, now)) {
        place_withdraw(s, u);
        cap_park(s, u, now);
    }
    runq_unlock_unit(u);
}

/* Takes the runqueue's lock. Reads capped_ns, state and since; writes nothing. */
uint64_t unit_capped_ns(struct unit *u, ns_t now) NO_THREAD_SAFETY
{
    uint64_t capped_ns;

    runq_lock_unit(u);
    capped_ns = u->capped_ns;
    if (u->state == UNIT_PARKED && now > u->since)
        capped_ns += now - u->since;
    runq_unlock_unit(u);
    return capped_ns;
}
