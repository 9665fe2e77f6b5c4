/*
 * Which CPUs share a runqueue.
 *
 * The CPUs are sorted by (group, LLC, core, CPU); a group larger than the maximum is cut into the
 * fewest parts that hold it, as even as whole LLC domains allow; an LLC domain that alone exceeds
 * the maximum is cut likewise along cores. Siblings are never separated, except by arrangement
 * `cpu`: a core counts as where its first CPU is. The cores of a unit are siblings, except by
 * arrangement `core`. Core and LLC numbers may repeat across sockets.
 *
 * It is a function of the places alone, so CPUs may come online in any order, or never, and always
 * find the same runqueue. Ids ascend by (node, lowest CPU).
 */
#include "hv/sort.h"
#include "sched/runq.h"

/* Sort key: a 12-bit id for each level, above the CPU number. */
#define KEY_GROUP BITS(47, 36)
#define KEY_LLC   BITS(35, 24)
#define KEY_CORE  BITS(23, 12)
#define KEY_CPU   BITS(11, 0)

/* While runqueues get their ids, of a runqueue's lowest CPU. */
#define ID_NODE BITS(63, 24)
#define ID_CPU  BITS(23, 12)
#define ID_RUNQ BITS(11, 0)

_Static_assert(CPUS_MAX - 1 <= KEY_CPU, "a CPU number names a CPU, a core, a domain or a runqueue");

/* While siblings are brought together, above the CPU number. */
#define FIRST_SOCKET  BITS(63, 40)
#define FIRST_IN_UNIT BIT(39)
#define FIRST_GROUP   BITS(38, 12) /* the unit, or the core */

struct arranger {
    const struct cpu_place *places;
    uint64_t *keys;   /* one per CPU, sorted */
    uint64_t *leader; /* per CPU: the lowest of those not to be separated from it */
    uint32_t *runq_of;
    uint32_t ncpus, max_cpus, nrunqs;
};

/* Reads keys; writes nothing. */
static uint64_t cpu_of(const struct arranger *a, uint32_t at)
{
    return FIELD_GET(KEY_CPU, a->keys[at]);
}

/*
 * leader[cpu] = lowest of the CPUs that are not to be separated: those of one (socket, core), and
 * of one unit unless the user wants a runqueue for each core. Reads places; writes leader, and keys
 * as scratch.
 */
static void leaders_find(struct arranger *a, bool whole_units)
{
    uint64_t core = UINT64_MAX, first = 0;

    for (uint32_t cpu = 0; cpu < a->ncpus; cpu++) {
        const struct cpu_place *p = &a->places[cpu];

        a->keys[cpu] = FIELD_PREP(FIRST_SOCKET, p->socket) | cpu |
                       (whole_units && p->unit ? FIRST_IN_UNIT | FIELD_PREP(FIRST_GROUP, p->unit)
                                               : FIELD_PREP(FIRST_GROUP, p->core));
    }
    sort_u64(a->keys, a->ncpus);
    for (uint32_t at = 0; at < a->ncpus; at++) {
        if ((a->keys[at] & ~KEY_CPU) != core) {
            core = a->keys[at] & ~KEY_CPU;
            first = cpu_of(a, at);
        }
        a->leader[cpu_of(a, at)] = first;
    }
}

/*
 * Lowest leading CPU of the same socket and LLC domain: a name for the domain below 2^12. Reads
 * places and leader; writes nothing.
 */
static uint64_t llc_name(const struct arranger *a, const struct cpu_place *leader)
{
    for (uint32_t cpu = 0; cpu < leader->cpu; cpu++)
        if (a->places[cpu].llc == leader->llc && a->places[cpu].socket == leader->socket &&
            a->leader[cpu] == cpu)
            return cpu;
    return leader->cpu;
}

/* Pure: of what CPUs of one runqueue have in common, a number below 2^12. */
static uint64_t group_name(const struct cpu_place *leader, uint32_t cpu, uint64_t llc,
                           enum runq_arrangement arrangement)
{
    switch (arrangement) {
    case RUNQ_PER_CPU:
        return cpu;
    case RUNQ_PER_CORE:
        return leader->cpu;
    case RUNQ_PER_LLC:
        return llc;
    case RUNQ_PER_SOCKET:
        return leader->socket;
    case RUNQ_PER_NODE:
        return leader->node;
    default:
        return 0;
    }
}

/* Reads places and leader; writes keys. */
static void keys_fill(struct arranger *a, enum runq_arrangement arrangement)
{
    for (uint32_t cpu = 0; cpu < a->ncpus; cpu++) {
        const struct cpu_place *leader = &a->places[a->leader[cpu]];
        uint64_t llc = llc_name(a, leader);

        a->keys[cpu] = FIELD_PREP(KEY_GROUP, group_name(leader, cpu, llc, arrangement)) |
                       FIELD_PREP(KEY_LLC, llc) | FIELD_PREP(KEY_CORE, a->leader[cpu]) |
                       FIELD_PREP(KEY_CPU, cpu);
    }
    sort_u64(a->keys, a->ncpus);
}

/*
 * End of the run of CPUs from `at`, below `end`, that agree in the key bits of `mask`. Reads keys;
 * writes nothing.
 */
static uint32_t block_end(const struct arranger *a, uint32_t at, uint32_t end, uint64_t mask)
{
    uint32_t next = at + 1;

    while (next < end && (a->keys[next] & mask) == (a->keys[at] & mask))
        next++;
    return next;
}

/* A runqueue of [at, end), unless that is empty. Reads keys; writes runq_of and nrunqs. */
static void emit(struct arranger *a, uint32_t at, uint32_t end)
{
    if (at == end)
        return;
    for (uint32_t i = at; i < end; i++)
        a->runq_of[cpu_of(a, i)] = a->nrunqs;
    a->nrunqs++;
}

/*
 * Cuts [at, end) along blocks of `mask` into even parts of at most max_cpus (one block may be
 * more). Reads keys and max_cpus; writes runq_of and nrunqs.
 */
static void cut(struct arranger *a, uint32_t at, uint32_t end, uint64_t mask)
{
    ASSERT(a->max_cpus);
    while (at < end) {
        uint32_t parts = (end - at - 1) / a->max_cpus + 1;
        uint32_t goal = (end - at + parts - 1) / parts;
        uint32_t stop = block_end(a, at, end, mask);

        while (stop < end) {
            uint32_t next = block_end(a, stop, end, mask);

            if (next - at > a->max_cpus)
                break;
            /* Past the goal is taken only if it misses by less than stopping short of it. */
            if (next - at > goal && next - at - goal > goal - MIN(goal, stop - at))
                break;
            stop = next;
        }
        emit(a, at, stop);
        at = stop;
    }
}

/*
 * LLC domains that fit stay whole: runs of them are cut along LLCs, each too large one along cores.
 * Reads and writes as cut does.
 */
static void group_cut(struct arranger *a, uint32_t at, uint32_t end)
{
    uint32_t start = at;

    if (end - at <= a->max_cpus) {
        emit(a, at, end);
        return;
    }
    while (at < end) {
        uint32_t stop = block_end(a, at, end, KEY_GROUP | KEY_LLC);

        if (stop - at > a->max_cpus) {
            cut(a, start, at, KEY_GROUP | KEY_LLC);
            cut(a, at, stop, KEY_GROUP | KEY_LLC | KEY_CORE);
            start = stop;
        }
        at = stop;
    }
    cut(a, start, end, KEY_GROUP | KEY_LLC);
}

/*
 * Renames runqueues so that ids ascend by the node, then the number, of their lowest CPU. Reads
 * places and nrunqs, reads and writes runq_of; writes keys and leader as scratch.
 */
static void ids_order(struct arranger *a)
{
    uint64_t *name = a->leader;

    for (uint32_t id = 0; id < a->nrunqs; id++)
        a->keys[id] = UINT64_MAX;
    for (uint32_t cpu = a->ncpus; cpu-- > 0;)
        a->keys[a->runq_of[cpu]] = FIELD_PREP(ID_NODE, a->places[cpu].node) |
                                   FIELD_PREP(ID_CPU, cpu) | FIELD_PREP(ID_RUNQ, a->runq_of[cpu]);
    sort_u64(a->keys, a->nrunqs);
    for (uint32_t id = 0; id < a->nrunqs; id++)
        name[FIELD_GET(ID_RUNQ, a->keys[id])] = id;
    for (uint32_t cpu = 0; cpu < a->ncpus; cpu++)
        a->runq_of[cpu] = (uint32_t)name[a->runq_of[cpu]];
}

/* Reads nothing but its arguments; writes runq_of, and keys and leaders into scratch. */
uint32_t arrange_cpus(const struct cpu_place *places, uint32_t ncpus,
                      enum runq_arrangement arrangement, uint32_t max_cpus, uint32_t *runq_of,
                      uint64_t *scratch)
{
    struct arranger a = {
        .places = places,
        .keys = scratch,
        .leader = scratch + ncpus,
        .runq_of = runq_of,
        .ncpus = ncpus,
        .max_cpus = MIN(MAX(max_cpus, 1u), RUNQ_CPUS_MAX),
    };

    ASSERT(ncpus > 0 && ncpus <= CPUS_MAX);
    leaders_find(&a, arrangement != RUNQ_PER_CORE);
    keys_fill(&a, arrangement);
    for (uint32_t at = 0; at < ncpus;) {
        uint32_t end = block_end(&a, at, ncpus, KEY_GROUP);

        group_cut(&a, at, end);
        at = end;
    }
    ids_order(&a);
    return a.nrunqs;
}
