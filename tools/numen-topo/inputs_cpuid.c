/*
 * CPUID dumps as text.
 *
 * Two forms, told apart line by line. Numen's own: "cpus N", then "[all]" with the leaves that all
 * CPUs share, then "[cpu i]" with those that differ, a line being "leaf subleaf eax ebx ecx edx"
 * in hex. And what `cpuid -r` prints: "CPU i:", then "0xLEAF 0xSUB: eax=0x.. ebx=.. ecx=..
 * edx=..". '#' begins a remark. Decides which leaves belong to which CPU; which APIC id that has is
 * dump_ids.c's, and what the leaves mean arch/x86/topology*.c's.
 */
#include "tools/numen-topo/topo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "boot/warn.h"

#define ENTRIES_MAX 4096u /* of one CPU; a longer list is damage */
#define FIELDS      6

struct reader {
    struct dump_cpu all;   /* leaves of every CPU */
    struct dump_cpu *cpus; /* CPUS_MAX */
    struct dump_cpu *into; /* of the section; NULL: left out */
    uint32_t told;         /* "cpus N"; 0: not told */
    uint32_t seen;         /* highest section + 1 */
    uint32_t left_out;     /* sections beyond the limit */
    uint32_t leaves;
    uint32_t line, bad_lines, first_bad;
};

void dump_add(struct dump_cpu *cpu, uint32_t leaf, uint32_t subleaf, struct cpuid_regs regs)
{
    if (cpu->count == cpu->capacity) {
        cpu->capacity = cpu->capacity ? 2 * cpu->capacity : 32;
        cpu->entries = grow_array(cpu->entries, cpu->capacity, sizeof(*cpu->entries));
    }
    cpu->entries[cpu->count++] = (struct cpuid_entry){leaf, subleaf, regs};
}

/* "leaf subleaf eax ebx ecx edx" in hex, in either form. False: anything else. */
static bool read_leaf(char *line, uint32_t fields[FIELDS])
{
    char *state = NULL, *end;
    int n = 0;

    for (char *word = strtok_r(line, " \t:", &state); word; word = strtok_r(NULL, " \t:", &state)) {
        char *equals = strchr(word, '=');
        char *digits = equals ? equals + 1 : word;
        unsigned long value = strtoul(digits, &end, 16);

        if (n == FIELDS || !isxdigit((unsigned char)*digits) || *end || value > UINT32_MAX)
            return false;
        fields[n++] = (uint32_t)value;
    }
    return n == FIELDS;
}

static void begin_cpu(struct reader *r, unsigned long cpu)
{
    if (cpu >= CPUS_MAX || (r->told && cpu >= r->told)) {
        r->left_out++;
        r->into = NULL;
        return;
    }
    r->into = &r->cpus[cpu];
    r->seen = MAX(r->seen, (uint32_t)cpu + 1);
}

/* A line that says which CPU the leaves after it are of. False: it does not. */
static bool read_heading(struct reader *r, char *line)
{
    char *end = line;

    if (strcmp(line, "[all]") == 0) {
        r->into = &r->all;
    } else if (strncmp(line, "cpus ", 5) == 0 && isdigit((unsigned char)line[5])) {
        unsigned long told = strtoul(line + 5, &end, 10);

        r->left_out += told > CPUS_MAX ? (uint32_t)MIN(told - CPUS_MAX, 1ul << 31) : 0;
        r->told = (uint32_t)MIN(told, (unsigned long)CPUS_MAX);
        return !*end;
    } else if (strncmp(line, "[cpu ", 5) == 0 && isdigit((unsigned char)line[5])) {
        begin_cpu(r, strtoul(line + 5, &end, 10));
        return strcmp(end, "]") == 0;
    } else if (strcmp(line, "CPU:") == 0) {
        begin_cpu(r, 0);
    } else if (strncmp(line, "CPU ", 4) == 0 && isdigit((unsigned char)line[4])) {
        begin_cpu(r, strtoul(line + 4, &end, 10));
        return strcmp(end, ":") == 0;
    } else {
        return false;
    }
    return true;
}

static void read_line(struct reader *r, char *line)
{
    uint32_t f[FIELDS];

    r->line++;
    line[strcspn(line, "#")] = 0;
    while (isspace((unsigned char)*line))
        line++;
    for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]); n--)
        line[n - 1] = 0;
    if (!*line || read_heading(r, line))
        return;
    if (read_leaf(line, f)) {
        if (r->into && r->into->count < ENTRIES_MAX) {
            dump_add(r->into, f[0], f[1], (struct cpuid_regs){f[2], f[3], f[4], f[5]});
            r->leaves++;
        }
        return;
    }
    if (r->bad_lines++ == 0)
        r->first_bad = r->line;
}

/* "cpus N" counts wherever it stands: sections that came before it may be beyond N. */
static void drop_beyond_told(struct reader *r)
{
    for (uint32_t i = r->told; r->told && i < r->seen; i++) {
        struct dump_cpu *cpu = &r->cpus[i];

        r->left_out += cpu->count != 0;
        free(cpu->entries);
        *cpu = (struct dump_cpu){0};
    }
}

static void add_all(struct dump_cpu *cpu, const struct dump_cpu *from)
{
    for (uint32_t k = 0; k < from->count; k++) {
        const struct cpuid_entry *e = &from->entries[k];

        dump_add(cpu, e->leaf, e->subleaf, e->regs);
    }
}

/* Without "cpus N" the CPUs are those with leaves: numbers that are left out were offline. */
static uint32_t close_gaps(struct reader *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->seen; i++)
        if (r->cpus[i].count)
            r->cpus[n++] = r->cpus[i];
    memset(&r->cpus[n], 0, (r->seen - n) * sizeof(*r->cpus));
    return n;
}

/*
 * Every CPU gets the shared leaves behind its own, which are then found first. One that was
 * announced but has no section is taken for like the first that has.
 */
static void finish(struct reader *r, struct inputs *in)
{
    uint32_t n = r->told ? r->told : MAX(close_gaps(r), 1u), first = 0, strangers = 0;

    while (first < n && !r->cpus[first].count)
        first++;
    for (uint32_t i = 0; i < n; i++) {
        struct dump_cpu *cpu = &r->cpus[i];

        cpu->has_id = cpu->count || first == n;
        if (!cpu->has_id) {
            add_all(cpu, &r->cpus[first]);
            strangers++;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        add_all(&r->cpus[i], &r->all);
    if (strangers)
        boot_warn(&in->warnings, "CPUID: %u CPUs without a section; taken for like CPU %u",
                  strangers, first);
    in->dumps = (struct cpu_dumps){r->cpus, n};
    dumps_give_ids(in);
}

void inputs_add_cpuid(struct inputs *in, struct file_bytes text)
{
    struct reader r = {.cpus = grow_array(NULL, CPUS_MAX, sizeof(*r.cpus))};
    char *at = (char *)text.data, *line;

    memset(r.cpus, 0, CPUS_MAX * sizeof(*r.cpus));
    r.into = &r.all;
    while ((line = line_next(&at)))
        read_line(&r, line);
    drop_beyond_told(&r);
    if (r.bad_lines)
        boot_warn(&in->warnings, "CPUID: %u lines not understood, the first is line %u; skipped",
                  r.bad_lines, r.first_bad);
    if (r.left_out)
        boot_warn(&in->warnings, "CPUID: %u CPUs beyond the announced number or %u; left out",
                  r.left_out, CPUS_MAX);
    if (r.leaves) {
        finish(&r, in);
    } else {
        boot_warn(&in->warnings, "CPUID: no leaf in the dump; ignored");
        free(r.cpus);
    }
    free(r.all.entries);
    free(text.data);
}
