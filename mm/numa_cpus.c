/*
 * Node of every CPU.
 *
 * Decides by SRAT; where SRAT has no entry for a CPU, by the CPU's socket (the node of that
 * socket's lowest CPU that has an entry); else node 0. Of entries that repeat an APIC id the first
 * in the table counts. Invariants: 0xff is no APIC id in a local-APIC entry; every CPU gets a node
 * below the number of nodes; O((n + m) log m) for n CPUs and m entries.
 */
#include "mm/numa_impl.h"

#include "hv/sort.h"

#define KEY_APIC_ID    BITS(63, 32)
#define KEY_INDEX      BITS(31, 0)

#define LAPIC_ID_NONE  0xffu
#define X2APIC_ID_NONE UINT32_MAX

static bool entry_counts(const struct srat_cpu *cpu)
{
    uint32_t none = cpu->kind == FW_CPU_LAPIC ? LAPIC_ID_NONE : X2APIC_ID_NONE;

    return (cpu->flags & SRAT_ENABLED) && cpu->apic_id != none;
}

struct cpu_index numa_cpu_index(const struct srat_info *srat, uint64_t *keys, struct fw_warnings *w)
{
    struct cpu_index index = {.cpus = srat->cpus, .keys = keys};
    uint32_t contradictions = 0, example = 0;

    for (uint32_t i = 0; i < srat->ncpus; i++)
        if (entry_counts(&srat->cpus[i]))
            keys[index.count++] =
                FIELD_PREP(KEY_APIC_ID, srat->cpus[i].apic_id) | FIELD_PREP(KEY_INDEX, i);
    sort_u64(keys, index.count);
    for (uint32_t i = 1; i < index.count; i++) {
        const struct srat_cpu *a = &srat->cpus[FIELD_GET(KEY_INDEX, keys[i - 1])];
        const struct srat_cpu *b = &srat->cpus[FIELD_GET(KEY_INDEX, keys[i])];

        if (a->apic_id == b->apic_id && a->pxm != b->pxm) {
            contradictions++;
            example = a->apic_id;
        }
    }
    if (contradictions)
        numa_warn(w, "SRAT: APIC id 0x%x%s in several domains; the first entry counts", example,
                  contradictions > 1 ? " and others are" : " is");
    return index;
}

bool numa_cpu_pxm(const struct cpu_index *index, uint32_t apic_id, uint32_t *pxm)
{
    uint32_t low = 0, high = index->count;

    while (low < high) {
        uint32_t mid = (low + high) / 2;

        if (FIELD_GET(KEY_APIC_ID, index->keys[mid]) < apic_id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == index->count || FIELD_GET(KEY_APIC_ID, index->keys[low]) != apic_id)
        return false;
    *pxm = index->cpus[FIELD_GET(KEY_INDEX, index->keys[low])].pxm;
    return true;
}

/* Sorts the CPUs that have a node by (socket, CPU number) into `keys`; returns how many. */
static uint32_t index_sockets(const struct numa_input *in, const uint32_t *node_of_cpu,
                              uint64_t *keys)
{
    uint32_t n = 0;

    for (uint32_t cpu = 0; in->sockets && cpu < in->ncpus; cpu++)
        if (node_of_cpu[cpu] != NUMA_NODE_NONE)
            keys[n++] = FIELD_PREP(BITS(63, 32), in->sockets[cpu]) | FIELD_PREP(BITS(31, 0), cpu);
    sort_u64(keys, n);
    return n;
}

/* Node of the lowest CPU of `socket` that has one, else 0. */
static uint32_t node_of_socket(const uint64_t *keys, uint32_t n, const uint32_t *node_of_cpu,
                               uint32_t socket)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t mid = (low + high) / 2;

        if (FIELD_GET(BITS(63, 32), keys[mid]) < socket)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == n || FIELD_GET(BITS(63, 32), keys[low]) != socket)
        return 0;
    return node_of_cpu[FIELD_GET(BITS(31, 0), keys[low])];
}

void numa_cpus_assign(const struct numa_input *in, const struct cpu_index *index,
                      const struct pxm_set *set, uint32_t *node_of_cpu, uint64_t *scratch,
                      struct fw_warnings *w)
{
    uint32_t missing = 0, example = 0, known, pxm;

    for (uint32_t cpu = 0; cpu < in->ncpus; cpu++) {
        node_of_cpu[cpu] = NUMA_NODE_NONE;
        if (numa_cpu_pxm(index, in->apic_ids[cpu], &pxm))
            node_of_cpu[cpu] = pxm_find(set, pxm);
    }
    known = index_sockets(in, node_of_cpu, scratch);
    for (uint32_t cpu = 0; cpu < in->ncpus; cpu++) {
        if (node_of_cpu[cpu] != NUMA_NODE_NONE)
            continue;
        if (missing++ == 0)
            example = in->apic_ids[cpu];
        node_of_cpu[cpu] =
            in->sockets ? node_of_socket(scratch, known, node_of_cpu, in->sockets[cpu]) : 0;
    }
    if (missing)
        numa_warn(w, "SRAT: no entry for %u CPUs, the first with APIC id 0x%x; placed by socket",
                  missing, example);
}
