/*
 * Home nodes of a VM.
 *
 * Decides: the fewest nodes that hold its memory and as many CPUs as it has vCPUs, then the fewest
 * vCPUs per CPU, then the most free memory; among equals the nodes nearest to each other, then the
 * lowest numbers. A VM with more vCPUs than the allowed nodes have CPUs is held to all of those
 * CPUs. Each node then gets an equal share of the memory, as far as it has it. Allocates nothing.
 *
 * Every set of k nodes is tried where the machine has at most SEARCH_NODES; on a larger one, k > 1
 * nodes are gathered around each node in order of distance. The result then still holds the VM, but
 * a smaller set may exist. Cost: 2^SEARCH_NODES sets at most, when a VM is built. Invariants: sets
 * are bit masks; memory sums stay below 2^64 (physical memory is below 2^52 bytes).
 */
#include "mm/placement.h"

#include <errno.h>

#include "hv/assert.h"
#include "hv/bits.h"

#define SEARCH_NODES 12

struct placement_input {
    const struct placement_node *nodes;
    uint32_t nnodes;
    const uint8_t *distance;
    uint64_t memory_bytes;
    uint32_t vcpus; /* cut to the CPUs there are */
    uint64_t allowed;
};

struct set_figures {
    uint64_t nodes;
    uint64_t free_bytes;
    uint64_t spread; /* sum of distances within the set */
    uint32_t cpus;
    uint32_t vcpus;
};

static uint32_t distance_of(const struct placement_input *in, uint32_t a, uint32_t b)
{
    return in->distance ? in->distance[a * in->nnodes + b] : 0;
}

static struct set_figures set_sum(const struct placement_input *in, uint64_t set)
{
    struct set_figures f = {.nodes = set};

    for (uint64_t left = set; left; left &= left - 1) {
        uint32_t n = (uint32_t)__builtin_ctzll(left);

        f.free_bytes += in->nodes[n].free_bytes;
        f.cpus += in->nodes[n].cpus;
        f.vcpus += in->nodes[n].vcpus;
        for (uint64_t other = set; other; other &= other - 1)
            f.spread += distance_of(in, n, (uint32_t)__builtin_ctzll(other));
    }
    return f;
}

static bool set_holds(const struct placement_input *in, const struct set_figures *f)
{
    return f->free_bytes >= in->memory_bytes && f->cpus >= in->vcpus;
}

/*
 * True when `a` is the better home. Loads are compared as fractions: a.vcpus / a.cpus < b.vcpus /
 * b.cpus.
 */
static bool set_is_better(const struct set_figures *a, const struct set_figures *b)
{
    uint64_t load_a = (uint64_t)a->vcpus * b->cpus, load_b = (uint64_t)b->vcpus * a->cpus;

    if (load_a != load_b)
        return load_a < load_b;
    if (a->free_bytes != b->free_bytes)
        return a->free_bytes > b->free_bytes;
    if (a->spread != b->spread)
        return a->spread < b->spread;
    return (a->nodes & -a->nodes) < (b->nodes & -b->nodes);
}

static void consider(const struct placement_input *in, uint64_t set, struct set_figures *best)
{
    struct set_figures f = set_sum(in, set);

    if (set_holds(in, &f) && (!best->nodes || set_is_better(&f, best)))
        *best = f;
}

/* Every set of k allowed nodes, as the k-bit numbers in ascending order (Gosper's step). */
static void search_all(const struct placement_input *in, uint32_t k, struct set_figures *best)
{
    uint64_t set = BIT(k) - 1;

    while (set < BIT(in->nnodes)) {
        uint64_t low = set & -set, ripple = set + low;

        if ((set & ~in->allowed) == 0)
            consider(in, set, best);
        set = ripple | (((set ^ ripple) / low) >> 2);
    }
}

/* The allowed node outside `set` nearest to `centre`; of equals the one with most free memory. */
static uint32_t nearest_outside(const struct placement_input *in, uint64_t set, uint32_t centre)
{
    uint32_t best = NODES_MAX;

    for (uint64_t left = in->allowed & ~set; left; left &= left - 1) {
        uint32_t n = (uint32_t)__builtin_ctzll(left);
        uint32_t d = distance_of(in, centre, n);

        if (best == NODES_MAX || d < distance_of(in, centre, best) ||
            (d == distance_of(in, centre, best) &&
             in->nodes[n].free_bytes > in->nodes[best].free_bytes))
            best = n;
    }
    return best;
}

static void search_around(const struct placement_input *in, uint32_t k, struct set_figures *best)
{
    for (uint64_t left = in->allowed; left; left &= left - 1) {
        uint32_t centre = (uint32_t)__builtin_ctzll(left);
        uint64_t set = BIT(centre);

        for (uint32_t i = 1; i < k; i++) {
            uint32_t nearest = nearest_outside(in, set, centre);

            ASSERT(nearest < NODES_MAX); /* k is at most the number of allowed nodes */
            set |= BIT(nearest);
        }
        consider(in, set, best);
    }
}

/* Equal shares on grain boundaries; what a node lacks the others take, lowest number first. */
static void share_memory(const struct placement_input *in, struct placement *out)
{
    uint64_t share = ALIGN_DOWN(in->memory_bytes / out->count, PLACEMENT_GRAIN);
    uint64_t left = in->memory_bytes;

    for (uint32_t i = 0; i < out->count; i++) {
        uint64_t room = ALIGN_DOWN(in->nodes[out->node[i]].free_bytes, PLACEMENT_GRAIN);

        out->bytes[i] = MIN(share, room);
        left -= out->bytes[i];
    }
    for (uint32_t i = 0; i < out->count && left; i++) {
        uint64_t room = in->nodes[out->node[i]].free_bytes - out->bytes[i];
        uint64_t more = MIN(left, room);

        /* A part of a grain only where it ends the VM's memory. */
        if (more < left)
            more = ALIGN_DOWN(more, PLACEMENT_GRAIN);
        out->bytes[i] += more;
        left -= more;
    }
    for (uint32_t i = 0; i < out->count && left; i++) {
        uint64_t more = MIN(left, in->nodes[out->node[i]].free_bytes - out->bytes[i]);

        out->bytes[i] += more;
        left -= more;
    }
}

int placement_choose(const struct placement_node *nodes, uint32_t nnodes, const uint8_t *distance,
                     const struct placement_request *request, struct placement *out)
{
    struct placement_input in = {nodes, nnodes, distance, request->memory_bytes, 0, 0};
    struct set_figures all, best = {0};

    in.allowed = BITS(nnodes - 1, 0) & (request->allowed ? request->allowed : ~0ull);
    if (!in.allowed)
        return -EINVAL;
    all = set_sum(&in, in.allowed);
    if (all.free_bytes < request->memory_bytes)
        return -ENOMEM;
    in.vcpus = MIN(request->vcpus, all.cpus);
    for (uint32_t k = 1; !best.nodes; k++) {
        if (nnodes <= SEARCH_NODES)
            search_all(&in, k, &best);
        else
            search_around(&in, k, &best);
    }
    out->count = 0;
    for (uint64_t left = best.nodes; left; left &= left - 1)
        out->node[out->count++] = (uint32_t)__builtin_ctzll(left);
    share_memory(&in, out);
    return 0;
}
