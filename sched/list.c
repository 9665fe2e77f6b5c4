/*
 * Glances for the console: what listings show of a runqueue, and which CPUs and runqueues there
 * are.
 *
 * Decides nothing. Masks leave here by CPU number, not by local bit. What a listing shows of one
 * runqueue belongs together; of two, each is of its own moment.
 */
#include "sched/runq.h"

/* Reads params, without a lock; writes nothing. */
const struct sched_params *sched_params_of(const struct sched *s)
{
    return &s->params;
}

/* Reads nrunqs; writes nothing. */
uint32_t sched_runq_count(const struct sched *s)
{
    return s->nrunqs;
}

/* Reads ncpus, and rq of the CPU; writes nothing. */
uint32_t sched_cpu_runq(const struct sched *s, uint32_t cpu)
{
    return cpu < s->ncpus ? s->cpus[cpu].rq->id : RUNQ_NONE;
}

/* Reads cpu_of; writes only `out`. */
static void mask_global(const struct sched *s, const struct runq *rq, uint64_t local,
                        struct cpumask out)
{
    cpumask_zero(out);
    runq_for_each_bit (bit, local)
        cpumask_set(out, runq_cpu(s, rq, bit)->cpu);
}

/*
 * Takes the lock. Reads node, nr_members, nr_queued, max_weight, turns, online, idle, smt_idle, and
 * what load_of_runq reads; writes nothing.
 */
void sched_runq_info(struct sched *s, uint32_t runq, ns_t now, struct runq_info *info,
                     struct cpumask cpus, struct cpumask idle, struct cpumask smt_idle)
{
    struct runq *rq = &s->runqs[runq];

    spin_lock(&rq->lock);
    *info = (struct runq_info){
        .id = rq->id,
        .node = rq->node,
        .load = load_of_runq(s, rq, now),
        .units = rq->nr_members,
        .waiting = rq->nr_queued,
        .max_weight = rq->max_weight,
        .turns = rq->turns,
    };
    mask_global(s, rq, rq->online, cpus);
    mask_global(s, rq, rq->idle, idle);
    mask_global(s, rq, rq->smt_idle, smt_idle);
    spin_unlock(&rq->lock);
}

/* Takes the lock. Reads members and their state; writes nothing. */
void sched_runq_visit(struct sched *s, uint32_t runq,
                      void (*visit)(const struct unit *u, void *arg), void *arg)
{
    struct runq *rq = &s->runqs[runq];

    spin_lock(&rq->lock);
    for (struct unit *u = members_first(rq); u; u = members_next(u))
        if (u->state != UNIT_OFF)
            visit(u, arg);
    spin_unlock(&rq->lock);
}

/* Reads online, without a lock; writes nothing. */
bool sched_cpu_is_online(const struct sched *s, uint32_t cpu)
{
    return atomic_get(&s->cpus[cpu].online);
}
