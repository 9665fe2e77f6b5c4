/* Nodes from the firmware's words. See numa.c. */
#ifndef MM_NUMA_H
#define MM_NUMA_H

#include "hv/cpu_place.h"
#include "hv/firmware.h"
#include "hv/options.h"

#define NUMA_RANGES_MAX     512
#define NUMA_DISTANCE_LOCAL 10
#define NUMA_DISTANCE_FAR   20
#define NUMA_NODE_NONE      UINT32_MAX

struct numa_node {
    uint32_t pxm;
    uint32_t ncpus;
    uint64_t ram_bytes; /* memory map within the node's ranges, parts in use included */
};

struct numa_range {
    paddr_t base;
    paddr_t end; /* exclusive */
    uint32_t node;
};

/* About 18 KiB: never on a stack. */
struct numa {
    uint32_t nnodes;  /* >= 1 after numa_build */
    uint32_t nranges; /* sorted by base, without overlap */
    struct numa_node node[NODES_MAX];
    struct numa_range range[NUMA_RANGES_MAX];
    uint8_t distance[NODES_MAX * NODES_MAX]; /* row i: distance[i * nnodes + j] */
};

struct numa_input {
    const uint32_t *apic_ids;     /* by CPU number */
    const uint32_t *sockets;      /* by CPU number; NULL: unknown */
    uint32_t ncpus;               /* may be 0 (host tool) */
    const struct srat_info *srat; /* NULL: none */
    const struct slit_info *slit; /* NULL: none */
    const struct memmap *map;     /* NULL: every enabled volatile range is RAM (host tool) */
    enum option_numa mode;
    uint32_t fake; /* nodes asked for under NUMA_FAKE */
};

/*
 * `node_of_cpu` has room for ncpus; `scratch` for ncpus + srat->ncpus keys. Never
 * fails: what cannot be used degrades to one node, with a warning saying why.
 */
void numa_build(struct numa *numa, const struct numa_input *in, uint32_t *node_of_cpu,
                uint64_t *scratch, struct fw_warnings *w);

/*
 * Warns where places[0..n), nodes included, cannot all be true: a core in two nodes, a socket and a
 * node that overlap in part. `scratch` has room for n words. Changes nothing.
 */
void numa_check_places(const struct cpu_place places[], uint32_t n, enum option_numa mode,
                       uint32_t scratch[], struct fw_warnings *w);

/* Node of `pa`, NUMA_NODE_NONE outside every range; *end: where that answer stops being right. */
uint32_t numa_node_of(const struct numa *numa, paddr_t pa, paddr_t *end);

static inline uint32_t numa_distance(const struct numa *numa, uint32_t from, uint32_t to)
{
    return numa->distance[from * numa->nnodes + to];
}

#endif
