/* Shared by numa.c, numa_ranges.c and numa_cpus.c only. */
#ifndef MM_NUMA_IMPL_H
#define MM_NUMA_IMPL_H

#include "mm/numa.h"

__attribute__((format(printf, 2, 3))) void numa_warn(struct fw_warnings *w, const char *fmt, ...);

/* ---- numa_ranges.c: during the build, range.node is the place in the set of domains ---- */

/* Domains seen so far, ascending; the place in pxm[] is the node number in the end. */
struct pxm_set {
    uint32_t count;
    uint32_t refused; /* domains beyond NODES_MAX */
    uint32_t pxm[NODES_MAX];
};

void pxm_add(struct pxm_set *set, uint32_t pxm);
uint32_t pxm_find(const struct pxm_set *set, uint32_t pxm); /* NUMA_NODE_NONE: not in it */

/*
 * The ith stretch of RAM: of the map, or of the nodes' ranges where there is no map. False: no
 * more. A stretch of length 0 is to be skipped.
 */
bool numa_ram_extent(const struct numa *numa, const struct memmap *map, uint32_t i, paddr_t *base,
                     paddr_t *end);

/* RAM that an enabled, volatile SRAT entry stands for; 0 for other entries. */
uint64_t numa_entry_ram(const struct srat_mem *mem, const struct memmap *map);

/* Ranges of the nodes from SRAT; overlaps and RAM without an entry are settled, with warnings. */
void numa_ranges_build(struct numa *numa, const struct numa_input *in, const struct pxm_set *set,
                       struct fw_warnings *w);

/* Adds up every node's RAM. */
void numa_count_ram(struct numa *numa, const struct memmap *map);

/* ---- numa_cpus.c ---- */

/* Sorted lookup of a CPU's domain by APIC id. */
struct cpu_index {
    const struct srat_cpu *cpus;
    const uint64_t *keys; /* APIC id << 32 | index, ascending */
    uint32_t count;
};

struct cpu_index numa_cpu_index(const struct srat_info *srat, uint64_t *keys,
                                struct fw_warnings *w);
bool numa_cpu_pxm(const struct cpu_index *index, uint32_t apic_id, uint32_t *pxm);

/* Node of every CPU by SRAT, by its socket where SRAT is silent, else 0. `scratch`: ncpus keys. */
void numa_cpus_assign(const struct numa_input *in, const struct cpu_index *index,
                      const struct pxm_set *set, uint32_t *node_of_cpu, uint64_t *scratch,
                      struct fw_warnings *w);

#endif
