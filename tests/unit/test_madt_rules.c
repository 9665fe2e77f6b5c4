/*
 * The rules by which a MADT becomes CPUs, a test a rule, from the table's bytes to APIC ids.
 * test_madt.c tests reader and list by themselves.
 */
#include "firmware_machine.h"

static void madt_enabled_disabled_online_capable(void **state)
{
    (void)state;
    begin();
    fw.nmadts = 1;
    madt_lapic(&fw.madt[0], 0, 0, 1);
    madt_lapic(&fw.madt[0], 1, 1, 0); /* not there */
    madt_lapic(&fw.madt[0], 2, 2, 2); /* could be plugged in */
    madt_lapic(&fw.madt[0], 3, 3, 3); /* there; the other bit then means nothing */
    madt_x2apic(&fw.madt[0], 4, 400, 2);
    run();
    EXPECT_IDS(0, 3);
    expect_quiet();
}

static void madt_id_0xff_is_invalid_in_a_local_apic_entry_only(void **state)
{
    (void)state;
    begin();
    fw.nmadts = 1;
    madt_lapic(&fw.madt[0], 0, 0, 1);
    madt_lapic(&fw.madt[0], 1, 0xff, 1);
    run();
    EXPECT_IDS(0);
    madt_x2apic(&fw.madt[0], 2, 0xff, 1);
    run();
    EXPECT_IDS(0, 0xff);
    expect_quiet();
}

static void madt_id_0xffffffff_is_invalid_in_an_x2apic_entry(void **state)
{
    (void)state;
    begin();
    fw.nmadts = 1;
    madt_x2apic(&fw.madt[0], 0, 0, 1);
    madt_x2apic(&fw.madt[0], 1, 0xffffffff, 1);
    madt_x2apic(&fw.madt[0], 2, 0xfffffffe, 1); /* the highest id there is */
    run();
    EXPECT_IDS(0, 0xfffffffe);
    expect_quiet();
}

static void madt_disabled_entry_repeats_an_enabled_id(void **state)
{
    (void)state;
    begin();
    fw.nmadts = 1;
    madt_lapic(&fw.madt[0], 9, 2, 0);
    madt_lapic(&fw.madt[0], 0, 0, 1);
    madt_lapic(&fw.madt[0], 1, 2, 1);
    madt_lapic(&fw.madt[0], 8, 0, 0);
    madt_x2apic(&fw.madt[0], 7, 2, 0);
    run();
    EXPECT_IDS(0, 2);
    expect_quiet();
}

static void madt_x2apic_entry_below_255(void **state)
{
    (void)state;
    begin();
    fw.nmadts = 1;
    madt_x2apic(&fw.madt[0], 5, 1, 1); /* CPU 1 is the local-APIC entry further down */
    madt_lapic(&fw.madt[0], 0, 0, 1);
    madt_x2apic(&fw.madt[0], 7, 2, 1); /* no other entry names it: used */
    madt_lapic(&fw.madt[0], 1, 1, 1);
    madt_lapic(&fw.madt[0], 3, 3, 0);
    madt_x2apic(&fw.madt[0], 8, 3, 1); /* a disabled one does not stand for it */
    run();
    EXPECT_IDS(0, 2, 1, 3);
    expect_quiet();
}

static void madt_first_sound_one_of_two(void **state)
{
    (void)state;
    begin();
    fw.nmadts = 2;
    madt_lapic(&fw.madt[0], 0, 0, 1);
    madt_lapic(&fw.madt[1], 0, 0, 1);
    madt_lapic(&fw.madt[1], 1, 1, 1);
    run();
    EXPECT_IDS(0);
    expect_warning("2 tables named APIC; number 1 is used");
    set_u32(&fw.madt[0], 4, 43);
    run_as_they_are();
    EXPECT_IDS(0, 1);
    expect_warning("2 tables named APIC; number 2 is used");
}

static void madt_reserved_types_are_skipped(void **state)
{
    static const uint8_t others[] = {3, 4, 6, 8, 10, 16, 0x11 + 1, 0x7f, 0x80, 0xff};

    (void)state;
    begin();
    fw.nmadts = 1;
    for (uint32_t i = 0; i < ARRAY_SIZE(others); i++) {
        put(&fw.madt[0], others[i], 1);
        put(&fw.madt[0], 2 + i, 1);
        for (uint32_t k = 0; k < i; k++)
            put(&fw.madt[0], 0x01010101, 1);
        madt_lapic(&fw.madt[0], i, i, 1);
    }
    run();
    EXPECT_IDS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    expect_quiet();
}

static void madt_ids_without_0_out_of_order_with_gaps(void **state)
{
    (void)state;
    begin();
    fw.nmadts = 1;
    fw.boot_apic_id = 0x20;
    madt_x2apic(&fw.madt[0], 3, 447, 1);
    madt_lapic(&fw.madt[0], 2, 0x80, 1);
    madt_lapic(&fw.madt[0], 0, 0x20, 1);
    madt_x2apic(&fw.madt[0], 1, 0xfffffffe, 1);
    madt_lapic(&fw.madt[0], 1, 0x22, 1);
    run();
    EXPECT_IDS(0x20, 447, 0x80, 0xfffffffe, 0x22);
    expect_quiet();
}

static void madt_more_cpus_than_the_limit(void **state)
{
    (void)state;
    begin();
    fw.nmadts = 1;
    for (uint32_t i = 0; i < CPUS; i++) /* the boot CPU's entry is lost for want of room */
        madt_x2apic(&fw.madt[0], i, 100 + i, 1);
    run();
    assert_int_equal(got.ncpus, CPUS);
    assert_int_equal(got.ids[0], 0);
    assert_int_equal(got.ids[CPUS - 1], 100 + CPUS - 2);
    expect_warning("1 CPUs above the limit of 80 left out, from APIC id 0xb3 on");
}

static void madt_without_the_boot_cpu(void **state)
{
    (void)state;
    begin();
    fw.nmadts = 1;
    fw.boot_apic_id = 6;
    madt_lapic(&fw.madt[0], 0, 0, 1);
    madt_lapic(&fw.madt[0], 6, 6, 0); /* a disabled entry does not count */
    run();
    EXPECT_IDS(6, 0);
    expect_warning("the boot CPU, APIC id 0x6, is not in the table; added");
}

static void madt_of_another_architecture_invents_no_cpu(void **state)
{
    static const uint8_t types[] = {7, 11, 17, 24}; /* Itanium, Arm, LoongArch, RISC-V */

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(types); i++) {
        begin();
        fw.nmadts = 1;
        fw.boot_apic_id = FW_APIC_ID_NONE;
        put(&fw.madt[0], 80 << 8 | types[i], 2);
        put_zeros(&fw.madt[0], 78);
        run();
        assert_int_equal(got.ncpus, 0);
        expect_warning("the CPUs of another architecture (1 entries)");
        madt_lapic(&fw.madt[0], 0, 4, 1); /* one of ours: the others are only strange */
        run();
        EXPECT_IDS(4);
        expect_quiet();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(madt_enabled_disabled_online_capable),
        cmocka_unit_test(madt_id_0xff_is_invalid_in_a_local_apic_entry_only),
        cmocka_unit_test(madt_id_0xffffffff_is_invalid_in_an_x2apic_entry),
        cmocka_unit_test(madt_disabled_entry_repeats_an_enabled_id),
        cmocka_unit_test(madt_x2apic_entry_below_255),
        cmocka_unit_test(madt_first_sound_one_of_two),
        cmocka_unit_test(madt_reserved_types_are_skipped),
        cmocka_unit_test(madt_ids_without_0_out_of_order_with_gaps),
        cmocka_unit_test(madt_more_cpus_than_the_limit),
        cmocka_unit_test(madt_without_the_boot_cpu),
        cmocka_unit_test(madt_of_another_architecture_invents_no_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
