/*
 * Affinity: from the caller's machine-wide masks to the words of one runqueue.
 *
 * Hard affinity that no online CPU satisfies counts as "every CPU": a unit is never lost because
 * its CPUs went away, and gets its affinity back when one of them returns. Soft affinity that
 * covers all of hard, or none of it, is no preference.
 */
#include "sched/runq.h"

/* Reads hard_all and hard; writes nothing. */
bool affinity_allows(const struct unit *u, uint32_t cpu)
{
    return u->hard_all || cpumask_has(u->hard, cpu);
}

/* Reads hard_all, hard, soft_none and soft; writes nothing. */
bool affinity_prefers(const struct unit *u, uint32_t cpu)
{
    return affinity_allows(u, cpu) && (u->soft_none || cpumask_has(u->soft, cpu));
}

/* The local bits of the CPUs in `mask`. Reads cpus, cpu_of and in_a_row; writes nothing. */
static uint64_t local_bits(const struct sched *s, const struct runq *rq, struct cpumask mask)
{
    uint32_t word = rq->cpu_of[0] / 64, shift = rq->cpu_of[0] % 64;
    uint64_t bits = 0;

    if (rq->in_a_row) {
        bits = mask.words[word] >> shift;
        if (shift && word + 1 < mask.nwords)
            bits |= mask.words[word + 1] << (64 - shift);
        return bits & rq->cpus;
    }
    runq_for_each_bit (bit, rq->cpus)
        if (cpumask_has(mask, runq_cpu(s, rq, bit)->cpu))
            bits |= bit;
    return bits;
}

/*
 * Local masks of `u` if it were in `rq`, whose lock it does not need: allowed CPUs, and the
 * preferred ones of them. Reads hard_all, hard, soft_none and soft of `u`; writes nothing else.
 */
void affinity_local(const struct sched *s, const struct runq *rq, const struct unit *u,
                    uint64_t *hard, uint64_t *soft)
{
    *hard = u->hard_all ? rq->cpus : local_bits(s, rq, u->hard);
    *soft = u->soft_none ? *hard : local_bits(s, rq, u->soft) & *hard;
}

struct summary {
    bool hard_all;    /* every CPU is in hard */
    bool hard_online; /* an online CPU is in hard */
    bool soft_some;   /* a CPU of hard is in soft */
    bool soft_all;    /* every CPU of hard is in soft */
    uint64_t reach, soft_reach;
};

/*
 * What the masks of `u` come to, where only CPUs that are online are within reach: others would
 * lead searches to units that cannot come; `hard_all`: as if hard affinity excluded nothing. Reads
 * hard and soft of `u`, cpus, online and fold of every runqueue, a glance; writes nothing.
 */
static struct summary summarize(const struct sched *s, const struct unit *u, bool hard_all)
{
    struct summary sum = {.hard_all = true, .soft_all = true};

    for (uint32_t id = 0; id < s->nrunqs; id++) {
        const struct runq *rq = &s->runqs[id];
        /* Relaxed glance: a CPU that comes or goes refreshes every unit afterwards. */
        uint64_t online = atomic_get(&rq->online);
        uint64_t hard = hard_all ? rq->cpus : local_bits(s, rq, u->hard);
        uint64_t soft = u->soft.words ? local_bits(s, rq, u->soft) & hard : 0;

        sum.hard_all = sum.hard_all && hard == rq->cpus;
        sum.soft_all = sum.soft_all && soft == hard;
        sum.soft_some = sum.soft_some || soft;
        sum.hard_online = sum.hard_online || (hard & online);
        sum.reach |= hard & online ? rq->fold : 0;
        sum.soft_reach |= soft & online ? rq->fold : 0;
    }
    return sum;
}

/*
 * After a change of the masks, of u->rq, or of the online CPUs. Reads hard and soft, what summarize
 * reads of the CPUs, and soft_affinity; writes every derived field: hard_all, soft_none, reach,
 * soft_reach, run_cpus and soft_cpus.
 */
void affinity_refresh(const struct sched *s, struct unit *u)
{
    uint32_t masks_at = atomic_get(&s->masks_at);
    struct summary sum = summarize(s, u, !u->hard.words);

    if (!sum.hard_online)
        sum = summarize(s, u, true);
    u->masks_at = masks_at;
    u->hard_all = sum.hard_all;
    u->soft_none = !s->params.soft_affinity || !sum.soft_some || sum.soft_all;
    u->reach = sum.reach;
    u->soft_reach = u->soft_none ? 0 : sum.soft_reach;
    affinity_local(s, u->rq, u, &u->run_cpus, &u->soft_cpus);
}
