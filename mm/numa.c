/*
 * NUMA nodes: what the firmware's tables and `numa=` make of the machine.
 *
 * Decides which proximity domains become nodes (those with a CPU in use or with RAM; dense numbers
 * by ascending domain), their distances, and the fallbacks: without SRAT, with numa=off and with
 * numa=noacpi (SRAT tells no nodes, at most where RAM is) all is node 0; numa=fake=<n> cuts RAM
 * into n equal parts at 2 MiB boundaries and deals the CPUs out in turn. Ranges and CPUs are
 * numa_ranges.c's and numa_cpus.c's. Allocates nothing and decides no placement (placement.c).
 * Invariants: at least one node; every CPU has a node; with a map, every byte of RAM has a node.
 * Source of the words: Xen's `numa` option; ACPI 6.4 sections 5.2.16, 5.2.17.
 */
#include "mm/numa.h"

#include <string.h>

#include "hv/text.h"
#include "mm/numa_impl.h"

#define FAKE_GRAIN    (2 * MIB)
#define FAKE_NODE_MIN (16 * MIB) /* a smaller part could hold no guest */

void numa_warn(struct fw_warnings *w, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fw_vwarn(w, fmt, args);
    va_end(args);
}

static void set_default_distances(struct numa *numa)
{
    for (uint32_t i = 0; i < numa->nnodes; i++)
        for (uint32_t j = 0; j < numa->nnodes; j++)
            numa->distance[i * numa->nnodes + j] = i == j ? NUMA_DISTANCE_LOCAL : NUMA_DISTANCE_FAR;
}

/* The matrix is by domain; domains beyond it keep the defaults. */
static void set_slit_distances(struct numa *numa, const struct slit_info *slit,
                               struct fw_warnings *w)
{
    uint32_t beyond = 0;

    for (uint32_t i = 0; i < numa->nnodes; i++) {
        uint32_t from = numa->node[i].pxm;

        beyond += from >= slit->n;
        for (uint32_t j = 0; j < numa->nnodes; j++) {
            uint32_t to = numa->node[j].pxm;

            if (from < slit->n && to < slit->n)
                numa->distance[i * numa->nnodes + j] = slit->rows[(size_t)from * slit->n + to];
        }
    }
    if (beyond)
        numa_warn(w, "SLIT: %u nodes are beyond its %u localities; 10 and 20 used for them", beyond,
                  slit->n);
}

/*
 * Domains of CPUs in use, and of entries that have RAM. Without a list of CPUs SRAT's stand for it.
 */
static void collect_domains(const struct numa_input *in, const struct cpu_index *index,
                            struct pxm_set *set)
{
    uint32_t pxm;

    for (uint32_t cpu = 0; cpu < in->ncpus; cpu++)
        if (numa_cpu_pxm(index, in->apic_ids[cpu], &pxm))
            pxm_add(set, pxm);
    for (uint32_t i = 0; in->ncpus == 0 && i < index->count; i++)
        pxm_add(set, index->cpus[(uint32_t)index->keys[i]].pxm);
    for (uint32_t i = 0; i < in->srat->nmem; i++)
        if (numa_entry_ram(&in->srat->mem[i], in->map))
            pxm_add(set, in->srat->mem[i].pxm);
}

/* Nodes and ranges by SRAT; false when it names nothing that is there. */
static bool build_from_srat(struct numa *numa, const struct numa_input *in, uint32_t *node_of_cpu,
                            uint64_t *scratch, struct fw_warnings *w)
{
    struct cpu_index index = numa_cpu_index(in->srat, scratch, w);
    struct pxm_set set = {0};

    collect_domains(in, &index, &set);
    if (set.refused)
        numa_warn(w, "SRAT: more than %u domains; the rest is given to other nodes", NODES_MAX);
    if (set.count == 0) {
        numa_warn(w, "SRAT: no domain has a CPU or RAM; one node is used");
        return false;
    }
    numa->nnodes = set.count;
    for (uint32_t n = 0; n < set.count; n++)
        numa->node[n] = (struct numa_node){.pxm = set.pxm[n]};
    numa_ranges_build(numa, in, &set, w);
    numa_cpus_assign(in, &index, &set, node_of_cpu, scratch + in->srat->ncpus, w);
    return true;
}

static paddr_t ram_end(const struct numa *numa, const struct memmap *map)
{
    paddr_t base, end, top = 0;

    for (uint32_t i = 0; numa_ram_extent(numa, map, i, &base, &end); i++)
        top = end > base ? MAX(top, end) : top;
    return top;
}

static uint64_t ram_total(const struct numa *numa, const struct memmap *map)
{
    paddr_t base, end;
    uint64_t sum = 0;

    for (uint32_t i = 0; numa_ram_extent(numa, map, i, &base, &end); i++)
        sum += end - base;
    return sum;
}

/* Where the first `share` bytes of RAM end, on a grain boundary. */
static paddr_t ram_boundary(const struct numa *numa, const struct memmap *map, uint64_t share)
{
    paddr_t base, end;

    for (uint32_t i = 0; numa_ram_extent(numa, map, i, &base, &end); i++) {
        if (end - base >= share)
            return ALIGN_DOWN(base + share, FAKE_GRAIN);
        share -= end - base;
    }
    return ram_end(numa, map);
}

static uint64_t ram_below(const struct numa *numa, const struct memmap *map, paddr_t limit)
{
    paddr_t base, end;
    uint64_t sum = 0;

    for (uint32_t i = 0; numa_ram_extent(numa, map, i, &base, &end); i++) {
        end = MIN(end, limit);
        if (base < end)
            sum += end - base;
    }
    return sum;
}

/*
 * n nodes of equal RAM; n = 1 is the machine without NUMA. Without a map the ranges are the RAM
 * that is cut, so they are replaced only when all has been worked out.
 */
static void build_equal_parts(struct numa *numa, const struct numa_input *in, uint32_t n,
                              uint32_t *node_of_cpu)
{
    uint64_t total = ram_total(numa, in->map), below = 0;
    paddr_t bound[NODES_MAX + 1] = {0};

    for (uint32_t i = 0; i < n; i++) {
        bound[i + 1] =
            i + 1 == n ? ram_end(numa, in->map) : ram_boundary(numa, in->map, total / n * (i + 1));
        numa->node[i].pxm = i;
        numa->node[i].ncpus = 0;
        numa->node[i].ram_bytes = ram_below(numa, in->map, bound[i + 1]) - below;
        below += numa->node[i].ram_bytes;
    }
    numa->nnodes = n;
    numa->nranges = 0;
    for (uint32_t i = 0; i < n; i++)
        if (bound[i] < bound[i + 1])
            numa->range[numa->nranges++] = (struct numa_range){bound[i], bound[i + 1], i};
    for (uint32_t cpu = 0; cpu < in->ncpus; cpu++)
        node_of_cpu[cpu] = cpu % n;
}

/* How many parts `fake=` makes: no part under FAKE_NODE_MIN. */
static uint32_t fake_parts(const struct numa *numa, const struct numa_input *in,
                           struct fw_warnings *w)
{
    uint64_t most = ram_total(numa, in->map) / FAKE_NODE_MIN;
    uint32_t n = (uint32_t)MIN((uint64_t)in->fake, MIN(most, (uint64_t)NODES_MAX));

    n = MAX(n, 1u);
    if (n != in->fake)
        numa_warn(w, "numa=fake=%u: memory is enough for %u nodes only", in->fake, n);
    return n;
}

void numa_build(struct numa *numa, const struct numa_input *in, uint32_t *node_of_cpu,
                uint64_t *scratch, struct fw_warnings *w)
{
    bool wants_srat = in->mode == NUMA_ON || !in->map; /* without a map SRAT's ranges are the RAM */
    bool srat_used = false;

    numa->nnodes = numa->nranges = 0;
    if (in->srat && wants_srat)
        srat_used =
            build_from_srat(numa, in, node_of_cpu, scratch, in->mode == NUMA_ON ? w : NULL) &&
            in->mode == NUMA_ON;
    if (!srat_used)
        build_equal_parts(numa, in, in->mode == NUMA_FAKE ? fake_parts(numa, in, w) : 1,
                          node_of_cpu);
    else
        numa_count_ram(numa, in->map);
    for (uint32_t cpu = 0; cpu < in->ncpus; cpu++)
        numa->node[node_of_cpu[cpu]].ncpus++;
    set_default_distances(numa);
    if (srat_used && in->slit && in->slit->usable)
        set_slit_distances(numa, in->slit, w);
}
