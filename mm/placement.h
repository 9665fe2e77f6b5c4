/* Home nodes of a VM. See placement.c. */
#ifndef MM_PLACEMENT_H
#define MM_PLACEMENT_H

#include "hv/types.h"

#define PLACEMENT_GRAIN (2 * MIB) /* virtual-node boundaries */

struct placement_node {
    uint64_t free_bytes;
    uint32_t cpus;  /* online CPUs of the node that the VM may use */
    uint32_t vcpus; /* vCPUs of other VMs at home here */
};

struct placement_request {
    uint64_t memory_bytes;
    uint32_t vcpus;
    uint64_t allowed; /* bit n: node n may be used; 0: all */
};

struct placement {
    uint32_t count;
    uint32_t node[NODES_MAX];  /* ascending */
    uint64_t bytes[NODES_MAX]; /* memory on node[i]; whole grains where free memory allows */
};

/*
 * `distance` is nnodes * nnodes (NULL: all equal). 0; -ENOMEM: the allowed nodes together have too
 * little memory; -EINVAL: no allowed node.
 */
__attribute__((warn_unused_result)) int placement_choose(const struct placement_node *nodes,
                                                         uint32_t nnodes, const uint8_t *distance,
                                                         const struct placement_request *request,
                                                         struct placement *out);

#endif
