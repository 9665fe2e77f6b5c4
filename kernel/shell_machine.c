/*
 * Commands that show the machine: topology, cpuid.
 *
 * They read what bring-up wrote once (kernel/machine.h), and per-node counts that are atomic, so no
 * lock is needed. JSON forms are read by scripts: members are only ever added. A step shows a few
 * CPUs or one node.
 */
#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/machine.h"
#include "kernel/mem_init.h"
#include "kernel/schedule.h"
#include "kernel/shell.h"
#include "kernel/shell_parts.h"
#include "kernel/topology_json.h"

#define CPUS_PER_STEP 16u

enum topology_phase { TOPOLOGY_HEAD, TOPOLOGY_CPUS, TOPOLOGY_NODES, TOPOLOGY_TAIL };

static bool cpu_is_online(uint32_t cpu)
{
    return cpus[cpu] && sched_cpu_is_online(sched, cpu);
}

/* ---- parts that `numa` shows too ---- */

void shell_json_distance(struct json *j)
{
    topology_json_distance(j, &machine.numa);
}

void shell_json_node(struct json *j, uint32_t node)
{
    topology_json_node(j, &machine.numa, node, machine.places, cpu_count,
                       page_free_bytes(&page_pool, node));
}

/* ---- topology ---- */

static void json_topology_tail(struct json *j)
{
    json_end_array(j);
    shell_json_distance(j);
    topology_json_warnings(j, &machine.warnings);
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
        for (uint32_t n = 0; n < CPUS_PER_STEP && sh->index < cpu_count; n++, sh->index++)
            topology_json_cpu(j, &machine.places[sh->index], cpu_is_online(sh->index));
        if (sh->index < cpu_count)
            return false;
        json_end_array(j);
        topology_json_counts(j, machine.topology.sockets, machine.topology.cores,
                             machine.topology.threads);
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

/* ---- cpuid ---- */

/* As numen-topo --cpuid reads it: a CPU that did not come up has told nothing, and no section. */
static void show_cpuid(struct shell *sh, uint32_t cpu)
{
    struct cpuid_dump dump;

    if (!cpus[cpu])
        return;
    dump = arch_cpu_cpuid(cpus[cpu]);
    shell_printf(sh, "[cpu %u]\n", cpu);
    for (uint32_t i = 0; i < dump.count; i++) {
        const struct cpuid_entry *e = &dump.entries[i];

        shell_printf(sh, "%x %x %x %x %x %x\n", e->leaf, e->subleaf, e->regs.eax, e->regs.ebx,
                     e->regs.ecx, e->regs.edx);
    }
}

static bool cpuid_step(struct shell *sh)
{
    show_cpuid(sh, sh->index++);
    return sh->index == cpu_count;
}

const struct shell_command shell_machine_commands[] = {
    {"topology", "", "sockets, cores, threads and where they lie", topology_step, true},
    {"cpuid", "", "each CPU's own CPUID leaves, for numen-topo", cpuid_step, false},
    {NULL, NULL, NULL, NULL, false},
};
