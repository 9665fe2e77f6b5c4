/*
 * Home nodes of a VM.
 *
 * Decides: the fewest nodes that hold its memory and as many CPUs as it has vCPUs, then the fewest
 * vCPUs per CPU, then the most free memory; among equals the nodes nearest to each other, then the
 * lowest numbers. A VM with more vCPUs than the allowed nodes have CPUs is held to all of those
 * CPUs. What each node then holds is placement_split.c's to decide. Allocates nothing.
 *
 * Every set of k nodes is tried where there are at most SEARCH_SETS of them: all sets of any size
 * with 12 nodes, all pairs with 64. Beyond, k nodes are gathered around each node in order of
 * distance: the result still holds the VM, but a smaller or better set may exist. Invariants: sets
 * are bit masks; memory sums stay below 2^64 (physical memory is below 2^52 bytes).
 */
#include "mm/placement.h"

#include <errno.h>

#include "hv/assert.h"
#include "hv/bits.h"

#define SEARCH_SETS 2048u

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
    }
    return f;
}

/* The sum of distances within the set. Asked for on a tie only. */
static uint32_t set_spread(const struct placement_input *in, uint64_t set)
{
    uint32_t spread = 0;

    for (uint64_t left = set; left; left &= left - 1)
        for (uint64_t other = set; other; other &= other - 1)
            spread +=
                distance_of(in, (uint32_t)__builtin_ctzll(left), (uint32_t)__builtin_ctzll(other));
    return spread;
}

static bool set_holds(const struct placement_input *in, const struct set_figures *f)
{
    return f->free_bytes >= in->memory_bytes && f->cpus >= in->vcpus;
}

/*
 * True when `a` is the better home. Loads are compared as fractions: a.vcpus / a.cpus < b.vcpus /
 * b.cpus.
 */
static bool set_is_better(const struct placement_input *in, const struct set_figures *a,
                          const struct set_figures *b)
{
    uint64_t load_a = (uint64_t)a->vcpus * b->cpus, load_b = (uint64_t)b->vcpus * a->cpus;
    uint32_t spread_a, spread_b;

    if (load_a != load_b)
        return load_a < load_b;
    if (a->free_bytes != b->free_bytes)
        return a->free_bytes > b->free_bytes;
    spread_a = set_spread(in, a->nodes);
    spread_b = set_spread(in, b->nodes);
    if (spread_a != spread_b)
        return spread_a < spread_b;
    return (a->nodes & -a->nodes) < (b->nodes & -b->nodes);
}

static void consider(const struct placement_input *in, uint64_t set, struct set_figures *best)
{
    struct set_figures f = set_sum(in, set);

    if (set_holds(in, &f) && (!best->nodes || set_is_better(in, &f, best)))
        *best = f;
}

/* Sets of k out of n, or more than SEARCH_SETS. */
static uint64_t sets_count(uint32_t n, uint32_t k)
{
    uint64_t sets = 1;

    /* Whole at every step: the product of i consecutive numbers is a multiple of i!. */
    for (uint32_t i = 1; i <= MIN(k, n - k) && sets <= SEARCH_SETS; i++)
        sets = sets * (n - i + 1) / i;
    return sets;
}

/* The set that `choice` makes of the allowed nodes: bit i stands for the i-th of them. */
static uint64_t set_of_choice(uint64_t allowed, uint64_t choice)
{
    uint64_t set = 0;

    for (; choice; allowed &= allowed - 1, choice >>= 1)
        if (choice & 1)
            set |= allowed & -allowed;
    return set;
}

/* Every set of k of the n allowed nodes, in ascending order of k-bit numbers (Gosper's step). */
static void search_all(const struct placement_input *in, uint32_t n, uint32_t k,
                       struct set_figures *best)
{
    uint64_t choice = BITS(k - 1, 0), low, ripple;

    do {
        consider(in, set_of_choice(in->allowed, choice), best);
        low = choice & -choice;
        ripple = choice + low; /* 0 behind the last choice of 64 nodes */
        choice = ripple | (((choice ^ ripple) / low) >> 2);
    } while (ripple && choice <= BITS(n - 1, 0));
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

int placement_choose(const struct placement_node *nodes, uint32_t nnodes, const uint8_t *distance,
                     const struct placement_request *request, struct placement *out)
{
    struct placement_input in = {nodes, nnodes, distance, request->memory_bytes, 0, 0};
    struct set_figures all, best = {0};
    uint32_t allowed;

    in.allowed = BITS(nnodes - 1, 0) & (request->allowed ? request->allowed : ~0ull);
    if (!in.allowed)
        return -EINVAL;
    all = set_sum(&in, in.allowed);
    if (all.free_bytes < request->memory_bytes)
        return -ENOMEM;
    in.vcpus = MIN(request->vcpus, all.cpus);
    allowed = bits_count(in.allowed);
    for (uint32_t k = 1; !best.nodes; k++) {
        if (sets_count(allowed, k) <= SEARCH_SETS)
            search_all(&in, allowed, k, &best);
        else
            search_around(&in, k, &best);
    }
    out->count = 0;
    for (uint64_t left = best.nodes; left; left &= left - 1)
        out->vnode[out->count++].node = (uint32_t)__builtin_ctzll(left);
    placement_split(nodes, request, out);
    return 0;
}
