/*
 * Locks, hints and folds of runqueues.
 *
 * A unit's runqueue is found by reading unit.rq without a lock, locking what it says and looking
 * again: rq changes only under the lock of the runqueue it leaves. A retry means that somebody else
 * moved the unit, so the loop ends when the moving does.
 */
#include "sched/runq.h"

struct runq *runq_lock_unit(struct unit *u)
{
    for (;;) {
        /* Relaxed: the second look, ordered by the lock's acquire, is the one that counts. */
        struct runq *rq = atomic_get(&u->rq);

        spin_lock(&rq->lock);
        if (rq == atomic_get(&u->rq))
            return rq;
        spin_unlock(&rq->lock);
    }
}

/* The unit may have moved since it was locked: its runqueue then and now are both the caller's. */
void runq_unlock_unit(struct unit *u)
{
    spin_unlock(&atomic_get(&u->rq)->lock);
}

void runq_lock_pair(struct runq *a, struct runq *b)
{
    spin_lock(a->id < b->id ? &a->lock : &b->lock);
    spin_lock_nested(a->id < b->id ? &b->lock : &a->lock);
}

/*
 * Sequentially consistent: whoever queues a unit sets HINT_WAITING and then looks for idle CPUs,
 * whoever goes idle sets HINT_IDLE and then looks for waiting units, so one of the two sees the
 * other.
 */
void runq_hint_set(struct sched *s, const struct runq *rq, enum runq_hint hint, bool on)
{
    uint64_t *word = &s->hints[hint][rq->id / 64];
    uint64_t bit = runq_fold(rq->id);

    if (!!(atomic_get(word) & bit) == on)
        return;
    if (on)
        atomic_fetch_or(word, bit);
    else
        atomic_fetch_and(word, ~bit);
}
