/*
 * Commands that show the machine: topology, numa, mem.
 *
 * They read what bring-up wrote once (kernel/machine.h), and per-node counts that are atomic, so no
 * lock is needed. JSON forms are read by scripts: members are only ever added. A step shows a few
 * CPUs or one node.
 */
#include "hv/bits.h"
#include "kernel/cpu.h"
#include "kernel/machine.h"
#include "kernel/mem_init.h"
#include "kernel/shell.h"
#include "kernel/vm_life.h"

#define CPUS_PER_STEP 16u

enum topology_phase { TOPOLOGY_HEAD, TOPOLOGY_CPUS, TOPOLOGY_NODES, TOPOLOGY_TAIL };

static bool cpu_is_online(uint32_t cpu)
{
    return cpus[cpu] && atomic_get(&cpus[cpu]->online);
}

/* ---- parts that several listings share ---- */

static void json_distance(struct json *j)
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

static void json_node(struct json *j, uint32_t node)
{
    json_begin_object(j, NULL);
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
    json_end_object(j);
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
    json_distance(j);
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
        json_node(j, sh->index++);
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

/* ---- numa ---- */

static bool numa_json_step(struct shell *sh)
{
    struct json *j = &sh->json;

    if (!sh->step) {
        json_begin_object(j, NULL);
        json_begin_array(j, "nodes");
    }
    json_node(j, sh->index++);
    if (sh->index < machine.numa.nnodes)
        return false;
    json_end_array(j);
    json_distance(j);
    json_end_object(j);
    shell_put(sh, "\n", 1);
    return true;
}

/* Numbers as ranges: "0-3,8". */
static void show_node_cpus(struct shell *sh, uint32_t node)
{
    const char *separator = "";

    for (uint32_t i = 0; i < cpu_count; i++) {
        uint32_t last = i;

        if (machine.places[i].node != node)
            continue;
        while (last + 1 < cpu_count && machine.places[last + 1].node == node)
            last++;
        shell_printf(sh, last > i ? "%s%u-%u" : "%s%u", separator, i, last);
        separator = ",";
        i = last;
    }
    if (!*separator)
        shell_printf(sh, "none");
}

static void show_node(struct shell *sh, uint32_t node)
{
    const struct numa *numa = &machine.numa;
    char ram[16], spare[16];

    shell_format_bytes(ram, sizeof(ram), numa->node[node].ram_bytes);
    shell_format_bytes(spare, sizeof(spare), page_free_bytes(&page_pool, node));
    shell_printf(sh, "node %-3u pxm %-4u ram %-10s free %-10s cpus ", node, numa->node[node].pxm,
                 ram, spare);
    show_node_cpus(sh, node);
    shell_printf(sh, "\n  distance");
    for (uint32_t to = 0; to < numa->nnodes; to++)
        shell_printf(sh, " %3u", numa_distance(numa, node, to));
    shell_printf(sh, "\n");
    for (uint32_t i = 0; i < numa->nranges; i++)
        if (numa->range[i].node == node)
            shell_printf(sh, "  memory   %#014lx-%#014lx\n", numa->range[i].base,
                         numa->range[i].end - 1);
}

static bool numa_step(struct shell *sh)
{
    if (sh->as_json)
        return numa_json_step(sh);
    show_node(sh, sh->index++);
    return sh->index == machine.numa.nnodes;
}

/* ---- mem ---- */

static void json_mem_node(struct json *j, uint32_t node)
{
    json_begin_object(j, NULL);
    json_u64(j, "node", node);
    json_u64(j, "ram_bytes", machine.numa.node[node].ram_bytes);
    json_u64(j, "free_bytes", page_free_bytes(&page_pool, node));
    json_begin_object(j, "vms");
    for (uint32_t i = 0; i < vm_count; i++)
        json_u64(j, vms[i]->config.name, atomic_get(&vms[i]->node_bytes[node]));
    json_end_object(j);
    json_end_object(j);
}

static bool mem_json_step(struct shell *sh)
{
    struct json *j = &sh->json;

    if (!sh->step) {
        json_begin_object(j, NULL);
        json_begin_array(j, "nodes");
    }
    json_mem_node(j, sh->index++);
    if (sh->index < machine.numa.nnodes)
        return false;
    json_end_array(j);
    json_end_object(j);
    shell_put(sh, "\n", 1);
    return true;
}

static void show_mem_vms(struct shell *sh, uint32_t node)
{
    const char *separator = "  ";
    char amount[16];

    for (uint32_t i = 0; i < vm_count; i++) {
        uint64_t bytes = atomic_get(&vms[i]->node_bytes[node]);

        if (!bytes)
            continue;
        shell_printf(sh, "%s%s %s", separator, vms[i]->config.name,
                     shell_format_bytes(amount, sizeof(amount), bytes));
        separator = ", ";
    }
    shell_printf(sh, "\n");
}

static bool mem_step(struct shell *sh)
{
    char ram[16], used[16], spare[16];
    uint64_t ram_bytes = machine.numa.node[sh->index].ram_bytes;
    uint64_t free_bytes = page_free_bytes(&page_pool, sh->index);

    if (sh->as_json)
        return mem_json_step(sh);
    if (!sh->step)
        shell_printf(sh, "%4s %12s %12s %12s  %s\n", "NODE", "RAM", "IN USE", "FREE", "VMS");
    shell_printf(sh, "%4u %12s %12s %12s", sh->index,
                 shell_format_bytes(ram, sizeof(ram), ram_bytes),
                 shell_format_bytes(used, sizeof(used), ram_bytes - MIN(free_bytes, ram_bytes)),
                 shell_format_bytes(spare, sizeof(spare), free_bytes));
    show_mem_vms(sh, sh->index);
    return ++sh->index == machine.numa.nnodes;
}

const struct shell_command shell_machine_commands[] = {
    {"topology", "", "sockets, cores, threads and where they lie", topology_step, true},
    {"numa", "", "nodes: CPUs, memory ranges, distances", numa_step, true},
    {"mem", "", "memory of each node", mem_step, true},
    {NULL, NULL, NULL, NULL, false},
};
