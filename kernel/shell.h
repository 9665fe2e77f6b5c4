/*
 * The shell: commands typed at the prompt.
 *
 * A command is a row of a table; each group of commands has a file and a table of its own. Its
 * function is a step, called again and again until it returns true, so that a long listing neither
 * holds the CPU nor overflows the reply's ring: a step writes at most SHELL_STEP_BYTES and takes
 * about 100 us at most. All of it runs on CPU 0, from the hazard loop.
 */
#ifndef KERNEL_SHELL_H
#define KERNEL_SHELL_H

#include "kernel/json.h"
#include "kernel/line_edit.h"
#include "kernel/log.h"

struct vm;

#define SHELL_ARGS_MAX   16u
#define SHELL_STEP_BYTES (24 * KIB)
#define SHELL_STAGE      512u

/*
 * The command that runs. Fields are the command's own but those marked [i], which the shell sets.
 */
struct shell {
    uint32_t argc;                  /* [i] words, the command's name first, `--json` left out */
    char *argv[SHELL_ARGS_MAX + 1]; /* [i] NULL behind the last */
    bool as_json;                   /* [i] */
    uint32_t step;                  /* [i] calls made before this one */
    ns_t sleep_until;               /* set by a step: no next step before that time */
    uint32_t phase;                 /* 0 at first */
    uint32_t index;                 /* 0 at first */
    struct json json;               /* [i] writes to the reply */
    union {
        struct log_cursor cursor;
        uint64_t number;
    } state;
    uint32_t staged;
    char stage[SHELL_STAGE];
    char line[LINE_EDIT_MAX + 1]; /* what argv points into */
};

struct shell_command {
    const char *name;
    const char *args;               /* for help: "[NAME]", "" */
    const char *help;               /* one line */
    bool (*step)(struct shell *sh); /* true: the reply is complete */
    bool has_json;
};

/* The tables, each ending in a row without a name. */
extern const struct shell_command shell_machine_commands[]; /* shell_machine.c */
extern const struct shell_command shell_memory_commands[];  /* shell_memory.c */
extern const struct shell_command shell_vm_commands[];      /* shell_vm.c */
extern const struct shell_command shell_pin_commands[];     /* shell_pin.c */
extern const struct shell_command shell_sched_commands[];   /* shell_sched.c */
extern const struct shell_command shell_stats_commands[];   /* shell_stats.c */
extern const struct shell_command shell_top_commands[];     /* shell_top.c */
extern const struct shell_command shell_trace_commands[];   /* shell_trace.c */
extern const struct shell_command shell_cpu_commands[];     /* shell_cpu.c */
extern const struct shell_command shell_system_commands[];  /* shell_system.c */

void shell_printf(struct shell *sh, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void shell_put(struct shell *sh, const char *bytes, size_t n);

/* The VM that the command's first argument names, or NULL when a line has said what is wrong. */
struct vm *shell_vm_named(struct shell *sh);

/* "3.5 GiB", "640 KiB": the largest unit in which it is at least 1, one decimal if it needs one. */
const char *shell_format_bytes(char *to, size_t n, uint64_t bytes);

/* ---- for the console ---- */

/* Run the command in `line`; the reply ends now or, for a long one, later. */
void shell_execute(const char *line);

/* There is room for more of a reply that waited for it. */
void shell_resume(void);

#endif
