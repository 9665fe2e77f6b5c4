/*
 * Home nodes of a VM, and its virtual nodes: which part of its memory and which of its vCPUs belong
 * to which home node. See placement.c, placement_split.c, placement_pages.c.
 *
 * A simulator calls what kernel/ calls: placement_choose when a VM starts, placement_take_page for
 * each page of it, placement_vnode_of_vcpu for each vCPU.
 */
#ifndef MM_PLACEMENT_H
#define MM_PLACEMENT_H

#include "hv/types.h"
#include "mm/page.h"

#define PLACEMENT_GRAIN (2 * MIB) /* virtual-node boundaries */

struct placement_node {
    uint64_t free_bytes;
    uint32_t cpus;  /* online CPUs of the node that the VM may use */
    uint32_t vcpus; /* vCPUs of other VMs at home here */
};

struct placement_request {
    uint64_t memory_bytes;
    uint32_t vcpus;
    uint64_t allowed;      /* bit n: node n may be used; 0: all */
    uint32_t socket_vcpus; /* vCPUs of a guest's socket, to be kept on one node; 0: none given */
    uint32_t core_vcpus;   /* the same of a core */
};

/*
 * A virtual node: what a VM has on one home node, and what the guest's SRAT will call a node.
 * Memory and vCPUs of the virtual nodes follow each other without gaps.
 */
struct placement_vnode {
    uint32_t node;  /* the host's */
    uint64_t bytes; /* of memory; whole grains where free memory allows */
    uint32_t first_vcpu;
    uint32_t vcpus; /* 0: memory alone */
};

struct placement {
    uint32_t count;
    struct placement_vnode vnode[NODES_MAX]; /* ascending node */
};

/*
 * `distance` is nnodes * nnodes (NULL: all equal). 0; -ENOMEM: the allowed nodes together have too
 * little memory; -EINVAL: no allowed node.
 */
__attribute__((warn_unused_result)) int placement_choose(const struct placement_node *nodes,
                                                         uint32_t nnodes, const uint8_t *distance,
                                                         const struct placement_request *request,
                                                         struct placement *out);

/*
 * For placement_choose: with out->count and each node filled in, shares memory and vCPUs out.
 */
void placement_split(const struct placement_node *nodes, const struct placement_request *request,
                     struct placement *out);

/* The virtual node, by its index, that holds this vCPU, or the memory at this offset. */
uint32_t placement_vnode_of_vcpu(const struct placement *p, uint32_t vcpu);
uint32_t placement_vnode_at(const struct placement *p, uint64_t offset);

/*
 * A page for the VM's memory at `offset` (counted without holes), of which no more than `left`
 * bytes are wanted: *order is 0 or PAGE_ORDER_2M. PADDR_NONE: no node has any.
 */
__attribute__((warn_unused_result)) paddr_t placement_take_page(struct page_pool *pool,
                                                                const struct placement *p,
                                                                uint64_t offset, uint64_t left,
                                                                uint32_t *order);

#endif
