/*
 * Who runs next on this CPU, and until when.
 *
 * Candidates are what runs, what was reserved for this CPU, and the best queued unit that may run
 * here, or one hardly behind it whose caches are warm here. Order of rules: a directed yield's
 * target; then, unless it yielded, the running unit while the rate limit protects it; then, if that
 * one had better go to another runqueue, home or to a core of its own, the best other; then credit.
 * What runs keeps its CPU on a tie, and against a unit that last ran elsewhere and is not ahead by
 * migrate_resist. With nothing local a waiting unit is pulled from a neighbour before the CPU goes
 * idle.
 *
 * Reset: when neither what was picked nor anything that waits has credit left. A directed yield may
 * pick a unit without credit while others have some, and that is no reason for one.
 *
 * Balancing and pushing come before the choice, while all that waits stands in the queue:
 * afterwards the unit that was just switched out is in nobody's reach. The CPU counts as tickled
 * until they are done: its slot may hold a unit, and they must not reserve it for another.
 *
 * The previous unit is LEAVING when it is not the one returned, and in no queue before sched_saved.
 */
#include "sched/runq.h"

#define BURSTS 8 /* how many of a unit's last ones its burst_ns is an average of, about */

/* A pick is one straight run of code: gcc alone would not inline these into two kinds of pick. */
#define STEP static inline __attribute__((always_inline))

/*
 * May the running unit go on here at all? One that has used up its grant takes another (cap.c).
 * Reads wants, paused, run_cpus, target and grant_ns of the unit, and online; writes what cap_renew
 * writes.
 */
STEP bool may_stay(const struct sched_cpu *c, struct unit *cur, ns_t now)
{
    return cur && cur->wants && !cur->paused && (cur->run_cpus & c->bit) && c->online &&
           cur->target == CPUMASK_NONE && cap_admits(cur, now);
}

/*
 * Running off its preferred CPUs while one of them is idle elsewhere, in a core as good as this and
 * worth the move. Reads soft_cpus and soft_reach of the unit, packed, HINT_CORE or HINT_IDLE,
 * smt_aware, neighbour_wake, and what neighbour_is_worth reads; writes nothing.
 */
STEP bool is_homesick(const struct sched *s, const struct sched_cpu *c, const struct unit *u,
                      ns_t now)
{
    bool alone = s->params.smt_aware && !(c->rq->packed & c->bit);
    enum runq_hint hint = alone ? HINT_CORE : HINT_IDLE;

    return !(u->soft_cpus & c->bit) && s->params.neighbour_wake &&
           (u->soft_reach & neighbour_fold(s, c->rq, hint)) &&
           neighbour_is_worth(s, u, hint, u->soft_reach, now);
}

/*
 * It shares its core, and in another runqueue of the node one is idle: that core found nobody to
 * ask when it fell idle. Reads packed, near, HINT_CORE, smt_spread and reach of the unit; writes
 * nothing.
 */
STEP bool is_cramped(const struct sched *s, const struct sched_cpu *c, const struct unit *u)
{
    uint64_t cores = u->reach & c->rq->near;

    return cores && (c->rq->packed & c->bit) && s->params.smt_spread &&
           (cores & neighbour_fold(s, c->rq, HINT_CORE));
}

/*
 * Does the running unit give up its CPU for one of another runqueue? Reads what is_homesick,
 * is_cramped and neighbour_is_worth read; writes nothing.
 */
STEP bool is_leaving(const struct sched *s, const struct sched_cpu *c, const struct unit *u,
                     ns_t now)
{
    return is_homesick(s, c, u, now) ||
           (is_cramped(s, c, u) &&
            neighbour_is_worth(s, u, HINT_CORE, u->reach & c->rq->near, now));
}

/* Reads picked_at and ratelimit_ns; writes nothing. */
STEP bool is_protected(const struct sched *s, const struct unit *cur, ns_t now)
{
    return now < cur->picked_at + s->params.ratelimit_ns;
}

/* Reads credit of both, order, cpu and state of `u`, and migrate_resist_ns; writes nothing. */
STEP bool beats(const struct sched *s, const struct sched_cpu *c, const struct unit *u,
                const struct unit *cur)
{
    int64_t lead = credit_of_order(s, c->rq, u) - credit_of(s, c->rq, cur);

    if (u->cpu != c->cpu && u->state == UNIT_QUEUED)
        return lead > (int64_t)s->params.migrate_resist_ns;
    return lead > 0;
}

/*
 * The better of the reserved and the queued candidate; either may be NULL. Reads preferred and
 * order; writes nothing.
 */
STEP struct unit *better(struct unit *reserved, struct unit *queued)
{
    if (!reserved || !queued)
        return reserved ? reserved : queued;
    if (!reserved->preferred && (int64_t)(queued->order - reserved->order) > 0)
        return queued;
    return reserved;
}

/*
 * The winner, of what runs and the best other, still where it was; NULL: nothing here may run.
 * Reads cur and online, yielding, preferred, and what is_protected, is_leaving and beats read;
 * reads and writes as may_stay does.
 */
STEP struct unit *choose(const struct sched *s, struct sched_cpu *c, struct unit *best, ns_t now)
{
    struct unit *cur = c->cur;

    if (!c->online)
        return NULL;
    if (best && (!cur || cur->yielding || best->preferred))
        return best;
    if (!may_stay(c, cur, now))
        return best;
    if (is_protected(s, cur, now))
        return cur;
    if (is_leaving(s, c, cur, now))
        return best;
    return best && beats(s, c, best, cur) ? best : cur;
}

/*
 * Rather than `best`, which last ran elsewhere, one that runs briefly, last ran on this CPU, or
 * else its core, and is behind it by no more than migrate_resist. Not one that yielded, nor one
 * that runs on and on: the one whose turn is put off would get less than its share for good. Reads
 * the queue, run_cpus, burst_ns, key and order, and migrate_resist_ns; writes nothing.
 */
static struct unit *warmer(const struct sched *s, const struct sched_cpu *c, struct unit *best)
{
    struct unit *u = queue_best_warm(c->rq, c->bit);

    if (!u)
        u = queue_best_warm(c->rq, c->siblings);
    if (!u || !unit_runs_briefly(s, u) || !(u->run_cpus & c->bit) || u->order != u->key ||
        (int64_t)(best->order - u->order) > (int64_t)s->params.migrate_resist_ns)
        return best;
    return u;
}

/*
 * The best queued unit for this CPU, or one whose caches are warm here. Reads the queue, stay_warm
 * and what `warmer` reads; writes nothing.
 */
STEP struct unit *queued_for(const struct sched *s, const struct sched_cpu *c)
{
    struct unit *best = queue_best_for(c->rq, c->bit);

    if (!best || best->cpu == c->cpu || c->rq->nr_queued == 1 || !s->params.stay_warm)
        return best;
    return warmer(s, c, best);
}

/*
 * As choose, under sched-gran=core. NULL, too, to make room for another VM's turn. Reads what
 * choose reads, the slot, the queue, and what core_held and core_turn_at read; writes what
 * may_stay, core_reopen and core_close write.
 */
static struct unit *choose_in_core(struct sched *s, struct sched_cpu *c, ns_t now)
{
    uint64_t held = core_held(s, c);
    struct unit *reserved = c->reserved && core_allows(held, c->reserved) ? c->reserved : NULL;
    struct unit *next;

    if (!c->online || held == CORE_CLOSED)
        return NULL;
    if (held == CORE_FREE && core_reopen(s, c, now) && core_best(c, held) == core_head(c))
        return core_head(c);
    next = choose(s, c, better(reserved, core_best(c, held)), now);
    if (held == CORE_FREE && (!next || next != c->cur || core_best(c, held) == core_head(c)))
        return next; /* what waits for the core may come here without a turn */
    if (core_turn_at(s, c, now) > now)
        return next;
    core_close(s, c);
    return NULL;
}

/*
 * Takes the winner from slot or queue; what was reserved and lost goes beside. The CPU leaves the
 * idle mask first, or the loser would be reserved for it again. Reads reserved, idle, and state of
 * the winner; writes the idle masks, queue and slot, and what place_withdraw and place_beside write
 * of what was reserved.
 */
STEP void take(struct sched *s, struct sched_cpu *c, struct unit *winner, ns_t now)
{
    struct unit *reserved = c->reserved;

    if (winner && (c->rq->idle & c->bit))
        idle_leave(s, c);
    if (winner && winner->state == UNIT_QUEUED)
        queue_remove(c->rq, winner);
    if (!reserved)
        return;
    place_withdraw(s, reserved);
    if (reserved != winner)
        place_beside(s, reserved, now);
}

/* Its registers are still to be saved. Writes cur and state. */
STEP void switch_out(struct sched_cpu *c, struct unit *u)
{
    c->cur = NULL;
    atomic_set(&u->state, UNIT_LEAVING);
}

/*
 * It does not want to run on: what began with its wake-up is over. If that was brief its core is
 * kept for it. Reads run_ns and what unit_runs_briefly reads; reads and writes woke_run and
 * burst_ns; writes kept_until, and what load_set_active writes.
 */
STEP void burst_end(struct sched *s, struct sched_cpu *c, struct unit *u, ns_t now)
{
    load_set_active(s, u, false, now);
    u->burst_ns += (u->run_ns - u->woke_run) / BURSTS - u->burst_ns / BURSTS;
    u->woke_run = u->run_ns;
    c->kept_until = unit_runs_briefly(s, u) ? now + s->least_ns : now;
}

/*
 * Reads active, state and cpu; writes cur, cpu, state, on_cpu, picked_at, yielding, migrations,
 * since and wait_ns.
 */
STEP void switch_in(struct sched_cpu *c, struct unit *u, ns_t now)
{
    load_account_wait(u, now);
    c->cur = u;
    u->picked_at = now;
    u->yielding = false;
    if (u->cpu != c->cpu) {
        u->migrations++;
        atomic_set(&u->cpu, c->cpu);
    }
    u->on_cpu = true;
    atomic_set(&u->state, UNIT_RUNNING);
}

/*
 * From one unit, or none, to another, or none. Reads wants, paused and online, and what burst_end,
 * switch_in and core_switched_in read; writes what its steps and idle_enter write.
 */
STEP void switch_units(struct sched *s, struct sched_cpu *c, struct unit *prev, struct unit *next,
                       bool in_core, ns_t now)
{
    sched_host_trace(c->cpu, TRACE_SCHED_SWITCH, unit_trace_id(prev), unit_trace_id(next));
    if (prev) {
        switch_out(c, prev);
        if (!prev->wants || prev->paused)
            burst_end(s, c, prev, now);
        if (in_core)
            core_switched_out(c, prev);
    }
    if (next) {
        switch_in(c, next, now);
        if (in_core)
            core_switched_in(s, c, next, now);
    } else if (c->online) {
        idle_enter(s, c);
    }
}

/*
 * Credit of the best unit that waits for this CPU, or INT64_MIN. `left` was just switched out.
 * Reads the queue, credit and order of its best, active, run_cpus, yielding and credit of `left`;
 * writes nothing.
 */
STEP int64_t waiting_credit(const struct sched *s, const struct sched_cpu *c,
                            const struct unit *left, bool in_core)
{
    const struct unit *queued = in_core ? core_head(c) : queue_best_for(c->rq, c->bit);
    int64_t credit_ns = queued ? credit_of_order(s, c->rq, queued) : INT64_MIN;

    if (left && left->active && (left->run_cpus & c->bit) && !(queued && left->yielding))
        credit_ns = MAX(credit_ns, credit_of(s, c->rq, left));
    return credit_ns;
}

/*
 * Could something that waits here go to an idle CPU elsewhere? Reads reach, HINT_IDLE and
 * overdue_push; writes nothing.
 */
static inline bool is_push_worthwhile(const struct sched *s, const struct runq *rq)
{
    return rq->reach && s->params.overdue_push && (rq->reach & neighbour_fold(s, rq, HINT_IDLE));
}

/*
 * Until when the unit that was picked may run undisturbed. Reads cur, its credit, picked_at,
 * soft_cpus and soft_reach, what is_cramped, credit_time and is_push_worthwhile read, slice_min_ns,
 * slice_max_ns and least_ns; writes nothing.
 */
STEP ns_t deadline_busy(struct sched *s, struct sched_cpu *c, int64_t waiting_ns, ns_t now)
{
    const struct unit *u = c->cur;
    ns_t least = s->least_ns;
    ns_t deadline = NS_NEVER;

    if (waiting_ns != INT64_MIN) {
        int64_t lead = credit_of(s, c->rq, u) - waiting_ns;
        ns_t slice = lead > 0 ? credit_time(c->rq, u, lead) : 0;

        deadline = now + MAX(MIN(slice, s->params.slice_max_ns), s->params.slice_min_ns);
        deadline = MAX(deadline, u->picked_at + least);
    }
    if (unit_is_away(u, c->bit) || is_cramped(s, c, u))
        deadline = MIN(deadline, now + s->params.slice_max_ns);
    if (is_push_worthwhile(s, c->rq))
        deadline = MIN(deadline, now + least);
    return deadline;
}

/*
 * When an idle CPU looks again. Reads online, least_ns, slice_min_ns, newidle_pull, and what
 * steal_is_near, core_turn_at and spread_pull read; writes what spread_pull writes.
 */
static ns_t deadline_idle(struct sched *s, struct sched_cpu *c, bool in_core, ns_t now)
{
    ns_t deadline = NS_NEVER;
    ns_t ripe;

    if (!c->online)
        return deadline;
    if (s->params.newidle_pull && steal_is_near(s, c->rq))
        deadline = now + s->least_ns;
    if (in_core)
        deadline = MIN(deadline, MAX(core_turn_at(s, c, now), now + s->params.slice_min_ns));
    ripe = spread_pull(s, c, now);
    return MIN(deadline, ripe);
}

/*
 * A reset clips what has most credit, so its lead over those that wait shrinks, and the deadline
 * that was set by the lead comes too late. One heavier than the best that waits keeps its deadline:
 * what it lost by the clip was due to it. Reads online, idle, tickled, untimed, the queue, weights,
 * cur and its key, given, least_ns and what credit_ceiling reads; writes nothing.
 */
static void look_again(struct sched *s, const struct sched_cpu *c, ns_t now)
{
    struct runq *rq = c->rq;
    const struct unit *head = queue_best_for(rq, rq->online);

    if (!head)
        return;
    runq_for_each_bit (bit, rq->online & ~rq->idle & ~rq->tickled & ~rq->untimed & ~c->bit) {
        struct sched_cpu *other = runq_cpu(s, rq, bit);

        if (other->cur && other->cur->weight <= head->weight &&
            (int64_t)(other->cur->key + rq->given) > credit_ceiling(s))
            sched_host_arm(other->cpu, now + s->least_ns);
    }
}

/*
 * What follows from a pick: reset and deadline. Reads cur, its credit, slice_min_ns, and what
 * waiting_credit, look_again, deadline_busy and core_turn_at read; writes balance_due, given, and
 * key of what was picked.
 */
STEP ns_t settle(struct sched *s, struct sched_cpu *c, struct unit *left, bool in_core, ns_t now)
{
    struct runq *rq = c->rq;
    int64_t waiting_ns = waiting_credit(s, c, left, in_core);
    ns_t turn_at;

    if (waiting_ns <= 0 && credit_of(s, rq, c->cur) <= 0) {
        credit_reset(s, rq, c->cur);
        if (rq->nr_queued)
            look_again(s, c, now);
        rq->balance_due = true;
        waiting_ns = waiting_credit(s, c, left, in_core);
    }
    if (!in_core)
        return deadline_busy(s, c, waiting_ns, now);
    turn_at = core_turn_at(s, c, now);
    return MIN(deadline_busy(s, c, waiting_ns, now), MAX(turn_at, now + s->params.slice_min_ns));
}

/*
 * Reads idle, and what steal_waiting reads; writes the idle masks, and what steal_waiting writes.
 */
static struct unit *pull(struct sched *s, struct sched_cpu *c, ns_t now)
{
    struct unit *u = steal_waiting(s, c, now);

    if (u && (c->rq->idle & c->bit))
        idle_leave(s, c);
    return u;
}

/*
 * What comes before the choice. Reads cur, balance_due and what is_push_worthwhile reads; writes
 * untimed, and what credit_charge, balance_pass, steal_push_overdue and idle_untickle write.
 */
STEP void prepare(struct sched *s, struct sched_cpu *c, ns_t now)
{
    if (c->cur)
        credit_charge(s, c->rq, c->cur, now);
    c->rq->untimed &= ~c->bit;
    if (c->rq->balance_due)
        balance_pass(s, c->rq, now);
    if (is_push_worthwhile(s, c->rq))
        steal_push_overdue(s, c->rq, now);
    idle_untickle(s, c);
}

/*
 * Who runs next, out of the queue or slot it was in; a neighbour's if nothing here may. Reads
 * online, newidle_pull, the slot, and what choose, queued_for or choose_in_core, and
 * core_is_closing read; writes what take and pull write, and choose_in_core or may_stay.
 */
STEP struct unit *next_unit(struct sched *s, struct sched_cpu *c, bool in_core, ns_t now)
{
    struct unit *next;

    if (in_core)
        next = choose_in_core(s, c, now);
    else
        next = choose(s, c, better(c->reserved, queued_for(s, c)), now);
    take(s, c, next, now);
    if (!next && c->online && s->params.newidle_pull && !(in_core && core_is_closing(s, c)))
        next = pull(s, c, now);
    return next;
}

/*
 * When the CPU picks again at the latest; `left` as in settle. Reads cur, its cap and grant_ns, and
 * what settle and deadline_idle read; writes untimed, and what they write.
 */
STEP ns_t next_deadline(struct sched *s, struct sched_cpu *c, struct unit *left, bool in_core,
                        ns_t now)
{
    const struct unit *u = c->cur;
    ns_t deadline;

    if (!u)
        return deadline_idle(s, c, in_core, now);
    deadline = settle(s, c, left, in_core, now);
    if (deadline == NS_NEVER)
        c->rq->untimed |= c->bit;
    return u->cap ? MIN(deadline, now + (ns_t)u->grant_ns) : deadline;
}

/*
 * `in_core` is constant where this is called: the usual pick is not to pay for the other. Takes the
 * runqueue's lock, others by try-lock. Reads cur, online, balance_due, newidle_pull, and what its
 * steps read; writes cur, slot, queue, idle masks, untimed, balance_due, next_balance and given of
 * its runqueue, and both units; elsewhere what balancing, pushing, pulling and spreading write;
 * under sched-gran=core the core.
 */
STEP struct unit *pick(struct sched *s, struct sched_cpu *c, bool in_core, ns_t now, ns_t *deadline)
{
    struct unit *prev, *next;

    spin_lock(&c->rq->lock);
    prev = c->cur;
    prepare(s, c, now);
    next = next_unit(s, c, in_core, now);
    if (next != prev)
        switch_units(s, c, prev, next, in_core, now);
    else if (prev)
        prev->yielding = false;
    if (in_core)
        core_picked(s, c);
    *deadline = next_deadline(s, c, next == prev ? NULL : prev, in_core, now);
    spin_unlock(&c->rq->lock);
    return next;
}

/* Takes the runqueue's lock. Reads whole_cores; reads and writes as pick does. */
struct unit *sched_pick(struct sched *s, uint32_t cpu, ns_t now, ns_t *deadline)
{
    struct sched_cpu *c = &s->cpus[cpu];

    return s->whole_cores ? pick(s, c, true, now, deadline) : pick(s, c, false, now, deadline);
}
