/* numen-sim's keys: what text each kind takes, what it gives, and what it says it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/bits.h"
#include "tools/numen-sim/keys.h"

struct object {
    uint64_t number, time, bytes, fraction, flag, word;
    struct key_list list, table, ranges;
};

#define AT(field) offsetof(struct object, field)

static const struct key keys[] = {
    {"number", KEY_COUNT, AT(number), "7", 2, 100, "", "a"},
    {"time", KEY_TIME, AT(time), "5us", 1000, 10 * NS_PER_SEC, "", "b"},
    {"bytes", KEY_BYTES, AT(bytes), "2M", MIB, 4 * GIB, "", "c"},
    {"fraction", KEY_FRACTION, AT(fraction), "0.25", 0, 2048, "", "d"},
    {"flag", KEY_BOOL, AT(flag), "off", 0, 0, "", "e"},
    {"word", KEY_WORD, AT(word), "red", 0, 0, "red green blue", "f"},
    {"list", KEY_FRACTIONS, AT(list), "1,0.5", 1, 1024, "", "g"},
    {"table", KEY_TABLE, AT(table), "", 10, 254, "", "h"},
    {"ranges", KEY_RANGES, AT(ranges), "", 0, 2048, "", "i"},
    KEY_END,
};

static void test_defaults(void **state)
{
    struct object o;

    (void)state;
    memset(&o, 0xff, sizeof(o));
    keys_default(keys, &o);
    assert_int_equal(o.number, 7);
    assert_int_equal(o.time, 5000);
    assert_int_equal(o.bytes, 2 * MIB);
    assert_int_equal(o.fraction, 256);
    assert_int_equal(o.flag, 0);
    assert_int_equal(o.word, 0);
    assert_int_equal(o.list.count, 2);
    assert_int_equal(o.table.count + o.ranges.count, 0);
}

static const struct {
    const char *key, *text;
    uint64_t value;
} numbers[] = {
    {"number", "2", 2},           {"number", "100", 100},
    {"time", "1us", 1000},        {"time", "1000ns", 1000},
    {"time", "1.5ms", 1500000},   {"time", "10s", 10 * NS_PER_SEC},
    {"time", "0.0000015s", 1500}, {"time", "0.001001ms", 1001},
    {"bytes", "1M", MIB},         {"bytes", "4096K", 4 * MIB},
    {"bytes", "4G", 4 * GIB},     {"fraction", "0", 0},
    {"fraction", "2", 2048},      {"fraction", "0.5", 512},
    {"fraction", "0.65", 666}, /* 665.6 */
    {"fraction", "1.", 1024},     {"flag", "on", 1},
    {"flag", "off", 0},           {"word", "green", 1},
    {"word", "blue", 2},
};

static void test_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        const struct key *key = keys_find(keys, numbers[i].key);
        struct object o = {0};

        assert_non_null(key);
        assert_int_equal(key_set(key, &o, numbers[i].text), 0);
        assert_int_equal(*(uint64_t *)((char *)&o + key->offset), numbers[i].value);
    }
}

static const struct {
    const char *key, *text;
} refused[] = {
    {"number", "1"},     {"number", "101"},
    {"number", ""},      {"number", "7x"},
    {"number", "-7"},    {"number", "7 8"},
    {"time", "999ns"},   {"time", "11s"},
    {"time", "5"},       {"time", "5 us"},
    {"time", "us"},      {"time", ".5us"},
    {"time", "5usec"},   {"time", "-5us"},
    {"time", ""},        {"bytes", "1K"},
    {"bytes", "5G"},     {"bytes", "1MX"},
    {"fraction", "2.1"}, {"fraction", "-1"},
    {"fraction", "1/2"}, {"fraction", "0.5.5"},
    {"fraction", ""},    {"flag", "maybe"},
    {"word", "re"},      {"word", "redd"},
    {"word", ""},        {"list", "1,2"},
    {"list", "0"},       {"list", "1;0.5"},
    {"table", "9,10"},   {"table", "10,255"},
    {"table", "10,x"},   {"ranges", "3"},
    {"ranges", "3:"},    {"ranges", ":1"},
    {"ranges", "5-3:1"}, {"ranges", "3-:1"},
    {"ranges", "1:1:1"}, {"time", "99999999999999999999s"},
};

/* Nothing is changed by a value that is not taken. */
static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct object o, before;

        keys_default(keys, &o);
        before = o;
        assert_int_not_equal(key_set(keys_find(keys, refused[i].key), &o, refused[i].text), 0);
        assert_memory_equal(&o, &before, sizeof(o));
    }
}

static void test_lists(void **state)
{
    char many[400] = "";
    struct object o = {0};

    (void)state;
    assert_int_equal(key_set(keys_find(keys, "list"), &o, "1, 0.5,0.25"), 0);
    assert_int_equal(o.list.count, 3);
    assert_int_equal(o.list.value[1], 512);
    assert_int_equal(key_set(keys_find(keys, "table"), &o, "10,21;21,10"), 0);
    assert_int_equal(o.table.count, 4);
    assert_int_equal(o.table.value[2], 21);
    assert_int_equal(key_set(keys_find(keys, "ranges"), &o, "0-7:1,9:0.5"), 0);
    assert_int_equal(o.ranges.count, 6);
    assert_int_equal(o.ranges.value[1], 7);
    assert_int_equal(o.ranges.value[3], 9);
    assert_int_equal(o.ranges.value[4], 9);
    assert_int_equal(o.ranges.value[5], 512);
    for (uint32_t i = 0; i < KEY_LIST_MAX; i++)
        memcpy(many + 2ul * i, "1,", 3);
    assert_int_equal(key_set(keys_find(keys, "list"), &o, many), 0);
    assert_int_equal(o.list.count, KEY_LIST_MAX);
    memcpy(many + 2ul * KEY_LIST_MAX, "1", 2);
    assert_int_not_equal(key_set(keys_find(keys, "list"), &o, many), 0);
}

/* What a message says is accepted. */
static void test_descriptions(void **state)
{
    static const char *const wanted[] = {
        "a number from 2 to 100",
        "a time from 1us to 10s",
        "bytes from 1M to 4096M",
        "a fraction from 0 to 2",
        "on or off",
        "one of: red green blue",
        "fractions by commas",
        "rows of numbers, such as 10,21;21,10",
        "ranges and fractions from 0 to 2, such as 0-7:1,8-15:0.6",
    };
    char text[160];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        key_describe(&keys[i], text, sizeof(text));
        assert_string_equal(text, wanted[i]);
    }
    keys_names(keys, text, sizeof(text));
    assert_string_equal(text, "number time bytes fraction flag word list table ranges");
    keys_names(keys, text, 12); /* cut, and ended */
    assert_string_equal(text, "number time");
    assert_null(keys_find(keys, "numbe"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),     cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_lists),
        cmocka_unit_test(test_descriptions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
