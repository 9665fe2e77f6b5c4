/*
 * The shell: takes a line apart, finds the command, drives its steps (see shell.h).
 *
 * One command runs at a time; the console hands over the next line when the reply is complete.
 * Between steps the command is a work item, or waits for room in the reply's ring.
 */
#include "kernel/shell.h"

#include <string.h>

#include "hv/bits.h"
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"

#define RUN_NS (100 * NS_PER_US)

static bool help_step(struct shell *sh);

static const struct shell_command own_commands[] = {
    {"help", "[COMMAND]", "list the commands, or explain one", help_step, false},
    {NULL, NULL, NULL, NULL, false},
};

static const struct shell_command *const tables[] = {
    own_commands,         shell_machine_commands, shell_memory_commands, shell_vm_commands,
    shell_pin_commands,   shell_sched_commands,   shell_stats_commands,  shell_top_commands,
    shell_trace_commands, shell_system_commands,  shell_cpu_commands,
};

static struct shell shell;
static const struct shell_command *running;

static bool work_fn(struct work *work);
static struct work shell_work = {.step = work_fn};
static struct timer sleep_timer; /* ends the sleep that a step asked for */

/* ---- output ---- */

static void flush(struct shell *sh)
{
    if (sh->staged)
        console_reply(sh->stage, sh->staged);
    sh->staged = 0;
}

void shell_put(struct shell *sh, const char *bytes, size_t n)
{
    while (n) {
        size_t part = MIN(n, sizeof(sh->stage) - sh->staged);

        memcpy(sh->stage + sh->staged, bytes, part);
        sh->staged += (uint32_t)part;
        bytes += part;
        n -= part;
        if (sh->staged == sizeof(sh->stage))
            flush(sh);
    }
}

void shell_printf(struct shell *sh, const char *fmt, ...)
{
    char text[320];
    va_list args;
    size_t n;

    va_start(args, fmt);
    n = (size_t)vformat_text(text, sizeof(text), fmt, args);
    va_end(args);
    shell_put(sh, text, MIN(n, sizeof(text) - 1));
}

static void json_put(void *ctx, const char *bytes, size_t n)
{
    shell_put(ctx, bytes, n);
}

const char *shell_format_bytes(char *to, size_t n, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    uint32_t unit = 0;
    uint64_t tenths;

    while (unit + 1 < ARRAY_SIZE(units) && bytes >> (10 * (unit + 1)))
        unit++;
    /* The bits below the unit: less than 2^50, times ten still fits. */
    tenths = ((bytes & (BIT(10 * unit) - 1)) * 10) >> (10 * unit);
    if (tenths)
        format_text(to, n, "%llu.%llu %s", (unsigned long long)(bytes >> (10 * unit)),
                    (unsigned long long)tenths, units[unit]);
    else
        format_text(to, n, "%llu %s", (unsigned long long)(bytes >> (10 * unit)), units[unit]);
    return to;
}

/* ---- input ---- */

/* Words parted by blanks; `--json` is a flag wherever it stands. False: too many words. */
static bool split(struct shell *sh, char *line)
{
    while (*line) {
        char *word = line;

        if (*line == ' ') {
            *line++ = 0;
            continue;
        }
        while (*line && *line != ' ')
            line++;
        if (*line)
            *line++ = 0;
        if (!strcmp(word, "--json"))
            sh->as_json = true;
        else if (sh->argc == SHELL_ARGS_MAX)
            return false;
        else
            sh->argv[sh->argc++] = word;
    }
    return true;
}

static const struct shell_command *find(const char *name)
{
    for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
        for (const struct shell_command *c = tables[t]; c->name; c++)
            if (!strcmp(c->name, name))
                return c;
    return NULL;
}

/* Words that a command takes: its usage has as many. */
static uint32_t words_taken(const struct shell_command *c)
{
    uint32_t n = *c->args ? 1 : 0;

    for (const char *p = c->args; *p; p++)
        n += *p == ' ';
    return n;
}

/* ---- running ---- */

static void sleep_over(struct timer *timer, ns_t now)
{
    (void)timer;
    (void)now;
    work_queue(cpu_this(), &shell_work);
}

static void sleep_until(ns_t deadline)
{
    timer_init(&sleep_timer, sleep_over);
    timer_arm(&sleep_timer, deadline);
}

/*
 * A run of steps. True: the reply is complete, or goes on by itself when there is room or when the
 * sleep is over; false: it is to go on as work.
 */
static bool run_steps(struct shell *sh)
{
    ns_t start = arch_now();

    for (;;) {
        if (console_reply_room() < SHELL_STEP_BYTES) {
            console_reply_wait(SHELL_STEP_BYTES);
            return true;
        }
        if (running->step(sh))
            break;
        sh->step++;
        flush(sh);
        if (console_cancelled()) {
            shell_printf(sh, "\n");
            break;
        }
        if (sh->sleep_until > arch_now()) {
            sleep_until(sh->sleep_until);
            return true;
        }
        if (arch_now() - start >= RUN_NS)
            return false;
    }
    flush(sh);
    running = NULL;
    console_reply_end();
    return true;
}

static bool work_fn(struct work *work)
{
    (void)work;
    return run_steps(&shell);
}

void shell_resume(void)
{
    if (running)
        work_queue(cpu_this(), &shell_work);
}

void shell_execute(const char *line)
{
    struct shell *sh = &shell;

    *sh = (struct shell){0};
    json_init(&sh->json, json_put, sh);
    memcpy(sh->line, line, strnlen(line, LINE_EDIT_MAX));
    if (!split(sh, sh->line))
        shell_printf(sh, "more than %u words\n", SHELL_ARGS_MAX);
    else if (sh->argc)
        running = find(sh->argv[0]);
    if (running && sh->as_json && !running->has_json) {
        shell_printf(sh, "%s has no --json\n", running->name);
        running = NULL;
    } else if (running && sh->argc > 1 + words_taken(running)) {
        shell_printf(sh, "%s takes no `%s`: `help %s` says what it takes\n", running->name,
                     sh->argv[1 + words_taken(running)], running->name);
        running = NULL;
    } else if (!running && sh->argc && !sh->staged) {
        shell_printf(sh, "no command `%s`; `help` lists them\n", sh->argv[0]);
    }
    flush(sh);
    if (!running)
        console_reply_end();
    else if (!run_steps(sh))
        work_queue(cpu_this(), &shell_work);
}

/* ---- help ---- */

static void help_line(struct shell *sh, const struct shell_command *c)
{
    char usage[48];

    format_text(usage, sizeof(usage), "%s %s%s%s", c->name, c->args, *c->args ? " " : "",
                c->has_json ? "[--json]" : "");
    shell_printf(sh, "  %-34s %s\n", usage, c->help);
}

static bool help_step(struct shell *sh)
{
    const struct shell_command *one = sh->argc > 1 ? find(sh->argv[1]) : NULL;

    if (one) {
        help_line(sh, one);
        return true;
    }
    if (sh->argc > 1) {
        shell_printf(sh, "no command `%s`\n", sh->argv[1]);
        return true;
    }
    for (const struct shell_command *c = tables[sh->index]; c->name; c++)
        help_line(sh, c);
    return ++sh->index == ARRAY_SIZE(tables);
}
