/*
 * The machine as a tree for people: sockets > LLCs > cores > threads, then nodes with their ranges
 * and distances, then warnings.
 *
 * Decides only the layout. A core is one line however many threads it has.
 */
#include "tools/numen-topo/topo.h"

#include <inttypes.h>
#include <stdlib.h>

const char *format_bytes(char text[TEXT_BYTES], uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount = (double)bytes;
    size_t unit = 0;

    while (amount >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        amount /= 1024;
        unit++;
    }
    snprintf(text, TEXT_BYTES, amount == (double)(uint64_t)amount ? "%.0f %s" : "%.1f %s", amount,
             units[unit]);
    return text;
}

/* The nodes of order[from..to), ascending: "node 0", "nodes 0 1". Returns how many. */
static uint32_t print_nodes_of(const struct machine_view *m, const uint32_t *order, uint32_t from,
                               uint32_t to, FILE *out)
{
    bool has[NODES_MAX] = {false};
    uint32_t count = 0;

    for (uint32_t i = from; i < to; i++) {
        bool *mark = &has[m->places[order[i]].node];

        count += !*mark;
        *mark = true;
    }
    fprintf(out, count > 1 ? "nodes" : "node");
    for (uint32_t node = 0; node < NODES_MAX; node++)
        if (has[node])
            fprintf(out, " %u", node);
    return count;
}

static void print_core(const struct machine_view *m, const uint32_t *order, uint32_t from,
                       uint32_t to, bool with_node, FILE *out)
{
    fprintf(out, "    core %u", m->places[order[from]].core);
    if (with_node) {
        fprintf(out, ", ");
        print_nodes_of(m, order, from, to, out);
    }
    for (uint32_t i = from; i < to; i++)
        fprintf(out, "%s cpu %u (APIC id %u%s)", i == from ? ":" : ",", order[i],
                m->places[order[i]].apic_id, m->online[order[i]] ? "" : ", offline");
    fputc('\n', out);
}

static void print_socket(const struct machine_view *m, const uint32_t *order, uint32_t from,
                         uint32_t to, FILE *out)
{
    uint32_t llc_end = from, core_end;
    bool many_nodes;

    fprintf(out, "socket %u, ", m->places[order[from]].socket);
    many_nodes = print_nodes_of(m, order, from, to, out) > 1;
    fputc('\n', out);
    for (uint32_t i = from; i < to; i = core_end) {
        if (i == llc_end) {
            fprintf(out, "  LLC %u\n", m->places[order[i]].llc);
            llc_end = machine_group_end(m, order, i, to, GROUP_LLC);
        }
        core_end = machine_group_end(m, order, i, llc_end, GROUP_CORE);
        print_core(m, order, i, core_end, many_nodes, out);
    }
}

/* "0-3,8" */
static void print_cpus_of_node(const struct machine_view *m, uint32_t node, FILE *out)
{
    const char *separator = "";
    uint32_t last;

    for (uint32_t i = 0; i < m->ncpus; i = last + 1) {
        last = i;
        if (m->places[i].node != node)
            continue;
        while (last + 1 < m->ncpus && m->places[last + 1].node == node)
            last++;
        fprintf(out, last > i ? "%s%u-%u" : "%s%u", separator, i, last);
        separator = ",";
    }
    if (!*separator)
        fprintf(out, "none");
}

static void print_node(const struct machine_view *m, uint32_t node, FILE *out)
{
    const struct numa *numa = &m->numa;
    char text[TEXT_BYTES];

    fprintf(out, "node %u, domain %u: %s, cpus ", node, numa->node[node].pxm,
            format_bytes(text, numa->node[node].ram_bytes));
    print_cpus_of_node(m, node, out);
    fprintf(out, "\n  distance");
    for (uint32_t to = 0; to < numa->nnodes; to++)
        fprintf(out, " %u", numa_distance(numa, node, to));
    fputc('\n', out);
    for (uint32_t i = 0; i < numa->nranges; i++) {
        const struct numa_range *r = &numa->range[i];

        if (r->node == node)
            fprintf(out, "  memory 0x%012" PRIx64 "-0x%012" PRIx64 ", %s\n", r->base, r->end - 1,
                    format_bytes(text, r->end - r->base));
    }
}

void print_tree(const struct machine_view *m, FILE *out)
{
    const struct topo_result *t = &m->topology;
    uint32_t *order = machine_cpu_order(m), end;

    fprintf(out, "%u sockets, %u LLCs, %u cores, %u threads, %u nodes%s\n", t->sockets, t->llcs,
            t->cores, t->threads, m->numa.nnodes, t->hybrid ? ", cores of several kinds" : "");
    for (uint32_t i = 0; i < m->ncpus; i = end) {
        end = machine_group_end(m, order, i, m->ncpus, GROUP_SOCKET);
        print_socket(m, order, i, end, out);
    }
    for (uint32_t node = 0; node < m->numa.nnodes; node++)
        print_node(m, node, out);
    for (uint32_t i = 0; i < m->warnings->count; i++)
        fprintf(out, "warning: %s\n", m->warnings->text[i]);
    if (m->warnings->dropped)
        fprintf(out, "warning: and %u more\n", m->warnings->dropped);
    free(order);
}
