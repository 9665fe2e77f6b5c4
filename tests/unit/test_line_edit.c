/* The shell's input line: keys in, text and echo out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/line_edit.h"

/* Keys typed on an empty line after "before" was entered, and the text they leave. */
static const struct {
    const char *keys, *text;
} rows[] = {
    {"vms", "vms"},
    {"vmx\bs", "vms"},
    {"vmx\x7fs", "vms"},
    {"\b\b\x7f", ""},
    {"one two\x15three", "three"},
    {"one two\x17three", "one three"},
    {"one  \x17", ""},
    {"\x1b[A", "before"},
    {"xyz\x10", "before"},
    {"a\x1b[Bb", "ab"},
    {"a\x1b[1;5Cb", "ab"},
    {"a\x1bOb", "ab"},
    {"a\x1b[1\x15xy", "xy"}, /* ^U counts though it cuts a sequence short */
    {"a\tb\x01\x80", "ab"},
};

static enum line_edit_event press(struct line_edit *edit, const char *keys)
{
    struct line_edit_echo echo;
    enum line_edit_event event = EDIT_NOTHING;

    while (*keys)
        event = line_edit_key(edit, *keys++, &echo);
    return event;
}

static void test_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct line_edit edit = {0};

        press(&edit, "before\r");
        line_edit_next(&edit);
        press(&edit, rows[i].keys);
        assert_string_equal(edit.text, rows[i].text);
        assert_int_equal(edit.length, strlen(rows[i].text));
    }
}

static void test_enter_in_every_spelling(void **state)
{
    struct line_edit edit = {0};

    (void)state;
    assert_int_equal(press(&edit, "a\r"), EDIT_ENTER);
    line_edit_next(&edit);
    assert_int_equal(press(&edit, "\n"), EDIT_NOTHING);
    assert_int_equal(press(&edit, "b\n"), EDIT_ENTER);
    line_edit_next(&edit);
    assert_int_equal(press(&edit, "\n"), EDIT_ENTER);
    assert_int_equal(press(&edit, "c\x03"), EDIT_CANCEL);
}

static void test_full_line_takes_no_more(void **state)
{
    struct line_edit edit = {0};
    struct line_edit_echo echo;

    (void)state;
    for (unsigned i = 0; i < LINE_EDIT_MAX; i++)
        assert_int_equal(line_edit_key(&edit, 'x', &echo), EDIT_CHANGED);
    assert_int_equal(line_edit_key(&edit, 'x', &echo), EDIT_NOTHING);
    assert_int_equal(edit.length, LINE_EDIT_MAX);
    assert_int_equal(press(&edit, "\r"), EDIT_ENTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_enter_in_every_spelling),
        cmocka_unit_test(test_full_line_takes_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
