/*
 * Nodes: a row per oddity of SRAT and SLIT, the words of numa=, and a model for random ranges.
 */
#include "fixture_acpi.h"

#include "mm/numa.h"

#define G       GIB
#define ON      SRAT_ENABLED
#define HOTPLUG (SRAT_ENABLED | SRAT_MEM_HOTPLUG)
#define NVDIMM  (SRAT_ENABLED | SRAT_MEM_NONVOLATILE)

#define CPUS    16

static struct numa numa;
static struct fw_warnings warnings;
static struct srat_cpu cpus[2 * CPUS];
static struct srat_mem mem[1024];
static struct srat_info srat;
static struct mem_range ram[64];
static struct memmap map;
static uint32_t apic_ids[CPUS], sockets[CPUS], node_of_cpu[CPUS];
static uint64_t scratch[3 * CPUS];
static struct slit_info slit;
static struct numa_input in;

static void reset(uint32_t ncpus)
{
    memset(&warnings, 0, sizeof(warnings));
    srat = (struct srat_info){
        .cpus = cpus, .mem = mem, .cpu_capacity = 2 * CPUS, .mem_capacity = 1024};
    map = (struct memmap){.ranges = ram, .capacity = ARRAY_SIZE(ram)};
    for (uint32_t i = 0; i < CPUS; i++) {
        apic_ids[i] = i;
        sockets[i] = i / 4;
    }
    in = (struct numa_input){.apic_ids = apic_ids,
                             .sockets = sockets,
                             .ncpus = ncpus,
                             .srat = &srat,
                             .map = &map,
                             .mode = NUMA_ON};
}

static void add_cpu(uint32_t apic_id, uint32_t pxm)
{
    cpus[srat.ncpus++] = (struct srat_cpu){apic_id, pxm, ON, FW_CPU_LAPIC};
}

static void add_mem(uint32_t pxm, uint64_t base, uint64_t length, uint64_t flags)
{
    mem[srat.nmem++] = (struct srat_mem){base, length, pxm, (uint32_t)flags};
}

static void add_ram(uint64_t base, uint64_t length)
{
    ram[map.count++] = (struct mem_range){base, length, MEM_RAM};
}

static void check_invariants(void)
{
    uint64_t sum = 0, total = 0;
    uint32_t ncpus = 0;

    assert_in_range(numa.nnodes, 1, NODES_MAX);
    assert_true(numa.nranges <= NUMA_RANGES_MAX);
    for (uint32_t i = 0; i < numa.nranges; i++) {
        assert_true(numa.range[i].base < numa.range[i].end);
        assert_true(numa.range[i].node < numa.nnodes);
        if (i)
            assert_true(numa.range[i - 1].end <= numa.range[i].base);
    }
    for (uint32_t n = 0; n < numa.nnodes; n++) {
        sum += numa.node[n].ram_bytes;
        ncpus += numa.node[n].ncpus;
        assert_int_equal(numa_distance(&numa, n, n), 10);
        if (n)
            assert_true(numa.node[n - 1].pxm < numa.node[n].pxm);
    }
    for (uint32_t i = 0; i < in.ncpus; i++)
        assert_true(node_of_cpu[i] < numa.nnodes);
    assert_int_equal(ncpus, in.ncpus);
    for (uint32_t i = 0; i < map.count; i++)
        total += mem_type_is_ram(ram[i].type) ? ram[i].length : 0;
    if (in.map)
        assert_true(sum == total);
}

static void build(void)
{
    numa_build(&numa, &in, node_of_cpu, scratch, &warnings);
    check_invariants();
}

static void expect_ranges(const struct numa_range *want, uint32_t n)
{
    assert_int_equal(numa.nranges, n);
    for (uint32_t i = 0; i < n; i++)
        if (numa.range[i].base != want[i].base || numa.range[i].end != want[i].end ||
            numa.range[i].node != want[i].node)
            fail_msg("range %u is [0x%lx, 0x%lx) of node %u", i, numa.range[i].base,
                     numa.range[i].end, numa.range[i].node);
}

/* QEMU's two nodes. */
static void two_nodes(void)
{
    reset(8);
    for (uint32_t i = 0; i < 8; i++)
        add_cpu(i, i / 4);
    add_mem(0, 0, 0xa0000, ON);
    add_mem(0, 0x100000, G - 0x100000, ON);
    add_mem(1, G, G, ON);
    add_ram(0, 0x9f000);
    add_ram(0x100000, 2 * G - 0x120000);
}

static void test_two_nodes(void **state)
{
    paddr_t end;

    (void)state;
    two_nodes();
    build();
    assert_int_equal(warnings.count, 0);
    assert_int_equal(numa.nnodes, 2);
    expect_ranges((const struct numa_range[]){{0, 0xa0000, 0}, {0x100000, G, 0}, {G, 2 * G, 1}}, 3);
    assert_true(numa.node[0].ram_bytes == 0x9f000 + G - 0x100000);
    assert_true(numa.node[1].ram_bytes == G - 0x20000);
    assert_int_equal(node_of_cpu[3], 0);
    assert_int_equal(node_of_cpu[4], 1);
    assert_int_equal(numa_distance(&numa, 0, 1), 20);
    assert_int_equal(numa_node_of(&numa, 0x9ffff, &end), 0);
    assert_true(end == 0xa0000);
    assert_int_equal(numa_node_of(&numa, 0xa0000, &end), NUMA_NODE_NONE);
    assert_true(end == 0x100000);
    assert_int_equal(numa_node_of(&numa, G, &end), 1);
    assert_int_equal(numa_node_of(&numa, 2 * G, &end), NUMA_NODE_NONE);
    assert_true(end == UINT64_MAX);
}

static void test_sparse_pxms(void **state)
{
    (void)state;
    reset(4);
    add_cpu(0, 72);
    add_cpu(1, 33);
    add_cpu(2, 0x80000001);
    add_cpu(3, 72);
    add_mem(33, 0, G, ON);
    add_mem(72, G, G, ON);
    add_ram(0, 2 * G);
    build();
    assert_int_equal(numa.nnodes, 3);
    assert_int_equal(numa.node[0].pxm, 33);
    assert_int_equal(numa.node[2].pxm, 0x80000001);
    assert_true(numa.node[2].ram_bytes == 0 && numa.node[2].ncpus == 1); /* CPUs without memory */
    assert_int_equal(node_of_cpu[0], 1);
    assert_int_equal(node_of_cpu[1], 0);
}

static void test_memory_without_cpus(void **state)
{
    (void)state;
    reset(2);
    add_cpu(0, 0);
    add_cpu(1, 0);
    add_cpu(9, 5); /* no such CPU: its domain is no node */
    add_mem(0, 0, G, ON);
    add_mem(1, G, G, ON);
    add_mem(2, 8 * G, G, ON); /* nor is one whose memory is not there */
    add_mem(3, 9 * G, G, 0);  /* nor a disabled one */
    add_ram(0, 2 * G);
    build();
    assert_int_equal(numa.nnodes, 2);
    assert_true(numa.node[1].ncpus == 0 && numa.node[1].ram_bytes == G);
    assert_int_equal(warnings.count, 0);
}

static void test_interleaved(void **state)
{
    (void)state;
    reset(2);
    add_cpu(0, 0);
    add_cpu(1, 1);
    for (uint32_t i = 0; i < 6; i++)
        add_mem(i % 2, i * G, G, ON);
    add_mem(0, 6 * G, G, ON);
    add_mem(0, 7 * G, G, ON);
    add_ram(0, 8 * G);
    build();
    assert_int_equal(numa.nranges, 7); /* the last two of node 0 touch and are one */
    assert_true(numa.node[0].ram_bytes == 5 * G && numa.node[1].ram_bytes == 3 * G);
}

static void test_overlaps(void **state)
{
    (void)state;
    reset(0);
    in.map = NULL;
    add_mem(0, 0, 2 * G, ON); /* of one node: merged, no word about it */
    add_mem(0, G, 2 * G, ON);
    build();
    assert_int_equal(warnings.count, 0);
    expect_ranges((const struct numa_range[]){{0, 3 * G, 0}}, 1);

    reset(0);
    in.map = NULL;
    add_mem(4, 0, 4 * G, ON); /* of two nodes: the lower domain keeps it, wherever it stands */
    add_mem(2, G, G, ON);
    build();
    expect_ranges((const struct numa_range[]){{0, G, 1}, {G, 2 * G, 0}, {2 * G, 4 * G, 1}}, 3);
    assert_true(warned(&warnings, "overlap at 0x40000000"));

    reset(0);
    in.map = NULL;
    add_mem(0, UINT64_MAX - G, 2 * G, ON); /* a wrapping end is cut */
    add_mem(1, 0, 0, ON);
    build();
    expect_ranges((const struct numa_range[]){{UINT64_MAX - G, UINT64_MAX, 0}}, 1);
}

static void test_hotplug_and_nvdimm(void **state)
{
    (void)state;
    reset(1); /* Hyper-V: all of it hot-plug, most of it not there */
    add_cpu(0, 0);
    add_mem(0, 0, 0xf8000000, HOTPLUG);
    add_mem(0, 4 * G, 1000 * G, HOTPLUG);
    add_mem(1, 2000 * G, 1000 * G, HOTPLUG);
    add_mem(2, 8 * G, G, NVDIMM);
    add_ram(0, 0x9f000);
    add_ram(0x100000, G);
    add_ram(4 * G, G);
    build();
    assert_int_equal(numa.nnodes, 1);
    expect_ranges((const struct numa_range[]){{0, 0x9f000, 0},
                                              {0x100000, G + 0x100000, 0},
                                              {4 * G, 5 * G, 0}},
                  3);
    assert_int_equal(warnings.count, 0);
    in.map = NULL;
    build();
    assert_int_equal(numa.nnodes, 2);
    assert_true(numa.node[1].ram_bytes == 1000 * G);
}

static void test_homeless_ram(void **state)
{
    (void)state;
    two_nodes();
    add_ram(0xc0000, 0x8000); /* nearer to node 0's low range */
    add_ram(4 * G, G);        /* above everything */
    ram[2] = (struct mem_range){0x100000, 2 * G - 0x120000, MEM_RAM}; /* keep the map sorted */
    ram[1] = (struct mem_range){0xc0000, 0x8000, MEM_RAM};
    build();
    assert_true(warned(&warnings, "0x40008000 bytes of RAM from 0xc0000 on have no entry"));
    expect_ranges((const struct numa_range[]){{0, 0xa0000, 0},
                                              {0xc0000, 0xc8000, 0},
                                              {0x100000, G, 0},
                                              {G, 2 * G, 1},
                                              {4 * G, 5 * G, 1}},
                  5);

    reset(2); /* CPUs only: all RAM goes to the first node */
    add_cpu(0, 1);
    add_cpu(1, 2);
    add_ram(G, G);
    build();
    assert_int_equal(numa.nnodes, 2);
    assert_true(numa.node[0].ram_bytes == G);

    reset(1); /* below the first range */
    add_cpu(0, 0);
    add_mem(0, 2 * G, G, ON);
    add_ram(0, G);
    add_ram(2 * G, G);
    build();
    assert_true(numa.node[0].ram_bytes == 2 * G);
}

static void test_cpus_without_entry(void **state)
{
    (void)state;
    two_nodes();
    srat.ncpus = 6; /* CPUs 6 and 7 share socket 1 with 4 and 5 */
    build();
    assert_int_equal(node_of_cpu[7], 1);
    assert_true(warned(&warnings, "no entry for 2 CPUs, the first with APIC id 0x6"));
    in.sockets = NULL;
    build();
    assert_int_equal(node_of_cpu[7], 0);
    in.sockets = sockets;
    srat.ncpus = 4; /* a whole socket unknown */
    build();
    assert_int_equal(node_of_cpu[7], 0);
}

static void test_odd_cpu_entries(void **state)
{
    (void)state;
    two_nodes();
    apic_ids[7] = 0xff;
    cpus[7] = (struct srat_cpu){0xff, 0, ON, FW_CPU_LAPIC}; /* no id: not CPU 7's entry */
    build();
    assert_int_equal(node_of_cpu[7], 1); /* by its socket */
    cpus[7].kind = FW_CPU_X2APIC;
    build();
    assert_int_equal(node_of_cpu[7], 0);
    cpus[7].flags = 0;
    build();
    assert_int_equal(node_of_cpu[7], 1);

    two_nodes();
    add_cpu(0, 1); /* contradicts the first entry, which counts */
    add_cpu(1, 0); /* only repeats it */
    build();
    assert_int_equal(node_of_cpu[0], 0);
    assert_true(warned(&warnings, "APIC id 0x0 is in several domains"));
}

static void test_distances(void **state)
{
    static const uint8_t rows[9] = {10, 11, 12, 21, 10, 22, 31, 32, 10};

    (void)state;
    two_nodes();
    slit = (struct slit_info){.rows = rows, .n = 3, .usable = true};
    in.slit = &slit;
    build();
    assert_int_equal(numa_distance(&numa, 0, 1), 11);
    assert_int_equal(numa_distance(&numa, 1, 0), 21); /* asymmetric is kept */
    for (uint32_t i = 4; i < 8; i++)
        cpus[i].pxm = 2;
    mem[2].pxm = 2; /* by domain, not by node */
    build();
    assert_int_equal(numa_distance(&numa, 0, 1), 12);
    assert_int_equal(numa_distance(&numa, 1, 0), 31);
    slit.n = 2;
    slit.rows = (const uint8_t[]){10, 15, 15, 10};
    build();
    assert_int_equal(numa_distance(&numa, 0, 1), 20);
    assert_true(warned(&warnings, "1 nodes are beyond its 2 localities"));
    slit.usable = false;
    build();
    assert_int_equal(numa_distance(&numa, 0, 1), 20);
}

static void test_one_node_forms(void **state)
{
    static const enum option_numa modes[] = {NUMA_OFF, NUMA_NOACPI, NUMA_ON};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        two_nodes();
        in.mode = modes[i];
        if (modes[i] == NUMA_ON)
            in.srat = NULL;
        build();
        assert_int_equal(numa.nnodes, 1);
        assert_int_equal(numa.node[0].ncpus, 8);
        expect_ranges((const struct numa_range[]){{0, 2 * G - 0x20000, 0}}, 1);
        assert_int_equal(warnings.count, 0);
    }
    two_nodes();
    in.mode = NUMA_OFF;
    in.map = NULL; /* SRAT's ranges are the RAM there is */
    build();
    assert_true(numa.nnodes == 1 && numa.node[0].ram_bytes == 2 * G - 0x60000);
    reset(4);
    add_cpu(100, 1); /* a table that names nothing of this machine */
    add_ram(0, G);
    build();
    assert_int_equal(numa.nnodes, 1);
    assert_true(warned(&warnings, "no domain has a CPU or RAM"));
}

static void test_fake(void **state)
{
    (void)state;
    two_nodes();
    in.mode = NUMA_FAKE;
    in.fake = 4;
    build();
    assert_int_equal(numa.nnodes, 4);
    for (uint32_t n = 0; n < 4; n++) {
        uint64_t bytes = numa.node[n].ram_bytes;

        assert_true(bytes > G / 2 - 4 * MIB && bytes < G / 2 + 4 * MIB);
        assert_int_equal(numa.node[n].ncpus, 2);
        if (n)
            assert_true(IS_ALIGNED(numa.range[n].base, 2 * MIB));
    }
    assert_int_equal(node_of_cpu[5], 1);
    assert_int_equal(warnings.count, 0);
    in.fake = 3;
    build();
    assert_int_equal(numa.nnodes, 3);
    in.fake = 64;
    in.map = NULL;
    build();
    assert_int_equal(numa.nnodes, 64);

    reset(4);
    in.mode = NUMA_FAKE;
    in.fake = 8;
    add_ram(0, 40 * MIB);
    build();
    assert_int_equal(numa.nnodes, 2);
    assert_true(warned(&warnings, "numa=fake=8: memory is enough for 2 nodes only"));
}

static void test_limits(void **state)
{
    (void)state;
    reset(1);
    add_cpu(0, 0);
    for (uint32_t i = 0; i < 100; i++)
        add_mem(i, i * G, G, ON);
    add_ram(0, 100 * G);
    build();
    assert_int_equal(numa.nnodes, NODES_MAX);
    assert_true(warned(&warnings, "more than 64 domains"));

    reset(1); /* more ranges than there is room for: the RAM is not lost */
    add_cpu(0, 0);
    for (uint32_t i = 0; i < 1000; i++)
        add_mem(i % 2, (i + 1) * G, G, ON);
    add_ram(0, 1001 * G);
    build();
    assert_true(warned(&warnings, "more than 512 memory ranges"));
}

/* Random entries and RAM, page by page. */
static void test_model(void **state)
{
    uint32_t seed = 7;

    (void)state;
    for (int round = 0; round < 1000; round++) {
        int owner[64];

        reset(0);
        for (uint32_t at = 0; at < 60;) {
            seed = seed * 1664525 + 1013904223;
            add_ram(at * PAGE_BYTES, (1 + (seed >> 8) % 6) * PAGE_BYTES);
            at += 1 + (seed >> 8) % 6 + 1 + (seed >> 16) % 4;
        }
        for (int i = 0; i < 64; i++)
            owner[i] = -1;
        for (int k = 0; k < 8; k++) {
            uint32_t base, length, pxm;

            seed = seed * 1664525 + 1013904223;
            base = (seed >> 8) % 60;
            length = 1 + (seed >> 16) % 16;
            pxm = (seed >> 24) % 5;
            add_mem(pxm, base * PAGE_BYTES, length * PAGE_BYTES, ON);
            for (uint32_t i = base; i < base + length && i < 64; i++)
                if (owner[i] < 0 || (int)pxm < owner[i])
                    owner[i] = (int)pxm;
        }
        build();
        for (uint32_t i = 0; i < map.count; i++) {
            uint64_t pages = ram[i].length / PAGE_BYTES, first = ram[i].base / PAGE_BYTES;

            for (uint64_t p = first; p < first + pages && p < 64; p++) {
                paddr_t end;
                uint32_t n = numa_node_of(&numa, p * PAGE_BYTES, &end);

                assert_int_not_equal(n, NUMA_NODE_NONE);
                if (owner[p] >= 0)
                    assert_int_equal(numa.node[n].pxm, owner[p]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_nodes),
        cmocka_unit_test(test_sparse_pxms),
        cmocka_unit_test(test_memory_without_cpus),
        cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_overlaps),
        cmocka_unit_test(test_hotplug_and_nvdimm),
        cmocka_unit_test(test_homeless_ram),
        cmocka_unit_test(test_cpus_without_entry),
        cmocka_unit_test(test_odd_cpu_entries),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_one_node_forms),
        cmocka_unit_test(test_fake),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
