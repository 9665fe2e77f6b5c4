/*
 * Waiting units and idle CPUs of different runqueues: pulling by a CPU that goes idle, and pushing
 * what has waited for the rate limit.
 *
 * Off its preferred CPUs a unit is taken only after it has waited for the rate limit: remote memory
 * costs more than a short wait. A CPU whose whole core is idle pulls from the runqueue of lowest
 * priority among the nearest, so that work gathers on the preferred cores. Every try that fails,
 * for that reason or because of a lock, is made again by the deadline that pick.c sets while the
 * hints say that there is something to try.
 */
#include "sched/runq.h"

#define SCAN_MAX 16 /* units looked at: more than the best only where reach was too coarse */

/* Reads since and ratelimit_ns; writes nothing. */
static bool has_waited(const struct sched *s, const struct unit *u, ns_t now)
{
    return now >= u->since + s->params.ratelimit_ns;
}

/* Reads affinity of `u`, numa_cost, and what has_waited reads; writes nothing. */
static bool may_pull(const struct sched *s, const struct unit *u, uint32_t cpu, ns_t now)
{
    if (!affinity_allows(u, cpu))
        return false;
    return !s->params.numa_cost || affinity_prefers(u, cpu) || has_waited(s, u, now);
}

/*
 * Likewise, of one VM: it holds the core of `c`. Reads the queue of `from` and what may_pull reads;
 * writes nothing.
 */
static struct unit *find_pull_of(const struct sched *s, const struct runq *from,
                                 const struct sched_cpu *c, uint32_t vm_id, ns_t now)
{
    struct unit *u = vm_queue_best(from, vm_id, from->cpus);

    for (uint32_t i = 0; u && i < SCAN_MAX; i++, u = vm_queue_next(u))
        if (may_pull(s, u, c->cpu, now))
            return u;
    return NULL;
}

/*
 * The best queued unit of the locked `from` that this CPU may take. Reads its queue, and what
 * core_held and may_pull read; writes nothing.
 */
static struct unit *find_pull(const struct sched *s, const struct runq *from,
                              const struct sched_cpu *c, ns_t now)
{
    uint64_t held = s->whole_cores ? core_held(s, c) : CORE_FREE;
    struct unit *u;

    if (held == CORE_CLOSED)
        return NULL;
    if (held != CORE_FREE)
        return find_pull_of(s, from, c, (uint32_t)held, now);
    u = queue_best_reaching(from, c->rq->fold);
    for (uint32_t i = 0; u && i < SCAN_MAX; i++, u = queue_next(u))
        if (may_pull(s, u, c->cpu, now))
            return u;
    return NULL;
}

/*
 * All the others of its core are idle; the CPU itself has nothing to run. Reads online, idle and
 * tickled; writes nothing.
 */
static bool is_core_idle_beside(const struct sched_cpu *c)
{
    const struct runq *rq = c->rq;
    uint64_t others = c->siblings & rq->online & ~c->bit;

    return (rq->idle & ~rq->tickled & others) == others;
}

/*
 * Moves a waiting unit of the nearest runqueue here; it is in the caller's hands. NULL: none. Reads
 * asym, HINT_WAITING, reach of the others, and what is_core_idle_beside and find_pull read; writes
 * what place_withdraw and members_move write, and HINT_WAITING of what it finds empty. Locks of
 * others are tried.
 */
struct unit *steal_waiting(struct sched *s, struct sched_cpu *c, ns_t now)
{
    struct neighbours n = neighbours_of(s, c->rq, s->hints[HINT_WAITING]);
    struct unit *u = NULL;

    if (!neighbour_fold(s, c->rq, HINT_WAITING))
        return NULL;
    n.backwards = s->params.asym && is_core_idle_beside(c);
    for (struct runq *from; !u && (from = neighbours_next(&n));) {
        if (!(atomic_get(&from->reach) & c->rq->fold) || !spin_trylock(&from->lock))
            continue;
        u = find_pull(s, from, c, now);
        if (u) {
            place_withdraw(s, u);
            members_move(s, u, c->rq, now);
            sched_host_trace(c->cpu, TRACE_SCHED_STEAL, unit_trace_id(u), from->id);
        }
        if (!from->nr_queued)
            runq_hint_set(s, from, HINT_WAITING, false);
        spin_unlock(&from->lock);
    }
    return u;
}

/*
 * Does a unit that might come here wait elsewhere? A glance. Reads HINT_WAITING, and reach of the
 * others; writes nothing.
 */
bool steal_is_near(const struct sched *s, const struct runq *home)
{
    struct neighbours n = neighbours_of(s, home, s->hints[HINT_WAITING]);

    if (!neighbour_fold(s, home, HINT_WAITING))
        return false;
    for (const struct runq *rq; (rq = neighbours_next(&n));)
        if (atomic_get(&rq->reach) & home->fold)
            return true;
    return false;
}

/*
 * One overdue unit from `rq` to an idle CPU of `to`, both locked. Reads the queue, and what
 * has_waited and idle_choose_newcomer read; writes what place_withdraw, members_move,
 * idle_choose_newcomer and place_reserve write.
 */
static bool push_one(struct sched *s, struct runq *rq, struct runq *to, ns_t now)
{
    struct unit *u = queue_best_reaching(rq, to->fold);

    for (uint32_t i = 0; u && i < SCAN_MAX; i++, u = queue_next(u)) {
        struct sched_cpu *c;

        if (!has_waited(s, u, now))
            continue;
        c = idle_choose_newcomer(s, to, u, to->cpus);
        if (!c)
            continue;
        place_withdraw(s, u);
        members_move(s, u, to, now);
        place_reserve(s, c, u);
        return true;
    }
    return false;
}

/*
 * Sends what has waited for the rate limit to idle CPUs of other runqueues. Reads HINT_IDLE,
 * nr_queued, reach, and what push_one reads; writes what push_one writes. Locks of others are
 * tried.
 */
void steal_push_overdue(struct sched *s, struct runq *rq, ns_t now)
{
    struct neighbours n = neighbours_of(s, rq, s->hints[HINT_IDLE]);

    n.reach = rq->reach;
    for (struct runq *to; rq->nr_queued && (to = neighbours_next(&n));) {
        if (!(rq->reach & to->fold) || !spin_trylock(&to->lock))
            continue;
        while (push_one(s, rq, to, now))
            continue;
        spin_unlock(&to->lock);
    }
}
