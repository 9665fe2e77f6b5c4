/*
 * A unit whose runqueue has no CPU left for it: another must take it, whatever the locks.
 *
 * This is the one place that waits for a second runqueue's lock. It drops the first and takes both
 * in order; meanwhile the unit is LEAVING, so others set its flags and nobody else moves it.
 */
#include "sched/runq.h"

/*
 * A glance without the lock of `rq`. Reads its online, and what affinity_local reads; writes
 * nothing.
 */
static bool has_online(const struct sched *s, const struct runq *rq, const struct unit *u,
                       bool soft_only)
{
    uint64_t hard, soft;

    affinity_local(s, rq, u, &hard, &soft);
    return (soft_only ? soft : hard) & atomic_get(&rq->online);
}

/*
 * Load per CPU, and a quarter for each member, since those asleep may wake there: 32.32. A
 * glance without the lock. Reads nr_members, online, and what load_of_runq reads; writes nothing.
 */
static uint64_t crowd(const struct sched *s, const struct runq *rq, ns_t now)
{
    uint64_t quarters = (uint64_t)atomic_get(&rq->nr_members) << (LOAD_FRAC_BITS - 2);
    uint32_t cpus = bits_count(atomic_get(&rq->online));

    return (load_of_runq(s, rq, now) + quarters) / MAX(cpus, 1u);
}

/*
 * Reads what has_online and crowd read of every runqueue, no lock of theirs held; writes nothing.
 */
static struct runq *least_crowded(const struct sched *s, const struct unit *u, bool soft_only,
                                  ns_t now)
{
    struct runq *best = NULL;
    uint64_t best_crowd = 0;

    for (uint32_t id = 0; id < s->nrunqs; id++) {
        struct runq *rq = &s->runqs[id];
        uint64_t its_crowd;

        if (!has_online(s, rq, u, soft_only))
            continue;
        its_crowd = crowd(s, rq, now);
        if (!best || its_crowd < best_crowd) {
            best = rq;
            best_crowd = its_crowd;
        }
    }
    return best;
}

/*
 * The least crowded runqueue with a CPU online for `u`: preferred ones first. NULL when none is.
 * Reads what least_crowded reads; writes nothing.
 */
struct runq *evacuate_choose(const struct sched *s, const struct unit *u, ns_t now)
{
    struct runq *rq = least_crowded(s, u, true, now);

    return rq ? rq : least_crowded(s, u, false, now);
}

/*
 * Called and returns like place_unit. State LEAVING afterwards: place it; OFF: it went to sleep or
 * was paused in the meantime. A turn of the loop means that a CPU went offline between two looks.
 * Reads wants, paused, and what evacuate_choose reads; writes what affinity_refresh and
 * members_move write, and of one that is OFF its state, grant_ns, pool, and what load_set_active
 * writes.
 */
void evacuate_unit(struct sched *s, struct unit *u, ns_t now)
{
    struct runq *from = u->rq;
    struct runq *to;

    for (;;) {
        to = evacuate_choose(s, u, now);
        if (!to) {
            affinity_refresh(s, u);
            to = evacuate_choose(s, u, now);
            ASSERT(to);
        }
        if (to == from)
            break;
        spin_unlock(&from->lock);
        runq_lock_pair(from, to);
        if (has_online(s, to, u, false))
            break;
        spin_unlock(&to->lock);
    }
    if (to != from) {
        members_move(s, u, to, now);
        spin_unlock(&from->lock);
    }
    if (!u->wants || u->paused) {
        load_set_active(s, u, false, now);
        atomic_set(&u->state, UNIT_OFF);
        if (u->cap)
            (void)cap_give_back(u); /* parked ones: at the next refill */
    }
}
