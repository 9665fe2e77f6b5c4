/*
 * Reading a scenario: libinih takes the file apart, tables say what each key means.
 *
 * All lines are collected first and looked at afterwards, in the order section by section, since
 * workload= decides which keys a [vm] has. --set adds lines behind those of the file. The first
 * thing that is wrong ends the reading, with file and line.
 */
#include "tools/numen-sim/scenario.h"

#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "boot/cmdline.h"
#include "boot/guest_line.h"
#include "hv/bits.h"
#include "tools/numen-sim/memory.h"
#include "tools/numen-sim/scenario_keys.h"
#include "tools/numen-sim/workload.h"

#define LINES_MAX 2048u

struct line {
    char section[64], name[64], value[512];
    int number;  /* 0: from --set */
    bool header; /* of its section, not a setting */
    bool used;
};

struct reader {
    const char *path;
    FILE *file;
    int at;         /* line being read */
    bool continues; /* it is indented: more of the value before */
    bool refused;   /* that line or one before, and said so */
    struct line *lines;
    uint32_t count;
    struct scenario *scenario;
};

__attribute__((format(printf, 3, 4))) static bool wrong(const struct reader *r, int line,
                                                        const char *format, ...)
{
    va_list args;

    if (line)
        fprintf(stderr, "numen-sim: %s:%d: ", r->path, line);
    else
        fprintf(stderr, "numen-sim: --set: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return false;
}

/* ---- collecting lines ---- */

static bool collect(struct reader *r, const char *section, const char *name, const char *value,
                    int number)
{
    struct line *l = &r->lines[r->count];

    if (r->count == LINES_MAX)
        return wrong(r, number, "more than %u settings", LINES_MAX);
    if (strlen(section) >= sizeof(l->section) || strlen(name) >= sizeof(l->name) ||
        strlen(value) >= sizeof(l->value))
        return wrong(r, number, "too long");
    strcpy(l->section, section);
    strcpy(l->name, name);
    strcpy(l->value, value);
    l->number = number;
    r->count++;
    return true;
}

/* libinih gives an indented line under the name of the one before. */
static bool append(struct reader *r, const char *value)
{
    struct line *l = &r->lines[r->count - 1];
    size_t length = strlen(l->value);

    if (length + strlen(value) >= sizeof(l->value))
        return wrong(r, r->at, "too long");
    strcpy(l->value + length, value);
    return true;
}

/* In a file: of two settings of one thing, or two sections, one would go unnoticed. */
static bool collect_once(struct reader *r, const char *section, const char *name, const char *value)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct line *l = &r->lines[i];

        if (strcmp(l->section, section) == 0 && strcmp(l->name, name) == 0)
            return wrong(r, r->at, "[%s]%s%s stands here and in line %d; once is accepted", section,
                         *name ? " " : "", name, l->number);
    }
    return collect(r, section, name, value, r->at);
}

/* libinih tells of settings only, and an empty section is to be seen as well. */
static bool collect_header(struct reader *r, const char *text)
{
    size_t length = strcspn(text + 1, "]");
    char section[sizeof(r->lines->section)];

    if (length >= sizeof(section))
        return wrong(r, r->at, "too long");
    memcpy(section, text + 1, length);
    section[length] = 0;
    if (!collect_once(r, section, "", ""))
        return false;
    r->lines[r->count - 1].header = true;
    return true;
}

/* A line that does not fit would come in two parts, the second of which means something else. */
static char *next_line(char *text, int bytes, void *stream)
{
    struct reader *r = stream;

    if (r->refused || !fgets(text, bytes, r->file))
        return NULL;
    r->at++;
    r->continues = *text == ' ' || *text == '\t';
    if (!strchr(text, '\n') && !feof(r->file))
        r->refused = !wrong(r, r->at, "longer than %d characters, or not a text", bytes - 2);
    else if (*text == '[')
        r->refused = !collect_header(r, text);
    return text;
}

static int on_line(void *user, const char *section, const char *name, const char *value)
{
    struct reader *r = user;

    if (r->refused)
        return false;
    if (r->continues && r->count && strcmp(r->lines[r->count - 1].name, name) == 0)
        r->refused = !append(r, value);
    else
        r->refused = !collect_once(r, section, name, value);
    return !r->refused;
}

/* "at 0.5s.weight.web": the time ends at the first point before a letter. */
static char *point_of_action(char *text)
{
    for (char *point = strchr(text, '.'); point; point = strchr(point + 1, '.'))
        if (point[1] >= 'a' && point[1] <= 'z')
            return point;
    return NULL;
}

/* "vm.web.vcpus=4", "machine.sockets=2"; without a point, an option of the command line. */
static bool collect_setting(struct reader *r, const char *setting)
{
    char text[700], section[72] = "options";
    char *value, *name, *point;

    if (strlen(setting) >= sizeof(text))
        return wrong(r, 0, "too long");
    strcpy(text, setting);
    value = strchr(text, '=');
    if (!value)
        return wrong(r, 0, "%s: expected section.key=value", setting);
    *value++ = 0;
    name = text;
    point = strncmp(text, "at ", 3) == 0 ? point_of_action(text) : strrchr(text, '.');
    if (point) {
        bool vm = strncmp(text, "vm.", 3) == 0 && point > text + 2;

        *point = 0;
        name = point + 1;
        if (strlen(text) >= sizeof(((struct line *)0)->section))
            return wrong(r, 0, "%s: too long", setting);
        snprintf(section, sizeof(section), "%s%.63s", vm ? "vm " : "", vm ? text + 3 : text);
    }
    return collect(r, section, name, value, 0);
}

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
    return wrong(r, l->number, "%s=%s: %s takes %s", l->name, l->value, l->name, takes);
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
        if (id == OPTION_COUNT)
            return wrong(r, l->number, "option %s is unknown; docs/parameters.md lists them",
                         l->name);
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
            char names[256] = "";

            for (const struct workload *const *w = workloads; *w; w++)
                snprintf(names + strlen(names), sizeof(names) - strlen(names), " %s", (*w)->name);
            return wrong(r, l->number, "workload=%s: unknown; there are%s", l->value, names);
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
    if (!guest_has_key(l->name)) {
        char takes[512];

        keys_names(w->keys, takes, sizeof(takes));
        return wrong(r, l->number,
                     "[%s] has no key %s; there are those of a guest's line, count, start, "
                     "workload, and of workload %s: %s",
                     l->section, l->name, w->name, takes);
    }
    if (is_last(r, l))
        snprintf(guest + strlen(guest), bytes - strlen(guest), " %s=%s", l->name, l->value);
    return true;
}

/* Where the key that `word` begins with was given last, or the section's first line. */
static int line_of_word(const struct reader *r, const char *section, const char *word)
{
    const struct line *found = NULL;
    size_t length = strcspn(word, "=");

    for (const struct line *l = r->lines; l < &r->lines[r->count]; l++)
        if (strcmp(l->section, section) == 0 &&
            (!found || (strlen(l->name) == length && strncmp(l->name, word, length) == 0)))
            found = l;
    return found ? found->number : r->at;
}

static bool read_vm(struct reader *r, struct scenario_vm *vm)
{
    static struct fw_warnings warnings;
    struct guest_line_error error;
    char guest[1024], section[sizeof(r->lines->section)];

    if (!vm->workload)
        return wrong(r, vm->line, "[vm %s] has no workload=", vm->name);
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
    return s->nvms ? true : wrong(r, r->at, "there is no [vm NAME]");
}

/* ---- things done while it runs ---- */

static bool read_action(struct reader *r, const struct line *l)
{
    struct scenario *s = r->scenario;
    struct scenario_action *a = &s->actions[s->nactions];

    if (s->nactions == SCENARIO_ACTIONS)
        return wrong(r, l->number, "more than %u actions", SCENARIO_ACTIONS);
    if (!action_parse(a, l->section + 3, l->name, l->value))
        return wrong(
            r, l->number,
            "[%s] %s=%s: there are offline=CPU, online=CPU, weight.VM=NUMBER, cap.VM=PERCENT, "
            "pin.VM=CPUS and option.NAME=VALUE, at a time such as 500ms",
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

/* What tools/seeds compares, and how. */
static bool is_of_seeds(const char *section)
{
    static const char *const kinds[] = {"arm ", "row ", "variant ", "ablation "};

    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (strncmp(section, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return strcmp(section, "acceptance") == 0;
}

static bool all_used(const struct reader *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct line *l = &r->lines[i];

        if (!l->used && !is_of_seeds(l->section))
            return wrong(r, l->number,
                         "section [%s] is unknown; there are run, machine, options, vm NAME, at "
                         "TIME, and for tools/seeds acceptance, arm, row, variant, ablation",
                         l->section);
    }
    return true;
}

static bool read_all(struct reader *r, const char *const settings[], uint32_t nsettings)
{
    struct scenario *s = r->scenario;
    char fault[SCENARIO_FAULT_CHARS];
    int line = ini_parse_stream(next_line, r, on_line, r);

    if (r->refused)
        return false;
    if (line > 0)
        return wrong(r, line, "neither a [section] nor key=value");
    for (uint32_t i = 0; i < nsettings; i++)
        if (!collect_setting(r, settings[i]))
            return false;
    if (!read_table_section(r, "run", run_keys, &s->run) ||
        !read_table_section(r, "machine", machine_keys, &s->machine) || !read_options(r) ||
        !read_vms(r) || !read_actions(r) || !all_used(r))
        return false;
    if (!scenario_machine_fits(s, fault))
        return wrong(r, line_of_word(r, "machine", ""), "[machine] cannot be: %s", fault);
    if (s->run.warmup >= s->run.duration)
        return wrong(r, line_of_word(r, "run", "warmup="), "warmup takes less than duration");
    line = scenario_parts_fit(s, fault);
    return line < 0 ? true : wrong(r, line, "%s", fault);
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
    fprintf(out, "[options]\n  the words of Numen's command line, docs/parameters.md\n"
                 "[vm NAME]\n  the words of a guest's line, and\n"
                 "  workload       what its vCPUs do\n");
    keys_print(vm_keys, out);
    for (const struct workload *const *w = workloads; *w; w++) {
        fprintf(out, "workload=%s: %s\n", (*w)->name, (*w)->help);
        keys_print((*w)->keys, out);
    }
}
