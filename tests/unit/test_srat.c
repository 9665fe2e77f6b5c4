/*
 * SRAT reader.
 */
#include "fixture_acpi.h"

#include "boot/srat.h"

static struct srat_cpu cpus[16];
static struct srat_mem mem[8];
static struct fw_warnings warnings;
static struct srat_info info;

static int read_srat(const void *data, size_t bytes)
{
    size_t fault;
    int err;

    memset(&warnings, 0, sizeof(warnings));
    info = (struct srat_info){.cpus = cpus,
                              .mem = mem,
                              .cpu_capacity = ARRAY_SIZE(cpus),
                              .mem_capacity = ARRAY_SIZE(mem)};
    err = srat_parse(data, bytes, &info, &warnings, &fault);
    assert_true(info.ncpus <= info.cpu_capacity && info.nmem <= info.mem_capacity);
    if (err)
        assert_int_equal(err, -22);
    return err;
}

static void build_good(struct table *t, uint8_t revision)
{
    srat_begin(t, revision);
    srat_lapic(t, 0, 0x010203, 1);
    srat_x2apic(t, 300, 0x01000002, 1);
    srat_memory(t, 0x01000001, 0x100000, 0x40000000, 1);
    put(t, 20 << 8 | 3, 2); /* GICC, then a generic initiator, then an unknown type */
    put_zeros(t, 18);
    put(t, 32 << 8 | 5, 2);
    put_zeros(t, 30);
    put(t, 6 << 8 | 77, 2);
    put_zeros(t, 4);
    srat_memory(t, 2, 1ull << 40, 1ull << 30, 7);
    table_end(t);
}

static void test_good(void **state)
{
    static struct table t;

    (void)state;
    build_good(&t, 3);
    assert_int_equal(read_copy(read_srat, t.b, t.n), 0);
    assert_int_equal(warnings.count, 0);
    assert_int_equal(info.ncpus, 2);
    assert_int_equal(cpus[0].pxm, 0x010203);
    assert_int_equal(cpus[1].pxm, 0x01000002);
    assert_int_equal(cpus[1].apic_id, 300);
    assert_int_equal(cpus[1].kind, FW_CPU_X2APIC);
    assert_int_equal(info.nmem, 2);
    assert_int_equal(mem[0].pxm, 0x01000001);
    assert_true(mem[0].base == 0x100000 && mem[0].length == 0x40000000);
    assert_true(mem[1].base == 1ull << 40 && mem[1].flags == 7);
}

static void test_old_revision_has_8_bits(void **state)
{
    static struct table t;

    (void)state;
    build_good(&t, 1);
    assert_int_equal(read_copy(read_srat, t.b, t.n), 0);
    assert_int_equal(cpus[0].pxm, 3);
    assert_int_equal(cpus[1].pxm, 2);
    assert_int_equal(mem[0].pxm, 1);
}

static void test_damage(void **state)
{
    static struct table t;

    (void)state;
    build_good(&t, 3);
    every_prefix_is_refused(read_srat, &t);
    every_cut_is_survived(read_srat, &t);
    every_flip_is_survived(read_srat, &t);

    srat_begin(&t, 2);
    srat_lapic(&t, 0, 0, 1);
    put(&t, 0, 2); /* length 0 */
    srat_lapic(&t, 1, 0, 1);
    table_end(&t);
    assert_int_equal(read_copy(read_srat, t.b, t.n), 0);
    assert_int_equal(info.ncpus, 1);
    assert_true(warned(&warnings, "SRAT: entry of type 0, length 0 at offset 64"));

    srat_begin(&t, 2);
    for (uint32_t i = 0; i < 20; i++)
        srat_lapic(&t, i, 0, 1);
    for (uint32_t i = 0; i < 10; i++)
        srat_memory(&t, 0, i << 20, 1 << 20, 1);
    put(&t, 8 << 8 | 1, 2); /* a memory entry of 8 bytes */
    put_zeros(&t, 6);
    table_end(&t);
    assert_int_equal(read_copy(read_srat, t.b, t.n), 0);
    assert_int_equal(info.dropped, 6);
    assert_true(warned(&warnings, "no room for 6"));
    assert_true(warned(&warnings, "too short"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_old_revision_has_8_bits),
        cmocka_unit_test(test_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
