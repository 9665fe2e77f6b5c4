/*
 * The command trace: on, off, dump [N].
 *
 * `dump` switches the trace off first, since rings are read while nobody writes them, and leaves it
 * off. JSON: an array of {"ns","cpu","event","args":{..}}, the event's two arguments by name; a
 * unit is VM id * 2^32 + index there, and "VM/INDEX" in the text form.
 */
#include <string.h>

#include "boot/token.h"
#include "hv/bits.h"
#include "kernel/cpu.h"
#include "kernel/shell.h"
#include "kernel/trace.h"

#define EVENTS_PER_STEP 16u
#define RINGS_PER_STEP  4u /* 64 KiB each to clear */

#define UNIT_VM         BITS(63, 32)
#define UNIT_INDEX      BITS(31, 0)

enum dump_phase { DUMP_BEGIN, DUMP_SHOW };

/* ---- on, off ---- */

static bool trace_on_step(struct shell *sh)
{
    for (uint32_t i = 0; i < RINGS_PER_STEP && sh->index < cpu_count; i++) {
        if (trace_make_ring(sh->index++)) {
            shell_printf(sh, "trace: no memory for the rings\n");
            return true;
        }
    }
    if (sh->index < cpu_count)
        return false;
    atomic_set(&trace_is_on, true);
    return true;
}

static bool trace_show_state(struct shell *sh)
{
    if (sh->as_json) {
        json_begin_object(&sh->json, NULL);
        json_bool(&sh->json, "on", trace_is_on);
        json_u64(&sh->json, "events", trace_count());
        json_end_object(&sh->json);
        shell_put(sh, "\n", 1);
        return true;
    }
    shell_printf(sh, "trace is %s, %llu events held\n", trace_is_on ? "on" : "off",
                 (unsigned long long)trace_count());
    return true;
}

/* ---- dump ---- */

static bool is_unit(const char *arg)
{
    return !strcmp(arg, "unit") || !strcmp(arg, "from") || !strcmp(arg, "to");
}

static void show_arg(struct shell *sh, const char *name, uint64_t value)
{
    if (!is_unit(name))
        shell_printf(sh, "  %s %llu", name, (unsigned long long)value);
    else if (value == TRACE_NO_UNIT)
        shell_printf(sh, "  %s idle", name);
    else
        shell_printf(sh, "  %s %llu/%llu", name, (unsigned long long)FIELD_GET(UNIT_VM, value),
                     (unsigned long long)FIELD_GET(UNIT_INDEX, value));
}

static void show_event(struct shell *sh, const struct trace_record *r)
{
    struct json *j = &sh->json;

    if (sh->as_json) {
        json_begin_object(j, NULL);
        json_u64(j, "ns", r->time);
        json_u64(j, "cpu", r->cpu);
        json_string(j, "event", trace_event_name(r->event));
        json_begin_object(j, "args");
        json_u64(j, trace_arg_name(r->event, 0), r->a);
        json_u64(j, trace_arg_name(r->event, 1), r->b);
        json_end_object(j);
        json_end_object(j);
        return;
    }
    shell_printf(sh, "%6llu.%09llu cpu %-4u %-16s", (unsigned long long)(r->time / NS_PER_SEC),
                 (unsigned long long)(r->time % NS_PER_SEC), r->cpu, trace_event_name(r->event));
    show_arg(sh, trace_arg_name(r->event, 0), r->a);
    show_arg(sh, trace_arg_name(r->event, 1), r->b);
    shell_put(sh, "\n", 1);
}

static bool dump_begin(struct shell *sh)
{
    uint64_t held, wanted = UINT64_MAX;

    if (sh->argc > 2 && token_number(sh->argv[2], &wanted)) {
        shell_printf(sh, "trace dump: `%s` is not a number\n", sh->argv[2]);
        return true;
    }
    atomic_set(&trace_is_on, false);
    trace_rewind();
    held = trace_count();
    sh->state.number = held - MIN(held, wanted); /* events to leave out */
    if (sh->as_json)
        json_begin_array(&sh->json, NULL);
    sh->phase = DUMP_SHOW;
    return false;
}

static bool dump_end(struct shell *sh)
{
    if (sh->as_json) {
        json_end_array(&sh->json);
        shell_put(sh, "\n", 1);
    }
    return true;
}

static bool trace_dump_step(struct shell *sh)
{
    struct trace_record record;

    if (sh->phase == DUMP_BEGIN)
        return dump_begin(sh);
    for (uint32_t i = 0; i < EVENTS_PER_STEP; i++) {
        if (!trace_next(&record))
            return dump_end(sh);
        if (sh->state.number)
            sh->state.number--;
        else
            show_event(sh, &record);
    }
    return false;
}

static bool trace_step(struct shell *sh)
{
    const char *word = sh->argc > 1 ? sh->argv[1] : "";

    if (!*word)
        return trace_show_state(sh);
    if (!strcmp(word, "dump"))
        return trace_dump_step(sh);
    if (!strcmp(word, "on"))
        return trace_on_step(sh);
    if (!strcmp(word, "off"))
        atomic_set(&trace_is_on, false);
    else
        shell_printf(sh, "trace: `%s` is none of on, off, dump\n", word);
    return true;
}

const struct shell_command shell_trace_commands[] = {
    {"trace", "[on|off|dump [N]]", "record scheduling events; show the last N", trace_step, true},
    {NULL, NULL, NULL, NULL, false},
};
