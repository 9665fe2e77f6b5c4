/*
 * Finding tables: RSDP in memory and as a copy, RSDT and XSDT in every state of disagreement, FADT.
 */
#include "fixture_phys.h"

#include "boot/acpi.h"
#include "boot/fadt.h"
#include "boot/madt.h"
#include "boot/slit.h"
#include "boot/srat.h"

#define XSDT_PA 0x7fe0000ull
#define RSDT_PA 0x7fe1000ull

static struct fw_warnings warnings;
static struct acpi_tables tables;
static struct table tab[8], root_x, root_r;
static struct phys mem;

static void rsdp_build(uint8_t *p, uint8_t revision, uint32_t rsdt, uint64_t xsdt)
{
    uint8_t sum = 0;

    memset(p, 0, 36);
    memcpy(p, "RSD PTR ", 8);
    p[15] = revision;
    memcpy(p + 16, &rsdt, 4);
    p[20] = 36;
    memcpy(p + 24, &xsdt, 8);
    for (int i = 0; i < 20; i++)
        sum = (uint8_t)(sum + p[i]);
    p[8] = (uint8_t)-sum;
    sum = 0;
    for (int i = 0; i < 36; i++)
        sum = (uint8_t)(sum + p[i]);
    p[32] = (uint8_t)-sum;
}

/* Puts n little tables into memory; table i is at 0x1000 * (i + 1). */
static void put_tables(const char *const *signatures, uint32_t n)
{
    memset(&mem, 0, sizeof(mem));
    memset(&warnings, 0, sizeof(warnings));
    for (uint32_t i = 0; i < n; i++) {
        table_begin(&tab[i], signatures[i], 1);
        put(&tab[i], i, 4);
        table_end(&tab[i]);
        phys_add(&mem, 0x1000 * (i + 1), tab[i].b, tab[i].n);
    }
}

static void put_root(struct table *t, const char *signature, const uint64_t *pointers, uint32_t n)
{
    bool is_xsdt = signature[0] == 'X';

    table_begin(t, signature, 1);
    for (uint32_t i = 0; i < n; i++)
        put(t, pointers[i], is_xsdt ? 8 : 4);
    table_end(t);
    phys_add(&mem, is_xsdt ? XSDT_PA : RSDT_PA, t->b, t->n);
}

static int list(bool rsdt, bool xsdt)
{
    struct acpi_rsdp rsdp = {
        .revision = 2, .rsdt = rsdt ? RSDT_PA : 0, .xsdt = xsdt ? XSDT_PA : 0, .extended_ok = true};
    struct phys_view view = phys_view(&mem);

    return acpi_tables_list(&view, &rsdp, &tables, &warnings);
}

static const char *const four[] = {"FACP", "APIC", "SRAT", "APIC"};

static void test_rsdp(void **state)
{
    struct acpi_rsdp rsdp;
    uint8_t p[36];

    (void)state;
    rsdp_build(p, 2, 0x1234, 0x123456789a);
    assert_int_equal(acpi_rsdp_read(p, 36, &rsdp), 0);
    assert_true(rsdp.rsdt == 0x1234 && rsdp.xsdt == 0x123456789a && rsdp.extended_ok);
    assert_int_equal(acpi_rsdp_read(p, 20, &rsdp), 0); /* cut to the old part */
    assert_true(rsdp.rsdt == 0x1234 && rsdp.xsdt == 0);
    assert_int_equal(acpi_rsdp_read(p, 19, &rsdp), -22);
    p[33] ^= 1; /* only the extended checksum sees it */
    assert_int_equal(acpi_rsdp_read(p, 36, &rsdp), 0);
    assert_false(rsdp.extended_ok);
    p[10] ^= 1;
    assert_int_equal(acpi_rsdp_read(p, 36, &rsdp), -22);
    rsdp_build(p, 0, 0x1234, 0x123456789a); /* revision 0 knows no XSDT */
    assert_int_equal(acpi_rsdp_read(p, 36, &rsdp), 0);
    assert_true(rsdp.xsdt == 0);
}

static void test_scan(void **state)
{
    static uint8_t bda[2] = {0xc0, 0x9f}, ebda[1024], bios[0x20000];
    struct acpi_rsdp rsdp;
    struct phys_view view = phys_view(&mem);

    (void)state;
    memset(&mem, 0, sizeof(mem));
    assert_int_equal(acpi_rsdp_scan(&view, &rsdp), -2);
    phys_add(&mem, 0x40e, bda, sizeof(bda));
    phys_add(&mem, 0xe0000, bios, sizeof(bios));
    assert_int_equal(acpi_rsdp_scan(&view, &rsdp), -2);
    rsdp_build(bios + 0x1fff0 - 0x20, 0, 0x77, 0);
    assert_int_equal(acpi_rsdp_scan(&view, &rsdp), 0);
    assert_true(rsdp.rsdt == 0x77);
    phys_add(&mem, 0x9fc00, ebda, sizeof(ebda));
    rsdp_build(ebda + 0x3d0, 0, 0x99, 0);
    assert_int_equal(acpi_rsdp_scan(&view, &rsdp), 0);
    assert_true(rsdp.rsdt == 0x99);
    bda[1] = 0xff; /* an EBDA that is not below 640 KiB is not looked at */
    assert_int_equal(acpi_rsdp_scan(&view, &rsdp), 0);
    assert_true(rsdp.rsdt == 0x77);
    memset(bios, 0, sizeof(bios));
    memcpy(bios + 0x1fff0, "RSD PTR ", 8); /* runs over the area's end */
    assert_int_equal(acpi_rsdp_scan(&view, &rsdp), -2);
}

static void test_list_and_get(void **state)
{
    struct phys_view view = phys_view(&mem);
    struct acpi_table t;

    (void)state;
    put_tables(four, 4);
    put_root(&root_x, "XSDT", (const uint64_t[]){0x1000, 0x2000, 0x3000, 0x4000}, 4);
    assert_int_equal(list(true, true), 0); /* there is no RSDT at its address: told, not fatal */
    assert_int_equal(tables.count, 4);
    assert_true(warned(&warnings, "RSDT at"));
    assert_int_equal(acpi_table_get(&view, &tables, "APIC", 0, &t), 0);
    assert_ptr_equal(t.data, tab[1].b);
    assert_int_equal(t.bytes, 40);
    assert_int_equal(acpi_table_get(&view, &tables, "APIC", 1, &t), 0);
    assert_ptr_equal(t.data, tab[3].b);
    assert_int_equal(acpi_table_get(&view, &tables, "APIC", 2, &t), -2);
    assert_int_equal(acpi_table_get(&view, &tables, "SLIT", 0, &t), -2);
}

static void test_bad_pointers(void **state)
{
    struct phys_view view = phys_view(&mem);
    struct acpi_table t;

    (void)state;
    put_tables(four, 3);
    set_u32(&tab[1], 4, 20);   /* length under its header */
    set_u32(&tab[2], 4, 5000); /* runs out of its memory: listed, but not to be had */
    put_root(&root_x, "XSDT",
             (const uint64_t[]){0, 0x1000, 0x1000, 0x2000, 0xdead0000, UINT64_MAX - 3, 0x3000}, 7);
    assert_int_equal(list(false, true), 0);
    assert_int_equal(tables.count, 2);
    assert_true(warned(&warnings, "1 null and 3 unusable"));
    assert_int_equal(acpi_table_get(&view, &tables, "SRAT", 0, &t), -14);
    assert_int_equal(acpi_table_get(&view, &tables, "SRAT", 1, &t), -2);
}

static void test_roots_disagree(void **state)
{
    (void)state;
    put_tables(four, 4);
    put_root(&root_x, "XSDT", (const uint64_t[]){0x1000, 0x2000}, 2);
    put_root(&root_r, "RSDT", (const uint64_t[]){0x1000, 0x4000, 0x3000}, 3);
    assert_int_equal(list(true, true), 0);
    assert_int_equal(tables.count, 3);
    assert_string_equal(tables.entry[2].signature, "SRAT");
    assert_true(warned(&warnings, "SRAT is named by the RSDT only"));
    assert_true(warned(&warnings, "disagree about 1 tables"));
}

static void test_root_fallback(void **state)
{
    (void)state;
    put_tables(four, 4);
    put_root(&root_x, "XSDT", (const uint64_t[]){0x1000}, 1);
    put_root(&root_r, "RSDT", (const uint64_t[]){0x2000, 0x3000}, 2);
    root_x.b[0] = 'Y';
    assert_int_equal(list(true, true), 0);
    assert_int_equal(tables.count, 2);
    assert_true(warned(&warnings, "XSDT: no header"));
    root_r.b[0] = 'Y';
    assert_int_equal(list(true, true), -2);
    assert_true(warned(&warnings, "neither"));
    assert_int_equal(list(false, false), -2);

    put_tables(four, 4); /* a length that is no whole number of pointers, and a bad sum */
    put_root(&root_r, "RSDT", (const uint64_t[]){0x2000, 0x3000}, 2);
    set_u32(&root_r, 4, (uint32_t)root_r.n - 1);
    assert_int_equal(list(true, false), 0);
    assert_int_equal(tables.count, 1);
    assert_true(warned(&warnings, "3 odd bytes"));
    assert_true(warned(&warnings, "RSDT: wrong checksum"));
    set_u32(&root_r, 4, 0xffffffff);
    assert_int_equal(list(true, false), -2);
}

static void test_table_limit(void **state)
{
    static uint64_t pointers[ACPI_TABLES_MAX + 10];
    static uint8_t area[(ACPI_TABLES_MAX + 10) * 64];

    (void)state;
    put_tables(four, 1);
    for (uint32_t i = 0; i < ARRAY_SIZE(pointers); i++) {
        memcpy(area + i * 64, tab[0].b, 40);
        pointers[i] = 0x100000 + i * 64;
    }
    phys_add(&mem, 0x100000, area, sizeof(area));
    put_root(&root_x, "XSDT", pointers, ARRAY_SIZE(pointers));
    assert_int_equal(list(false, true), 0);
    assert_int_equal(tables.count, ACPI_TABLES_MAX);
    assert_true(warned(&warnings, "10 beyond the limit"));
}

static struct fadt_info fadt;

static int read_fadt(const void *data, size_t bytes)
{
    size_t fault;

    memset(&warnings, 0, sizeof(warnings));
    return fadt_parse(data, bytes, &fadt, &warnings, &fault);
}

static void put_gas(struct table *t, size_t at, uint8_t space, uint64_t addr)
{
    t->b[at] = space;
    t->b[at + 1] = 32;
    memcpy(t->b + at + 4, &addr, 8);
}

static void test_fadt(void **state)
{
    struct table *t = &tab[0];

    (void)state;
    table_begin(t, "FACP", 4);
    put_zeros(t, 244 - 36);
    set_u32(t, 76, 0x608);
    set_u32(t, 112, 1u << 8 | 1u << 10);
    put_gas(t, 116, 1, 0xcf9);
    t->b[128] = 0x0f;
    table_end(t);
    every_prefix_is_refused(read_fadt, t);
    every_flip_is_survived(read_fadt, t);
    assert_int_equal(read_copy(read_fadt, t->b, t->n), 0);
    assert_true(fadt.pm_timer.addr == 0x608 && fadt.pm_timer.space == ACPI_SPACE_IO);
    assert_true(fadt.pm_timer_32bit);
    assert_true(fadt.reset.addr == 0xcf9 && fadt.reset_value == 0x0f);

    put_gas(t, 208, 0, 0x1fed00000); /* an X_ field in memory counts */
    table_end(t);
    assert_int_equal(read_copy(read_fadt, t->b, t->n), 0);
    assert_true(fadt.pm_timer.addr == 0x1fed00000 && fadt.pm_timer.space == ACPI_SPACE_MEMORY);

    put_gas(t, 208, 2, 0x4444); /* one in PCI space does not */
    table_end(t);
    assert_int_equal(read_copy(read_fadt, t->b, t->n), 0);
    assert_true(fadt.pm_timer.addr == 0x608 && fadt.pm_timer.space == ACPI_SPACE_IO);

    set_u32(t, 112, 1u << 20); /* hardware-reduced: the fixed registers are not there */
    table_end(t);
    assert_int_equal(read_copy(read_fadt, t->b, t->n), 0);
    assert_true(fadt.hardware_reduced && fadt.pm_timer.addr == 0 && fadt.reset.addr == 0);
}

static void test_old_fadt(void **state)
{
    struct table *t = &tab[0];

    (void)state;
    table_begin(t, "FACP", 1); /* revision 1 ends at 116 */
    put_zeros(t, 116 - 36);
    set_u32(t, 76, 0xb008);
    set_u32(t, 112, 1u << 10);
    table_end(t);
    assert_int_equal(read_copy(read_fadt, t->b, t->n), 0);
    assert_true(fadt.pm_timer.addr == 0xb008 && fadt.reset.addr == 0);
}

/* What switches off: 32-bit fields, X_ fields over them, the registers of a hardware-reduced one.
 */
static void test_fadt_power(void **state)
{
    struct table *t = &tab[0];
    uint64_t dsdt = 0x123456000;

    (void)state;
    table_begin(t, "FACP", 6);
    put_zeros(t, 276 - 36);
    set_u32(t, 40, 0x7fee0000);
    set_u32(t, 48, 0xb2);
    t->b[52] = 0xa0;
    set_u32(t, 56, 0x600);
    set_u32(t, 64, 0x604);
    set_u32(t, 68, 0x704);
    put_gas(t, 244, 0, 0xfed80000);
    put_gas(t, 256, 0, 0xfed80001);
    table_end(t);
    every_flip_is_survived(read_fadt, t);
    assert_int_equal(read_copy(read_fadt, t->b, t->n), 0);
    assert_true(fadt.dsdt == 0x7fee0000 && fadt.smi_command == 0xb2 && fadt.acpi_enable == 0xa0);
    assert_true(fadt.pm1_event[0].addr == 0x600 && fadt.pm1_event[1].addr == 0);
    assert_true(fadt.pm1_control[0].addr == 0x604 && fadt.pm1_control[1].addr == 0x704);
    assert_true(fadt.pm1_control[0].space == ACPI_SPACE_IO && fadt.sleep_control.addr == 0);

    memcpy(t->b + 140, &dsdt, 8);
    put_gas(t, 172, 0, 0x1fed00004);
    put_gas(t, 184, 3, 0x9999); /* an embedded controller's space: not usable */
    table_end(t);
    assert_int_equal(read_copy(read_fadt, t->b, t->n), 0);
    assert_true(fadt.dsdt == dsdt && fadt.pm1_control[0].addr == 0x1fed00004);
    assert_true(fadt.pm1_control[0].space == ACPI_SPACE_MEMORY);
    assert_true(fadt.pm1_control[1].addr == 0x704 && fadt.pm1_control[1].space == ACPI_SPACE_IO);

    set_u32(t, 112, 1u << 20); /* hardware-reduced */
    table_end(t);
    assert_int_equal(read_copy(read_fadt, t->b, t->n), 0);
    assert_true(fadt.pm1_control[0].addr == 0 && fadt.smi_command == 0 && fadt.acpi_enable == 0);
    assert_true(fadt.sleep_control.addr == 0xfed80000 && fadt.sleep_status.addr == 0xfed80001);
    put_gas(t, 244, 10, 0xfed80000);
    table_end(t);
    assert_int_equal(read_copy(read_fadt, t->b, t->n), 0);
    assert_true(fadt.sleep_control.addr == 0);
}

/* Two MADTs, the first damaged; two SRATs, the first sound; a SLIT that is not to be had. */
static void test_first_sound(void **state)
{
    static const char *const signatures[] = {"XXXX", "XXXX", "SLIT", "XXXX", "XXXX", "FACP"};
    static struct madt_cpu madt_cpus[4];
    static struct srat_cpu srat_cpus[4];
    static struct srat_mem srat_mem[4];
    static struct madt_info madt = {.cpus = madt_cpus, .cpu_capacity = 4};
    static struct srat_info srat = {
        .cpus = srat_cpus, .mem = srat_mem, .cpu_capacity = 4, .mem_capacity = 4};
    struct phys_view view = phys_view(&mem);
    struct slit_info slit;

    (void)state;
    put_tables(signatures, 6);
    set_u32(&tab[2], 4, 5000);
    for (uint32_t i = 0; i < 2; i++) {
        madt_begin(&tab[i]);
        madt_lapic(&tab[i], 1, 10 + i, 1);
        table_end(&tab[i]);
        srat_begin(&tab[3 + i], 2);
        srat_lapic(&tab[3 + i], 20 + i, 0, 1);
        table_end(&tab[3 + i]);
    }
    set_u32(&tab[0], 4, 40); /* under a MADT's fixed part */
    for (uint32_t i = 0; i < 5; i++)
        mem.piece[i].bytes = tab[i].n;
    put_root(&root_x, "XSDT", (const uint64_t[]){0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000},
             6);
    assert_int_equal(list(false, true), 0);
    assert_int_equal(acpi_read_madt(&view, &tables, &madt, &warnings), 0);
    assert_int_equal(madt_cpus[0].apic_id, 11);
    assert_true(warned(&warnings, "2 tables named APIC; number 2 is used"));
    assert_int_equal(acpi_read_srat(&view, &tables, &srat, &warnings), 0);
    assert_int_equal(srat_cpus[0].apic_id, 20);
    assert_true(warned(&warnings, "2 tables named SRAT; number 1 is used"));
    assert_int_equal(acpi_read_slit(&view, &tables, &slit, &warnings), -2);
    assert_true(warned(&warnings, "SLIT number 1 cannot be read"));
    assert_int_equal(acpi_read_fadt(&view, &tables, &fadt, &warnings), -2); /* too short */
}

/* The length of revision 2 covers the extended checksum; what cannot be summed is believed. */
static void test_rsdp_length(void **state)
{
    static const struct {
        uint32_t length;
        bool ok;
    } rows[] = {{36, true}, {35, false}, {0, false}, {37, true}, {UINT32_MAX, true}};
    struct acpi_rsdp rsdp;
    uint8_t p[36];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        rsdp_build(p, 2, 0x1234, 0x123456789a);
        p[32] = (uint8_t)(p[32] + 36 - (uint8_t)rows[i].length - (uint8_t)(rows[i].length >> 8) -
                          (uint8_t)(rows[i].length >> 16) - (uint8_t)(rows[i].length >> 24));
        memcpy(p + 20, &rows[i].length, 4);
        assert_int_equal(acpi_rsdp_read(p, 36, &rsdp), 0);
        assert_int_equal(rsdp.extended_ok, rows[i].ok);
        assert_true(rsdp.xsdt == 0x123456789a);
    }
}

static void test_rsdp_rev0_leads_to_the_rsdt(void **state)
{
    struct phys_view view = phys_view(&mem);
    struct acpi_rsdp rsdp;
    uint8_t p[36];

    (void)state;
    put_tables(four, 3);
    put_root(&root_x, "XSDT", (const uint64_t[]){0x1000}, 1); /* not for revision 0 */
    put_root(&root_r, "RSDT", (const uint64_t[]){0, 0x2000, 0x3000, 0x2000}, 4);
    rsdp_build(p, 0, RSDT_PA, XSDT_PA);
    assert_int_equal(acpi_rsdp_read(p, 20, &rsdp), 0);
    assert_int_equal(acpi_tables_list(&view, &rsdp, &tables, &warnings), 0);
    assert_int_equal(tables.count, 2); /* the repeated one once */
    assert_string_equal(tables.entry[0].signature, "APIC");
    assert_true(warned(&warnings, "RSDT: 1 null and 0 unusable"));
    assert_int_equal(warnings.count, 1);
    rsdp.extended_ok = false;
    assert_int_equal(acpi_tables_list(&view, &rsdp, &tables, &warnings), 0);
    assert_true(warned(&warnings, "RSDP: wrong extended checksum; used all the same"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rsdp),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_list_and_get),
        cmocka_unit_test(test_bad_pointers),
        cmocka_unit_test(test_roots_disagree),
        cmocka_unit_test(test_root_fallback),
        cmocka_unit_test(test_table_limit),
        cmocka_unit_test(test_fadt),
        cmocka_unit_test(test_old_fadt),
        cmocka_unit_test(test_first_sound),
        cmocka_unit_test(test_fadt_power),
        cmocka_unit_test(test_rsdp_length),
        cmocka_unit_test(test_rsdp_rev0_leads_to_the_rsdt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
