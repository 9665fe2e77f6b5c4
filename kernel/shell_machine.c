/*
 * The command that shows the machine: topology.
 *
 * It reads what bring-up wrote once (kernel/machine.h), and per-node counts that are atomic, so no
 * lock is needed. JSON forms are read by scripts: members are only ever added. A step shows a few
 * CPUs or one node.
 */
#include "kernel/cpu.h"
#include "kernel/machine.h"
#include "kernel/mem_init.h"
#include "kernel/shell.h"
#include "kernel/shell_parts.h"

#define CPUS_PER_STEP 16u

enum topology_phase { TOPOLOGY_HEAD, TOPOLOGY_CPUS, TOPOLOGY_NODES, TOPOLOGY_TAIL };

static bool cpu_is_online(uint32_t cpu)
{
    return cpus[cpu] && atomic_get(&cpus[cpu]->online);
}

/* ---- parts that `numa` shows too ---- */

void shell_json_distance(struct json *j)
{
    const struct numa *numa = &machine.numa;

    json_begin_array(j, "distance");
    for (uint32_t from = 0; from < numa->nnodes; from++) {
        json_begin_array(j, NULL);
        for (uint32_t to = 0; to < numa->nnodes; to++)
            json_u64(j, NULL, numa_distance(numa, from, to));
        json_end_array(j);
    }
    json_end_array(j);
}

static void json_node_ranges(struct json *j, uint32_t node)
{
    const struct numa *numa = &machine.numa;

    json_begin_array(j, "ranges");
    for (uint32_t i = 0; i < numa->nranges; i++) {
        if (numa->range[i].node != node)
            continue;
        json_begin_array(j, NULL);
        json_u64(j, NULL, numa->range[i].base);
        json_u64(j, NULL, numa->range[i].end - 1);
        json_end_array(j);
    }
    json_end_array(j);
}

void shell_json_node(struct json *j, uint32_t node)
{
    json_u64(j, "node", node);
    json_u64(j, "pxm", machine.numa.node[node].pxm);
    json_begin_array(j, "cpus");
    for (uint32_t i = 0; i < cpu_count; i++)
        if (machine.places[i].node == node)
            json_u64(j, NULL, i);
    json_end_array(j);
    json_u64(j, "ram_bytes", machine.numa.node[node].ram_bytes);
    json_u64(j, "free_bytes", page_free_bytes(&page_pool, node));
    json_node_ranges(j, node);
}

/* ---- topology ---- */

static void json_cpu(struct json *j, uint32_t cpu)
{
    const struct cpu_place *p = &machine.places[cpu];

    json_begin_object(j, NULL);
    json_u64(j, "cpu", cpu);
    json_u64(j, "apic_id", p->apic_id);
    json_u64(j, "thread", p->thread);
    json_u64(j, "core", p->core);
    json_u64(j, "llc", p->llc);
    json_u64(j, "socket", p->socket);
    json_u64(j, "node", p->node);
    json_bool(j, "online", cpu_is_online(cpu));
    json_end_object(j);
}

static void json_topology_tail(struct json *j)
{
    json_end_array(j);
    shell_json_distance(j);
    json_begin_array(j, "warnings");
    for (uint32_t i = 0; i < machine.warnings.count; i++)
        json_string(j, NULL, machine.warnings.text[i]);
    json_end_array(j);
    json_end_object(j);
}

static bool topology_json_step(struct shell *sh)
{
    struct json *j = &sh->json;

    switch (sh->phase) {
    case TOPOLOGY_HEAD:
        json_begin_object(j, NULL);
        json_begin_array(j, "cpus");
        sh->phase = TOPOLOGY_CPUS;
        return false;
    case TOPOLOGY_CPUS:
        for (uint32_t n = 0; n < CPUS_PER_STEP && sh->index < cpu_count; n++)
            json_cpu(j, sh->index++);
        if (sh->index < cpu_count)
            return false;
        json_end_array(j);
        json_u64(j, "sockets", machine.topology.sockets);
        json_u64(j, "cores", machine.topology.cores);
        json_u64(j, "threads", machine.topology.threads);
        json_begin_array(j, "nodes");
        sh->phase = TOPOLOGY_NODES;
        sh->index = 0;
        return false;
    case TOPOLOGY_NODES:
        json_begin_object(j, NULL);
        shell_json_node(j, sh->index++);
        json_end_object(j);
        if (sh->index == machine.numa.nnodes)
            sh->phase = TOPOLOGY_TAIL;
        return false;
    default:
        json_topology_tail(j);
        shell_put(sh, "\n", 1);
        return true;
    }
}

static void show_core(struct shell *sh, uint32_t core)
{
    bool first = true;

    for (uint32_t i = 0; i < cpu_count; i++) {
        const struct cpu_place *p = &machine.places[i];

        if (p->core != core)
            continue;
        if (first && p->socket != sh->state.number) {
            shell_printf(sh, "socket %u\n", p->socket);
            sh->state.number = p->socket;
        }
        if (first)
            shell_printf(sh, "  core %-5u", core);
        else
            shell_printf(sh, "            ");
        shell_printf(sh, "cpu %-5u apic %-5u llc %-4u node %u%s\n", i, p->apic_id, p->llc, p->node,
                     cpu_is_online(i) ? "" : "  offline");
        first = false;
    }
}

/* Cores are numbered by ascending APIC id, so those of one socket follow each other. */
static bool topology_step(struct shell *sh)
{
    const struct topology_counts *t = &machine.topology;

    if (sh->as_json)
        return topology_json_step(sh);
    if (!sh->step) {
        shell_printf(sh, "%u sockets, %u LLCs, %u cores, %u threads, %u nodes\n", t->sockets,
                     t->llcs, t->cores, t->threads, machine.numa.nnodes);
        sh->state.number = UINT64_MAX;
        return false;
    }
    show_core(sh, sh->index++);
    return sh->index >= t->cores;
}

const struct shell_command shell_machine_commands[] = {
    {"topology", "", "sockets, cores, threads and where they lie", topology_step, true},
    {NULL, NULL, NULL, NULL, false},
};
