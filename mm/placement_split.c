/*
 * A VM's share on each of its home nodes: virtual nodes.
 *
 * Decides: each home node gets an equal share of the memory, as far as it has it; vCPUs go by the
 * CPUs that the VM may use there, so that each node has as many vCPUs per CPU as the others. Cuts
 * between vCPUs are made at the guest's sockets where it has as many of them as nodes with CPUs,
 * else at its cores, else anywhere: a guest's caches and sockets should not span virtual nodes
 * (docs/guest-abi.md). A VM with one home node is one virtual node.
 *
 * Does not decide which nodes (placement.c). Invariants: the shares add up to the whole; vCPUs that
 * are no more than the CPUs are, when cut anywhere, no more on any node either. Products stay below
 * 2^32 up to 2^19 vCPUs on CPUS_MAX CPUs.
 */
#include "hv/bits.h"
#include "mm/placement.h"

/* Equal shares on grain boundaries; what a node lacks the others take, lowest number first. */
static void split_memory(const struct placement_node *nodes, uint64_t bytes, struct placement *out)
{
    uint64_t share = ALIGN_DOWN(bytes / out->count, PLACEMENT_GRAIN);
    uint64_t left = bytes;

    for (uint32_t i = 0; i < out->count; i++) {
        uint64_t room = ALIGN_DOWN(nodes[out->vnode[i].node].free_bytes, PLACEMENT_GRAIN);

        out->vnode[i].bytes = MIN(share, room);
        left -= out->vnode[i].bytes;
    }
    for (uint32_t i = 0; i < out->count && left; i++) {
        uint64_t room = nodes[out->vnode[i].node].free_bytes - out->vnode[i].bytes;
        uint64_t more = MIN(left, room);

        /* A part of a grain only where it ends the VM's memory. */
        if (more < left)
            more = ALIGN_DOWN(more, PLACEMENT_GRAIN);
        out->vnode[i].bytes += more;
        left -= more;
    }
    for (uint32_t i = 0; i < out->count && left; i++) {
        uint64_t room = nodes[out->vnode[i].node].free_bytes - out->vnode[i].bytes;
        uint64_t more = MIN(left, room);

        out->vnode[i].bytes += more;
        left -= more;
    }
}

/* vCPUs that stay together: the largest group of which there are enough. */
static uint32_t split_group(const struct placement_request *request, uint32_t nodes_with_cpus)
{
    uint32_t groups[] = {request->socket_vcpus, request->core_vcpus};

    for (uint32_t i = 0; i < ARRAY_SIZE(groups); i++)
        if (groups[i] && request->vcpus / groups[i] >= nodes_with_cpus)
            return groups[i];
    return 1;
}

/* Each cut is where the CPUs up to it say, to the nearest group. */
static void split_vcpus(const struct placement_node *nodes, const struct placement_request *request,
                        struct placement *out)
{
    uint32_t all_cpus = 0, with_cpus = 0, cpus = 0, from = 0;
    uint32_t group, groups;

    for (uint32_t i = 0; i < out->count; i++) {
        all_cpus += nodes[out->vnode[i].node].cpus;
        with_cpus += nodes[out->vnode[i].node].cpus != 0;
    }
    group = split_group(request, with_cpus);
    groups = request->vcpus / group;
    for (uint32_t i = 0; i < out->count; i++) {
        uint32_t to = request->vcpus; /* without any CPU, the first node has them all */

        cpus += nodes[out->vnode[i].node].cpus;
        if (cpus < all_cpus)
            to = (2 * groups * cpus + all_cpus) / (2 * all_cpus) * group;
        out->vnode[i].first_vcpu = from;
        out->vnode[i].vcpus = to - from;
        from = to;
    }
}

void placement_split(const struct placement_node *nodes, const struct placement_request *request,
                     struct placement *out)
{
    split_memory(nodes, request->memory_bytes, out);
    split_vcpus(nodes, request, out);
}

uint32_t placement_vnode_of_vcpu(const struct placement *p, uint32_t vcpu)
{
    uint32_t i = 0;

    while (i + 1 < p->count && vcpu >= p->vnode[i].first_vcpu + p->vnode[i].vcpus)
        i++;
    return i;
}
