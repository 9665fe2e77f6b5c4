/*
 * Two busy threads of one core, and another core with none: one of the two moves. Likewise three of
 * one and one of another, where cores have as many.
 *
 * Done by the CPU that goes idle, from its own runqueue first, then from neighbours. (Where an idle
 * core of a neighbour found nobody to ask, the unit itself looks once a slice: is_cramped in
 * pick.c.) It asks a running unit to leave for it (unit.target) and kicks its CPU; the unit is
 * saved there and comes by sched_saved, so nothing that runs is ever moved under its CPU's feet. Of
 * the candidates the one on the CPU of lowest priority goes. Only units that have run for the rate
 * limit, and prefer the new CPU as much as the old. A core whose own unit runs and sleeps briefly
 * is left to it, but for those that have run for a whole slice: they would stay packed for good.
 */
#include "sched/runq.h"

/*
 * NS_NEVER: not a candidate; else when it becomes one, in the past for one that is. Reads cur of
 * `from`, its target, wants, paused, picked_at and affinity; writes nothing.
 */
static ns_t ripe_at(const struct sched_cpu *from, const struct sched_cpu *to, ns_t least)
{
    const struct unit *u = from->cur;

    if (!u || u->target != CPUMASK_NONE || !u->wants || u->paused)
        return NS_NEVER;
    if (!affinity_prefers(u, to->cpu))
        return NS_NEVER;
    return u->picked_at + least;
}

/* How full must a core be for a unit of it to gain by the move to `c`? */
enum spread { SPREAD_NONE, SPREAD_PACKED, SPREAD_CROWDED };

/* Reads online, idle, tickled and smt_idle; writes nothing. */
static enum spread spread_for(const struct sched_cpu *c)
{
    const struct runq *rq = c->rq;
    uint64_t busy = c->siblings & rq->online & (~rq->idle | rq->tickled);

    if (rq->smt_idle & c->bit)
        return SPREAD_PACKED;
    if (bits_count(c->siblings) < 3 || busy & (busy - 1))
        return SPREAD_NONE;
    return busy ? SPREAD_CROWDED : SPREAD_NONE; /* none: a sibling is still being saved */
}

/*
 * CPUs of cores that a unit had better leave, of the fullest kind there is. A glance unless `rq` is
 * locked. Reads crowded and packed; writes nothing.
 */
static uint64_t too_full(const struct runq *rq, enum spread spread)
{
    uint64_t crowded = atomic_get(&rq->crowded);

    return crowded || spread == SPREAD_CROWDED ? crowded : atomic_get(&rq->packed);
}

/*
 * Has a unit of this core been asked already? Then the others may be few enough without it. Reads
 * idle, cur of the siblings, and its target; writes nothing.
 */
static bool is_one_leaving(const struct sched *s, const struct sched_cpu *c)
{
    runq_for_each_bit (bit, c->siblings & ~c->rq->idle) {
        const struct unit *u = runq_cpu(s, c->rq, bit)->cur;

        if (u && u->target != CPUMASK_NONE)
            return true;
    }
    return false;
}

/*
 * Asks one unit that has run for `least` on the CPUs `among` of the locked `rq` to move to `c`.
 * Returns when to look again: 0 if one was asked. Reads idle, tickled, and what is_one_leaving and
 * ripe_at read; writes target of that unit, and what place_kick writes.
 */
ns_t spread_ask(struct sched *s, struct runq *rq, uint64_t among, const struct sched_cpu *c,
                ns_t least, ns_t now)
{
    uint64_t left = among & ~rq->idle & ~rq->tickled;
    ns_t soonest = NS_NEVER;

    while (left) {
        uint64_t bit = BIT(63 - __builtin_clzll(left));
        struct sched_cpu *from = runq_cpu(s, rq, bit);
        ns_t ripe = is_one_leaving(s, from) ? now + s->least_ns : ripe_at(from, c, least);

        if (ripe <= now) {
            from->cur->target = c->cpu;
            place_kick(s, from);
            return 0;
        }
        soonest = MIN(soonest, ripe);
        left &= ~bit;
    }
    return soonest;
}

/*
 * Until when the idle threads of a core are kept for units that run, and sleep, briefly: they are
 * back before a move has paid. Reads idle and kept_until of the siblings; writes nothing.
 */
static ns_t kept_until(const struct sched *s, const struct sched_cpu *c)
{
    ns_t until = 0;

    runq_for_each_bit (bit, c->siblings & c->rq->idle)
        until = MAX(until, runq_cpu(s, c->rq, bit)->kept_until);
    return until;
}

/*
 * Asks in the runqueue of `c`, then in its neighbours on the node, for a unit that has run for
 * `least`. Returns as spread_ask. Reads packed, crowded, HINT_PACKED, asym, and what spread_ask
 * reads; writes what spread_ask writes. Locks of others are tried.
 */
static ns_t ask_around(struct sched *s, struct sched_cpu *c, enum spread spread, ns_t least,
                       ns_t now)
{
    struct neighbours n = neighbours_of(s, c->rq, s->hints[HINT_PACKED]);
    ns_t soonest = spread_ask(s, c->rq, too_full(c->rq, spread), c, least, now);

    if (!soonest || !neighbour_fold(s, c->rq, HINT_PACKED))
        return soonest;
    n.backwards = s->params.asym;
    for (struct runq *rq; (rq = neighbours_next(&n));) {
        ns_t its;

        if (s->places[rq->cpu_of[0]].node != c->place->node || !too_full(rq, spread))
            continue;
        its = now + s->least_ns; /* if the lock is taken: nobody else would ever ask */
        if (spin_trylock(&rq->lock)) {
            its = spread_ask(s, rq, too_full(rq, spread), c, least, now);
            spin_unlock(&rq->lock);
        }
        if (!its)
            return its;
        soonest = MIN(soonest, its);
    }
    return soonest;
}

/*
 * `c` has just gone idle. Returns when to look again, NS_NEVER when there is no need to. Reads
 * smt_spread, packed, HINT_PACKED, least_ns, slice_max_ns, and what spread_for, kept_until and
 * ask_around read; writes what ask_around writes.
 */
ns_t spread_pull(struct sched *s, struct sched_cpu *c, ns_t now)
{
    enum spread spread = s->params.smt_spread ? spread_for(c) : SPREAD_NONE;
    ns_t kept, soonest;

    if (spread == SPREAD_NONE || (!c->rq->packed && !neighbour_fold(s, c->rq, HINT_PACKED)))
        return NS_NEVER;
    kept = kept_until(s, c);
    if (kept <= now)
        soonest = ask_around(s, c, spread, s->least_ns, now);
    else
        soonest =
            MIN(kept, ask_around(s, c, spread, MAX(s->params.slice_max_ns, s->least_ns), now));
    return soonest ? soonest : NS_NEVER;
}

/*
 * Would a unit that has just left `from` still gain by `c`? Others may have come there meanwhile.
 * Reads online, idle, tickled, and what spread_for reads; writes nothing.
 */
static bool is_still_better(const struct sched_cpu *c, const struct sched_cpu *from)
{
    enum spread spread = spread_for(c);

    if (!(c->rq->idle & ~c->rq->tickled & c->bit))
        return false;
    if (spread == SPREAD_CROWDED)
        return bits_count(from->siblings & from->rq->online & ~from->rq->idle) > 1;
    return spread == SPREAD_PACKED;
}

/*
 * `u`, in the caller's hands, goes where it was asked to if that is still better; with asym_busy,
 * to its runqueue in any case. Locks as neighbour_take. Reads target, cpu, asym_busy, online, and
 * what is_still_better, affinity_allows, core_admits and balance_arm_for read; writes target, and
 * what members_move, place_reserve and place_beside write.
 */
bool spread_move(struct sched *s, struct unit *u, ns_t now)
{
    struct sched_cpu *c = &s->cpus[u->target];
    struct runq *from = u->rq;
    bool packs = s->params.asym_busy && c->rq != from;
    bool better;

    u->target = CPUMASK_NONE;
    if (c->rq != from && !spin_trylock(&c->rq->lock))
        return false;
    better = is_still_better(c, &s->cpus[u->cpu]) && (!s->whole_cores || core_admits(s, c, u));
    if (!affinity_allows(u, c->cpu) || !(better || (packs && c->online))) {
        if (c->rq != from)
            spin_unlock(&c->rq->lock);
        return false;
    }
    if (c->rq != from) {
        members_move(s, u, c->rq, now);
        spin_unlock(&from->lock);
    }
    if (better) {
        place_reserve(s, c, u);
    } else {
        place_beside(s, u, now);
        balance_arm_for(s, u, now);
    }
    return true;
}
