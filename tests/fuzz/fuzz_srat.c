/*
 * SRAT reader, and the nodes built from whatever it read. The first byte chooses numa= and whether
 * there is a memory map.
 */
#include "fuzz.h"

#include "boot/srat.h"
#include "mm/numa.h"

#define CPUS 64

static struct mem_range ram[] = {
    {0, 0x9f000, MEM_RAM},
    {0x100000, 1 * GIB, MEM_RAM},
    {2 * GIB, 1 * GIB, MEM_RESERVED},
    {4 * GIB, 64 * GIB, MEM_RAM},
};

static void check(const struct numa *numa, const struct numa_input *in, const uint32_t *node_of_cpu)
{
    FUZZ_CHECK(numa->nnodes >= 1 && numa->nnodes <= NODES_MAX && numa->nranges <= NUMA_RANGES_MAX);
    for (uint32_t i = 0; i < numa->nranges; i++) {
        FUZZ_CHECK(numa->range[i].base < numa->range[i].end);
        FUZZ_CHECK(i == 0 || numa->range[i - 1].end <= numa->range[i].base);
        FUZZ_CHECK(numa->range[i].node < numa->nnodes);
    }
    for (uint32_t i = 0; i < in->ncpus; i++)
        FUZZ_CHECK(node_of_cpu[i] < numa->nnodes);
    for (uint32_t i = 0; in->map && i < ARRAY_SIZE(ram); i++) {
        paddr_t end;

        if (ram[i].type == MEM_RAM)
            FUZZ_CHECK(numa_node_of(numa, ram[i].base, &end) != NUMA_NODE_NONE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct srat_cpu cpus[128];
    static struct srat_mem mem[128];
    static struct srat_info info;
    static struct fw_warnings warnings;
    static struct numa numa;
    static uint32_t ids[CPUS], sockets[CPUS], node_of_cpu[CPUS];
    static uint64_t scratch[CPUS + 128];
    struct memmap map = {.ranges = ram, .capacity = ARRAY_SIZE(ram), .count = ARRAY_SIZE(ram)};
    struct numa_input in = {.apic_ids = ids, .sockets = sockets, .ncpus = CPUS, .srat = &info};
    size_t fault;

    if (bytes < 1)
        return 0;
    for (uint32_t i = 0; i < CPUS; i++) {
        ids[i] = i * 5;
        sockets[i] = i / 8;
    }
    info = (struct srat_info){cpus, mem, ARRAY_SIZE(cpus), ARRAY_SIZE(mem), 0, 0, 0};
    warnings.count = warnings.dropped = 0;
    if (srat_parse(data + 1, bytes - 1, &info, &warnings, &fault))
        return 0;
    in.mode = (enum option_numa)(data[0] & 3);
    in.fake = 1 + (data[0] >> 3);
    in.map = data[0] & 4 ? &map : NULL;
    numa_build(&numa, &in, node_of_cpu, scratch, &warnings);
    check(&numa, &in, node_of_cpu);
    return 0;
}
