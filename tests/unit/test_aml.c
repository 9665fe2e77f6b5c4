/*
 * \_S5: what iasl (20200925) makes of it in ASL, and what firmware or chance may put there instead.
 */
#include <errno.h>

#include "fixture_phys.h"

#include "boot/acpi.h"
#include "boot/aml.h"

static struct fw_warnings warnings;
static struct acpi_s5 s5;
static size_t fault;

#define BODY_MAX 96
#define BYTES(...)                    \
    sizeof((uint8_t[]){__VA_ARGS__}), \
    {                                 \
        __VA_ARGS__                   \
    }

static const struct aml_row {
    const char *name;
    uint8_t bytes;
    uint8_t body[BODY_MAX];
    int err;
    size_t fault; /* behind the header */
    uint8_t a, b;
} aml_rows[] = {
    {"Name (\\_S3, Package () {1, 1, 0, 0}) Name (\\_S5, Package (4) {5, 0, 0, 0})",
     BYTES(0x08, 0x5f, 0x53, 0x33, 0x5f, 0x12, 0x06, 0x04, 0x01, 0x01, 0x00, 0x00, 0x08, 0x5f, 0x53,
           0x35, 0x5f, 0x12, 0x07, 0x04, 0x0a, 0x05, 0x00, 0x00, 0x00),
     0, 0, 5, 0},
    {"Scope (\\) { Name (SS5, One) If (SS5) { Name (_S5, Package () {7, One, 0x1234, 0xffffffff, "
     "Ones}) } }",
     BYTES(0x10, 0x1f, 0x5c, 0x00, 0x08, 0x53, 0x53, 0x35, 0x5f, 0x01, 0xa0, 0x15, 0x53, 0x53, 0x35,
           0x5f, 0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x0a, 0x05, 0x0a, 0x07, 0x01, 0x0b, 0x34, 0x12,
           0xff, 0xff),
     0, 0, 7, 1},
    {"Name (\\_S5, Package () {0x0305}): both in one",
     BYTES(0x08, 0x5c, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x05, 0x01, 0x0b, 0x05, 0x03), 0, 0, 5, 3},
    {"Method (\\_S5) { Return (Package () {5, 5, 0, 0}) }",
     BYTES(0x14, 0x10, 0x5f, 0x53, 0x35, 0x5f, 0x00, 0xa4, 0x12, 0x08, 0x04, 0x0a, 0x05, 0x0a, 0x05,
           0x00, 0x00),
     -ENOTSUP, 2, 0, 0},
    {"the same with a length of two bytes",
     BYTES(0x14, 0x4c, 0x05, 0x5f, 0x53, 0x35, 0x5f, 0x00, 0x70, 0x0d, 0x30, 0x31, 0x32, 0x33, 0x34,
           0x35, 0x36, 0x37, 0x38, 0x39, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39,
           0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x30, 0x31, 0x32, 0x33, 0x34,
           0x35, 0x36, 0x37, 0x38, 0x39, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39,
           0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x30, 0x31, 0x32, 0x33, 0x34,
           0x35, 0x36, 0x37, 0x38, 0x39, 0x00, 0x5b, 0x31, 0xa4, 0x12, 0x08, 0x04, 0x0a, 0x05, 0x0a,
           0x05, 0x00, 0x00),
     -ENOTSUP, 3, 0, 0},
    {"Name (TYPE, 5) Name (_S5, Package () {TYPE, 0})",
     BYTES(0x08, 0x54, 0x59, 0x50, 0x45, 0x0a, 0x05, 0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x07, 0x02,
           0x54, 0x59, 0x50, 0x45, 0x00),
     -ENOTSUP, 15, 0, 0},
    {"If (..) External (\\_S5) Name (LIKE, \"_S5_\") Store (\\_S5, Local0): named, not declared",
     BYTES(0xa0, 0x0a, 0x00, 0x15, 0x5c, 0x5f, 0x53, 0x35, 0x5f, 0x04, 0x00, 0x08, 0x4c, 0x49, 0x4b,
           0x45, 0x0d, 0x5f, 0x53, 0x35, 0x5f, 0x00, 0x14, 0x0d, 0x53, 0x4c, 0x50, 0x5f, 0x00, 0x70,
           0x5c, 0x5f, 0x53, 0x35, 0x5f, 0x60),
     -ENOENT, 0, 0, 0},
    {"nothing at all", 0, {0}, -ENOENT, 0, 0, 0},
    {"a method, then a name: the name counts",
     BYTES(0x14, 0x06, 0x5f, 0x53, 0x35, 0x5f, 0x00, 0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x04, 0x02,
           0x00, 0x01),
     0, 0, 0, 1},
    {"length of four bytes",
     BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0xc9, 0x00, 0x00, 0x00, 0x02, 0x0a, 0x06, 0x0a,
           0x02),
     0, 0, 6, 2},
    {"dword and qword",
     BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x10, 0x02, 0x0c, 0x04, 0x00, 0x00, 0x00, 0x0e, 0x03,
           0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00),
     0, 0, 4, 3},
    {"two promised, one there",
     BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x04, 0x02, 0x0a, 0x05, 0x0a, 0x06), 0, 0, 5, 0},
    {"a name where the package should be",
     BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x53, 0x4c, 0x50, 0x54), -ENOTSUP, 5, 0, 0},
    {"a constant where the package should be", BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x0a, 0x05),
     -ENOTSUP, 5, 0, 0},
    {"type 8", BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x05, 0x02, 0x0a, 0x08, 0x00), -EINVAL, 11,
     0, 0},
    {"types of all ones", BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x04, 0x02, 0xff, 0xff),
     -EINVAL, 10, 0, 0},
    {"length beyond the table", BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x09, 0x02, 0x00, 0x00),
     -EINVAL, 7, 0, 0},
    {"length that does not hold itself",
     BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x00, 0x02, 0x00, 0x00), -EINVAL, 7, 0, 0},
    {"length whose bytes are not there", BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0xc0, 0x01),
     -EINVAL, 7, 0, 0},
    {"package that ends before its count",
     BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x01, 0x02, 0x00, 0x00), -EINVAL, 7, 0, 0},
    {"empty package", BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x02, 0x00), -EINVAL, 8, 0, 0},
    {"package cut inside a constant",
     BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f, 0x12, 0x04, 0x02, 0x0b, 0x05), -EINVAL, 9, 0, 0},
    {"the name at the very end", BYTES(0x08, 0x5f, 0x53, 0x35, 0x5f), -EINVAL, 5, 0, 0},
};

static int find(const void *data, size_t bytes)
{
    int err = aml_find_s5(data, bytes, &s5, &fault);

    assert_true(fault <= bytes && s5.known == !err && s5.typ_a < 8 && s5.typ_b < 8);
    return err;
}

static void test_rows(void **state)
{
    static struct table t;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(aml_rows); i++) {
        const struct aml_row *row = &aml_rows[i];

        table_begin(&t, "DSDT", 2);
        for (size_t n = 0; n < row->bytes; n++)
            put(&t, row->body[n], 1);
        table_end(&t);
        if (read_copy(find, t.b, t.n) != row->err || s5.typ_a != row->a || s5.typ_b != row->b)
            fail_msg("%s: wrong result", row->name);
        if (fault != (row->fault ? ACPI_HEADER_BYTES + row->fault : 0))
            fail_msg("%s: fault at %zu", row->name, fault - ACPI_HEADER_BYTES);
        every_cut_is_survived(find, &t);
        every_flip_is_survived(find, &t);
    }
}

#define DSDT_PA 0x10000ull
#define SSDT_PA 0x20000ull

/* Where the value comes from, or the one line that says why there is none. */
static void test_read(void **state)
{
    static const struct {
        const char *dsdt, *ssdts[2]; /* by row above; NULL: no such table */
        const char *warning;
        int a; /* -1: not known */
    } rows[] = {
        {"Name (\\_S3", {NULL, NULL}, NULL, 5},
        {"Name (\\_S3", {"Scope", NULL}, NULL, 5}, /* the DSDT first */
        {"nothing", {"nothing", "Scope"}, NULL, 7},
        {"nothing", {"nothing", NULL}, "no \\_S5", -1},
        {"Method", {"Scope", NULL}, "DSDT: \\_S5 is not a package of constants (offset 38)", -1},
        {"nothing", {"type 8", NULL}, "SSDT: \\_S5 is damaged (offset 47)", -1},
        {NULL, {"Scope", NULL}, "DSDT at 0x10000 cannot be read", 7},
    };
    static struct table t[3];
    static struct acpi_tables tables;
    struct fadt_info fadt = {.dsdt = DSDT_PA};
    struct phys mem;
    struct phys_view view = phys_view(&mem);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *names[3] = {rows[i].dsdt, rows[i].ssdts[0], rows[i].ssdts[1]};

        memset(&mem, 0, sizeof(mem));
        memset(&warnings, 0, sizeof(warnings));
        tables.count = 0;
        for (uint32_t n = 0; n < 3; n++) {
            const struct aml_row *row = aml_rows;

            if (!names[n])
                continue;
            while (strncmp(row->name, names[n], strlen(names[n])) != 0)
                row++;
            table_begin(&t[n], n ? "SSDT" : "DSDT", 2);
            for (size_t at = 0; at < row->bytes; at++)
                put(&t[n], row->body[at], 1);
            table_end(&t[n]);
            phys_add(&mem, n ? SSDT_PA * n : DSDT_PA, t[n].b, t[n].n);
            if (n)
                tables.entry[tables.count++] =
                    (struct acpi_entry){"SSDT", SSDT_PA * n, (uint32_t)t[n].n};
        }
        acpi_read_s5(&view, &tables, &fadt, &s5, &warnings);
        assert_int_equal(s5.known ? s5.typ_a : -1, rows[i].a);
        assert_int_equal(warnings.count, rows[i].warning ? 1 : 0);
        if (rows[i].warning && !warned(&warnings, rows[i].warning))
            fail_msg("row %zu: %s", i, warnings.text[0]);
    }
    /* A length that cannot be, and no DSDT named. */
    fadt.dsdt = 0;
    acpi_read_s5(&view, &tables, &fadt, &s5, &warnings);
    set_u32(&t[0], 4, 20);
    phys_add(&mem, DSDT_PA, t[0].b, t[0].n);
    fadt.dsdt = DSDT_PA;
    tables.count = 0;
    acpi_read_s5(&view, &tables, &fadt, &s5, &warnings);
    assert_false(s5.known);
    assert_true(warned(&warnings, "DSDT at 0x0 cannot be read"));
    assert_true(warned(&warnings, "no \\_S5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_read)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
