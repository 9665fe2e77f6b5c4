/*
 * Instructions from firmware tables and CPUID leaves to the machine's shape.
 *
 *     bench_topology MADT SRAT SLIT      the tables of one machine, as files; SLIT may be empty
 *
 * Counts the parsers and the joining of one machine's tables, then topology_build for 4,096 CPUs
 * (16 sockets of 128 cores of 2 threads, an LLC for 8 cores): with APIC ids in ascending order, as
 * firmware lists them, and in disorder, the sort's worst use here.
 */
#include "arch/x86/topology.h"
#include "boot/madt.h"
#include "boot/slit.h"
#include "boot/srat.h"
#include "hv/bits.h"
#include "mm/numa.h"
#include "tests/bench/bench.h"

#define TABLE_BYTES_MAX (1u << 20)
#define STEP_IN_ORDER   1u
#define STEP_DISORDER   1597u /* odd: i * step visits every id below a power of two once */

struct table {
    size_t bytes;
    uint8_t data[TABLE_BYTES_MAX];
};

static struct table madt_table, srat_table, slit_table;
static struct madt_cpu madt_cpus[FW_CPU_ENTRIES_MAX];
static struct srat_cpu srat_cpus[FW_CPU_ENTRIES_MAX];
static struct srat_mem srat_mem[NUMA_RANGES_MAX];
static struct madt_info madt = {.cpus = madt_cpus, .cpu_capacity = FW_CPU_ENTRIES_MAX};
static struct srat_info srat = {.cpus = srat_cpus,
                                .mem = srat_mem,
                                .cpu_capacity = FW_CPU_ENTRIES_MAX,
                                .mem_capacity = NUMA_RANGES_MAX};
static struct slit_info slit;
static struct fw_warnings warnings;

static uint32_t apic_ids[CPUS_MAX], nodes[CPUS_MAX];
static uint64_t scratch[CPUS_MAX + FW_CPU_ENTRIES_MAX];
static struct numa numa;

static struct topo_ids ids[CPUS_MAX];
static struct cpu_place places[CPUS_MAX];
static struct topo_result result;

static void table_read(struct table *table, const char *path)
{
    FILE *file = fopen(path, "rb");

    BENCH_EXPECT(file);
    table->bytes = fread(table->data, 1, sizeof(table->data), file);
    fclose(file);
}

static void bench_tables(void)
{
    uint32_t ncpus = 0;
    size_t fault;
    int error = 0;

    BENCH(madt_parse,
          error |= madt_parse(madt_table.data, madt_table.bytes, &madt, &warnings, &fault));
    BENCH(srat_parse,
          error |= srat_parse(srat_table.data, srat_table.bytes, &srat, &warnings, &fault));
    if (slit_table.bytes)
        BENCH(slit_parse,
              error |= slit_parse(slit_table.data, slit_table.bytes, &slit, &warnings, &fault));
    BENCH_EXPECT(!error);
    BENCH(cpu_list, ncpus = madt_cpu_list(&madt, madt_cpus[0].apic_id, apic_ids, CPUS_MAX, scratch,
                                          &warnings));
    BENCH(numa_build, numa_build(&numa,
                                 &(struct numa_input){.apic_ids = apic_ids,
                                                      .ncpus = ncpus,
                                                      .srat = &srat,
                                                      .slit = &slit,
                                                      .mode = NUMA_ON},
                                 nodes, scratch, &warnings));
    printf("{\"cpus\":%u,\"nodes\":%u}\n", ncpus, numa.nnodes);
}

static void ids_fill(uint32_t step)
{
    for (uint32_t i = 0; i < CPUS_MAX; i++)
        ids[i] = (struct topo_ids){.apic_id = i * step % CPUS_MAX,
                                   .core_threads = 2,
                                   .core_shift = 1,
                                   .unit_shift = 1,
                                   .llc_shift = 4,
                                   .llc_level = 3,
                                   .socket_shift = 8,
                                   .source = TOPO_FROM_LEAF_B,
                                   .rank = TOPO_CORE_BIG};
}

static void build(void)
{
    topology_build(ids, CPUS_MAX, 0, scratch, places, &result);
}

static void bench_build(void)
{
    ids_fill(STEP_IN_ORDER);
    BENCH(build_4096, build());
    BENCH_EXPECT(result.sockets == 16 && result.llcs == 256 && result.cores == 2048);
    ids_fill(STEP_DISORDER);
    BENCH(build_4096_disorder, build());
    BENCH_EXPECT(result.sockets == 16 && result.llcs == 256 && result.cores == 2048);
}

int main(int argc, char **argv)
{
    BENCH_EXPECT(argc == 4);
    table_read(&madt_table, argv[1]);
    table_read(&srat_table, argv[2]);
    table_read(&slit_table, argv[3]);
    BENCH_NOTHING();
    bench_tables();
    bench_build();
    return 0;
}
