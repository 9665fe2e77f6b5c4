/*
 * Commands about Numen itself: log, param, crash, reboot, poweroff.
 */
#include <errno.h>
#include <string.h>

#include "boot/cmdline.h"
#include "boot/token.h"
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/machine.h"
#include "kernel/printk.h"
#include "kernel/schedule.h"
#include "kernel/shell.h"

#define LINES_PER_STEP 16u
#define TAKES_CHARS    96u

/* ---- log ---- */

static const char *const level_names[] = {"error", "warning", "info", "debug"};

static void log_json_line(struct json *j, const struct log_line *line)
{
    json_begin_object(j, NULL);
    json_u64(j, "ns", line->time);
    json_string(j, "level", level_names[line->level]);
    json_string(j, "text", line->text);
    json_end_object(j);
}

static void log_text_line(struct shell *sh, const struct log_line *line)
{
    uint64_t us = line->time / NS_PER_US;

    if (line->missed)
        shell_printf(sh, "... %llu lines overwritten\n", (unsigned long long)line->missed);
    shell_printf(sh, "[%5llu.%06llu] %c %s\n", (unsigned long long)(us / 1000000),
                 (unsigned long long)(us % 1000000), level_names[line->level][0] & ~0x20,
                 line->text);
}

static bool log_step(struct shell *sh)
{
    struct log_line line;

    if (!sh->step) {
        sh->state.cursor = console_log_oldest();
        if (sh->as_json)
            json_begin_array(&sh->json, NULL);
    }
    for (uint32_t i = 0; i < LINES_PER_STEP; i++) {
        if (!console_log_read(&sh->state.cursor, &line)) {
            if (sh->as_json) {
                json_end_array(&sh->json);
                shell_put(sh, "\n", 1);
            }
            return true;
        }
        if (sh->as_json)
            log_json_line(&sh->json, &line);
        else
            log_text_line(sh, &line);
    }
    return false;
}

/* ---- param ---- */

/* What a new value means to those who keep a copy. */
static int param_apply(enum option_id id)
{
    if (id == OPTION_loglvl)
        console_set_level(machine.options.loglvl.word);
    else if (id !=
             OPTION_panic) /* which is read when it is needed; the others are the scheduler's */
        return schedule_params_changed();
    return 0;
}

static void param_show(struct shell *sh, enum option_id id, bool explain)
{
    const struct option_desc *d = &option_table[id];
    char value[OPTION_TEXT_CHARS], takes[TAKES_CHARS];

    option_format(&machine.options, id, value, sizeof(value));
    if (sh->as_json) {
        json_string(&sh->json, d->name, value);
        return;
    }
    if (d->when == OPTION_WHEN_RUNTIME)
        shell_printf(sh, "%-32s %-12s settable\n", d->name, value);
    else
        shell_printf(sh, "%-32s %s\n", d->name, value);
    if (!explain)
        return;
    option_takes(id, takes, sizeof(takes));
    shell_printf(sh, "  %s\n  Takes %s.\n", d->help, takes);
}

static void param_set(struct shell *sh, enum option_id id, const char *value)
{
    static struct options before; /* CPU 0 only */
    const struct option_desc *d = &option_table[id];
    char takes[TAKES_CHARS];

    before = machine.options;

    if (d->when != OPTION_WHEN_RUNTIME) {
        shell_printf(sh, "%s is set on the command line only\n", d->name);
    } else if (option_set(&machine.options, id, value)) {
        option_takes(id, takes, sizeof(takes));
        shell_printf(sh, "%s takes %s, not `%s`\n", d->name, takes, value);
    } else if (param_apply(id) < 0) {
        machine.options = before;
        shell_printf(sh, "%s stays as it was: a CPU did not answer\n", d->name);
    } else {
        param_show(sh, id, false);
    }
}

static void param_list(struct shell *sh)
{
    if (sh->as_json)
        json_begin_object(&sh->json, NULL);
    for (uint32_t id = 0; id < OPTION_COUNT; id++)
        param_show(sh, id, false);
    if (sh->as_json) {
        json_end_object(&sh->json);
        shell_put(sh, "\n", 1);
    }
}

/* `param`, `param NAME`, `param NAME VALUE` or `param NAME=VALUE`. */
static bool param_step(struct shell *sh)
{
    char *value = sh->argc > 2 ? sh->argv[2] : NULL;
    char *equals = sh->argc > 1 ? strchr(sh->argv[1], '=') : NULL;
    enum option_id id;

    if (sh->argc == 1 || sh->as_json) {
        param_list(sh);
        return true;
    }
    if (equals) {
        *equals = 0;
        value = equals + 1;
    }
    id = option_find(sh->argv[1]);
    if (id == OPTION_COUNT)
        shell_printf(sh, "no parameter `%s`\n", sh->argv[1]);
    else if (value)
        param_set(sh, id, value);
    else
        param_show(sh, id, true);
    return true;
}

/* ---- the end ---- */

static bool crash_step(struct shell *sh)
{
    (void)sh;
    panic("crash: asked for on the console");
}

static bool reboot_step(struct shell *sh)
{
    (void)sh;
    arch_reboot();
}

static bool poweroff_step(struct shell *sh)
{
    uint64_t code = 0;

    if (sh->argc > 1 && (token_number(sh->argv[1], &code) || code > UINT8_MAX)) {
        shell_printf(sh, "poweroff: `%s` is not a number from 0 to 255\n", sh->argv[1]);
        return true;
    }
    arch_poweroff((uint8_t)code);
}

const struct shell_command shell_system_commands[] = {
    {"log", "", "what Numen has said, with times and levels", log_step, true},
    {"param", "[NAME [VALUE]]", "show the parameters, or set one", param_step, true},
    {"crash", "", "panic, to see what that looks like", crash_step, false},
    {"reboot", "", "restart the machine", reboot_step, false},
    {"poweroff", "[CODE]", "switch it off; QEMU's test device gets CODE", poweroff_step, false},
    {NULL, NULL, NULL, NULL, false},
};
