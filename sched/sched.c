/*
 * Setting up an instance: memory, runqueues, who is near whom.
 *
 * One block of memory holds everything, in the order of `layout`; nothing is allocated later. Every
 * CPU has its runqueue from the start and counts as offline until sched_cpu_online.
 */
#include "sched/sched.h"

#include <string.h>

#include "hv/sort.h"
#include "sched/runq.h"

struct layout {
    size_t cpus, runqs, places, runq_of, scratch, hints, end;
};

static size_t after(size_t *at, size_t bytes)
{
    size_t start = *at;

    *at = ALIGN_UP(start + bytes, 64);
    return start;
}

static struct layout layout_of(uint32_t ncpus)
{
    size_t at = ALIGN_UP(sizeof(struct sched), 64);
    struct layout l;

    l.cpus = after(&at, ncpus * sizeof(struct sched_cpu));
    l.runqs = after(&at, ncpus * sizeof(struct runq));
    l.places = after(&at, ncpus * sizeof(struct cpu_place));
    l.runq_of = after(&at, ncpus * sizeof(uint32_t));
    l.scratch = after(&at, 2 * ncpus * sizeof(uint64_t));
    for (int i = 0; i < HINT_COUNT; i++)
        l.hints = after(&at, ALIGN_UP(cpumask_nwords(ncpus) * sizeof(uint64_t), 64));
    l.end = at;
    return l;
}

size_t sched_bytes(uint32_t ncpus)
{
    return layout_of(ncpus).end;
}

static void runq_init(struct runq *rq, uint32_t id)
{
    spin_init(&rq->lock, LOCK_RUNQ);
    rq->id = id;
    RB_INIT(&rq->queue);
    RB_INIT(&rq->members);
    rq->max_weight = WEIGHT_MIN;
    rq->max_recip = weight_reciprocal(WEIGHT_MIN);
}

/* Best asym_prio first, then by CPU number: bit 0 is the preferred CPU. */
static void runq_add_cpus(struct sched *s, uint32_t ncpus, const uint32_t *runq_of, uint64_t *keys)
{
    for (uint32_t cpu = 0; cpu < ncpus; cpu++) {
        uint64_t rank = (uint64_t)((int64_t)INT32_MAX - s->places[cpu].asym_prio);

        keys[cpu] = (rank << 12) | cpu;
    }
    sort_u64(keys, ncpus);
    for (uint32_t i = 0; i < ncpus; i++) {
        uint32_t cpu = (uint32_t)(keys[i] & BITS(11, 0));
        struct runq *rq = &s->runqs[runq_of[cpu]];

        ASSERT(rq->ncpus < RUNQ_CPUS_MAX);
        s->cpus[cpu] = (struct sched_cpu){
            .rq = rq,
            .bit = BIT(rq->ncpus),
            .cpu = cpu,
            .asym_class = s->places[cpu].asym_prio / (int32_t)CPUS_MAX,
            .place = &s->places[cpu],
        };
        rq->cpu_of[rq->ncpus++] = (uint16_t)cpu;
        rq->cpus |= s->cpus[cpu].bit;
    }
}

/* Siblings within the runqueue only: under arrangement `cpu` a CPU is its own core. */
static void siblings_find(struct sched *s, struct sched_cpu *c)
{
    runq_for_each_bit (bit, c->rq->cpus) {
        const struct sched_cpu *other = runq_cpu(s, c->rq, bit);

        if (cpu_place_siblings(other->place, c->place))
            c->siblings |= bit;
    }
}

/* runqs are in order of their lowest CPU's node; node_runqs[n] is the first of node n. */
static void nodes_find(struct sched *s)
{
    uint32_t id = 0;

    for (uint32_t node = 0; node <= s->nnodes; node++) {
        s->node_runqs[node] = id;
        while (id < s->nrunqs && node < s->nnodes && s->runqs[id].node == node)
            id++;
    }
    ASSERT(id == s->nrunqs);
}

static void distances_fill(struct sched *s, const uint8_t *distance)
{
    for (uint32_t a = 0; a < s->nnodes; a++) {
        uint64_t keys[NODES_MAX];

        for (uint32_t b = 0; b < s->nnodes; b++) {
            s->distance[a][b] = distance ? distance[a * s->nnodes + b] : a == b ? 10 : 20;
            keys[b] = a == b ? a : ((uint64_t)s->distance[a][b] + 1) << 32 | b;
        }
        sort_u64(keys, s->nnodes);
        for (uint32_t i = 0; i < s->nnodes; i++)
            s->near[a][i] = (uint8_t)keys[i];
    }
}

static uint32_t lowest_cpu(const struct runq *rq)
{
    uint32_t lowest = rq->cpu_of[0];

    for (uint32_t i = 1; i < rq->ncpus; i++)
        lowest = MIN(lowest, rq->cpu_of[i]);
    return lowest;
}

static void params_set(struct sched *s, const struct sched_params *p)
{
    s->params = *p;
    s->least_ns = MAX(p->ratelimit_ns, p->slice_min_ns);
}

struct sched *sched_init(void *mem, const struct sched_params *p, const struct cpu_place *places,
                         uint32_t ncpus, const uint8_t *distance, uint32_t nnodes)
{
    struct layout l = layout_of(ncpus);
    struct sched *s = mem;
    char *base = mem;
    uint32_t *runq_of = (uint32_t *)(base + l.runq_of);
    uint64_t *scratch = (uint64_t *)(base + l.scratch);

    ASSERT(IS_ALIGNED((uintptr_t)mem, 64) && nnodes > 0 && nnodes <= NODES_MAX);
    params_set(s, p);
    spin_init(&s->lock, LOCK_SCHED);
    s->ncpus = ncpus;
    s->nnodes = nnodes;
    s->cpus = (struct sched_cpu *)(base + l.cpus);
    s->runqs = (struct runq *)(base + l.runqs);
    s->places = (struct cpu_place *)(base + l.places);
    memcpy(s->places, places, ncpus * sizeof(*places));
    s->nrunqs =
        arrange_cpus(s->places, ncpus, p->arrangement, p->max_cpus_runqueue, runq_of, scratch);
    s->hint_words = cpumask_nwords(s->nrunqs);
    for (uint32_t i = 0; i < HINT_COUNT; i++)
        s->hints[i] = (uint64_t *)(base + l.hints -
                                   i * ALIGN_UP(cpumask_nwords(ncpus) * sizeof(uint64_t), 64));
    for (uint32_t id = 0; id < s->nrunqs; id++)
        runq_init(&s->runqs[id], id);
    runq_add_cpus(s, ncpus, runq_of, scratch);
    for (uint32_t cpu = 0; cpu < ncpus; cpu++)
        siblings_find(s, &s->cpus[cpu]);
    for (uint32_t id = 0; id < s->nrunqs; id++)
        s->runqs[id].node = s->places[lowest_cpu(&s->runqs[id])].node;
    distances_fill(s, distance);
    nodes_find(s);
    return s;
}

/* The arrangement is what sched_init was given; everything else may change at any time. */
void sched_set_params(struct sched *s, const struct sched_params *p)
{
    enum runq_arrangement arrangement = s->params.arrangement;

    spin_lock(&s->lock);
    params_set(s, p);
    s->params.arrangement = arrangement;
    spin_unlock(&s->lock);
}
