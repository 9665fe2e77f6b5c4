/*
 * Membership: which units belong to a runqueue, asleep ones included, and moving one to another.
 *
 * Members stand in a tree by weight, so the heaviest weight, which scales every burn, is known
 * after any change in O(log n). A move carries credit and load along: without the load, the
 * averages of both runqueues would lag a whole window and the same imbalance would be mended again
 * and again.
 */
#include "sched/runq.h"

/* Reads weight; writes nothing. */
static int weight_compare(const struct unit *a, const struct unit *b)
{
    return a->weight > b->weight ? -1 : 1;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
RB_PROTOTYPE_INTERNAL(unit_weights, unit, by_weight, weight_compare, static)
RB_GENERATE_INTERNAL(unit_weights, unit, by_weight, weight_compare, static)
#pragma GCC diagnostic pop

/* The heaviest, or NULL. Reads members; writes nothing. */
struct unit *members_first(const struct runq *rq)
{
    struct unit *u = RB_ROOT(&rq->members);

    while (u && RB_LEFT(u, by_weight))
        u = RB_LEFT(u, by_weight);
    return u;
}

/* The next lighter one, or NULL. Reads members; writes nothing. */
struct unit *members_next(struct unit *u)
{
    return unit_weights_RB_NEXT(u);
}

/* Reads members and weight; writes max_weight and max_recip. */
static void heaviest_update(struct runq *rq)
{
    const struct unit *first = members_first(rq);
    uint32_t weight = first ? first->weight : WEIGHT_MIN;

    if (weight == rq->max_weight)
        return;
    rq->max_weight = weight;
    rq->max_recip = weight_reciprocal(weight);
}

/*
 * Into the books of `rq`; credit, load and masks are the caller's. Reads weight; writes members,
 * and rq of the unit.
 */
void members_join(struct runq *rq, struct unit *u)
{
    unit_weights_RB_INSERT(&rq->members, u);
    atomic_set(&rq->nr_members, rq->nr_members + 1);
    heaviest_update(rq);
    /* Relaxed: readers lock what they find and look again (runq_lock_unit). */
    atomic_set(&u->rq, rq);
}

/* Reads weight; writes members. rq of the unit is left as it was. */
void members_leave(struct runq *rq, struct unit *u)
{
    unit_weights_RB_REMOVE(&rq->members, u);
    atomic_set(&rq->nr_members, rq->nr_members - 1);
    heaviest_update(rq);
}

/* Reads members; writes weight, weight_recip, burn_rest and members. */
void members_set_weight(struct runq *rq, struct unit *u, uint32_t weight)
{
    unit_weights_RB_REMOVE(&rq->members, u);
    u->weight = weight;
    u->weight_recip = weight_reciprocal(weight);
    u->burn_rest = 0;
    unit_weights_RB_INSERT(&rq->members, u);
    heaviest_update(rq);
}

/* Of an average: reads and writes both sides. */
static void share_move(uint64_t *from, uint64_t *to, uint64_t share)
{
    share = MIN(share, *from);
    atomic_set(from, *from - share);
    atomic_set(to, *to + share);
}

/*
 * Both locks held; `u` is in no queue, in no slot and on no CPU. Reads active, credit, masks_at,
 * load_window_shift, and what affinity_local reads; reads and writes the unit's load, and load and
 * nr_active of both runqueues; writes their members, and rq, key, order, moved_at, run_cpus and
 * soft_cpus of the unit; masks_again.
 */
void members_move(struct sched *s, struct unit *u, struct runq *to, ns_t now)
{
    struct runq *from = u->rq;
    int64_t credit_ns = credit_of(s, from, u);
    uint32_t shift = s->params.load_window_shift;

    load_update(&u->load, u->active, now, shift);
    load_update(&from->load, from->nr_active, now, shift);
    load_update(&to->load, to->nr_active, now, shift);
    share_move(&from->load.avg, &to->load.avg, u->load.avg);
    share_move(&from->load.recent, &to->load.recent, u->load.recent);
    if (u->active) {
        atomic_set(&from->nr_active, from->nr_active - 1);
        atomic_set(&to->nr_active, to->nr_active + 1);
    }
    if (u->masks_at != atomic_get(&s->masks_at))
        atomic_set(&s->masks_again, true); /* refresh_all may be past `to` already */
    members_leave(from, u);
    members_join(to, u);
    u->moved_at = now;
    credit_set(to, u, credit_ns);
    u->order = u->key;
    affinity_local(s, to, u, &u->run_cpus, &u->soft_cpus);
    sched_host_trace(u->cpu, TRACE_SCHED_MIGRATE, unit_trace_id(u), to->id);
}
