/* The log ring: lines in order, the oldest overwritten, readers told what they missed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/log.h"

#define RING_BYTES 1024u

static char bytes[RING_BYTES];

static void append(struct log_ring *log, const char *text)
{
    log_append(log, 2, 5, text, strlen(text));
}

static void expect_line(const struct log_ring *log, struct log_cursor *cursor, const char *text)
{
    struct log_line line;

    assert_true(log_read(log, cursor, &line));
    assert_string_equal(line.text, text);
    assert_int_equal(line.length, strlen(text));
    assert_int_equal(line.missed, 0);
}

static void expect_nothing(const struct log_ring *log, struct log_cursor *cursor)
{
    struct log_line line;

    assert_false(log_read(log, cursor, &line));
}

static void test_order_time_level(void **state)
{
    struct log_ring log;
    struct log_line line;
    struct log_cursor cursor;

    (void)state;
    log_init(&log, bytes, sizeof(bytes));
    cursor = log_oldest(&log);
    expect_nothing(&log, &cursor);
    log_append(&log, 1, 123456789, "first", 5);
    append(&log, "");
    append(&log, "third");
    assert_true(log_read(&log, &cursor, &line));
    assert_string_equal(line.text, "first");
    assert_int_equal(line.level, 1);
    assert_int_equal(line.time, 123456789);
    expect_line(&log, &cursor, "");
    expect_line(&log, &cursor, "third");
    expect_nothing(&log, &cursor);
    append(&log, "later");
    expect_line(&log, &cursor, "later");
}

static void test_newlines_part_lines(void **state)
{
    struct log_ring log;
    struct log_cursor cursor;

    (void)state;
    log_init(&log, bytes, sizeof(bytes));
    cursor = log_oldest(&log);
    append(&log, "one\n\ntwo\n");
    expect_line(&log, &cursor, "one");
    expect_line(&log, &cursor, "");
    expect_line(&log, &cursor, "two");
    expect_nothing(&log, &cursor);
}

static void test_long_line_is_cut(void **state)
{
    struct log_ring log;
    struct log_cursor cursor;
    struct log_line line;
    char text[LOG_TEXT_MAX + 50];

    (void)state;
    log_init(&log, bytes, sizeof(bytes));
    cursor = log_oldest(&log);
    memset(text, 'x', sizeof(text));
    log_append(&log, 0, 0, text, sizeof(text));
    assert_true(log_read(&log, &cursor, &line));
    assert_int_equal(line.length, LOG_TEXT_MAX);
}

/*
 * Many laps of lines of every length: what is read is a suffix of what was written, whole and in
 * order.
 */
static void test_laps(void **state)
{
    struct log_ring log;
    struct log_cursor cursor;
    struct log_line line;
    char text[LOG_TEXT_MAX + 1];
    uint64_t next = 0;

    (void)state;
    srand(1);
    log_init(&log, bytes, sizeof(bytes));
    cursor = log_oldest(&log);
    for (uint64_t written = 1; written <= 20000; written++) {
        snprintf(text, sizeof(text), "%llu %*s", (unsigned long long)written - 1, rand() % 180,
                 "x");
        append(&log, text);
        if (rand() % 7)
            continue;
        while (log_read(&log, &cursor, &line)) {
            next += line.missed;
            assert_int_equal(strtoull(line.text, NULL, 10), next);
            assert_int_equal(line.text[line.length - 1], 'x');
            next++;
        }
        assert_int_equal(next, written);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_time_level),
        cmocka_unit_test(test_newlines_part_lines),
        cmocka_unit_test(test_long_line_is_cut),
        cmocka_unit_test(test_laps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
