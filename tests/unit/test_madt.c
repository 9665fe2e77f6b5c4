/*
 * MADT reader and the list of CPUs: what firmware writes, what damaged firmware writes, and the
 * numbering of CPUs that follows from either.
 */
#include "fixture_acpi.h"

#include "boot/madt.h"

static struct madt_cpu cpus[64];
static struct fw_warnings warnings;
static struct madt_info info;

static int read_madt(const void *data, size_t bytes)
{
    size_t fault;
    int err;

    memset(&warnings, 0, sizeof(warnings));
    info = (struct madt_info){.cpus = cpus, .cpu_capacity = ARRAY_SIZE(cpus)};
    err = madt_parse(data, bytes, &info, &warnings, &fault);
    assert_true(info.ncpus <= info.cpu_capacity);
    assert_true(info.nioapics <= MADT_IOAPICS_MAX && info.noverrides <= MADT_OVERRIDES_MAX);
    if (err) {
        assert_int_equal(err, -22);
        assert_true(fault <= bytes || fault == 4);
        assert_int_not_equal(warnings.count, 0);
    }
    return err;
}

static void build_good(struct table *t)
{
    madt_begin(t);
    madt_lapic(t, 1, 0, 1);
    madt_lapic(t, 2, 2, 1);
    madt_lapic(t, 3, 0x83, 0);
    madt_x2apic(t, 4, 0x1c0, 1);
    put(t, 0x0c01, 2); /* I/O APIC */
    put(t, 8, 2);
    put(t, 0xfec00000, 4);
    put(t, 24, 4);
    put(t, 0x0a02, 2); /* override: source 0 -> GSI 2 */
    put(t, 0, 2);
    put(t, 2, 4);
    put(t, 5, 2);
    put(t, 0x0604, 2); /* NMI wiring */
    put(t, 0, 4);
    put(t, 0x0c05, 2); /* local APIC address */
    put(t, 0, 2);
    put(t, 0x1fee00000, 8);
    table_end(t);
}

static void test_good(void **state)
{
    static struct table t;

    (void)state;
    build_good(&t);
    assert_int_equal(read_copy(read_madt, t.b, t.n), 0);
    assert_int_equal(warnings.count, 0);
    assert_int_equal(info.ncpus, 4);
    assert_int_equal(cpus[2].apic_id, 0x83);
    assert_int_equal(cpus[2].flags, 0);
    assert_int_equal(cpus[3].apic_id, 0x1c0);
    assert_int_equal(cpus[3].uid, 4);
    assert_int_equal(cpus[3].kind, FW_CPU_X2APIC);
    assert_int_equal(info.nioapics, 1);
    assert_int_equal(info.ioapics[0].id, 8);
    assert_int_equal(info.ioapics[0].gsi_base, 24);
    assert_int_equal(info.noverrides, 1);
    assert_int_equal(info.overrides[0].gsi, 2);
    assert_int_equal(info.overrides[0].flags, 5);
    assert_true(info.lapic_addr == 0x1fee00000);
    assert_true(info.pcat_compat);
    assert_false(info.foreign);
}

static void test_cruel(void **state)
{
    static struct table t;

    (void)state;
    build_good(&t);
    every_prefix_is_refused(read_madt, &t);
    every_cut_is_survived(read_madt, &t);
    every_flip_is_survived(read_madt, &t);
}

static void test_damage(void **state)
{
    static const struct {
        uint8_t type, bytes;
    } needed[] = {{0, 8}, {1, 12}, {2, 10}, {5, 12}, {9, 16}};
    static struct table t;

    (void)state;
    build_good(&t);
    t.b[9]++;
    assert_int_equal(read_copy(read_madt, t.b, t.n), 0);
    assert_true(warned(&warnings, "wrong checksum"));
    assert_int_equal(info.ncpus, 4);

    madt_begin(&t); /* a zero-length entry ends the table, what came before stands */
    madt_lapic(&t, 1, 0, 1);
    put(&t, 0, 2);
    madt_lapic(&t, 2, 1, 1);
    table_end(&t);
    assert_int_equal(read_copy(read_madt, t.b, t.n), 0);
    assert_int_equal(info.ncpus, 1);
    assert_true(warned(&warnings, "length 0 at offset 52"));

    madt_begin(&t); /* entries too short for their type are skipped, the next one read */
    for (uint32_t i = 0; i < ARRAY_SIZE(needed); i++) {
        put(&t, needed[i].type, 1);
        put(&t, needed[i].bytes - 1, 1);
        for (uint32_t k = 2; k + 1 < needed[i].bytes; k++)
            put(&t, 1, 1);
    }
    madt_lapic(&t, 2, 1, 1);
    table_end(&t);
    assert_int_equal(read_copy(read_madt, t.b, t.n), 0);
    assert_int_equal(info.ncpus, 1);
    assert_true(info.nioapics == 0 && info.noverrides == 0 && info.lapic_addr == 0xfee00000);
    assert_true(warned(&warnings, "5 entries are too short for their type"));
}

static void test_capacity(void **state)
{
    static struct table t;

    (void)state;
    madt_begin(&t);
    for (uint32_t i = 0; i < 70; i++)
        madt_lapic(&t, i, i, 1);
    for (uint32_t i = 0; i < 70; i++) {
        put(&t, 0x0c01, 2);
        put(&t, i, 8);
        put(&t, 0, 2);
        put(&t, 0x0a02, 2);
        put(&t, i, 8);
    }
    table_end(&t);
    assert_int_equal(read_copy(read_madt, t.b, t.n), 0);
    assert_int_equal(info.ncpus, 64);
    assert_int_equal(info.cpus_dropped, 6);
    assert_int_equal(info.nioapics, MADT_IOAPICS_MAX);
    assert_int_equal(info.noverrides, MADT_OVERRIDES_MAX);
    assert_true(warned(&warnings, "no room for 6 CPU entries and 44 others"));

    madt_begin(&t); /* CPU entries alone */
    for (uint32_t i = 0; i < 65; i++)
        madt_lapic(&t, i, i, 1);
    table_end(&t);
    assert_int_equal(read_copy(read_madt, t.b, t.n), 0);
    assert_true(warned(&warnings, "no room for 1 CPU entries and 0 others"));
}

static void test_foreign(void **state)
{
    static struct table t;
    uint32_t ids[4];
    uint64_t scratch[4];

    (void)state;
    madt_begin(&t);
    put(&t, 80 << 8 | 11, 2); /* Arm's GICC */
    put_zeros(&t, 78);
    table_end(&t);
    assert_int_equal(read_copy(read_madt, t.b, t.n), 0);
    assert_true(info.foreign);
    assert_true(warned(&warnings, "another architecture"));
    assert_int_equal(madt_cpu_list(&info, FW_APIC_ID_NONE, ids, 4, scratch, &warnings), 0);
    assert_false(warned(&warnings, "is an enabled CPU"));
}

#define BOOT_NONE FW_APIC_ID_NONE

/*
 * A row: entries (kind, id, flags), the boot CPU, the list that must come out, a word of the
 * warning.
 */
static const struct list_row {
    const char *name;
    uint32_t n;
    struct madt_cpu e[8];
    uint32_t boot;
    uint32_t want_n;
    uint32_t want[8];
    const char *warning;
} list_rows[] = {
    {"boot CPU first, then table order",
     4,
     {{0, 4, 1, 0}, {0, 2, 1, 0}, {0, 0, 1, 0}, {0, 6, 1, 0}},
     0,
     4,
     {0, 4, 2, 6},
     NULL},
    {"no boot CPU known: table order",
     3,
     {{0, 4, 1, 0}, {0, 2, 1, 0}, {0, 0, 1, 0}},
     BOOT_NONE,
     3,
     {4, 2, 0},
     NULL},
    {"lowest id is not 0, gaps",
     3,
     {{0, 8, 1, 0}, {0, 0xc0, 1, 0}, {0, 447, 1, 1}},
     8,
     3,
     {8, 0xc0, 447},
     NULL},
    {"disabled and online-capable are left out",
     3,
     {{0, 0, 1, 0}, {0, 1, 0, 0}, {0, 2, 2, 0}},
     0,
     1,
     {0},
     NULL},
    {"a disabled entry repeats an enabled id",
     3,
     {{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 1, 0}},
     0,
     2,
     {0, 1},
     NULL},
    {"0xff is invalid in a local-APIC entry only",
     3,
     {{0, 0, 1, 0}, {0, 255, 1, 0}, {0, 255, 1, 1}},
     0,
     2,
     {0, 255},
     NULL},
    {"0xff in a local-APIC entry alone", 2, {{0, 0, 1, 0}, {0, 255, 1, 0}}, 0, 1, {0}, NULL},
    {"0xffffffff is invalid in an x2APIC entry",
     2,
     {{0, 0, 1, 1}, {0, 0xffffffff, 1, 1}},
     0,
     1,
     {0},
     NULL},
    {"the highest id", 2, {{0, 0, 1, 1}, {0, 0xfffffffe, 1, 1}}, 0, 2, {0, 0xfffffffe}, NULL},
    {"both kinds name the CPUs",
     4,
     {{0, 0, 1, 1}, {0, 1, 1, 1}, {0, 0, 1, 0}, {0, 1, 1, 0}},
     0,
     2,
     {0, 1},
     NULL},
    {"x2APIC entry below 255 alone is used", 2, {{0, 0, 1, 0}, {0, 1, 1, 1}}, 0, 2, {0, 1}, NULL},
    {"an enabled id repeated",
     3,
     {{0, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 1, 0}},
     0,
     2,
     {0, 1},
     "repeat"},
    {"the boot CPU is missing",
     2,
     {{0, 0, 1, 0}, {0, 1, 1, 0}},
     9,
     3,
     {9, 0, 1},
     "not in the table"},
    {"no entries", 0, {{0}}, 0, 1, {0}, "not in the table"},
};

static void test_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(list_rows); i++) {
        const struct list_row *row = &list_rows[i];
        uint32_t ids[8], n;
        uint64_t scratch[8];

        memset(&warnings, 0, sizeof(warnings));
        memcpy(cpus, row->e, sizeof(row->e));
        info = (struct madt_info){.cpus = cpus, .ncpus = row->n};
        n = madt_cpu_list(&info, row->boot, ids, 8, scratch, &warnings);
        if (n != row->want_n || memcmp(ids, row->want, n * sizeof(ids[0])) != 0)
            fail_msg("%s: wrong list", row->name);
        if (row->warning ? !warned(&warnings, row->warning) : warnings.count != 0)
            fail_msg("%s: wrong warning: %s", row->name, warnings.text[0]);
    }
}

static void test_list_limits(void **state)
{
    static struct madt_cpu many[FW_CPU_ENTRIES_MAX];
    static uint32_t ids[CPUS_MAX];
    static uint64_t scratch[FW_CPU_ENTRIES_MAX];

    (void)state;
    memset(&warnings, 0, sizeof(warnings));
    for (uint32_t i = 0; i < 5000; i++)
        many[i] = (struct madt_cpu){.apic_id = 5000 - i, .flags = 1, .kind = FW_CPU_X2APIC};
    info = (struct madt_info){.cpus = many, .ncpus = 5000};
    assert_int_equal(madt_cpu_list(&info, 4000, ids, CPUS_MAX, scratch, &warnings), CPUS_MAX);
    assert_int_equal(ids[0], 4000);
    assert_int_equal(ids[1], 5000);
    assert_true(warned(&warnings, "904 CPUs above the limit of 4096"));
    assert_int_equal(madt_cpu_list(NULL, 3, ids, 1, scratch, NULL), 1);
    assert_int_equal(ids[0], 3);
    assert_int_equal(madt_cpu_list(&info, 3, ids, 0, scratch, NULL), 0); /* no room at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),        cmocka_unit_test(test_cruel),
        cmocka_unit_test(test_damage),      cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_foreign),     cmocka_unit_test(test_list),
        cmocka_unit_test(test_list_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
