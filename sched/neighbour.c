/*
 * Other runqueues, nearest first: the same node, then the others by distance.
 *
 * A search follows a machine-wide hint, so its cost is a few words and the runqueues that matter,
 * not the machine. Only try-locks: a neighbour that is busy with itself is passed over, and a
 * search gives up after TRIES_MAX of them; the timers of pick.c look again.
 */
#include "sched/runq.h"

#define TRIES_MAX 8

/* Pure. */
struct neighbours neighbours_of(const struct sched *s, const struct runq *home,
                                const uint64_t *hint)
{
    return (struct neighbours){.s = s, .home = home, .hint = hint, .reach = UINT64_MAX};
}

/*
 * Word i of the hint, and of that the bits within reach other than home's. Reads the hint,
 * fold_width and fold_lowest; writes nothing.
 */
static uint64_t hinted_word(const struct neighbours *n, uint32_t i)
{
    uint64_t word = n->hint ? atomic_get(&n->hint[i]) : UINT64_MAX;
    uint64_t lowest = (n->reach >> i) & n->s->fold_lowest;

    if (i == n->home->id / 64)
        word &= ~runq_hint_bit(n->home);
    return word & (lowest * ((2ull << (n->s->fold_width - 1)) - 1)); /* whole groups of bits */
}

/*
 * How many runqueues the search will find, if no hint changes. Reads hint_words and what
 * hinted_word reads; writes nothing.
 */
static uint32_t hinted_count(const struct neighbours *n)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n->s->hint_words; i++)
        count += bits_count(hinted_word(n, i));
    return count;
}

/* The lowest id in [from, end) with its hint set, else `end`. Reads the hint; writes nothing. */
static uint32_t hinted_next(const struct neighbours *n, uint32_t from, uint32_t end)
{
    while (from < end) {
        uint64_t word = hinted_word(n, from / 64);

        word &= ~0ull << (from % 64);
        if (word)
            return MIN(end, from / 64 * 64 + (uint32_t)__builtin_ctzll(word));
        from = from / 64 * 64 + 64;
    }
    return end;
}

/*
 * The highest id in [from, end) with its hint set, plus 1; else `from`. Reads the hint; writes
 * nothing.
 */
static uint32_t hinted_last(const struct neighbours *n, uint32_t from, uint32_t end)
{
    while (from < end) {
        uint32_t base = (end - 1) / 64 * 64;
        uint64_t word = hinted_word(n, base / 64);

        word &= ~0ull >> (63 - (end - 1) % 64);
        if (word)
            return MAX(from, base + 64 - (uint32_t)__builtin_clzll(word));
        end = base;
    }
    return from;
}

/*
 * The next id of this level, or RUNQ_NONE. Moves one end of [next, end). Reads the hint; writes
 * only *n.
 */
static uint32_t level_next(struct neighbours *n)
{
    if (n->backwards) {
        n->end = hinted_last(n, n->next, n->end);
        return n->next < n->end ? --n->end : RUNQ_NONE;
    }
    n->next = hinted_next(n, n->next, n->end);
    return n->next < n->end ? n->next++ : RUNQ_NONE;
}

/*
 * The next runqueue other than home, or NULL. With many runqueues it counts how many there will be:
 * the last one is mostly near, and the nodes behind it many. Reads hints, hint_words and
 * node_runqs; writes only *n.
 */
struct runq *neighbours_next(struct neighbours *n)
{
    const struct sched *s = n->s;

    for (;;) {
        uint32_t id = level_next(n);

        if (id != RUNQ_NONE) {
            n->left--;
            return &s->runqs[id];
        }
        if (n->level == 0)
            n->left = s->hint_words > 1 ? hinted_count(n) : UINT32_MAX;
        if (!n->left || n->level == s->nnodes)
            return NULL;
        n->next = s->node_runqs[s->near[n->home->node][n->level]];
        n->end = s->node_runqs[s->near[n->home->node][n->level] + 1];
        n->level++;
    }
}

/*
 * neighbour_fold for more runqueues than one word has bits. Reads hints, hint_words, fold_width and
 * fold_lowest; writes nothing.
 */
uint64_t neighbour_fold_wide(const struct sched *s, const struct runq *home, enum runq_hint hint)
{
    uint64_t fold = 0;

    for (uint32_t i = 0; i < s->hint_words; i++) {
        uint64_t word = atomic_get(&s->hints[hint][i]);

        if (i == home->id / 64)
            word &= ~runq_hint_bit(home);
        if (!word)
            continue;
        for (uint32_t step = 1; step < s->fold_width; step *= 2)
            word |= word >> step; /* the lowest bit of each group ends as the or of all */
        fold |= (word & s->fold_lowest) << i;
    }
    return fold;
}

/*
 * An idle CPU for `u` in the locked runqueue, in a fully idle core if the hint asks for one. Reads
 * smt_aware, smt_idle, and what idle_choose_newcomer reads; writes cursor.
 */
static struct sched_cpu *find_idle(struct sched *s, struct runq *rq, const struct unit *u,
                                   enum runq_hint hint)
{
    bool whole = hint == HINT_CORE && s->params.smt_aware;

    return idle_choose_newcomer(s, rq, u, whole ? rq->smt_idle : rq->cpus);
}

/*
 * Found only because it shares a bit with a preferred one: a unit that looks for home would go to
 * and fro between such neighbours of it. Reads fold_width, reach, soft_reach, and what
 * affinity_local reads; writes nothing.
 */
static bool is_shared_bit(const struct sched *s, const struct unit *u, uint64_t reach,
                          const struct runq *to)
{
    uint64_t hard, soft;

    if (s->fold_width == 1 || reach != u->soft_reach || reach == u->reach)
        return false;
    affinity_local(s, to, u, &hard, &soft);
    return !(soft & atomic_get(&to->online));
}

/*
 * The next one for `u` to try, or NULL: TRIES_MAX were tried or there is none. Reads what
 * neighbours_next and is_shared_bit read; writes only *n.
 */
static struct runq *neighbours_try(struct neighbours *n, const struct unit *u)
{
    while (n->tries++ < TRIES_MAX) {
        struct runq *to = neighbours_next(n);

        if (!to || !is_shared_bit(n->s, u, n->reach, to))
            return to;
    }
    return NULL;
}

/*
 * May `u` run in `to`, whose bit is in its reach? Reads fold_width, online, and what affinity_local
 * reads; writes nothing.
 */
static bool is_allowed(const struct sched *s, const struct unit *u, const struct runq *to)
{
    uint64_t hard, soft;

    if (s->fold_width == 1)
        return true;
    affinity_local(s, to, u, &hard, &soft);
    return hard & atomic_get(&to->online);
}

/*
 * Is any of them worth a move of `u`? As neighbour_take_better would find. Reads hints and what
 * worth_moving and is_allowed read; writes nothing.
 */
bool neighbour_is_worth(const struct sched *s, const struct unit *u, enum runq_hint hint,
                        uint64_t reach, ns_t now)
{
    struct neighbours n = neighbours_of(s, u->rq, s->hints[hint]);
    struct worth w = worth_of(s, u, now);

    n.reach = reach;
    for (const struct runq *to; (to = neighbours_try(&n, u));)
        if (worth_moving(&w, to, hint == HINT_CORE) && is_allowed(s, u, to))
            return true;
    return false;
}

/*
 * Moves `u` to an idle CPU of `to` and reserves it there; returns as neighbour_take does. Tries the
 * lock. Reads what find_idle reads; writes what members_move, find_idle and place_reserve write.
 */
static bool move_to_idle(struct sched *s, struct unit *u, struct runq *to, enum runq_hint hint,
                         ns_t now) NO_THREAD_SAFETY
{
    struct runq *from = u->rq;
    struct sched_cpu *c;

    if (!spin_trylock(&to->lock))
        return false;
    c = find_idle(s, to, u, hint);
    if (!c) {
        spin_unlock(&to->lock);
        return false;
    }
    members_move(s, u, to, now);
    place_reserve(s, c, u);
    spin_unlock(&from->lock);
    return true;
}

/*
 * Moves `u` (in the caller's hands), which would have to wait in its runqueue, to an idle CPU of
 * another one among `reach`, and reserves it there. True: the lock of the old runqueue is gone,
 * that of the new one held. False: nothing changed. Reads hints, and what worth_waking and
 * move_to_idle read; writes what move_to_idle writes.
 */
bool neighbour_take(struct sched *s, struct unit *u, enum runq_hint hint, uint64_t reach, ns_t now)
{
    struct neighbours n = neighbours_of(s, u->rq, s->hints[hint]);

    if (!(reach & neighbour_fold(s, u->rq, hint)))
        return false;
    n.reach = reach;
    for (struct runq *to; (to = neighbours_try(&n, u));)
        if (worth_waking(s, u, to) && move_to_idle(s, u, to, hint, now))
            return true;
    return false;
}

/*
 * Likewise, but `u` has a thread to run on in its runqueue, so only where that is worth a move.
 * Reads hints, and what worth_moving and move_to_idle read; writes what move_to_idle writes.
 */
bool neighbour_take_better(struct sched *s, struct unit *u, enum runq_hint hint, uint64_t reach,
                           ns_t now)
{
    struct neighbours n = neighbours_of(s, u->rq, s->hints[hint]);
    struct worth w;

    if (!(reach & neighbour_fold(s, u->rq, hint)))
        return false;
    n.reach = reach;
    w = worth_of(s, u, now);
    for (struct runq *to; (to = neighbours_try(&n, u));)
        if (worth_moving(&w, to, hint == HINT_CORE) && move_to_idle(s, u, to, hint, now))
            return true;
    return false;
}

/*
 * Moves `u` (in the caller's hands), which nobody idle can take, home from a runqueue of which it
 * prefers no CPU, if that is no fuller. The lock of the old runqueue is then gone, that of the new
 * one held. A CPU there that has gone idle since the caller looked is given `u`: it would sleep on
 * while `u` waits. Reads soft_reach and what affinity_local, worth_returning and find_idle read;
 * writes what members_move, find_idle and place_reserve write. Locks of others are tried.
 */
void neighbour_return(struct sched *s, struct unit *u, ns_t now)
{
    struct runq *from = u->rq;
    struct neighbours n = neighbours_of(s, from, NULL);
    struct worth w = worth_of(s, u, now);

    n.reach = u->soft_reach;
    for (struct runq *to; (to = neighbours_try(&n, u));) {
        uint64_t hard, soft;

        if (!worth_returning(&w, to) || !spin_trylock(&to->lock))
            continue;
        affinity_local(s, to, u, &hard, &soft);
        if (soft & to->online) {
            struct sched_cpu *c = find_idle(s, to, u, HINT_IDLE);

            members_move(s, u, to, now);
            if (c)
                place_reserve(s, c, u);
            spin_unlock(&from->lock);
            return;
        }
        spin_unlock(&to->lock);
    }
}
