/*
 * SLIT reader: which matrices are believed.
 */
#include "fixture_acpi.h"

#include "boot/slit.h"

static struct fw_warnings warnings;
static struct slit_info info;

static int read_slit(const void *data, size_t bytes)
{
    size_t fault;
    int err;

    memset(&warnings, 0, sizeof(warnings));
    err = slit_parse(data, bytes, &info, &warnings, &fault);
    if (err) {
        assert_int_equal(err, -22);
        assert_false(info.usable);
        assert_int_not_equal(warnings.count, 0);
    } else {
        const uint8_t *end = (const uint8_t *)data + bytes;

        assert_true(info.n > 0 && info.rows + (size_t)info.n * info.n <= end);
        assert_true(info.usable == (warnings.count == 0) || warned(&warnings, "checksum"));
    }
    return err;
}

static const struct slit_row {
    const char *name;
    uint64_t n;
    uint8_t rows[9];
    size_t bytes;
    int err;
    bool usable;
    const char *warning;
} slit_rows[] = {
    {"two nodes", 2, {10, 20, 20, 10}, 4, 0, true, NULL},
    {"asymmetric", 2, {10, 21, 31, 10}, 4, 0, true, NULL},
    {"longer than n * n", 2, {10, 20, 20, 10, 9, 9}, 6, 0, true, NULL},
    {"one node", 1, {10}, 1, 0, true, NULL},
    {"unreachable is a distance", 2, {10, 255, 255, 10}, 4, 0, true, NULL},
    {"shorter", 2, {10, 20, 20}, 3, -22, false, "2 localities"},
    {"no localities", 0, {0}, 0, -22, false, "0 localities"},
    {"count whose square wraps", 1ull << 32, {10}, 1, -22, false, "localities"},
    {"count of all ones", UINT64_MAX, {10}, 1, -22, false, "localities"},
    {"diagonal not 10", 2, {10, 20, 20, 11}, 4, 0, false, "distance 11 from 1 to 1"},
    {"below 10", 2, {10, 20, 9, 10}, 4, 0, false, "distance 9 from 1 to 0"},
    {"all 10", 2, {10, 10, 10, 10}, 4, 0, false, "all distances are 10"},
};

static void test_rows(void **state)
{
    static struct table t;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(slit_rows); i++) {
        const struct slit_row *row = &slit_rows[i];

        slit_build(&t, row->n, row->rows, row->bytes);
        if (read_copy(read_slit, t.b, t.n) != row->err || info.usable != row->usable)
            fail_msg("%s: wrong verdict", row->name);
        if (row->warning ? !warned(&warnings, row->warning) : warnings.count != 0)
            fail_msg("%s: wrong warning: %s", row->name, warnings.text[0]);
    }
}

static void test_cruel(void **state)
{
    static struct table t;

    (void)state;
    slit_build(&t, 3, (const uint8_t[]){10, 20, 30, 20, 10, 20, 30, 20, 10}, 9);
    every_prefix_is_refused(read_slit, &t);
    every_cut_is_survived(read_slit, &t);
    every_flip_is_survived(read_slit, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_cruel)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
