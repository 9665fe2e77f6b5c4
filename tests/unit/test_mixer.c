/*
 * The console's mixer in front of a small terminal: lines stay whole, replies uncut, the prompt
 * returns.
 *
 * The terminal knows CR, LF and backspace, and keeps finished lines. The raw bytes are kept as
 * well: a script reads those.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hv/bits.h"
#include "kernel/guest_output.h"
#include "kernel/mixer.h"
#include "kernel/printk.h"

#define RAW_BYTES  (4u << 20)
#define LINES_MAX  40000u
#define COLUMN_MAX 1024u

struct bench {
    struct log_ring log;
    struct mixer mixer;
    struct line_edit edit;
    struct guest_output guests;
    char log_bytes[4096], reply_bytes[4096], guest_bytes[2048];
    char raw[RAW_BYTES];
    size_t raw_n;
    char *lines[LINES_MAX]; /* finished ones, without trailing blanks */
    size_t nlines;
    char row[COLUMN_MAX]; /* the unfinished one */
    size_t column, width;
};

static struct bench *bench_new(void)
{
    struct bench *b = calloc(1, sizeof(*b));
    struct mixer_memory memory;

    assert_non_null(b);
    memory = (struct mixer_memory){b->reply_bytes, sizeof(b->reply_bytes), b->guest_bytes,
                                   sizeof(b->guest_bytes)};
    log_init(&b->log, b->log_bytes, sizeof(b->log_bytes));
    mixer_init(&b->mixer, &b->log, &b->edit, &memory);
    return b;
}

static void forget_lines(struct bench *b)
{
    while (b->nlines)
        free(b->lines[--b->nlines]);
}

static void bench_free(struct bench *b)
{
    forget_lines(b);
    free(b);
}

static void terminal_put(struct bench *b, char c)
{
    if (c == '\r') {
        b->column = 0;
    } else if (c == '\b') {
        b->column -= b->column > 0;
    } else if (c == '\n') {
        while (b->width && b->row[b->width - 1] == ' ')
            b->width--;
        assert_true(b->nlines < LINES_MAX);
        b->lines[b->nlines++] = strndup(b->row, b->width);
        b->width = 0;
        b->column = 0;
    } else {
        assert_true(b->column < COLUMN_MAX);
        b->row[b->column++] = c;
        b->width = MAX(b->width, b->column);
    }
}

static uint32_t pull(struct bench *b, uint32_t n)
{
    char bytes[256];

    n = mixer_pull(&b->mixer, bytes, MIN(n, (uint32_t)sizeof(bytes)));
    assert_true(b->raw_n + n < RAW_BYTES);
    memcpy(b->raw + b->raw_n, bytes, n);
    b->raw_n += n;
    for (uint32_t i = 0; i < n; i++)
        terminal_put(b, bytes[i]);
    return n;
}

static void pull_all(struct bench *b)
{
    while (pull(b, 256))
        ;
}

static void say(struct bench *b, const char *text)
{
    log_append(&b->log, LOG_INFO, 0, text, strlen(text));
}

/* True if it was Enter. */
static bool type_key(struct bench *b, char key)
{
    struct line_edit_echo echo;
    enum line_edit_event event = line_edit_key(&b->edit, key, &echo);

    if (event == EDIT_CHANGED)
        mixer_echo(&b->mixer, &echo);
    if (event != EDIT_ENTER)
        return false;
    mixer_end_input(&b->mixer);
    line_edit_next(&b->edit);
    mixer_reply_begin(&b->mixer);
    return true;
}

static void type(struct bench *b, const char *text)
{
    while (*text)
        type_key(b, *text++);
}

static void reply(struct bench *b, const char *text)
{
    mixer_reply_put(&b->mixer, text, (uint32_t)strlen(text));
}

static void expect_raw(struct bench *b, const char *text)
{
    pull_all(b);
    b->raw[b->raw_n] = 0;
    assert_string_equal(b->raw, text);
    b->raw_n = 0;
}

static void expect_row(struct bench *b, const char *text)
{
    pull_all(b);
    while (b->width > b->column && b->row[b->width - 1] == ' ')
        b->width--;
    b->row[b->width] = 0;
    assert_string_equal(b->row, text);
    assert_int_equal(b->column, strlen(text));
}

/* ---- single rules ---- */

static void test_host_line_overwrites_the_prompt(void **state)
{
    struct bench *b = bench_new();

    (void)state;
    mixer_prompt(&b->mixer);
    type(b, "vm");
    expect_raw(b, "numen> vm");
    say(b, "hi");
    expect_raw(b, "\rhi       \r\n");
    mixer_prompt(&b->mixer);
    expect_raw(b, "numen> vm");
    say(b, "longer than the prompt");
    say(b, "second");
    expect_raw(b, "\rlonger than the prompt\r\nsecond\r\n");
    type(b, "s");
    expect_raw(b, "numen> vms");
    bench_free(b);
}

static void test_reply_is_not_cut(void **state)
{
    struct bench *b = bench_new();

    (void)state;
    mixer_prompt(&b->mixer);
    type(b, "vms --json");
    pull_all(b);
    b->raw_n = 0;
    type(b, "\r");
    reply(b, "[1,");
    say(b, "host line");
    mixer_guest_line(&b->mixer, "web", "guest line", 10);
    expect_raw(b, "\r\n[1,");
    reply(b, "2]\n");
    mixer_reply_end(&b->mixer);
    expect_raw(b, "2]\r\nnumen> \rhost line\r\n[web] guest line\r\n");
    bench_free(b);
}

static void test_level(void **state)
{
    struct bench *b = bench_new();

    (void)state;
    b->mixer.level = LOG_WARNING;
    log_append(&b->log, LOG_WARNING, 0, "hidden", 6);
    log_append(&b->log, LOG_ERROR, 0, "shown", 5);
    expect_raw(b, "shown\r\n");
    bench_free(b);
}

static void test_warnings_say_so(void **state)
{
    struct bench *b = bench_new();

    (void)state;
    log_append(&b->log, LOG_WARNING, 0, "odd", 3);
    log_append(&b->log, LOG_ERROR, 0, "bad", 3);
    expect_raw(b, "warning: odd\r\nbad\r\n");
    bench_free(b);
}

static void test_lost_lines_are_counted(void **state)
{
    struct bench *b = bench_new();
    unsigned dropped, shown = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        mixer_guest_line(&b->mixer, "web", "0123456789", 10);
    pull_all(b);
    for (size_t i = 0; i < b->nlines; i++)
        shown += !strcmp(b->lines[i], "[web] 0123456789");
    assert_int_equal(sscanf(b->lines[b->nlines - 1], "console: %u", &dropped), 1);
    assert_int_equal(dropped + shown, 1000);
    for (unsigned i = 0; i < 1000; i++)
        say(b, "0123456789");
    forget_lines(b);
    pull_all(b);
    assert_int_equal(sscanf(b->lines[0], "console: %u lines lost", &dropped), 1);
    assert_int_equal(dropped + b->nlines - 1, 1000);
    bench_free(b);
}

static void test_attached_guest_is_raw(void **state)
{
    struct bench *b = bench_new();

    (void)state;
    mixer_prompt(&b->mixer);
    type(b, "console web\r");
    pull_all(b);
    b->raw_n = 0;
    mixer_attach(&b->mixer);
    mixer_reply_end(&b->mixer);
    mixer_guest_raw(&b->mixer, "a\nb\r\n\x1b[1mlogin: ", 17);
    say(b, "not now");
    expect_raw(b, "a\r\nb\r\n\x1b[1mlogin: ");
    mixer_detach(&b->mixer);
    expect_raw(b, "\r\nnot now\r\n");
    mixer_prompt(&b->mixer);
    expect_raw(b, "numen> ");
    bench_free(b);
}

static void test_guest_output(void **state)
{
    static const char bytes[] = "plain\r\n\x1b[0;32mgreen\x1b[0m\tx\n\ncut\x1b[1\nnext\n";
    struct bench *b = bench_new();

    (void)state;
    for (size_t i = 0; i + 1 < sizeof(bytes); i++)
        guest_output_write(&b->guests, &b->mixer, 7, "web", bytes + i, 1);
    guest_output_write(&b->guests, &b->mixer, 8, "db", "begun", 5);
    expect_raw(b, "[web] plain\r\n[web] green x\r\n[web] \r\n[web] cut\r\n[web] next\r\n");
    guest_output_end(&b->guests, &b->mixer, 8);
    guest_output_end(&b->guests, &b->mixer, 8);
    expect_raw(b, "[db] begun\r\n");
    bench_free(b);
}

static void test_more_guests_than_slots(void **state)
{
    struct bench *b = bench_new();
    char name[16];

    (void)state;
    for (uint32_t vm = 0; vm < GUEST_OUTPUT_SLOTS + 2; vm++) {
        snprintf(name, sizeof(name), "vm%u", vm);
        guest_output_write(&b->guests, &b->mixer, vm, name, "begun", 5);
    }
    expect_raw(b, "[vm0] begun\r\n[vm1] begun\r\n");
    guest_output_write(&b->guests, &b->mixer, GUEST_OUTPUT_SLOTS, "vm32", "!\n", 2);
    expect_raw(b, "[vm32] begun!\r\n");
    bench_free(b);
}

static void test_overlong_reply_is_told(void **state)
{
    struct bench *b = bench_new();

    (void)state;
    type(b, "\r");
    for (unsigned i = 0; i < 5000; i++)
        reply(b, i % 50 ? "x" : "\n");
    mixer_reply_end(&b->mixer);
    pull_all(b);
    assert_memory_equal(b->lines[b->nlines - 1], "console: ", 9);
    mixer_prompt(&b->mixer);
    expect_row(b, "numen> ");
    bench_free(b);
}

static void test_panic_ends_everything(void **state)
{
    struct bench *b = bench_new();

    (void)state;
    type(b, "topology --json\r");
    reply(b, "{\"cpus\":");
    pull_all(b);
    b->raw_n = 0;
    mixer_panic(&b->mixer);
    log_append(&b->log, LOG_DEBUG, 0, "PANIC", 5);
    expect_raw(b, "\r\nPANIC\r\n");
    bench_free(b);
}

/* ---- everything at once ---- */

static char random_key(void)
{
    static const char keys[] = "abcdefgh \b\x7f\x15\x17\x1b[Ax";

    return rand() % 6 ? keys[rand() % 9] : keys[rand() % (sizeof(keys) - 1)];
}

struct counts {
    unsigned host, guest, replies;
};

static void random_event(struct bench *b, struct counts *c)
{
    char text[64];

    switch (rand() % 8) {
    case 0:
        snprintf(text, sizeof(text), "host %u %.*s.", c->host++, rand() % 40,
                 "----------------------------------------");
        say(b, text);
        break;
    case 1:
        snprintf(text, sizeof(text), "guest %u.\n", c->guest++);
        guest_output_write(&b->guests, &b->mixer, 3, "g", text, strlen(text));
        break;
    case 2:
        mixer_prompt(&b->mixer);
        break;
    case 3:
        if (!b->mixer.replying)
            break;
        reply(b, "piece,");
        if (rand() % 4)
            break;
        reply(b, "end}\n");
        mixer_reply_end(&b->mixer);
        break;
    case 4:
    case 5:
        if (!mixer_can_echo(&b->mixer))
            break;
        if (type_key(b, rand() % 12 ? random_key() : '\r')) {
            snprintf(text, sizeof(text), "{reply %u:", c->replies++);
            reply(b, text);
        }
        break;
    default:
        for (int i = rand() % 4; i > 0; i--)
            pull(b, (uint32_t)(rand() % 64));
    }
}

/* Each reply is one run of bytes from the start of a row to its end, and the prompt follows. */
static void check_replies(struct bench *b, unsigned replies)
{
    const char *at = b->raw;
    unsigned seen = 0;

    b->raw[b->raw_n] = 0;
    while ((at = strstr(at, "{reply ")) != NULL) {
        assert_int_equal(at[-1], '\n');
        assert_int_equal(strtoul(at + 7, NULL, 10), seen++);
        at = strchr(at, ':') + 1;
        while (!strncmp(at, "piece,", 6))
            at += 6;
        assert_memory_equal(at, "end}\r\nnumen> ", 13);
    }
    assert_int_equal(seen, replies);
}

static void check_lines(struct bench *b, const struct counts *c)
{
    unsigned host = 0, guest = 0, dropped = 0, n;

    for (size_t i = 0; i < b->nlines; i++) {
        const char *line = b->lines[i];

        if (!strncmp(line, "host ", 5)) {
            assert_int_equal(strtoul(line + 5, NULL, 10), host++);
            assert_int_equal(line[strlen(line) - 1], '.');
        } else if (sscanf(line, "[g] guest %u.", &n) == 1) {
            assert_int_equal(n, guest++ + dropped);
        } else if (sscanf(line, "console: %u lines of guests", &n) == 1) {
            dropped += n;
        } else if (sscanf(line, "console: %u lines lost", &n) == 1) {
            host += n;
        } else {
            assert_true(!strncmp(line, "{reply ", 7) || !strncmp(line, "numen> ", 7) ||
                        !strcmp(line, "numen>"));
        }
    }
    assert_int_equal(host, c->host);
    assert_int_equal(guest + dropped, c->guest);
}

static void test_random_order(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 200; seed++) {
        struct bench *b = bench_new();
        struct counts c = {0};
        char row[LINE_EDIT_MAX + 16];

        srand(seed);
        for (unsigned i = 0; i < 3000; i++)
            random_event(b, &c);
        pull_all(b);
        if (b->mixer.replying) {
            reply(b, "end}\n");
            mixer_reply_end(&b->mixer);
        }
        pull_all(b);
        mixer_prompt(&b->mixer);
        snprintf(row, sizeof(row), "numen> %s", b->edit.text);
        expect_row(b, row);
        assert_true(mixer_is_quiet(&b->mixer));
        check_replies(b, c.replies);
        check_lines(b, &c);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_line_overwrites_the_prompt),
        cmocka_unit_test(test_reply_is_not_cut),
        cmocka_unit_test(test_level),
        cmocka_unit_test(test_warnings_say_so),
        cmocka_unit_test(test_lost_lines_are_counted),
        cmocka_unit_test(test_attached_guest_is_raw),
        cmocka_unit_test(test_guest_output),
        cmocka_unit_test(test_more_guests_than_slots),
        cmocka_unit_test(test_overlong_reply_is_told),
        cmocka_unit_test(test_panic_ends_everything),
        cmocka_unit_test(test_random_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
