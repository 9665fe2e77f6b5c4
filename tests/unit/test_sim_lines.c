/* numen-sim's collector of lines: sections, values that go on, settings of --set; what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/bits.h"
#include "tools/numen-sim/scenario_lines.h"

static struct line lines[LINES_MAX];
static char said[1024];

/* What is refused is told on standard error: caught here, so that it can be looked at. */
static bool collected(struct reader *r, const char *text, size_t bytes)
{
    FILE *usual = stderr;
    bool good;

    *r = (struct reader){.path = "s.ini", .lines = lines};
    memset(lines, 0, sizeof(lines));
    r->file = fmemopen((void *)(uintptr_t)text, bytes, "r");
    memset(said, 0, sizeof(said));
    stderr = fmemopen(said, sizeof(said), "w");
    assert_true(r->file && stderr);
    good = collect_file(r);
    fclose(stderr);
    fclose(r->file);
    stderr = usual;
    return good;
}

static bool set(struct reader *r, const char *setting)
{
    FILE *usual = stderr;
    bool good;

    memset(said, 0, sizeof(said));
    stderr = fmemopen(said, sizeof(said), "w");
    assert_non_null(stderr);
    good = collect_setting(r, setting);
    fclose(stderr);
    stderr = usual;
    return good;
}

static void assert_line(const struct line *l, const char *section, const char *name,
                        const char *value, int number)
{
    assert_string_equal(l->section, section);
    assert_string_equal(l->name, name);
    assert_string_equal(l->value, value);
    assert_int_equal(l->number, number);
    assert_int_equal(l->header, !*name);
}

static void test_lines(void **state)
{
    static const char text[] = "; a comment\n[run]\nduration = 1s ; another\n\n[vm a]\n"
                               "workload=cpu\n[at 1ms]\npin.a: 0-3\n";
    struct reader r;

    (void)state;
    assert_true(collected(&r, text, sizeof(text) - 1));
    assert_int_equal(r.count, 6);
    assert_line(&lines[0], "run", "", "", 2);
    assert_line(&lines[1], "run", "duration", "1s", 3);
    assert_line(&lines[2], "vm a", "", "", 5);
    assert_line(&lines[3], "vm a", "workload", "cpu", 6);
    assert_line(&lines[4], "at 1ms", "", "", 7);
    assert_line(&lines[5], "at 1ms", "pin.a", "0-3", 8);
    assert_string_equal(said, "");
}

static void test_value_goes_on(void **state)
{
    static const char text[] = "[machine]\ndistance=10,20;\n  20,10\nsockets=2\n";
    struct reader r;

    (void)state;
    assert_true(collected(&r, text, sizeof(text) - 1));
    assert_int_equal(r.count, 3);
    assert_line(&lines[1], "machine", "distance", "10,20;20,10", 2);
    assert_line(&lines[2], "machine", "sockets", "2", 4);
    assert_int_equal(line_of_word(&r, "machine", "sockets=2"), 4);
    assert_int_equal(line_of_word(&r, "machine", "socket"), 1);
    assert_int_equal(line_of_word(&r, "elsewhere", ""), 4); /* the last one read */
}

static void test_no_newline_at_the_end(void **state)
{
    static const char text[] = "[run]\nduration=1s";
    struct reader r;

    (void)state;
    assert_true(collected(&r, text, sizeof(text) - 1));
    assert_line(&lines[1], "run", "duration", "1s", 2);
}

#define NEITHER                                                                                    \
    "neither a [section] nor key=value (a switch: key=on) nor a comment (a line that begins with " \
    "; or #)\n"
#define TEXT(literal) literal, sizeof(literal) - 1

static const struct {
    const char *text;
    size_t bytes;
    const char *told;
} refused[] = {
    {TEXT("[run]\nduration\n"), "s.ini:2: " NEITHER},
    {TEXT("[run\nduration=1s\n"), "s.ini:1: " NEITHER},
    {TEXT("[run\n[run\n"), "s.ini:1: " NEITHER},
    {TEXT("[run]\na=1\na=2\n"), "s.ini:3: [run] a stands here and in line 2; once is accepted\n"},
    {TEXT("[run]\n[vm a]\n[run]\n"),
     "s.ini:3: [run] stands here and in line 1; once is accepted\n"},
    {TEXT("[run]\na=\0\n"), "s.ini:2: longer than 198 characters, or not a text\n"},
};

static void test_refused(void **state)
{
    struct reader r;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        assert_false(collected(&r, refused[i].text, refused[i].bytes));
        assert_int_equal(strncmp(said, "numen-sim: ", 11), 0);
        assert_string_equal(said + 11, refused[i].told);
    }
}

/* Lines, names and values that are too long; and too many lines. */
static void test_too_much(void **state)
{
    static char text[64 * 1024];
    struct reader r;
    size_t at = 0;

    (void)state;
    at += (size_t)sprintf(text, "[run]\na=");
    memset(text + at, '1', 300);
    assert_false(collected(&r, text, at + 300));
    assert_non_null(strstr(said, "s.ini:2: longer than"));
    at = (size_t)sprintf(text, "[%0100d]\na=1\n", 0);
    assert_false(collected(&r, text, at));
    assert_non_null(strstr(said, "s.ini:1: too long"));
    at = (size_t)sprintf(text, "[run]\n%0100d=1\n", 0);
    assert_false(collected(&r, text, at));
    at = (size_t)sprintf(text, "[run]\n");
    for (uint32_t i = 0; i < LINES_MAX; i++)
        at += (size_t)sprintf(text + at, "k%u=1\n", i);
    assert_false(collected(&r, text, at));
    assert_non_null(strstr(said, "s.ini:2049: more than 2048 settings"));
}

/* --set: behind the file's lines, number 0. */
static void test_settings(void **state)
{
    static const struct {
        const char *setting, *section, *name, *value;
    } good[] = {
        {"asym=off", "options", "asym", "off"},
        {"run.duration=1s", "run", "duration", "1s"},
        {"vm.web.vcpus=4", "vm web", "vcpus", "4"},
        {"vm.a.b.vcpus=4", "vm a.b", "vcpus", "4"},
        {"at 0.5s.weight.web=3", "at 0.5s", "weight.web", "3"},
        {"at 1ms.option.asym=off", "at 1ms", "option.asym", "off"},
        {"machine.smt=1,0.6=x", "machine", "smt", "1,0.6=x"},
        {"asym=", "options", "asym", ""},
    };
    static const char *const bad[] = {"asym", "vm.a.vcpus", ""};
    char longest[800];
    struct reader r = {.path = "s.ini", .lines = lines};

    (void)state;
    memset(lines, 0, sizeof(lines));
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        assert_true(set(&r, good[i].setting));
        assert_line(&lines[i], good[i].section, good[i].name, good[i].value, LINE_SET);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        assert_false(set(&r, bad[i]));
        assert_non_null(strstr(said, "--set: "));
        assert_non_null(strstr(said, "expected section.key=value"));
    }
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = 0;
    assert_false(set(&r, longest));
    longest[600] = 0;
    longest[580] = '=';
    assert_false(set(&r, longest));
    longest[100] = '.';
    assert_false(set(&r, longest));
    assert_int_equal(r.count, ARRAY_SIZE(good));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),    cmocka_unit_test(test_value_goes_on),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_no_newline_at_the_end),
        cmocka_unit_test(test_too_much), cmocka_unit_test(test_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
