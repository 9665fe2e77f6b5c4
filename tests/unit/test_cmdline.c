/*
 * Words, numbers, and the hypervisor's options.
 */
#include "fixture_acpi.h"

#include "boot/cmdline.h"
#include "boot/token.h"
#include "hv/text.h"

static struct fw_warnings warnings;
static struct options options;

static const struct token_row {
    const char *line;
    const char *words[5];
} token_rows[] = {
    {"", {NULL}},
    {"  \t ", {NULL}},
    {"a bb  ccc ", {"a", "bb", "ccc"}},
    {"a=\"b c\" d", {"a=b c", "d"}},
    {"'x y'z \"it's\"", {"x yz", "it's"}},
    {"a\\ b \\\"q\\\" \\", {"a b", "\"q\"", "\\"}},
    {"\"open quote", {"open quote"}},
    {"a \"\" b", {"a", "", "b"}},
    {"a\tb\nc\r\nd\r", {"a", "b", "c", "d"}},
};

static void test_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(token_rows); i++) {
        const char *line = token_rows[i].line;
        char word[32];
        bool cut;
        int n = 0;

        while (token_next(&line, word, sizeof(word), &cut)) {
            assert_non_null(token_rows[i].words[n]);
            assert_string_equal(word, token_rows[i].words[n]);
            assert_false(cut);
            n++;
        }
        assert_null(token_rows[i].words[n]);
        assert_int_equal(*line, 0);
    }
}

static void test_token_cut(void **state)
{
    const char *line = "0123456789 next";
    char word[5];
    bool cut;

    (void)state;
    assert_true(token_next(&line, word, sizeof(word), &cut));
    assert_true(cut);
    assert_string_equal(word, "0123");
    assert_true(token_next(&line, word, sizeof(word), &cut));
    assert_false(cut);
    assert_string_equal(word, "next");
}

static const struct number_row {
    const char *text;
    int err; /* of token_number */
    uint64_t value;
    int bytes_err;
    uint64_t bytes;
} number_rows[] = {
    {"0", 0, 0, 0, 0},
    {"42", 0, 42, 0, 42},
    {"0x1F", 0, 31, 0, 31},
    {"0Xa0", 0, 160, 0, 160},
    {"0b1", -22, 0, -22, 0},
    {"18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX},
    {"18446744073709551616", -34, 0, -34, 0},
    {"0xffffffffffffffffff", -34, 0, -34, 0},
    {"", -22, 0, -22, 0},
    {"-1", -22, 0, -22, 0},
    {"0x", -22, 0, -22, 0},
    {"12a", -22, 0, -22, 0},
    {"4k", -22, 0, 0, 4096},
    {"256M", -22, 0, 0, 256ull << 20},
    {"1GiB", -22, 0, 0, 1ull << 30},
    {"2TB", -22, 0, 0, 2ull << 40},
    {"0x10000000000T", -22, 0, -34, 0},
    {"1Mx", -22, 0, -22, 0},
    {"1Gi", -22, 0, -22, 0},
    {"M", -22, 0, -22, 0},
};

static void test_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(number_rows); i++) {
        const struct number_row *row = &number_rows[i];
        uint64_t v = 0, b = 0;

        if (token_number(row->text, &v) != row->err || v != row->value)
            fail_msg("number %s", row->text);
        if (token_bytes(row->text, &b) != row->bytes_err || b != row->bytes)
            fail_msg("bytes %s", row->text);
    }
}

static void parse(const char *line)
{
    memset(&warnings, 0, sizeof(warnings));
    options_default(&options);
    cmdline_parse(&options, line, &warnings);
}

static void test_defaults(void **state)
{
    (void)state;
    parse("");
    assert_int_equal(warnings.count, 0);
    assert_string_equal(options.console, "com1,vga");
    assert_int_equal(options.loglvl.word, LOGLVL_INFO);
    assert_int_equal(options.numa.word, NUMA_ON);
    assert_int_equal(options.smt.word, SMT_ON);
    assert_int_equal(options.maxcpus, 4096);
    assert_int_equal(options.sched_credit2_max_cpus_runqueue, 16);
    assert_int_equal(options.sched_ratelimit_us, 1000);
    assert_true(options.asym);
    assert_int_equal(options.ple.word, PLE_AUTO);
}

static void test_all(void **state)
{
    (void)state;
    parse("/boot/numen.elf console=com1,vga com1=9600,8n1,0x2f8 loglvl=debug numa=fake=4 smt=0 "
          "maxcpus=0x10 credit2_runqueue=llc sched-credit2-max-cpus-runqueue=8 "
          "sched_ratelimit_us=0 sched_preset=credit2-2016 no-asym ple=on");
    assert_int_equal(warnings.count, 0);
    assert_string_equal(options.console, "com1,vga");
    assert_string_equal(options.com1, "9600,8n1,0x2f8");
    assert_int_equal(options.loglvl.word, LOGLVL_DEBUG);
    assert_int_equal(options.numa.word, NUMA_FAKE);
    assert_int_equal(options.numa.number, 4);
    assert_int_equal(options.smt.word, SMT_OFF);
    assert_int_equal(options.maxcpus, 16);
    assert_int_equal(options.credit2_runqueue.word, 2);
    assert_int_equal(options.sched_credit2_max_cpus_runqueue, 8);
    assert_int_equal(options.sched_ratelimit_us, 0);
    assert_int_equal(options.sched_preset.word, 1);
    assert_false(options.asym);
    assert_int_equal(options.ple.word, PLE_ON);
}

static void test_last_wins(void **state)
{
    (void)state;
    parse("maxcpus=4 smt=off maxcpus=2 smt asym=off asym no-numa");
    assert_int_equal(warnings.count, 0);
    assert_int_equal(options.maxcpus, 2);
    assert_int_equal(options.smt.word, SMT_ON);
    assert_true(options.asym);
    assert_int_equal(options.numa.word, NUMA_OFF);
}

/* A bad word: what the warning says, and that nothing changed. */
static const struct bad_row {
    const char *line;
    const char *warning;
} bad_rows[] = {
    {"colour=red", "option colour is unknown"},
    {"sched-gran=socket", "malformed"},
    {"max", "option max is unknown"},
    {"maxcpusx=1", "option maxcpusx is unknown"},
    {"sched_ratelimit=1", "option sched_ratelimit is unknown"},
    {"a.b=1", "option a.b is unknown"},
    {"no-such", "option no-such is unknown"},
    {"maxcpus=0", "maxcpus=0: out of range"},
    {"maxcpus=4097", "out of range"},
    {"sched_credit2_max_cpus_runqueue=65", "out of range"},
    {"maxcpus=many", "maxcpus=many: malformed"},
    {"maxcpus=", "maxcpus=: malformed"},
    {"maxcpus", "maxcpus needs a value"},
    {"no-maxcpus", "maxcpus needs a value"},
    {"numa=fake", "malformed"},
    {"numa=fake=", "malformed"},
    {"numa=fake=0", "out of range"},
    {"numa=fake=65", "out of range"},
    {"numa=fake=2x", "malformed"},
    {"numa=onn", "malformed"},
    {"loglvl=1", "malformed"},
    {"asym=maybe", "malformed"},
    {"=", "option  is unknown"},
    {"console=0123456789012345678901234567890123456789012345678901234567890123", "out of range"},
    {"console=0123456789012345678901234567890123456789012345678901234567890123456789"
     "0123456789012345678901234567890123456789012345678901234567890123",
     "is too long"},
    {"x\033[31m=1", "option x?[31m is unknown"},
};

static void test_bad(void **state)
{
    static struct options defaults;

    (void)state;
    options_default(&defaults);
    for (size_t i = 0; i < ARRAY_SIZE(bad_rows); i++) {
        parse(bad_rows[i].line);
        if (!warned(&warnings, bad_rows[i].warning) || warnings.count != 1)
            fail_msg("%s: %s", bad_rows[i].line, warnings.text[0]);
        for (uint32_t id = 0; id < OPTION_COUNT; id++) {
            char now[80], then[80];

            option_format(&options, id, now, sizeof(now));
            option_format(&defaults, id, then, sizeof(then));
            assert_string_equal(now, then);
        }
    }
}

/* Every option's printed value can be set again. */
static void test_format_is_settable(void **state)
{
    (void)state;
    parse("numa=fake=3 asym=off maxcpus=7 ple=off");
    for (uint32_t id = 0; id < OPTION_COUNT; id++) {
        char text[80], again[80];

        option_format(&options, id, text, sizeof(text));
        assert_int_equal(option_set(&options, id, text), 0);
        option_format(&options, id, again, sizeof(again));
        assert_string_equal(text, again);
        assert_int_equal(option_find(option_table[id].name), id);
    }
    assert_int_equal(options.numa.number, 3);
}

static void test_takes(void **state)
{
    static const struct {
        const char *name;
        const char *takes;
    } rows[] = {
        {"sched_ratelimit_us", "0 to 500000"},
        {"asym", "on or off"},
        {"loglvl", "one of none error warning info debug"},
        {"numa", "one of off on fake= noacpi, the number 1 to 64"},
        {"com1", "a word of at most 63 characters"},
    };
    char text[96];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        option_takes(option_find(rows[i].name), text, sizeof(text));
        assert_string_equal(text, rows[i].takes);
    }
}

static void test_text(void **state)
{
    char buffer[64];

    (void)state;
    text_format(buffer, sizeof(buffer), "%s|%c|%u|%5u|%05u|%x|%08x|%d|%ld|%lu|%lx|%zu|%%", "s\n",
                'c', 1u, 2u, 3u, 0xabu, 0xcdu, -5, -6L, 7UL, 0x8UL, sizeof(char));
    assert_string_equal(buffer, "s?|c|1|    2|00003|ab|000000cd|-5|-6|7|8|1|%");
    assert_int_equal(text_format(buffer, 4, "%lu", UINT64_MAX), 20);
    assert_string_equal(buffer, "184");
    text_format(buffer, sizeof(buffer), "%d", INT32_MIN);
    assert_string_equal(buffer, "-2147483648");
    memset(&warnings, 0, sizeof(warnings));
    warnings.count = FW_WARNINGS_MAX;
    options_default(&options);
    cmdline_parse(&options, "a b c", &warnings);
    assert_int_equal(warnings.dropped, 3);
    cmdline_parse(&options, "a b c", NULL);
}

/* QEMU's first word is a file; GRUB's is an option. */
static void test_first_word(void **state)
{
    static const struct {
        const char *line;
        uint64_t maxcpus;
        uint32_t warnings;
    } rows[] = {
        {"numen32.elf maxcpus=2", 2, 0},   {"build/numen maxcpus=2", 2, 0},
        {"maxcpus=2 numa", 2, 0},          {"asym maxcpus=2", 2, 0},
        {"maxcpus=2 numen32.elf", 2, 1},   {"\"\" maxcpus=2 '' smt", 2, 0},
        {"console=a.b/c maxcpus=2", 2, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        parse(rows[i].line);
        if (options.maxcpus != rows[i].maxcpus || warnings.count != rows[i].warnings)
            fail_msg("%s: maxcpus %lu, %u warnings", rows[i].line, options.maxcpus, warnings.count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),     cmocka_unit_test(test_token_cut),
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all),        cmocka_unit_test(test_last_wins),
        cmocka_unit_test(test_bad),        cmocka_unit_test(test_format_is_settable),
        cmocka_unit_test(test_takes),      cmocka_unit_test(test_text),
        cmocka_unit_test(test_first_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
