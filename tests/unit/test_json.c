/* The JSON writer: commas, nesting, escapes, fixed-point numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/json.h"
#include "kernel/topology_json.h"

static char text[512];

static void put(void *ctx, const char *bytes, size_t n)
{
    size_t at = strlen(text);

    (void)ctx;
    assert_true(at + n < sizeof(text));
    memcpy(text + at, bytes, n);
    text[at + n] = 0;
}

static struct json begin(void)
{
    struct json j;

    text[0] = 0;
    json_init(&j, put, NULL);
    return j;
}

static void test_nesting_and_commas(void **state)
{
    struct json j = begin();

    (void)state;
    json_begin_object(&j, NULL);
    json_begin_array(&j, "a");
    json_u64(&j, NULL, 1);
    json_u64(&j, NULL, UINT64_MAX);
    json_begin_object(&j, NULL);
    json_end_object(&j);
    json_begin_array(&j, NULL);
    json_end_array(&j);
    json_end_array(&j);
    json_i64(&j, "b", -7);
    json_begin_object(&j, "c");
    json_bool(&j, "d", true);
    json_bool(&j, "e", false);
    json_null(&j, "f");
    json_end_object(&j);
    json_string(&j, "g", "h");
    json_end_object(&j);
    assert_string_equal(text, "{\"a\":[1,18446744073709551615,{},[]],\"b\":-7,"
                              "\"c\":{\"d\":true,\"e\":false,\"f\":null},\"g\":\"h\"}");
}

static void test_strings(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", "\"\""},
        {"plain text", "\"plain text\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"line\nend\t", "\"line\\u000aend\\u0009\""},
        {"\x7f\xff", "\"\\u007f\\u00ff\""},
        {"\"", "\"\\\"\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json j = begin();

        json_string(&j, NULL, rows[i].in);
        assert_string_equal(text, rows[i].out);
    }
}

static void test_fixed(void **state)
{
    static const struct {
        uint64_t value;
        uint32_t frac_bits;
        const char *out;
    } rows[] = {
        {0, 32, "0.00"},
        {1ull << 32, 32, "1.00"},
        {3ull << 31, 32, "1.50"},
        {(1ull << 32) - 1, 32, "0.99"},
        {2276332667ull, 32, "0.53"},
        {12ull << 18, 18, "12.00"},
        {(1ull << 56) / 20 + 1, 56, "0.05"},
        {7, 0, "7.00"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct json j = begin();

        json_fixed(&j, NULL, rows[i].value, rows[i].frac_bits);
        assert_string_equal(text, rows[i].out);
    }
}

static void test_topology_parts(void **state)
{
    static struct numa numa = {.nnodes = 2,
                               .nranges = 3,
                               .node = {{.pxm = 7, .ram_bytes = 96}, {.pxm = 9, .ram_bytes = 32}},
                               .range = {{0, 64, 0}, {64, 96, 1}, {96, 128, 0}},
                               .distance = {10, 21, 31, 10}};
    static const struct cpu_place places[] = {
        {.cpu = 0, .apic_id = 4, .node = 1},
        {.cpu = 1, .apic_id = 5, .thread = 1, .core = 2, .llc = 3, .socket = 6, .node = 0}};
    struct json j = begin();

    (void)state;
    json_begin_object(&j, NULL);
    topology_json_cpu(&j, &places[1], false);
    topology_json_counts(&j, 1, 2, 3);
    topology_json_node(&j, &numa, 0, places, 2, 40);
    topology_json_distance(&j, &numa);
    json_end_object(&j);
    assert_string_equal(text, "{{\"cpu\":1,\"apic_id\":5,\"thread\":1,\"core\":2,\"llc\":3,"
                              "\"socket\":6,\"node\":0,\"online\":false},"
                              "\"sockets\":1,\"cores\":2,\"threads\":3,"
                              "\"node\":0,\"pxm\":7,\"cpus\":[1],\"ram_bytes\":96,"
                              "\"free_bytes\":40,\"ranges\":[[0,63],[96,127]],"
                              "\"distance\":[[10,21],[31,10]]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting_and_commas),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_topology_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
