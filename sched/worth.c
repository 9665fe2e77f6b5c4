/*
 * Is another runqueue worth a move? By load averages, not by what happens to be idle just now.
 *
 * A core that is idle for as long as its unit waits for a disk is no reason to carry another unit's
 * caches across the machine and, a millisecond later, back. What lasts is one: cores that are free
 * on average, or a difference in load larger than the unit itself makes. Away from its preferred
 * memory a unit is taken to lose a tenth (MEMORY_SHARE_PERCENT, at twice the distance), so it
 * leaves only for a difference that is larger by that much, and comes home for one that is smaller:
 * the gap between the two keeps it from going to and fro. Once it has been away for as long as the
 * averages look back, any idle thread at home will do, and with none it waits there rather than
 * here if home is no fuller: two VMs that sit on each other's memory would stay so for good.
 *
 * A unit that runs briefly between two sleeps (unit_runs_briefly) has nothing to gain: cold caches
 * cost it more than a thread beside a busy one does.
 *
 * Loads are read without locks: an answer is a good guess.
 */
#include "sched/runq.h"

#define MEMORY_SHARE_PERCENT 10u

/*
 * Of the runqueues of `u` this is a preferred one, or it has no preference. Reads soft_reach;
 * writes nothing.
 */
static bool prefers(const struct unit *u, const struct runq *rq)
{
    return !u->soft_reach || (u->soft_reach & rq->fold);
}

/* What memory between two nodes takes from this load. Reads numa_cost; writes nothing. */
static uint64_t remote_part(const struct sched *s, const struct runq *a, const struct runq *b,
                            uint64_t load)
{
    uint32_t distance = s->distance[a->node][b->node];

    if (!s->params.numa_cost || distance <= DISTANCE_LOCAL)
        return 0;
    return load / 100 * MEMORY_SHARE_PERCENT * (distance - DISTANCE_LOCAL) / DISTANCE_LOCAL;
}

/* Reads the runqueue's recent load, nr_active and load_window_shift; writes nothing. */
static uint64_t recent_load(const struct sched *s, const struct runq *rq, ns_t now)
{
    return load_recent(&rq->load, atomic_get(&rq->nr_active), now, s->params.load_window_shift);
}

/* Reads cores; writes nothing. */
static uint64_t cores_of(const struct runq *rq)
{
    return (uint64_t)atomic_get(&rq->cores) << LOAD_FRAC_BITS;
}

/*
 * More than its cores have to do here, and by more than `step` for each CPU than there. Loads are
 * below 2^49, CPUs at most 64. Reads cores and online of both; writes nothing.
 */
static bool is_fuller(const struct runq *from, uint64_t here, const struct runq *to, uint64_t there,
                      uint64_t step)
{
    uint32_t cpus_here = bits_count(atomic_get(&from->online));
    uint32_t cpus_there = bits_count(atomic_get(&to->online));

    return here > cores_of(from) && here * cpus_there > (there + step) * cpus_here;
}

/*
 * What the moves of `u` have in common wherever it may go; u->rq is locked. Reads load and rq of
 * the unit, and what recent_load reads; writes nothing.
 */
struct worth worth_of(const struct sched *s, const struct unit *u, ns_t now)
{
    return (struct worth){
        .s = s,
        .u = u,
        .now = now,
        .here = recent_load(s, u->rq, now),
        .own = load_recent(&u->load, 1, now, s->params.load_window_shift),
    };
}

/*
 * The unit has a thread to run on in its runqueue. Is `to` better, where a whole `core` is idle or
 * a thread? Reads moved_at, soft_cpus and soft_reach of the unit, cores, and what
 * unit_runs_briefly, recent_load, remote_part and is_fuller read; writes nothing.
 */
bool worth_moving(const struct worth *w, const struct runq *to, bool core)
{
    const struct unit *u = w->u;
    const struct runq *from = u->rq;
    uint64_t step = w->own;
    bool homewards = !u->soft_cpus && prefers(u, to);
    uint64_t there;

    if (homewards && w->now >= u->moved_at + BIT(LOAD_RECENT_SHIFT))
        return true;
    if (!homewards && unit_runs_briefly(w->s, u))
        return false;
    there = recent_load(w->s, to, w->now);
    if ((homewards || (core && (u->soft_reach || w->here > cores_of(from)))) &&
        there + w->own <= cores_of(to))
        return true;
    if (homewards)
        step -= MIN(step, remote_part(w->s, from, to, w->own));
    else if (!prefers(u, to))
        step += remote_part(w->s, from, to, w->own);
    return is_fuller(from, w->here, to, there, step);
}

/*
 * Away from home for as long as the averages look back, the unit has to wait wherever it is. May it
 * wait in `to`, which it prefers? Reads moved_at, and loads and online of both; writes nothing.
 */
bool worth_returning(const struct worth *w, const struct runq *to)
{
    const struct runq *from = w->u->rq;

    return w->now >= w->u->moved_at + BIT(LOAD_RECENT_SHIFT) &&
           recent_load(w->s, to, w->now) * bits_count(atomic_get(&from->online)) <=
               w->here * bits_count(atomic_get(&to->online));
}

/*
 * `u` would have to wait in u->rq. Is an idle core of `to` better? Not on another node for one that
 * runs briefly: it will have had its turn before its caches are there. Reads what unit_runs_briefly
 * reads; writes nothing.
 */
bool worth_waking(const struct sched *s, const struct unit *u, const struct runq *to)
{
    return u->rq->node == to->node || !unit_runs_briefly(s, u);
}
