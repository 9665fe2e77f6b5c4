/*
 * Reading a scenario: what its lines mean, by tables.
 *
 * All lines are collected first (scenario_lines.c) and looked at afterwards, in the order section
 * by section, since workload= decides which keys a [vm] has. --set adds lines behind those of the
 * file. The first thing that is wrong ends the reading, with file and line.
 */
#include "tools/numen-sim/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "boot/cmdline.h"
#include "boot/guest_line.h"
#include "hv/bits.h"
#include "tools/numen-sim/memory.h"
#include "tools/numen-sim/scenario_keys.h"
#include "tools/numen-sim/scenario_lines.h"
#include "tools/numen-sim/workload.h"

#define ACTIONS                                                                   \
    "offline=CPU, online=CPU, weight.VM=NUMBER, cap.VM=PERCENT, pin.VM=CPUS and " \
    "option.NAME=VALUE"

/* ---- sections ---- */

static bool set_key(struct reader *r, const struct line *l, const struct key *keys, void *object)
{
    const struct key *key = keys_find(keys, l->name);
    char takes[1024];

    if (!key) {
        keys_names(keys, takes, sizeof(takes));
        return wrong(r, l->number, "[%s] has no key %s; there are %s", l->section, l->name, takes);
    }
    if (key_set(key, object, l->value) == 0)
        return true;
    key_describe(key, takes, sizeof(takes));
    return wrong(r, l->number, "%s=%s: %s takes %s%s", l->name, l->value, l->name, takes,
                 strstr(l->value, " #") ? "; a comment has a line of its own" : "");
}

static bool read_table_section(struct reader *r, const char *section, const struct key *keys,
                               void *object)
{
    keys_default(keys, object);
    for (uint32_t i = 0; i < r->count; i++) {
        struct line *l = &r->lines[i];

        if (strcmp(l->section, section) != 0)
            continue;
        l->used = true;
        if (!l->header && !set_key(r, l, keys, object))
            return false;
    }
    return true;
}

/* Most likely meant, where a key of another section is given as an option. */
static const char *section_of_key(const char *name)
{
    if (keys_find(machine_keys, name))
        return "machine";
    return keys_find(run_keys, name) ? "run" : NULL;
}

static bool wrong_option(const struct reader *r, const struct line *l, bool unknown)
{
    const char *section = section_of_key(l->name);
    const char *what = unknown ? "is unknown; docs/parameters.md lists them"
                               : "changes nothing here; numa and those of the scheduler do";

    if (!section)
        return wrong(r, l->number, "option %s %s", l->name, what);
    return wrong(r, l->number, "option %s %s; [%s] has a key %s: --set %s.%s=", l->name, what,
                 section, l->name, section, l->name);
}

static bool read_options(struct reader *r)
{
    struct options *o = &r->scenario->options;
    char takes[256];

    options_default(o);
    for (uint32_t i = 0; i < r->count; i++) {
        struct line *l = &r->lines[i];
        enum option_id id = option_find(l->name);

        if (strcmp(l->section, "options") != 0)
            continue;
        l->used = true;
        if (l->header)
            continue;
        if (id == OPTION_COUNT || !option_is_simulated(id))
            return wrong_option(r, l, id == OPTION_COUNT);
        if (option_set(o, id, l->value)) {
            option_takes(id, takes, sizeof(takes));
            return wrong(r, l->number, "%s=%s: %s takes %s", l->name, l->value, l->name, takes);
        }
    }
    return true;
}

/* ---- VMs ---- */

static struct scenario_vm *vm_of(struct reader *r, const struct line *l)
{
    struct scenario *s = r->scenario;
    const char *name = l->section + 3;

    for (uint32_t i = 0; i < s->nvms; i++)
        if (strcmp(s->vms[i].name, name) == 0)
            return &s->vms[i];
    if (s->nvms == SCENARIO_VMS_MAX || strlen(name) >= GUEST_NAME_CHARS || !*name)
        return NULL;
    strcpy(s->vms[s->nvms].name, name);
    s->vms[s->nvms].line = l->number;
    return &s->vms[s->nvms++];
}

static bool wrong_workload(const struct reader *r, int line, const char *what)
{
    char names[256] = "";

    for (const struct workload *const *w = workloads; *w; w++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), " %s", (*w)->name);
    return wrong(r, line, "%s; there are%s", what, names);
}

/* A VM that is not in the file and got no workload by --set: a name misspelt, most likely. */
static bool wrong_vm(const struct reader *r, const struct scenario_vm *vm)
{
    const struct scenario *s = r->scenario;
    char text[512];

    if (vm->line != LINE_SET) {
        snprintf(text, sizeof(text), "[vm %s] has no workload=", vm->name);
        return wrong_workload(r, vm->line, text);
    }
    text[0] = 0;
    for (uint32_t i = 0; i < s->nvms && strlen(text) < sizeof(text) / 2; i++)
        if (s->vms[i].line != LINE_SET)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s", s->vms[i].name);
    return wrong(r, LINE_SET,
                 "there is no [vm %s]; there are%s; a new one needs vm.%s.workload=", vm->name,
                 text, vm->name);
}

static bool find_workloads(struct reader *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct line *l = &r->lines[i];
        struct scenario_vm *vm;

        if (strncmp(l->section, "vm ", 3) != 0)
            continue;
        vm = vm_of(r, l);
        if (!vm)
            return wrong(r, l->number, "[%s]: a name of 1 to %u characters; at most %u VMs",
                         l->section, GUEST_NAME_CHARS - 1, SCENARIO_VMS_MAX);
        if (strcmp(l->name, "workload") != 0)
            continue;
        l->used = true;
        vm->workload = workload_find(l->value);
        if (!vm->workload) {
            char what[sizeof(l->value) + 32];

            snprintf(what, sizeof(what), "workload=%s: unknown", l->value);
            return wrong_workload(r, l->number, what);
        }
    }
    return true;
}

/* Of several lines with one key the last counts; the guest line's parser gets that one. */
static bool is_last(const struct reader *r, const struct line *l)
{
    for (const struct line *other = l + 1; other < &r->lines[r->count]; other++)
        if (strcmp(other->section, l->section) == 0 && strcmp(other->name, l->name) == 0)
            return false;
    return true;
}

/* `idle`: a word of a guest's line that would go unnoticed. */
static bool wrong_vm_key(const struct reader *r, const struct line *l, const struct workload *w,
                         bool idle)
{
    char own[512], common[160];

    keys_names(w->keys, own, sizeof(own));
    keys_names(vm_keys, common, sizeof(common));
    return wrong(r, l->number, "[%s] %s %s%s; there are workload %s %s, and of workload %s:%s %s",
                 l->section, idle ? "key" : "has no key", l->name,
                 idle ? " changes nothing here" : "", common, guest_keys_used, w->name,
                 w->sees_l3 ? " l3-cache" : "", own);
}

/* What neither the simulator nor the workload knows is a word of a guest's line. */
static bool read_vm_line(struct reader *r, struct scenario_vm *vm, struct line *l, char *guest,
                         size_t bytes)
{
    const struct workload *w = vm->workload;

    l->used = true;
    if (l->header || strcmp(l->name, "workload") == 0)
        return true;
    if (keys_find(vm_keys, l->name))
        return set_key(r, l, vm_keys, vm);
    if (keys_find(w->keys, l->name))
        return set_key(r, l, w->keys, vm->params);
    if (!guest_key_is_used(l->name, w))
        return wrong_vm_key(r, l, w, guest_key_is_idle(l->name));
    if (is_last(r, l))
        snprintf(guest + strlen(guest), bytes - strlen(guest), " %s=%s", l->name, l->value);
    return true;
}

static bool read_vm(struct reader *r, struct scenario_vm *vm)
{
    static struct fw_warnings warnings;
    struct guest_line_error error;
    char guest[1024], section[sizeof(r->lines->section)];

    if (!vm->workload)
        return wrong_vm(r, vm);
    vm->params = sim_alloc(1, vm->workload->params_bytes);
    keys_default(vm_keys, vm);
    keys_default(vm->workload->keys, vm->params);
    snprintf(guest, sizeof(guest), "- name=%s", vm->name);
    snprintf(section, sizeof(section), "vm %s", vm->name);
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->lines[i].section, section) == 0 &&
            !read_vm_line(r, vm, &r->lines[i], guest, sizeof(guest)))
            return false;
    warnings.count = 0;
    if (guest_line_parse(guest, &vm->guest, &error, &warnings))
        return wrong(r, line_of_word(r, section, guest + error.offset), "[%s]: %s", section,
                     error.text);
    if (warnings.count)
        return wrong(r, vm->line, "[vm %s]: %s", vm->name, warnings.text[0]);
    return true;
}

static bool read_vms(struct reader *r)
{
    struct scenario *s = r->scenario;

    if (!find_workloads(r))
        return false;
    for (uint32_t i = 0; i < s->nvms; i++)
        if (!read_vm(r, &s->vms[i]))
            return false;
    return s->nvms ? true : wrong(r, r->at, "there is no [vm NAME]; a scenario has at least one");
}

/* ---- things done while it runs ---- */

static bool read_action(struct reader *r, const struct line *l)
{
    struct scenario *s = r->scenario;
    struct scenario_action *a = &s->actions[s->nactions];

    if (s->nactions == SCENARIO_ACTIONS)
        return wrong(r, l->number, "more than %u actions", SCENARIO_ACTIONS);
    if (!action_parse(a, l->section + 3, l->name, l->value))
        return wrong(r, l->number, "[%s] %s=%s: there are " ACTIONS ", at a time such as 500ms",
                     l->section, l->name, l->value);
    a->line = l->number;
    s->nactions++;
    return true;
}

static bool read_actions(struct reader *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct line *l = &r->lines[i];

        if (strncmp(l->section, "at ", 3) != 0)
            continue;
        l->used = true;
        if (!l->header && !read_action(r, l))
            return false;
    }
    return true;
}

/* What those who judge results read: tools/seeds, tools/mutate.py. */
static bool is_of_judges(const char *section)
{
    static const char *const kinds[] = {"arm ", "row ", "variant ", "ablation "};

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strncmp(section, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return strcmp(section, "acceptance") == 0 || strcmp(section, "expect") == 0;
}

static bool all_used(const struct reader *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct line *l = &r->lines[i];

        if (!l->used && !is_of_judges(l->section))
            return wrong(r, l->number,
                         "section [%s] is unknown; there are run, machine, options, vm NAME, at "
                         "TIME, and for tools/seeds acceptance, arm, row, variant, ablation, for "
                         "tools/mutate.py expect",
                         l->section);
    }
    return true;
}

static bool read_all(struct reader *r, const char *const settings[], uint32_t nsettings)
{
    struct scenario *s = r->scenario;
    if (!collect_file(r))
        return false;
    for (uint32_t i = 0; i < nsettings; i++)
        if (!collect_setting(r, settings[i]))
            return false;
    return read_table_section(r, "run", run_keys, &s->run) &&
           read_table_section(r, "machine", machine_keys, &s->machine) && read_options(r) &&
           read_vms(r) && read_actions(r) && all_used(r) && scenario_fits(r);
}

struct scenario *scenario_read(const char *path, const char *const settings[], uint32_t nsettings)
{
    struct reader r = {.path = path, .file = strcmp(path, "-") ? fopen(path, "r") : stdin};
    bool good;

    if (!r.file) {
        fprintf(stderr, "numen-sim: %s: ", path);
        perror("");
        return NULL;
    }
    r.lines = sim_alloc(LINES_MAX, sizeof(*r.lines));
    r.scenario = sim_alloc(1, sizeof(*r.scenario));
    r.scenario->path = path;
    good = read_all(&r, settings, nsettings);
    free(r.lines);
    if (r.file != stdin)
        fclose(r.file);
    if (good)
        return r.scenario;
    scenario_free(r.scenario);
    return NULL;
}

void scenario_free(struct scenario *scenario)
{
    for (uint32_t i = 0; i < scenario->nvms; i++)
        free(scenario->vms[i].params);
    free(scenario);
}

uint32_t scenario_total_vms(const struct scenario *scenario)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < scenario->nvms; i++)
        n += (uint32_t)scenario->vms[i].count;
    return n;
}

uint32_t scenario_total_vcpus(const struct scenario *scenario)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < scenario->nvms; i++)
        n += (uint32_t)scenario->vms[i].count * scenario->vms[i].guest.vcpus;
    return n;
}

void scenario_help(FILE *out)
{
    fprintf(out, "[run]\n");
    keys_print(run_keys, out);
    fprintf(out, "[machine]\n");
    keys_print(machine_keys, out);
    fprintf(out,
            "[options]\n  numa and the scheduler's of docs/parameters.md\n"
            "[at TIME]\n  " ACTIONS "\n"
            "[vm NAME]\n  %s: as in a guest's line, docs/parameters.md\n"
            "  l3-cache       the same, for workloads pipe and messaging\n"
            "  workload       what its vCPUs do\n",
            guest_keys_used);
    keys_print(vm_keys, out);
    for (const struct workload *const *w = workloads; *w; w++) {
        fprintf(out, "workload=%s: %s\n", (*w)->name, (*w)->help);
        keys_print((*w)->keys, out);
    }
}
