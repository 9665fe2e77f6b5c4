/*
 * Locks that are taken: what other CPUs do inside the scheduler takes no time here, so nobody would
 * ever find a lock of theirs held.
 *
 * `contention` is the share of other runqueues that a pick or a wake-up finds locked: by nobody in
 * particular, and until it is over. sched/ only tries those locks; what it does not get done must
 * be done later, and must not be waited for. (A run would not end.)
 */
#include "sched/runq.h"
#include "tools/numen-sim/sim.h"

void contention_begin(struct sim *sim, const struct runq *own)
{
    uint64_t share = sim->scenario->machine.contention;

    for (uint32_t id = 0; share && id < sim->s->nrunqs; id++) {
        struct runq *rq = &sim->s->runqs[id];

        if (rq == own || random_below(&sim->random, FRACTION_ONE) >= share)
            continue;
        spin_wait_turn(&rq->lock);
        sim->taken[sim->ntaken++] = rq;
    }
}

void contention_end(struct sim *sim)
{
    while (sim->ntaken) {
        struct spinlock *lock = &sim->taken[--sim->ntaken]->lock;

        __atomic_store_n(&lock->owner, (uint16_t)(lock->owner + 1), __ATOMIC_RELEASE);
    }
}

/* A unit whose runqueue has no CPU left for it is the one that waits for another's lock. */
void contention_wake(struct sim *sim, struct unit *u)
{
    const struct runq *own = u->rq;

    if (u->run_cpus & own->online)
        contention_begin(sim, own);
    sched_wake(sim->s, u, sim->now);
    contention_end(sim);
}
