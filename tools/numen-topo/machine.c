/*
 * The image's pure code, called in the image's order.
 *
 * Follows kernel/machine.c (tables, CPU numbers, nodes) and arch/x86/bringup.c (topology, notes).
 * Decides only what the image need not: where CPUs come from when there is no MADT (the dump, in
 * its order), and that without any dump a CPU's socket is unknown rather than doubtful.
 */
#include "tools/numen-topo/topo.h"

#include <stdlib.h>
#include <string.h>

#include "boot/madt.h"
#include "boot/slit.h"
#include "boot/srat.h"
#include "boot/warn.h"

#define SRAT_MEM_MAX 1024u /* as in the image */

static void read_tables(struct machine_view *m, struct inputs *in)
{
    struct phys_view view = inputs_view(in);

    m->madt.cpu_capacity = m->srat.cpu_capacity = FW_CPU_ENTRIES_MAX;
    m->srat.mem_capacity = SRAT_MEM_MAX;
    m->madt.cpus = grow_array(NULL, FW_CPU_ENTRIES_MAX, sizeof(*m->madt.cpus));
    m->srat.cpus = grow_array(NULL, FW_CPU_ENTRIES_MAX, sizeof(*m->srat.cpus));
    m->srat.mem = grow_array(NULL, SRAT_MEM_MAX, sizeof(*m->srat.mem));
    m->has_madt = !acpi_read_madt(&view, &in->tables, &m->madt, &in->warnings);
    m->has_srat = !acpi_read_srat(&view, &in->tables, &m->srat, &in->warnings);
    m->has_slit = !acpi_read_slit(&view, &in->tables, &m->slit, &in->warnings);
}

static const struct dump_cpu *dump_of(const struct cpu_dumps *dumps, uint32_t apic_id)
{
    for (uint32_t i = 0; i < dumps->count; i++)
        if (dumps->cpus[i].apic_id == apic_id)
            return &dumps->cpus[i];
    return NULL;
}

/* CPU numbers and APIC ids. */
static void number_cpus(struct machine_view *m, struct inputs *in)
{
    uint32_t *ids = grow_array(NULL, CPUS_MAX, sizeof(*ids));

    if (m->has_madt) {
        uint64_t *scratch = grow_array(NULL, m->madt.ncpus + 1, sizeof(*scratch));

        m->ncpus = madt_cpu_list(&m->madt, in->boot_apic_id, ids, CPUS_MAX, scratch, &in->warnings);
        free(scratch);
    } else {
        m->ncpus = in->dumps.count;
        for (uint32_t i = 0; i < m->ncpus; i++)
            ids[i] = in->dumps.cpus[i].apic_id;
    }
    m->places = grow_array(NULL, m->ncpus, sizeof(*m->places));
    memset(m->places, 0, m->ncpus * sizeof(*m->places));
    for (uint32_t i = 0; i < m->ncpus; i++) {
        m->places[i].cpu = i;
        m->places[i].apic_id = ids[i];
    }
    free(ids);
}

/* A CPU without leaves of its own is taken for one like the dump's first. */
static struct cpuid_dump leaves_of(const struct machine_view *m, const struct cpu_dumps *dumps,
                                   uint32_t cpu, uint32_t *strangers)
{
    const struct dump_cpu *dump;

    if (!dumps->count)
        return (struct cpuid_dump){0};
    dump = m->has_madt ? dump_of(dumps, m->places[cpu].apic_id) : &dumps->cpus[cpu];
    if (!dump) {
        ++*strangers;
        dump = &dumps->cpus[0];
    }
    return (struct cpuid_dump){dump->entries, dump->count};
}

static void tell_notes(const struct topo_result *result, struct fw_warnings *w)
{
    for (uint32_t code = 0; code < TOPO_NOTES; code++) {
        const struct topo_note *note = &result->notes[code];

        if (note->cpus)
            boot_warn(w, "%s (%u, %u used; CPU %u, %u in all)", topology_note_text(code),
                      note->told, note->used, note->cpu, note->cpus);
    }
}

static void place_cpus(struct machine_view *m, struct inputs *in)
{
    struct topo_ids *ids = grow_array(NULL, m->ncpus, sizeof(*ids));
    uint64_t *scratch = grow_array(NULL, TOPO_SCRATCH_WORDS(m->ncpus), sizeof(*scratch));
    uint32_t flags = in->options.smt.word == SMT_COMPUTE_UNIT ? TOPO_UNITS_ARE_SIBLINGS : 0;
    uint32_t strangers = 0;

    for (uint32_t i = 0; i < m->ncpus; i++)
        ids[i] = topology_decode(m->places[i].apic_id, leaves_of(m, &in->dumps, i, &strangers));
    topology_build(ids, m->ncpus, flags, scratch, m->places, &m->topology);
    if (strangers)
        boot_warn(&in->warnings,
                  "CPUID: %u CPUs of the MADT are not in the dump; taken for like "
                  "its first",
                  strangers);
    if (in->dumps.count)
        tell_notes(&m->topology, &in->warnings);
    free(scratch);
    free(ids);
}

static void build_nodes(struct machine_view *m, struct inputs *in)
{
    uint32_t keys = MAX(m->ncpus, m->srat.ncpus) + m->srat.ncpus;
    uint32_t *ids = grow_array(NULL, 3 * (size_t)m->ncpus, sizeof(*ids));
    uint32_t *sockets = ids + m->ncpus, *nodes = sockets + m->ncpus;
    uint64_t *scratch = grow_array(NULL, keys, sizeof(*scratch));
    struct numa_input numa = {
        .apic_ids = ids,
        .sockets = in->dumps.count ? sockets : NULL,
        .ncpus = m->ncpus,
        .srat = m->has_srat ? &m->srat : NULL,
        .slit = m->has_slit ? &m->slit : NULL,
        .map = in->map.ranges ? &in->map : NULL,
        .mode = in->options.numa.word,
        .fake = in->options.numa.number,
    };

    for (uint32_t i = 0; i < m->ncpus; i++) {
        ids[i] = m->places[i].apic_id;
        sockets[i] = m->places[i].socket;
    }
    numa_build(&m->numa, &numa, nodes, scratch, &in->warnings);
    for (uint32_t i = 0; i < m->ncpus; i++)
        m->places[i].node = nodes[i];
    if (m->has_srat && in->dumps.count)
        numa_check_places(m->places, m->ncpus, in->options.numa.word, ids, &in->warnings);
    free(scratch);
    free(ids);
}

/* As kernel/main.c brings CPUs up: the first `maxcpus`, and under smt=off one thread a core. */
static void choose_online(struct machine_view *m, const struct options *options)
{
    m->online = grow_array(NULL, m->ncpus, sizeof(*m->online));
    for (uint32_t i = 0; i < m->ncpus; i++)
        m->online[i] = i < options->maxcpus &&
                       (options->smt.word != SMT_OFF || i == 0 || m->places[i].thread == 0);
}

void machine_build(struct machine_view *m, struct inputs *in)
{
    m->warnings = &in->warnings;
    read_tables(m, in);
    number_cpus(m, in);
    place_cpus(m, in);
    build_nodes(m, in);
    choose_online(m, &in->options);
}

bool machine_is_known(const struct machine_view *m, const struct inputs *in)
{
    return (m->has_madt && !m->madt.foreign) || m->has_srat || m->has_slit || in->dumps.count ||
           in->map.ranges;
}

static int compare_places(const void *left, const void *right, void *places)
{
    const struct cpu_place *a = (const struct cpu_place *)places + *(const uint32_t *)left;
    const struct cpu_place *b = (const struct cpu_place *)places + *(const uint32_t *)right;

    if (a->socket != b->socket)
        return a->socket < b->socket ? -1 : 1;
    if (a->llc != b->llc)
        return a->llc < b->llc ? -1 : 1;
    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

uint32_t *machine_cpu_order(const struct machine_view *m)
{
    uint32_t *order = grow_array(NULL, m->ncpus, sizeof(*order));

    for (uint32_t i = 0; i < m->ncpus; i++)
        order[i] = i;
    qsort_r(order, m->ncpus, sizeof(*order), compare_places, m->places);
    return order;
}

static uint32_t group_of(const struct cpu_place *place, enum group kind)
{
    switch (kind) {
    case GROUP_SOCKET:
        return place->socket;
    case GROUP_LLC:
        return place->llc;
    case GROUP_CORE:
        return place->core;
    default:
        return place->cpu;
    }
}

uint32_t machine_group_end(const struct machine_view *m, const uint32_t *order, uint32_t from,
                           uint32_t to, enum group kind)
{
    uint32_t end = from + 1, group = group_of(&m->places[order[from]], kind);

    while (end < to && group_of(&m->places[order[end]], kind) == group)
        end++;
    return end;
}
