/*
 * Evening out load averages between runqueues.
 *
 * One pass compares this runqueue with the others that it could exchange waiting units with,
 * nearest nodes first, and takes the one that differs most within the nearest distance where any
 * differs enough. Load is per online CPU, so runqueues of unequal size are judged fairly. Then one
 * unit moves, or two change places, whichever lowers the difference most; only waiting units move,
 * and of each side only the first SCAN_MAX are looked at, so a pass is bounded whatever the number
 * of units. The second lock is tried, never waited for.
 *
 * Priorities play no part: a busy CPU takes from whoever is busiest. (They do for idle ones, see
 * steal.c and spread.c.) With asym_busy they do all the same, as in Linux before its fix: the
 * source is a runqueue of lower priority and not the busiest, and running units are taken, too.
 *
 * NUMA: a unit leaves its preferred CPUs only if its share of a CPU there, after the remote penalty
 * of the distance table, is still larger than here.
 */
#include "sched/runq.h"

#define SCAN_MAX 16

/* Load to move so that both sides are equally loaded per CPU, and from which to which. */
struct gap {
    struct runq *high, *low;
    uint64_t high_load, low_load;
    uint64_t amount; /* 32.32 */
    bool matters;
};

/* A glance unless `rq` is locked. Reads online; writes nothing. */
static uint32_t cpus_of(const struct runq *rq)
{
    return bits_count(atomic_get(&rq->online));
}

/* A runqueue as it is now; a glance unless it is locked. */
struct side {
    struct runq *rq;
    uint64_t load; /* 32.32 */
    uint32_t cpus; /* online */
};

/* Reads what load_of_runq and cpus_of read; writes nothing. */
static struct side side_of(const struct sched *s, struct runq *rq, ns_t now)
{
    return (struct side){rq, load_of_runq(s, rq, now), cpus_of(rq)};
}

/*
 * Loads below 2^49, CPUs at most 64: products below 2^55. Reads load_tolerance_under and
 * load_tolerance_over; writes nothing.
 */
static struct gap gap_between(const struct sched *s, struct side a, struct side b)
{
    bool a_high = a.load * b.cpus >= b.load * a.cpus;
    struct side high = a_high ? a : b, low = a_high ? b : a;
    uint64_t tolerance = s->params.load_tolerance_over;
    uint64_t amount;

    if (!a.cpus || !b.cpus)
        return (struct gap){0};
    amount = (high.load * low.cpus - low.load * high.cpus) / (high.cpus + low.cpus);
    if (high.load < (uint64_t)high.cpus << LOAD_FRAC_BITS)
        tolerance = s->params.load_tolerance_under;
    return (struct gap){.high = high.rq,
                        .low = low.rq,
                        .high_load = high.load,
                        .low_load = low.load,
                        .amount = amount,
                        .matters = 2 * amount > tolerance};
}

/* Reads node of both; writes nothing. */
static uint32_t distance_between(const struct sched *s, const struct runq *a, const struct runq *b)
{
    return s->distance[a->node][b->node];
}

/* Does a unit wait in `high` that may go to `low`? A glance. Reads reach; writes nothing. */
static bool may_give(const struct runq *high, const struct runq *low)
{
    return atomic_get(&high->reach) & low->fold;
}

/*
 * The largest gap that matters and that a waiting unit could narrow, among the nearest runqueues
 * that have one. Reads hints, reach and fold, what side_of reads of every runqueue, only `rq`
 * locked, and what gap_between reads; writes nothing.
 */
static struct gap gap_find(const struct sched *s, struct runq *rq, ns_t now)
{
    /* Where nobody waits here, only where somebody waits there is anything to move. */
    struct neighbours n = neighbours_of(s, rq, rq->reach ? NULL : s->hints[HINT_WAITING]);
    struct side here = side_of(s, rq, now);
    struct gap best = {0};

    for (struct runq *other; (other = neighbours_next(&n));) {
        struct runq *peer = best.high == rq ? best.low : best.high;
        struct gap g;

        if (best.matters && distance_between(s, rq, other) > distance_between(s, rq, peer))
            break;
        if (!may_give(rq, other) && !may_give(other, rq))
            continue;
        g = gap_between(s, here, side_of(s, other, now));
        if (g.matters && g.amount > best.amount && may_give(g.high, g.low))
            best = g;
    }
    return best;
}

/*
 * Would `u` get more done in `to`, its memory being where it is? Shares in 1/1024 of a CPU. Reads
 * numa_cost, soft_cpus, and online of both; writes nothing. `soft`: preferred CPUs in `to`.
 */
static bool pays(const struct sched *s, const struct gap *g, const struct unit *u, uint64_t soft)
{
    uint64_t one = 1ull << LOAD_FRAC_BITS;
    uint64_t here, there;

    if (!s->params.numa_cost || soft || !u->soft_cpus)
        return true;
    here = ((uint64_t)cpus_of(g->high) << LOAD_FRAC_BITS << 10) / MAX(g->high_load, one);
    there = ((uint64_t)cpus_of(g->low) << LOAD_FRAC_BITS << 10) / (g->low_load + one);
    there = MIN(there, 1024u) * DISTANCE_LOCAL /
            MAX(distance_between(s, g->high, g->low), DISTANCE_LOCAL);
    return there > MIN(here, 1024u);
}

/* Reads reach, online of `to`, and what affinity_local and pays read; writes nothing. */
static bool may_move(const struct sched *s, const struct gap *g, const struct unit *u,
                     const struct runq *to)
{
    uint64_t hard, soft;

    if (!(u->reach & to->fold))
        return false;
    affinity_local(s, to, u, &hard, &soft);
    return (hard & to->online) && pays(s, g, u, soft);
}

/* Reads load of the unit and load_window_shift; writes nothing. */
static uint64_t unit_load(const struct sched *s, const struct unit *u, ns_t now)
{
    return load_at(&u->load, 1, now, s->params.load_window_shift);
}

/* Pure. */
static uint64_t distance_u64(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/*
 * The waiting unit of `from` that may move and whose load is nearest to `wanted`, or NULL. Reads
 * the queue of `from`, and what may_move and unit_load read; writes nothing.
 */
static struct unit *nearest_load(const struct sched *s, const struct gap *g,
                                 const struct runq *from, const struct runq *to, uint64_t wanted,
                                 ns_t now)
{
    struct unit *u = queue_best_for(from, from->cpus);
    struct unit *best = NULL;

    for (uint32_t i = 0; u && i < SCAN_MAX; i++, u = queue_next(u)) {
        if (!may_move(s, g, u, to))
            continue;
        if (!best || distance_u64(unit_load(s, u, now), wanted) <
                         distance_u64(unit_load(s, best, now), wanted))
            best = u;
    }
    return best;
}

/*
 * Both locks held. Reads what place_withdraw, members_move and place_beside read; writes what they
 * write.
 */
static void move_one(struct sched *s, struct unit *u, struct runq *to, ns_t now)
{
    place_withdraw(s, u);
    members_move(s, u, to, now);
    place_beside(s, u, now);
}

/*
 * Queued in its new runqueue, where the CPUs' deadlines do not know it yet: neither that it waits
 * for one of them nor that it may be due to leave for an idle CPU elsewhere. Reads state, and what
 * preempt_choose and place_overdue_at read; writes nothing.
 */
void balance_arm_for(struct sched *s, const struct unit *u, ns_t now)
{
    ns_t when;
    struct sched_cpu *c;

    if (u->state != UNIT_QUEUED)
        return;
    c = preempt_choose(s, u->rq, u, now, &when);
    if (c)
        sched_host_arm(c->cpu, MIN(when, place_overdue_at(s, u, now)));
}

/*
 * Both locks held. Moves a unit, or swaps two, if that narrows the gap by an eighth or more. Reads
 * what nearest_load and balance_arm_for read; writes what move_one writes.
 */
static void gap_narrow(struct sched *s, const struct gap *g, ns_t now)
{
    struct unit *u = nearest_load(s, g, g->high, g->low, g->amount, now);
    struct unit *back;
    uint64_t worth = g->amount - g->amount / 8;
    uint64_t load, excess, left;

    if (!u)
        return;
    load = unit_load(s, u, now);
    left = distance_u64(load, g->amount);
    if (load > g->amount) {
        excess = load - g->amount;
        back = nearest_load(s, g, g->low, g->high, excess, now);
        if (back && distance_u64(unit_load(s, back, now), excess) < MIN(left, worth)) {
            move_one(s, back, g->high, now);
            balance_arm_for(s, back, now);
            left = 0;
        }
    }
    if (left >= worth)
        return;
    move_one(s, u, g->low, now);
    balance_arm_for(s, u, now);
}

/* Pure. */
static int32_t priority_of(const struct sched *s, const struct runq *rq)
{
    return s->places[rq->cpu_of[0]].asym_prio;
}

/* ---- asym_busy: the fault of Linux that is measured ---- */

/*
 * The first runqueue of lower priority that runs or has waiting units, whatever the loads. Reads
 * nr_active of the others, not locked; writes nothing.
 */
static struct runq *donor_find(const struct sched *s, const struct runq *rq)
{
    struct neighbours n = neighbours_of(s, rq, NULL);

    for (struct runq *other; (other = neighbours_next(&n));)
        if (priority_of(s, other) < priority_of(s, rq) && atomic_get(&other->nr_active))
            return other;
    return NULL;
}

/*
 * A waiting unit of the locked `donor` for `rq`, or NULL. Reads its queue and reach; writes
 * nothing.
 */
static struct unit *pack_waiting(const struct sched *s, const struct runq *donor,
                                 const struct runq *rq)
{
    struct unit *u = queue_best_reaching(donor, rq->fold);
    uint64_t hard, soft;

    if (!u)
        return NULL;
    affinity_local(s, rq, u, &hard, &soft);
    return hard & rq->online ? u : NULL;
}

/*
 * One unit for the preferred runqueue `rq`, however busy: a waiting one, else one that runs is
 * asked to leave for it. False: none has lower priority and work. The other lock is tried. Reads
 * what donor_find, pack_waiting and balance_arm_for read; writes what move_one or spread_ask
 * writes.
 */
static bool pack_busy(struct sched *s, struct runq *rq, ns_t now) NO_THREAD_SAFETY
{
    struct runq *donor = donor_find(s, rq);
    struct unit *u;

    if (!donor)
        return false;
    if (!spin_trylock(&donor->lock))
        return true;
    sched_host_trace(rq->cpu_of[0], TRACE_SCHED_BALANCE, rq->id, donor->id);
    u = pack_waiting(s, donor, rq);
    if (u) {
        move_one(s, u, rq, now);
        balance_arm_for(s, u, now);
    } else {
        spread_ask(s, donor, donor->online, &s->cpus[rq->cpu_of[0]], s->least_ns, now);
    }
    spin_unlock(&donor->lock);
    return true;
}

/*
 * The lock of `rq` is held and stays, the other is tried. Reads nrunqs, balance_period_ns, asym,
 * asym_busy, and what gap_find, gap_narrow and pack_busy read; reads and writes next_balance;
 * writes balance_due, and what moves.
 */
void balance_pass(struct sched *s, struct runq *rq, ns_t now)
{
    struct gap g;
    struct runq *other;

    rq->balance_due = false;
    if (s->nrunqs == 1 || now < rq->next_balance)
        return;
    rq->next_balance = now + s->params.balance_period_ns;
    if (s->params.asym && s->params.asym_busy && pack_busy(s, rq, now))
        return;
    g = gap_find(s, rq, now);
    if (!g.matters)
        return;
    other = g.high == rq ? g.low : g.high;
    if (!spin_trylock(&other->lock))
        return;
    g = gap_between(s, side_of(s, rq, now), side_of(s, other, now));
    if (g.matters) {
        sched_host_trace(rq->cpu_of[0], TRACE_SCHED_BALANCE, rq->id, other->id);
        gap_narrow(s, &g, now);
    }
    spin_unlock(&other->lock);
}
