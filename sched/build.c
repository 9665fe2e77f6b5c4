/*
 * Making runqueues of the CPUs: at the start, and again after a change of arrangement.
 *
 * Decides local bits, siblings and the order of runqueues by node. Which CPUs share a runqueue is
 * arrange.c's; units and the sets of idle and online CPUs are the caller's, who finds them empty.
 * A CPU keeps what it runs and what is reserved for it.
 */
#include <string.h>

#include "hv/sort.h"
#include "sched/runq.h"

/* Sort key of a CPU within its runqueue. */
#define KEY_RANK BITS(63, 12) /* lower for a higher asym_prio */
#define KEY_CPU  BITS(11, 0)

_Static_assert(CPUS_MAX - 1 <= KEY_CPU, "a CPU number fits its field");

/*
 * A zero-filled runqueue without CPUs. Reads nothing; writes lock, id, the roots of its trees,
 * whole_cores, max_weight and max_recip.
 */
static void runq_init(struct runq *rq, uint32_t id, bool whole_cores)
{
    spin_init(&rq->lock, LOCK_RUNQ);
    rq->id = id;
    RB_INIT(&rq->queue);
    RB_INIT(&rq->members);
    RB_INIT(&rq->vms);
    rq->whole_cores = whole_cores;
    rq->max_weight = WEIGHT_MIN;
    rq->max_recip = weight_reciprocal(WEIGHT_MIN);
}

/*
 * Best asym_prio first, then by CPU number: bit 0 is the preferred CPU. Reads places and runq_of;
 * writes rq and bit of every CPU; cpu_of, in_a_row, ncpus, cpus of every runqueue; and scratch.
 */
static void runq_add_cpus(struct sched *s)
{
    uint64_t *keys = s->scratch;

    for (uint32_t cpu = 0; cpu < s->ncpus; cpu++) {
        uint64_t rank = (uint64_t)((int64_t)INT32_MAX - s->places[cpu].asym_prio);

        keys[cpu] = FIELD_PREP(KEY_RANK, rank) | cpu;
    }
    sort_u64(keys, s->ncpus);
    for (uint32_t i = 0; i < s->ncpus; i++) {
        struct sched_cpu *c = &s->cpus[FIELD_GET(KEY_CPU, keys[i])];
        struct runq *rq = &s->runqs[s->runq_of[c->cpu]];

        ASSERT(rq->ncpus < RUNQ_CPUS_MAX);
        c->rq = rq;
        c->bit = BIT(rq->ncpus);
        rq->in_a_row = !rq->ncpus || (rq->in_a_row && c->cpu == rq->cpu_of[rq->ncpus - 1] + 1u);
        rq->cpu_of[rq->ncpus++] = (uint16_t)c->cpu;
        rq->cpus |= c->bit;
    }
}

/*
 * Siblings within the runqueue only: under arrangement `cpu` a CPU is its own core. Under
 * sched-gran=core they are the threads of one core, whatever the arrangement: it may change while
 * they run, and arrangement `core` would part the cores of a compute unit. Reads places,
 * whole_cores, and cpus of the runqueue; writes siblings.
 */
static void siblings_find(struct sched *s, struct sched_cpu *c)
{
    c->siblings = 0;
    runq_for_each_bit (bit, c->rq->cpus) {
        const struct sched_cpu *other = runq_cpu(s, c->rq, bit);

        if (cpu_place_siblings(other->place, c->place) &&
            !(s->whole_cores && other->place->core != c->place->core))
            c->siblings |= bit;
    }
}

/*
 * runqs are in order of their lowest CPU's node; node_runqs[n] is the first of node n. Reads
 * nrunqs, nnodes, and node of each runqueue; writes node_runqs.
 */
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

/*
 * A unit says in one word where it may go, so above 64 runqueues some share a bit. Neighbours do,
 * and a VM kept to some nodes is not taken for one that may go to others: a false match costs a
 * look at each unit that waits. Bit: the group's lowest bit in a word of hints, plus the number of
 * that word. Reads nrunqs; writes fold_width, fold_lowest, and fold of each runqueue.
 */
static void runqs_fold(struct sched *s)
{
    uint32_t width = 1;

    while (s->nrunqs > 64 * width)
        width *= 2;
    s->fold_width = width;
    s->fold_lowest = 0;
    for (uint32_t bit = 0; bit < 64; bit += width)
        s->fold_lowest |= BIT(bit);
    for (uint32_t id = 0; id < s->nrunqs; id++)
        s->runqs[id].fold = BIT(id % 64 / width * width + id / 64);
}

/* Reads nrunqs, and node and fold of each runqueue; writes near of each. */
static void runqs_near(struct sched *s)
{
    for (uint32_t id = 0; id < s->nrunqs; id++) {
        struct runq *rq = &s->runqs[id];

        for (uint32_t i = s->node_runqs[rq->node]; i < s->node_runqs[rq->node + 1]; i++)
            rq->near |= i == id ? 0 : s->runqs[i].fold;
    }
}

/* Reads cpu_of and ncpus; writes nothing. */
static uint32_t lowest_cpu(const struct runq *rq)
{
    uint32_t lowest = rq->cpu_of[0];

    for (uint32_t i = 1; i < rq->ncpus; i++)
        lowest = MIN(lowest, rq->cpu_of[i]);
    return lowest;
}

/*
 * Reads params, places and whole_cores; writes nrunqs, runqs, hint_words, hints, fold_width,
 * fold_lowest, node_runqs, runq_of, scratch, and of each CPU its runqueue, bit and siblings.
 */
void build_runqs(struct sched *s)
{
    ASSERT(!s->whole_cores || s->params.arrangement != RUNQ_PER_CPU);
    s->nrunqs = arrange_cpus(s->places, s->ncpus, s->params.arrangement,
                             s->params.max_cpus_runqueue, s->runq_of, s->scratch);
    s->hint_words = cpumask_nwords(s->nrunqs);
    for (uint32_t i = 0; i < HINT_COUNT; i++)
        memset(s->hints[i], 0, cpumask_nwords(s->ncpus) * sizeof(uint64_t));
    memset(s->runqs, 0, s->ncpus * sizeof(*s->runqs));
    for (uint32_t id = 0; id < s->nrunqs; id++)
        runq_init(&s->runqs[id], id, s->whole_cores);
    runq_add_cpus(s);
    for (uint32_t cpu = 0; cpu < s->ncpus; cpu++)
        siblings_find(s, &s->cpus[cpu]);
    for (uint32_t id = 0; id < s->nrunqs; id++)
        s->runqs[id].node = s->places[lowest_cpu(&s->runqs[id])].node;
    nodes_find(s);
    runqs_fold(s);
    runqs_near(s);
}
