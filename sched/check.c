/*
 * Every invariant of the structures, recomputed from scratch and asserted.
 *
 * Takes one runqueue's lock at a time, so it may run beside a working scheduler, but not while a
 * CPU goes on- or offline; after each simulated event it sees the whole at rest.
 */
#include "sched/runq.h"

/*
 * Reads the idle masks, online and cores of the runqueue, cur and online of its CPUs, and what
 * core_check reads; writes nothing.
 */
static void check_masks(const struct sched *s, const struct runq *rq)
{
    uint64_t online = 0, idle = 0;
    uint32_t cores = 0;

    runq_for_each_bit (bit, rq->cpus) {
        const struct sched_cpu *c = runq_cpu(s, rq, bit);
        struct core_state core = idle_core_state(rq, c);

        ASSERT(c->bit == bit && c->rq == rq && (c->siblings & bit) && !(c->siblings & ~rq->cpus));
        online |= c->online ? bit : 0;
        cores += c->online && !(c->siblings & rq->online & (bit - 1));
        idle |= c->online && !c->cur ? bit : 0;
        ASSERT(!!(rq->smt_idle & bit) == (core.idle && c->online));
        ASSERT(!!(rq->packed & bit) == (core.packed && c->online));
        ASSERT(!!(rq->crowded & bit) == (core.crowded && c->online));
        if (rq->whole_cores)
            core_check(s, c);
    }
    ASSERT(rq->online == online && rq->idle == idle && !(rq->tickled & ~rq->cpus));
    ASSERT(rq->cores == cores);
}

/* Reads a hint; writes nothing. */
static bool hint_get(const struct sched *s, const struct runq *rq, enum runq_hint hint)
{
    return atomic_get(&s->hints[hint][rq->id / 64]) & runq_hint_bit(rq);
}

/* Reads the hints, the idle masks and nr_queued; writes nothing. */
static void check_hints(const struct sched *s, const struct runq *rq)
{
    ASSERT(hint_get(s, rq, HINT_IDLE) == ((rq->idle & ~rq->tickled) != 0));
    ASSERT(hint_get(s, rq, HINT_CORE) == (rq->smt_idle != 0));
    ASSERT(hint_get(s, rq, HINT_PACKED) == (rq->packed != 0));
    ASSERT(hint_get(s, rq, HINT_WAITING) || !rq->nr_queued);
}

/*
 * Height-balanced trees: the recursion is at most 2 log2(n) deep. Returns the number of units.
 * Reads the queue, and run_cpus, reach, last_bit, order and state of its units; writes nothing.
 */
static uint32_t check_subtree(const struct runq *rq, const struct unit *u)
{
    const struct unit *left, *right;
    uint64_t cpus, reach;
    uint32_t count = 1;

    if (!u)
        return 0;
    left = RB_LEFT(u, queue);
    right = RB_RIGHT(u, queue);
    cpus = u->run_cpus | (left ? left->below_cpus : 0) | (right ? right->below_cpus : 0);
    reach = u->reach | (left ? left->below_reach : 0) | (right ? right->below_reach : 0);
    ASSERT(u->below_cpus == cpus && u->below_reach == reach);
    ASSERT(u->below_last ==
           (u->last_bit | (left ? left->below_last : 0) | (right ? right->below_last : 0)));
    ASSERT(!left || (int64_t)(left->order - u->order) >= 0);
    ASSERT(!right || (int64_t)(u->order - right->order) >= 0);
    ASSERT(u->state == UNIT_QUEUED && u->rq == rq);
    count += check_subtree(rq, left);
    count += check_subtree(rq, right);
    return count;
}

/*
 * A parked unit is in line, and somebody will come. Takes the cap's lock. Reads grant_ns of the
 * unit, and the pool; writes nothing.
 */
static void check_parked(const struct unit *u)
{
    struct cap *cap = u->cap;
    const struct unit *other;
    bool found = false;

    ASSERT(cap && u->grant_ns <= 0);
    spin_lock(&cap->lock);
    TAILQ_FOREACH (other, &cap->parked, parked)
        found = found || other == u;
    ASSERT(found && cap->armed && cap->budget_ns <= (int64_t)cap->quota_ns);
    spin_unlock(&cap->lock);
}

/*
 * As check_subtree, for the tree by VM. Reads run_cpus, vm_cpus, order and state of its units;
 * writes nothing.
 */
static uint32_t check_vm_subtree(const struct unit *u)
{
    const struct unit *left, *right;
    uint32_t count = 1;

    if (!u)
        return 0;
    left = RB_LEFT(u, by_vm);
    right = RB_RIGHT(u, by_vm);
    ASSERT(u->vm_cpus == (u->run_cpus | (left ? left->vm_cpus : 0) | (right ? right->vm_cpus : 0)));
    ASSERT(!left || left->vm_id < u->vm_id ||
           (left->vm_id == u->vm_id && (int64_t)(left->order - u->order) >= 0));
    ASSERT(!right || right->vm_id > u->vm_id ||
           (right->vm_id == u->vm_id && (int64_t)(u->order - right->order) >= 0));
    ASSERT(u->state == UNIT_QUEUED);
    count += check_vm_subtree(left);
    count += check_vm_subtree(right);
    return count;
}

/*
 * The units of each VM stand together, best first, and are found by their CPUs. Reads vms, what
 * check_vm_subtree reads, and nr_queued; writes nothing.
 */
static void check_vms(const struct runq *rq)
{
    ASSERT(check_vm_subtree(RB_ROOT(&rq->vms)) == rq->nr_queued);
}

/*
 * Reads the unit, the idle masks and online of its runqueue, the slot and cur of the CPU it names,
 * and its pool; writes nothing.
 */
static void check_state(const struct sched *s, const struct runq *rq, const struct unit *u)
{
    ASSERT(u->cap ? u->grant_ns != GRANT_ENDLESS : u->grant_ns > 0);
    switch (u->state) {
    case UNIT_QUEUED:
        ASSERT(u->grant_ns > 0);
        ASSERT(!u->on_cpu && u->wants && !u->paused && u->active && (u->run_cpus & rq->online));
        ASSERT(u->last_bit == (s->cpus[u->cpu].rq == rq ? s->cpus[u->cpu].bit : 0));
        /* No idle CPU that it may use of its own runqueue may sit there while it waits. */
        ASSERT(!idle_for(s, rq, u, u->run_cpus));
        break;
    case UNIT_RESERVED:
        ASSERT(u->grant_ns > 0);
        ASSERT(!u->on_cpu && u->wants && !u->paused && u->active);
        ASSERT(s->cpus[u->target].reserved == u && s->cpus[u->target].rq == rq);
        ASSERT(rq->tickled & s->cpus[u->target].bit);
        break;
    case UNIT_RUNNING:
        ASSERT(u->on_cpu && u->active && s->cpus[u->cpu].cur == u && s->cpus[u->cpu].rq == rq);
        break;
    case UNIT_PARKED:
        ASSERT(!u->on_cpu && u->wants && !u->paused && !u->active);
        check_parked(u);
        break;
    case UNIT_LEAVING:
        ASSERT(u->active == (u->wants && !u->paused));
        break;
    default:
        ASSERT(!u->on_cpu && !u->active && !(u->wants && !u->paused));
    }
}

/* Reads what check_state and affinity_local read, credit, burn_rest and weight; writes nothing. */
static void check_unit(const struct sched *s, const struct runq *rq, const struct unit *u)
{
    int64_t credit_ns = credit_of(s, rq, u);
    uint64_t hard, soft;

    ASSERT(u->rq == rq);
    ASSERT(credit_ns >= -(int64_t)s->params.credit_init_ns);
    ASSERT(credit_ns <= credit_ceiling(s));
    ASSERT(u->burn_rest < u->weight);
    affinity_local(s, rq, u, &hard, &soft);
    ASSERT(u->run_cpus == hard && u->soft_cpus == soft);
    check_state(s, rq, u);
}

/* Reads the runqueue, its CPUs, its members and its hints; writes nothing. */
static void check_runq(const struct sched *s, struct runq *rq)
{
    uint32_t members = 0, active = 0, queued = 0, slots = 0, reserved = 0, heaviest = WEIGHT_MIN;

    check_masks(s, rq);
    if (rq->whole_cores)
        check_vms(rq);
    check_hints(s, rq);
    for (struct unit *u = members_first(rq); u; u = members_next(u)) {
        check_unit(s, rq, u);
        members++;
        active += u->active;
        queued += u->state == UNIT_QUEUED;
        reserved += u->state == UNIT_RESERVED;
        heaviest = MAX(heaviest, u->weight);
    }
    runq_for_each_bit (bit, rq->cpus)
        slots += runq_cpu(s, rq, bit)->reserved != NULL;
    ASSERT(members == rq->nr_members && active == rq->nr_active && heaviest == rq->max_weight);
    ASSERT(queued == rq->nr_queued && queued == check_subtree(rq, RB_ROOT(&rq->queue)));
    ASSERT(reserved == slots);
    ASSERT(rq->reach == (RB_ROOT(&rq->queue) ? RB_ROOT(&rq->queue)->below_reach : 0));
}

/* Takes each runqueue's lock in turn. Reads everything; writes nothing. */
void sched_check(const struct sched *s)
{
    for (uint32_t id = 0; id < s->nrunqs; id++) {
        struct runq *rq = &s->runqs[id];

        spin_lock(&rq->lock);
        check_runq(s, rq);
        spin_unlock(&rq->lock);
    }
}

/*
 * What a unit's masks came to is what they come to now: no CPU came or went without the units being
 * told. Reads what affinity_refresh reads, and writes of the unit; writes nothing.
 */
static void check_affinity(const struct sched *s, const struct unit *u)
{
    struct unit anew = *u;

    affinity_refresh(s, &anew);
    ASSERT(u->hard_all == anew.hard_all && u->soft_none == anew.soft_none);
    ASSERT(u->reach == anew.reach && u->soft_reach == anew.soft_reach);
}

/*
 * Takes each runqueue's lock in turn. Reads what check_affinity reads of every unit; writes
 * nothing.
 */
void sched_check_affinity(const struct sched *s)
{
    for (uint32_t id = 0; id < s->nrunqs; id++) {
        struct runq *rq = &s->runqs[id];

        spin_lock(&rq->lock);
        for (struct unit *u = members_first(rq); u; u = members_next(u))
            check_affinity(s, u);
        spin_unlock(&rq->lock);
    }
}
