/*
 * A unit's life and its settings: insert, remove, pause, weight, affinity.
 *
 * A running unit is never touched: its CPU is kicked, and its next pick finds the unit paused or no
 * longer allowed there.
 */
#include <string.h>

#include "sched/runq.h"

/* Reads nothing but *p; writes every field. The unit belongs to no runqueue yet. */
void unit_init(struct unit *u, const struct unit_params *p)
{
    ASSERT(p->weight >= WEIGHT_MIN && p->weight <= WEIGHT_MAX);
    memset(u, 0, sizeof(*u));
    u->weight = p->weight;
    u->weight_recip = weight_reciprocal(p->weight);
    u->hard = p->hard;
    u->soft = p->soft;
    u->owner = p->owner;
    u->vm_id = p->vm_id;
    u->index = p->index;
    u->trace_id = ((uint64_t)p->vm_id << 32) | p->index;
    u->target = CPUMASK_NONE;
    u->cap = p->cap;
    u->grant_ns = p->cap ? 0 : GRANT_ENDLESS;
    u->wanted_by = CPUMASK_NONE;
}

/*
 * Any CPU of the unit's runqueue, for u->cpu before it ever ran: preferred and online if possible.
 * Reads run_cpus, soft_cpus and online; writes nothing.
 */
static uint32_t first_cpu(const struct sched *s, const struct unit *u)
{
    const struct runq *rq = u->rq;
    uint64_t online = u->run_cpus & rq->online;
    uint64_t set = u->soft_cpus & online ? u->soft_cpus & online : online;

    return set ? runq_cpu(s, rq, set & -set)->cpu : rq->cpu_of[0];
}

/*
 * Takes the lock of the runqueue it chooses. Reads ncpus_online, credit_init_ns, and what
 * evacuate_choose reads of every runqueue; writes the chosen one's members, and of the unit what
 * members_join and affinity_refresh write, key, since, load, burst_ns, moved_at and cpu.
 */
void sched_unit_insert(struct sched *s, struct unit *u, ns_t now)
{
    struct runq *rq;

    ASSERT(s->ncpus_online > 0 && !u->rq);
    u->rq = &s->runqs[0]; /* so that masks can be worked out; replaced below */
    affinity_refresh(s, u);
    rq = evacuate_choose(s, u, now);
    ASSERT(rq);
    spin_lock(&rq->lock);
    members_join(rq, u);
    affinity_refresh(s, u);
    credit_set(rq, u, (int64_t)s->params.credit_init_ns);
    u->since = now;
    u->load = (struct load){.at = now};
    u->burst_ns = s->params.credit_init_ns;
    u->moved_at = now;
    u->cpu = first_cpu(s, u);
    spin_unlock(&rq->lock);
}

/*
 * Takes the runqueue's lock. Reads state and on_cpu; writes rq, members, and what load_set_active
 * writes.
 */
void sched_unit_remove(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY
{
    struct runq *rq = runq_lock_unit(u);

    ASSERT(u->state == UNIT_OFF && !u->on_cpu);
    load_set_active(s, u, false, now);
    members_leave(rq, u);
    u->rq = NULL;
    spin_unlock(&rq->lock);
}

/*
 * Takes the runqueue's lock. Reads state; writes paused. Of a unit that runs only the tickle of its
 * CPU follows; of another what load_set_active writes, its state, the queue or slot it was in, its
 * grant_ns and pool; of one that was parked what cap_unpark writes.
 */
void sched_unit_pause(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY
{
    runq_lock_unit(u);
    u->paused = true;
    if (u->state == UNIT_RUNNING) {
        place_kick(s, &s->cpus[u->cpu]);
    } else {
        load_set_active(s, u, false, now);
        if (unit_is_ready(u)) {
            place_withdraw(s, u);
            atomic_set(&u->state, UNIT_OFF);
            if (u->cap)
                (void)cap_give_back(u); /* parked ones: at the next refill */
        } else if (u->state == UNIT_PARKED) {
            cap_unpark(u, now);
            atomic_set(&u->state, UNIT_OFF);
        }
    }
    runq_unlock_unit(u);
}

/*
 * Takes the runqueue's lock. Reads wants and state; reads and writes paused; writes what
 * load_set_active or place_unit writes.
 */
void sched_unit_unpause(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY
{
    runq_lock_unit(u);
    if (u->paused) {
        u->paused = false;
        if (u->wants && u->state == UNIT_OFF)
            place_unit(s, u, now);
        else if (u->wants)
            load_set_active(s, u, true, now);
    }
    runq_unlock_unit(u);
}

/*
 * Takes the runqueue's lock. Reads state; writes weight, weight_recip, burn_rest, members, and of
 * one that runs what credit_charge writes.
 */
void sched_unit_set_weight(struct sched *s, struct unit *u, uint32_t weight,
                           ns_t now) NO_THREAD_SAFETY
{
    struct runq *rq = runq_lock_unit(u);

    ASSERT(weight >= WEIGHT_MIN && weight <= WEIGHT_MAX);
    if (u->state == UNIT_RUNNING)
        credit_charge(s, rq, u, now); /* what ran so far, ran at the old weight */
    members_set_weight(rq, u, weight);
    runq_unlock_unit(u);
}

/*
 * NULL words stand for every CPU; a unit that was given no words of its own cannot take others.
 * Reads `from`; writes `own`.
 */
static void mask_assign(struct cpumask own, struct cpumask from)
{
    ASSERT(own.words || !from.words);
    if (from.words)
        cpumask_copy(own, from);
    else if (own.words)
        memset(own.words, 0xff, own.nwords * sizeof(*own.words));
}

/* Reads run_cpus, and online of the CPU; writes nothing. */
static bool may_run_on(const struct sched *s, const struct unit *u, uint32_t cpu)
{
    const struct sched_cpu *c = &s->cpus[cpu];

    return c->rq == u->rq && (u->run_cpus & c->bit) && c->online;
}

/*
 * `u` runs and may have to leave, or had better. Deadlines know nothing of a change, and may be
 * never: who is away, or shares a core, looks for a better CPU, and an idle core of the runqueue
 * for who shares one. Reads affinity and cpu of the unit, smt_spread, packed, near, smt_idle and
 * what idle_choose reads; writes cursor, and what place_kick writes.
 */
static void affinity_look_again(struct sched *s, const struct unit *u)
{
    struct sched_cpu *c = &s->cpus[u->cpu];
    bool packed = s->params.smt_spread && (c->rq->packed & c->bit);
    struct sched_cpu *idle =
        packed ? idle_choose(s, c->rq, u, u->run_cpus & c->rq->smt_idle) : NULL;

    if (idle)
        place_kick(s, idle);
    if ((packed && (u->reach & c->rq->near)) || !may_run_on(s, u, u->cpu) ||
        unit_is_away(u, c->bit))
        place_kick(s, c);
}

/*
 * After a change of masks or online CPUs: the unit goes where it may run. Locks as place_unit.
 * Reads state, affinity, cpu and target of the unit, and online of that CPU; writes what
 * place_withdraw and place_unit write, or the tickle of the CPU it runs on.
 */
static void affinity_enforce(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY
{
    switch (u->state) {
    case UNIT_QUEUED:
        place_withdraw(s, u);
        place_unit(s, u, now);
        break;
    case UNIT_RESERVED:
        if (may_run_on(s, u, u->target))
            break;
        place_withdraw(s, u);
        place_unit(s, u, now);
        break;
    case UNIT_RUNNING:
        affinity_look_again(s, u);
        break;
    default:
        break; /* placed by whoever has it in hand, or at its next wake */
    }
}

/*
 * Takes the runqueue's lock. Reads state; writes hard, soft, and what affinity_refresh,
 * queue_refresh and affinity_enforce write.
 */
void sched_unit_set_affinity(struct sched *s, struct unit *u, struct cpumask hard,
                             struct cpumask soft, ns_t now) NO_THREAD_SAFETY
{
    runq_lock_unit(u);
    mask_assign(u->hard, hard);
    mask_assign(u->soft, soft);
    affinity_refresh(s, u);
    if (u->state == UNIT_QUEUED)
        queue_refresh(u->rq, u);
    affinity_enforce(s, u, now);
    runq_unlock_unit(u);
}

/* Takes the runqueue's lock. Reads run_ns, wait_ns, since, state and active; writes nothing. */
void unit_times(struct unit *u, ns_t now, uint64_t *run_ns, uint64_t *wait_ns) NO_THREAD_SAFETY
{
    ns_t more;

    runq_lock_unit(u);
    more = now > u->since ? now - u->since : 0;
    *run_ns = u->run_ns + (u->state == UNIT_RUNNING ? more : 0);
    *wait_ns = u->wait_ns + (u->active && u->state != UNIT_RUNNING ? more : 0);
    runq_unlock_unit(u);
}

/* Takes the runqueue's lock. Reads the unit's credit; writes nothing. */
int64_t sched_unit_credit(struct sched *s, struct unit *u) NO_THREAD_SAFETY
{
    struct runq *rq = runq_lock_unit(u);
    int64_t credit_ns = credit_of(s, rq, u);

    runq_unlock_unit(u);
    return credit_ns;
}
