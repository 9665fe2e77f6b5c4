/*
 * Load averages: how many units of a runqueue, and which share of one unit, were runnable lately.
 *
 * avg moves towards what is there now by elapsed / window, and equals it after a whole window. 32
 * bits of fraction and a 128-bit product keep a microsecond's run from being lost to rounding. An
 * average is brought up to date when its input changes and whenever it is read, so that of a unit
 * that runs for seconds on end is right, too.
 *
 * `recent` is the same over at most 2^LOAD_RECENT_SHIFT ns, an eighth of the default window:
 * balancing may wait for what lasts, but where a unit wakes has to be right within a tenth of a
 * second of a change. That is still many times what a burst and its wait for a disk take (a few
 * ms), so it does not follow what happens to be idle just now.
 */
#include "sched/runq.h"

/* Pure. */
static uint64_t decayed(uint64_t avg, uint32_t nr, ns_t elapsed, uint32_t window_shift)
{
    uint64_t target = (uint64_t)nr << LOAD_FRAC_BITS;

    if (elapsed >> window_shift)
        return target;
    if (target >= avg)
        return avg + (uint64_t)(((unsigned __int128)(target - avg) * elapsed) >> window_shift);
    return avg - (uint64_t)(((unsigned __int128)(avg - target) * elapsed) >> window_shift);
}

/* Reads at; writes nothing. */
static ns_t elapsed_since(const struct load *l, ns_t now)
{
    ns_t at = atomic_get(&l->at);

    return now > at ? now - at : 0;
}

/* Reads avg and at; writes nothing. */
uint64_t load_at(const struct load *l, uint32_t nr, ns_t now, uint32_t window_shift)
{
    return decayed(atomic_get(&l->avg), nr, elapsed_since(l, now), window_shift);
}

/* Over the shorter window. Reads recent and at; writes nothing. */
uint64_t load_recent(const struct load *l, uint32_t nr, ns_t now, uint32_t window_shift)
{
    return decayed(atomic_get(&l->recent), nr, elapsed_since(l, now),
                   MIN(window_shift, LOAD_RECENT_SHIFT));
}

/* Reads and writes avg, recent and at. */
void load_update(struct load *l, uint32_t nr, ns_t now, uint32_t window_shift)
{
    if (now <= l->at)
        return;
    atomic_set(&l->avg, load_at(l, nr, now, window_shift));
    atomic_set(&l->recent, load_recent(l, nr, now, window_shift));
    atomic_set(&l->at, now);
}

/*
 * Decayed up to `now`; right under the lock, a good guess without it. Reads load, nr_active and
 * load_window_shift; writes nothing.
 */
uint64_t load_of_runq(const struct sched *s, const struct runq *rq, ns_t now)
{
    return load_at(&rq->load, atomic_get(&rq->nr_active), now, s->params.load_window_shift);
}

/*
 * The unit starts or stops counting in its runqueue's load, whose lock is held. Reads state and
 * load_window_shift; reads and writes load and active of the unit, load and nr_active of the
 * runqueue; writes since, and wait_ns or capped_ns.
 */
void load_set_active(const struct sched *s, struct unit *u, bool active, ns_t now)
{
    struct runq *rq = u->rq;

    if (u->active == active)
        return;
    load_account_wait(u, now);
    load_update(&rq->load, rq->nr_active, now, s->params.load_window_shift);
    load_update(&u->load, u->active, now, s->params.load_window_shift);
    u->active = active;
    atomic_set(&rq->nr_active, rq->nr_active + (active ? 1 : -1u));
}
