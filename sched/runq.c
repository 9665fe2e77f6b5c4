/*
 * Pairs of locks, and the machine-wide hints.
 *
 * Two runqueues are locked lower id first by the one path that may wait for the second
 * (evacuate.c); everybody else tries and does without.
 */
#include "sched/runq.h"

/* Takes both locks. Reads and writes nothing else. */
void runq_lock_pair(struct runq *a, struct runq *b)
{
    spin_lock(a->id < b->id ? &a->lock : &b->lock);
    spin_lock_nested(a->id < b->id ? &b->lock : &a->lock);
}

/*
 * Sequentially consistent: whoever queues a unit sets HINT_WAITING and then looks for idle CPUs,
 * whoever goes idle sets HINT_IDLE and then looks for waiting units, so one of the two sees the
 * other. Reads nothing; writes the runqueue's bit of one hint.
 */
void runq_hint_change(struct sched *s, const struct runq *rq, enum runq_hint hint, bool on)
{
    uint64_t *word = &s->hints[hint][rq->id / 64];

    if (on)
        atomic_fetch_or(word, runq_hint_bit(rq));
    else
        atomic_fetch_and(word, ~runq_hint_bit(rq));
}
