/*
 * Setting up an instance: memory, CPUs, who is near whom. The runqueues are build.c's.
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

/* Where the next `bytes` go. Reads and writes only *at. */
static size_t after(size_t *at, size_t bytes)
{
    size_t start = *at;

    *at = ALIGN_UP(start + bytes, 64);
    return start;
}

/* Of one hint, in cache lines of its own. Pure. */
static size_t hint_bytes(uint32_t ncpus)
{
    return ALIGN_UP(cpumask_nwords(ncpus) * sizeof(uint64_t), 64);
}

/* Pure. */
static struct layout layout_of(uint32_t ncpus)
{
    size_t at = ALIGN_UP(sizeof(struct sched), 64);
    struct layout l;

    l.cpus = after(&at, ncpus * sizeof(struct sched_cpu));
    l.runqs = after(&at, ncpus * sizeof(struct runq));
    l.places = after(&at, ncpus * sizeof(struct cpu_place));
    l.runq_of = after(&at, ncpus * sizeof(uint32_t));
    l.scratch = after(&at, 2 * ncpus * sizeof(uint64_t));
    l.hints = after(&at, HINT_COUNT * hint_bytes(ncpus));
    l.end = at;
    return l;
}

/* Pure. */
size_t sched_bytes(uint32_t ncpus)
{
    return layout_of(ncpus).end;
}

/* Reads nnodes; writes distance and near. */
static void distances_fill(struct sched *s, const uint8_t *distance)
{
    for (uint32_t a = 0; a < s->nnodes; a++) {
        uint64_t keys[NODES_MAX];

        for (uint32_t b = 0; b < s->nnodes; b++) {
            s->distance[a][b] = distance ? distance[a * s->nnodes + b]
                                : a == b ? DISTANCE_LOCAL
                                         : 2 * DISTANCE_LOCAL;
            keys[b] = a == b ? a : ((uint64_t)s->distance[a][b] + 1) << 32 | b;
        }
        sort_u64(keys, s->nnodes);
        for (uint32_t i = 0; i < s->nnodes; i++)
            s->near[a][i] = (uint8_t)keys[i];
    }
}

/* Reads nothing but *p; writes params and least_ns. */
void params_apply(struct sched *s, const struct sched_params *p)
{
    s->params = *p;
    s->least_ns = MAX(p->ratelimit_ns, p->slice_min_ns);
}

/* Reads nothing but its arguments; writes everything in `mem`. */
struct sched *sched_init(void *mem, const struct sched_params *p, const struct cpu_place *places,
                         uint32_t ncpus, const uint8_t *distance, uint32_t nnodes)
{
    struct layout l = layout_of(ncpus);
    struct sched *s = mem;
    char *base = mem;

    ASSERT(IS_ALIGNED((uintptr_t)mem, 64) && nnodes > 0 && nnodes <= NODES_MAX);
    params_apply(s, p);
    s->whole_cores = p->gran == SCHED_GRAN_CORE;
    spin_init(&s->lock, LOCK_SCHED);
    s->ncpus = ncpus;
    s->nnodes = nnodes;
    s->cpus = (struct sched_cpu *)(base + l.cpus);
    s->runqs = (struct runq *)(base + l.runqs);
    s->places = (struct cpu_place *)(base + l.places);
    memcpy(s->places, places, ncpus * sizeof(*places));
    s->runq_of = (uint32_t *)(base + l.runq_of);
    s->scratch = (uint64_t *)(base + l.scratch);
    for (uint32_t i = 0; i < HINT_COUNT; i++)
        s->hints[i] = (uint64_t *)(base + l.hints + i * hint_bytes(ncpus));
    for (uint32_t cpu = 0; cpu < ncpus; cpu++) {
        s->cpus[cpu].cpu = cpu;
        s->cpus[cpu].asym_class = s->places[cpu].asym_prio / (int32_t)CPUS_MAX;
        s->cpus[cpu].place = &s->places[cpu];
    }
    distances_fill(s, distance);
    build_runqs(s);
    return s;
}
