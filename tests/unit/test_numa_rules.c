/*
 * The rules by which SRAT, SLIT and numa= become nodes and distances, a test a rule, from the
 * tables' bytes to the answer. test_srat.c, test_slit.c and test_numa.c test the parts.
 */
#include "firmware_machine.h"

/* ---- SRAT ---- */

static void srat_pxm_has_8_bits_below_revision_2(void **state)
{
    (void)state;
    for (uint8_t revision = 0; revision < 4; revision++) {
        begin();
        fw.nmadts = fw.nsrats = 1;
        madt_lapic(&fw.madt[0], 0, 0, ON);
        madt_lapic(&fw.madt[0], 4, 4, ON);
        srat_begin(&fw.srat[0], revision);
        srat_lapic(&fw.srat[0], 0, 0xabcd01, ON);
        srat_x2apic(&fw.srat[0], 4, 0x102, ON);
        srat_memory(&fw.srat[0], 0xabcd01, 0, GIB, ON);
        run();
        assert_int_equal(got.numa.nnodes, 2);
        assert_int_equal(got.numa.node[0].pxm, revision < 2 ? 0x01 : 0x102);
        assert_int_equal(got.numa.node[1].pxm, revision < 2 ? 0x02 : 0xabcd01);
        assert_true(got.numa.node[revision < 2 ? 0 : 1].ram_bytes == GIB);
    }
}

static void srat_sparse_domains_become_dense_nodes(void **state)
{
    (void)state;
    begin();
    fw.nmadts = fw.nsrats = 1;
    for (uint32_t i = 0; i < 3; i++) {
        madt_lapic(&fw.madt[0], i, 4 * i, ON);
        srat_lapic(&fw.srat[0], 4 * i, i == 1 ? 200 : 70 * i, ON);
        srat_memory(&fw.srat[0], i == 1 ? 200 : 70 * i, i * GIB, GIB, ON);
    }
    run();
    assert_int_equal(got.numa.nnodes, 3);
    assert_true(got.numa.node[0].pxm == 0 && got.numa.node[1].pxm == 140 &&
                got.numa.node[2].pxm == 200);
    assert_true(got.node_of_cpu[0] == 0 && got.node_of_cpu[1] == 2 && got.node_of_cpu[2] == 1);
    expect_quiet();
}

static void srat_cpus_without_memory_and_memory_without_cpus(void **state)
{
    (void)state;
    begin_two_nodes();
    madt_lapic(&fw.madt[0], 8, 8, ON);
    srat_lapic(&fw.srat[0], 8, 5, ON);
    srat_memory(&fw.srat[0], 7, 4 * GIB, GIB, ON);
    add_ram(4 * GIB, GIB);
    run();
    assert_int_equal(got.numa.nnodes, 4);
    assert_true(got.numa.node[2].ncpus == 1 && got.numa.node[2].ram_bytes == 0);
    assert_true(got.numa.node[3].ncpus == 0 && got.numa.node[3].ram_bytes == GIB);
    expect_quiet();
}

static void srat_interleaved_ranges_are_kept(void **state)
{
    paddr_t end;

    (void)state;
    begin_two_nodes();
    for (uint32_t i = 4; i < 8; i++)
        srat_memory(&fw.srat[0], i % 2, i * GIB, GIB, ON);
    add_ram(4 * GIB, 4 * GIB);
    run();
    assert_true(got.numa.node[0].ram_bytes == 3 * GIB && got.numa.node[1].ram_bytes == 3 * GIB);
    for (uint32_t i = 4; i < 8; i++)
        assert_int_equal(numa_node_of(&got.numa, i * GIB + 5, &end), i % 2);
    expect_quiet();
}

static void srat_overlap_within_a_node_is_merged(void **state)
{
    (void)state;
    begin_two_nodes();
    srat_memory(&fw.srat[0], 1, GIB + GIB / 2, GIB, ON);
    srat_memory(&fw.srat[0], 0, 0, GIB, ON);
    fw.map.count = 0;
    run();
    assert_int_equal(got.numa.nranges, 2);
    assert_true(got.numa.range[1].base == GIB && got.numa.range[1].end == 2 * GIB + GIB / 2);
    expect_quiet();
}

static void srat_overlap_of_two_nodes_stays_with_the_lower_domain(void **state)
{
    (void)state;
    begin_two_nodes();
    srat_memory(&fw.srat[0], 0, GIB + 512 * MIB, 256 * MIB, ON);
    run();
    assert_true(got.numa.node[0].ram_bytes == GIB + 256 * MIB);
    assert_true(got.numa.node[1].ram_bytes == GIB - 256 * MIB);
    expect_warning("ranges of two domains overlap at 0x60000000; the lower domain keeps it");
}

static void srat_hotplug_ranges_meet_the_memory_map(void **state)
{
    (void)state;
    begin();
    fw.nmadts = fw.nsrats = 1;
    madt_lapic(&fw.madt[0], 0, 0, ON);
    srat_lapic(&fw.srat[0], 0, 0, ON);
    srat_memory(&fw.srat[0], 0, 0, 64 * GIB, HOTPLUG);
    srat_memory(&fw.srat[0], 1, 64 * GIB, 64 * GIB, HOTPLUG); /* room for memory, none there */
    fw.ram[fw.map.count++] = (struct mem_range){0, MIB, MEM_RESERVED};
    add_ram(MIB, GIB);
    add_ram(4 * GIB, GIB);
    run();
    assert_int_equal(got.numa.nnodes, 1);
    assert_int_equal(got.numa.nranges, 2);
    assert_true(got.numa.range[0].base == MIB && got.numa.range[1].end == 5 * GIB);
    expect_quiet();
}

static void srat_nonvolatile_ranges_are_no_ram(void **state)
{
    (void)state;
    begin_two_nodes();
    srat_memory(&fw.srat[0], 2, 8 * GIB, GIB, NVDIMM);
    srat_memory(&fw.srat[0], 3, 9 * GIB, GIB, 0);
    fw.map.count = 0;
    run();
    assert_int_equal(got.numa.nnodes, 2);
    assert_int_equal(got.numa.nranges, 2);
    expect_quiet();
}

static void srat_ram_without_an_entry_goes_to_the_nearest_range(void **state)
{
    paddr_t end;

    (void)state;
    begin_two_nodes();
    srat_memory(&fw.srat[0], 0, 100 * GIB, GIB, ON);
    add_ram(50 * GIB, GIB);
    add_ram(60 * GIB, GIB);
    add_ram(100 * GIB, GIB);
    run();
    assert_int_equal(numa_node_of(&got.numa, 50 * GIB, &end), 1); /* by 48 GiB to 49 */
    /* Nearer to what node 1 was just given, but that is no range of firmware's. */
    assert_int_equal(numa_node_of(&got.numa, 60 * GIB, &end), 0);
    assert_true(got.numa.node[0].ram_bytes == 3 * GIB && got.numa.node[1].ram_bytes == 2 * GIB);
    expect_warning("0x80000000 bytes of RAM from 0xc80000000 on have no entry");
}

static void srat_zero_length_entry_ends_the_table(void **state)
{
    (void)state;
    begin_two_nodes();
    put(&fw.srat[0], 1, 2);
    srat_memory(&fw.srat[0], 7, 8 * GIB, GIB, ON);
    fw.map.count = 0;
    run();
    assert_int_equal(got.srat_entries, 6);
    assert_int_equal(got.numa.nnodes, 2);
    expect_warning("SRAT: entry of type 1, length 0 at offset 192 ends the table");
}

static void srat_cpu_without_an_entry_goes_with_its_socket(void **state)
{
    (void)state;
    begin_two_nodes();
    madt_lapic(&fw.madt[0], 6, 6, ON); /* socket 1, whose others are in node 1 */
    madt_lapic(&fw.madt[0], 9, 9, ON); /* a socket nobody names */
    run();
    assert_int_equal(got.node_of_cpu[4], 1);
    assert_int_equal(got.node_of_cpu[5], 0);
    expect_warning("no entry for 2 CPUs, the first with APIC id 0x6");
}

static void srat_other_types_are_skipped(void **state)
{
    static const uint8_t others[] = {3, 4, 5, 6, 7, 200};

    (void)state;
    begin();
    fw.nsrats = fw.nmadts = 1;
    madt_lapic(&fw.madt[0], 0, 0, ON);
    for (uint32_t i = 0; i < ARRAY_SIZE(others); i++) {
        put(&fw.srat[0], others[i], 1);
        put(&fw.srat[0], 20, 1);
        for (uint32_t k = 0; k < 18; k++)
            put(&fw.srat[0], 1, 1);
        srat_memory(&fw.srat[0], i, i * GIB, GIB, ON);
    }
    run();
    assert_int_equal(got.numa.nnodes, 6);
    assert_int_equal(got.srat_entries, 6);
}

/* The host tool's view of a machine of which nothing but its SRAT is known. */
static void srat_alone_says_which_nodes_there_are(void **state)
{
    (void)state;
    begin();
    fw.nsrats = 1;
    fw.boot_apic_id = FW_APIC_ID_NONE;
    srat_lapic(&fw.srat[0], 0, 3, ON);
    srat_lapic(&fw.srat[0], 1, 9, ON);
    srat_lapic(&fw.srat[0], 2, 11, 0);
    srat_memory(&fw.srat[0], 3, 0, GIB, ON);
    run();
    assert_int_equal(got.ncpus, 0);
    assert_int_equal(got.numa.nnodes, 2);
    assert_true(got.numa.node[0].pxm == 3 && got.numa.node[1].pxm == 9);
    expect_quiet();
}

static void srat_first_of_contradicting_entries_counts(void **state)
{
    (void)state;
    begin_two_nodes();
    srat_lapic(&fw.srat[0], 0, 1, ON);
    srat_x2apic(&fw.srat[0], 0, 1, ON);
    srat_lapic(&fw.srat[0], 4, 1, ON); /* no contradiction */
    run();
    assert_int_equal(got.node_of_cpu[0], 0);
    expect_warning("APIC id 0x0 is in several domains; the first entry counts");
    srat_lapic(&fw.srat[0], 5, 0, ON);
    run();
    assert_int_equal(got.node_of_cpu[3], 1);
    expect_warning("APIC id 0x5 and others are in several domains");
}

static void srat_cpu_of_a_domain_too_many_goes_with_its_socket(void **state)
{
    (void)state;
    begin();
    fw.nmadts = fw.nsrats = 1;
    for (uint32_t i = 0; i < NODES_MAX + 2; i++) {
        uint32_t apic_id = i < NODES_MAX + 1 ? 8 + 4 * i : 9; /* the last beside the first */

        madt_x2apic(&fw.madt[0], i, apic_id, ON);
        srat_x2apic(&fw.srat[0], apic_id, 100 + i, ON);
    }
    fw.boot_apic_id = 8;
    add_ram(0, GIB);
    run();
    assert_int_equal(got.numa.nnodes, NODES_MAX);
    assert_int_equal(got.node_of_cpu[NODES_MAX - 1], NODES_MAX - 1);
    assert_int_equal(got.node_of_cpu[NODES_MAX], 0);
    assert_int_equal(got.node_of_cpu[NODES_MAX + 1], 0);
    expect_warning("more than 64 domains");
    expect_warning("no entry for 2 CPUs");
}

/* ---- SLIT ---- */

static const struct slit_row {
    const char *rule;
    uint64_t n;
    size_t bytes;
    uint8_t rows[16];
    uint8_t there, back; /* distance of nodes 0 and 1, domains 0 and 1 */
    const char *warning; /* NULL: none */
} slit_rows[] = {
    {"as it is", 2, 4, {10, 21, 21, 10}, 21, 21, NULL},
    {"longer than n*n", 2, 7, {10, 21, 21, 10, 1, 2, 3}, 21, 21, NULL},
    {"shorter", 2, 3, {10, 21, 21}, 20, 20, "2 localities in 47 bytes; table ignored"},
    {"diagonal", 2, 4, {10, 21, 21, 12}, 20, 20, "distance 12 from 1 to 1 is impossible"},
    {"below 10", 2, 4, {10, 21, 9, 10}, 20, 20, "distance 9 from 1 to 0 is impossible"},
    {"asymmetric", 2, 4, {10, 17, 25, 10}, 17, 25, NULL},
    {"all 10", 2, 4, {10, 10, 10, 10}, 20, 20, "all distances are 10; table ignored"},
    {"more localities", 3, 9, {10, 31, 90, 32, 10, 91, 92, 93, 10}, 31, 32, NULL},
    {"fewer localities", 1, 1, {10}, 20, 20, "1 nodes are beyond its 1 localities"},
};

static void slit_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(slit_rows); i++) {
        const struct slit_row *row = &slit_rows[i];

        begin_two_nodes();
        use_slit(row->n, row->rows, row->bytes);
        run();
        if (numa_distance(&got.numa, 0, 1) != row->there ||
            numa_distance(&got.numa, 1, 0) != row->back || numa_distance(&got.numa, 0, 0) != 10 ||
            numa_distance(&got.numa, 1, 1) != 10)
            fail_msg("%s: wrong distances", row->rule);
        if (row->warning)
            expect_warning(row->warning);
        else
            expect_quiet();
    }
}

static void slit_is_by_domain_not_by_node(void **state)
{
    (void)state;
    begin();
    fw.nmadts = fw.nsrats = 1;
    for (uint32_t i = 0; i < 2; i++) {
        madt_lapic(&fw.madt[0], i, i, ON);
        srat_lapic(&fw.srat[0], i, 1 + 2 * i, ON);
    }
    use_slit(4, (const uint8_t[]){10, 11, 12, 13, 11, 10, 14, 15, 12, 14, 10, 16, 13, 15, 16, 10},
             16);
    run();
    assert_int_equal(numa_distance(&got.numa, 0, 1), 15);
}

/* ---- numa= ---- */

/* One node that holds everything, whatever SRAT and SLIT say. */
static void numa_off_and_noacpi_make_one_node(void **state)
{
    static const enum option_numa modes[] = {NUMA_OFF, NUMA_NOACPI};

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(modes); i++) {
        begin_two_nodes();
        use_slit(2, (const uint8_t[]){10, 21, 21, 10}, 4);
        fw.mode = modes[i];
        run();
        assert_int_equal(got.numa.nnodes, 1);
        assert_int_equal(got.numa.node[0].ncpus, 4);
        assert_true(got.numa.node[0].ram_bytes == 2 * GIB);
        assert_int_equal(numa_distance(&got.numa, 0, 0), 10);
        expect_quiet();
    }
}

static void numa_fake_cuts_ram_into_equal_parts(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= NODES_MAX; n++) {
        uint64_t sum = 0;

        begin_two_nodes();
        fw.map.count = 0;
        add_ram(0x1000, 0x9e000);
        add_ram(MIB, GIB - 5 * MIB); /* a hole up to 4 GiB */
        add_ram(4 * GIB, GIB);
        use_slit(2, (const uint8_t[]){10, 21, 21, 10}, 4);
        fw.mode = NUMA_FAKE;
        fw.fake = n;
        run();
        assert_int_equal(got.numa.nnodes, n);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t share = (2 * GIB - 5 * MIB + 0x9e000) / n, bytes = got.numa.node[i].ram_bytes;

            /* A cut is rounded down to 2 MiB, so a part is short or long by that at most. */
            assert_true(bytes + 2 * MIB >= share && bytes <= share + 2 * MIB + n);
            assert_true(i == 0 || IS_ALIGNED(got.numa.range[i].base, 2 * MIB));
            assert_int_equal(got.numa.range[i].node, i);
            sum += bytes;
        }
        assert_true(sum == 2 * GIB - 5 * MIB + 0x9e000);
        for (uint32_t cpu = 0; cpu < got.ncpus; cpu++) /* dealt out in turn */
            assert_int_equal(got.node_of_cpu[cpu], cpu % n);
        for (uint32_t i = 1; i < n; i++)
            assert_true(numa_distance(&got.numa, 0, i) == 20 &&
                        numa_distance(&got.numa, i, i) == 10);
        expect_quiet();
    }
}

static void numa_fake_needs_no_srat(void **state)
{
    (void)state;
    begin_two_nodes();
    fw.nsrats = 0;
    fw.mode = NUMA_FAKE;
    fw.fake = 2;
    run();
    assert_int_equal(got.numa.nnodes, 2);
    assert_true(got.numa.node[1].ram_bytes == GIB && got.numa.node[1].ncpus == 2);
    expect_quiet();
}

static void numa_fake_makes_no_node_too_small_for_a_guest(void **state)
{
    (void)state;
    begin_two_nodes();
    fw.map.count = 0;
    add_ram(0, 100 * MIB);
    fw.mode = NUMA_FAKE;
    fw.fake = 8;
    run();
    assert_int_equal(got.numa.nnodes, 6);
    expect_warning("numa=fake=8: memory is enough for 6 nodes only");
    fw.ram[0].length = MIB;
    run();
    assert_int_equal(got.numa.nnodes, 1);
}

/* ---- checksum and length ---- */

static void checksum_wrong_is_a_warning(void **state)
{
    (void)state;
    begin_two_nodes();
    use_slit(2, (const uint8_t[]){10, 21, 21, 10}, 4);
    close_tables();
    fw.madt[0].b[9]++;
    fw.srat[0].b[9]++;
    fw.slit.b[9]++;
    run_as_they_are();
    EXPECT_IDS(0, 1, 4, 5);
    assert_int_equal(got.numa.nnodes, 2);
    assert_int_equal(numa_distance(&got.numa, 0, 1), 21);
    expect_warning("APIC: wrong checksum; used all the same");
    expect_warning("SRAT: wrong checksum; used all the same");
    expect_warning("SLIT: wrong checksum; used all the same");
    assert_int_equal(got.warnings.count, 3);
}

/* The table at fault is left out and the rest stands: one CPU, one node, distance 20. */
static void length_wrong_leaves_the_table_out(void **state)
{
    static const uint32_t lengths[] = {0, 20, 35, 36, 43, 5000, 0x1000001, 0xffffffff};
    struct table *broken[] = {&fw.madt[0], &fw.srat[0], &fw.slit};

    (void)state;
    for (uint32_t k = 0; k < ARRAY_SIZE(broken); k++) {
        for (uint32_t i = 0; i < ARRAY_SIZE(lengths); i++) {
            begin_two_nodes();
            use_slit(2, (const uint8_t[]){10, 21, 21, 10}, 4);
            close_tables();
            set_u32(broken[k], 4, lengths[i]);
            run_as_they_are();
            assert_int_equal(got.ncpus, k == 0 ? 1 : 4);
            assert_int_equal(got.numa.nnodes, k == 1 ? 1 : 2);
            if (k != 1)
                assert_int_equal(numa_distance(&got.numa, 0, 1), k == 2 ? 20 : 21);
            assert_int_not_equal(got.warnings.count, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(srat_pxm_has_8_bits_below_revision_2),
        cmocka_unit_test(srat_sparse_domains_become_dense_nodes),
        cmocka_unit_test(srat_cpus_without_memory_and_memory_without_cpus),
        cmocka_unit_test(srat_interleaved_ranges_are_kept),
        cmocka_unit_test(srat_overlap_within_a_node_is_merged),
        cmocka_unit_test(srat_overlap_of_two_nodes_stays_with_the_lower_domain),
        cmocka_unit_test(srat_hotplug_ranges_meet_the_memory_map),
        cmocka_unit_test(srat_nonvolatile_ranges_are_no_ram),
        cmocka_unit_test(srat_ram_without_an_entry_goes_to_the_nearest_range),
        cmocka_unit_test(srat_zero_length_entry_ends_the_table),
        cmocka_unit_test(srat_cpu_without_an_entry_goes_with_its_socket),
        cmocka_unit_test(srat_other_types_are_skipped),
        cmocka_unit_test(srat_alone_says_which_nodes_there_are),
        cmocka_unit_test(srat_first_of_contradicting_entries_counts),
        cmocka_unit_test(srat_cpu_of_a_domain_too_many_goes_with_its_socket),
        cmocka_unit_test(slit_rules),
        cmocka_unit_test(slit_is_by_domain_not_by_node),
        cmocka_unit_test(numa_off_and_noacpi_make_one_node),
        cmocka_unit_test(numa_fake_cuts_ram_into_equal_parts),
        cmocka_unit_test(numa_fake_needs_no_srat),
        cmocka_unit_test(numa_fake_makes_no_node_too_small_for_a_guest),
        cmocka_unit_test(checksum_wrong_is_a_warning),
        cmocka_unit_test(length_wrong_leaves_the_table_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
