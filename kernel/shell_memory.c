/*
 * Commands that show who has which memory: numa, mem.
 *
 * A node's RAM is free, or a VM's, or Numen's own (all the rest: what was in use before the page
 * allocator began, and what it gave to others than guests); free and in use are counted apart, and
 * make up the RAM. A VM's remote share is told twice: of its memory, what does not lie on the home
 * node of its virtual node; of its vCPUs' run time since the start, what was spent on CPUs of
 * another node than the home node of their virtual node.
 *
 * They run on CPU 0, where VMs are also built and taken down, so a VM's arrays stand still within a
 * step. A step shows one node or one VM. JSON forms are read by scripts: members are only added.
 */
#include "hv/bits.h"
#include "kernel/cpu.h"
#include "kernel/machine.h"
#include "kernel/mem_init.h"
#include "kernel/shell_parts.h"
#include "kernel/vm_build.h"
#include "kernel/vm_life.h"
#include "kernel/vm_stats.h"

struct usage {
    uint64_t ram_bytes;
    uint64_t free_bytes;
    uint64_t in_use_bytes;
    uint64_t numen_bytes; /* of those in use */
};

static struct usage usage_of(uint32_t node)
{
    struct usage u = {.ram_bytes = machine.numa.node[node].ram_bytes};
    struct page_usage pages;
    uint64_t guests = 0;

    page_usage(&page_pool, node, &pages);
    for (uint32_t i = 0; i < vm_count; i++)
        guests += atomic_get(&vms[i]->node_bytes[node]);
    u.free_bytes = pages.free_bytes;
    u.in_use_bytes = u.ram_bytes - pages.managed_bytes + pages.taken_bytes;
    u.numen_bytes = u.in_use_bytes - guests;
    return u;
}

/* ---- a node ---- */

static void json_node_use(struct json *j, uint32_t node)
{
    struct usage u = usage_of(node);

    json_u64(j, "in_use_bytes", u.in_use_bytes);
    json_u64(j, "numen_bytes", u.numen_bytes);
    json_begin_object(j, "vms");
    for (uint32_t i = 0; i < vm_count; i++)
        json_u64(j, vms[i]->config.name, atomic_get(&vms[i]->node_bytes[node]));
    json_end_object(j);
}

static void json_numa_node(struct json *j, uint32_t node)
{
    json_begin_object(j, NULL);
    shell_json_node(j, node);
    json_node_use(j, node);
    json_end_object(j);
}

static void json_mem_node(struct json *j, uint32_t node)
{
    struct usage u = usage_of(node);

    json_begin_object(j, NULL);
    json_u64(j, "node", node);
    json_u64(j, "ram_bytes", u.ram_bytes);
    json_u64(j, "free_bytes", u.free_bytes);
    json_node_use(j, node);
    json_end_object(j);
}

/* VMs that have memory here, each behind a separator, and the end of the line. */
static void show_users(struct shell *sh, uint32_t node, const char *separator)
{
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

static void show_node_cpus(struct shell *sh, uint32_t node)
{
    static uint64_t words[CPUS_MAX / 64]; /* CPU 0 only, one command at a time */
    struct cpumask mask = cpumask_over(words, cpu_count);

    cpumask_zero(mask);
    for (uint32_t i = 0; i < cpu_count; i++)
        if (machine.places[i].node == node)
            cpumask_set(mask, i);
    shell_put_cpus(sh, mask);
}

static void show_node(struct shell *sh, uint32_t node)
{
    const struct numa *numa = &machine.numa;
    struct usage u = usage_of(node);
    char ram[16], spare[16];

    shell_format_bytes(ram, sizeof(ram), u.ram_bytes);
    shell_format_bytes(spare, sizeof(spare), u.free_bytes);
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
    shell_printf(sh, "  used by  Numen %s",
                 shell_format_bytes(spare, sizeof(spare), u.numen_bytes));
    show_users(sh, node, ", ");
}

static void show_mem_node(struct shell *sh, uint32_t node)
{
    char ram[16], used[16], spare[16], own[16];
    struct usage u = usage_of(node);

    if (!node)
        shell_printf(sh, "%4s %12s %12s %12s %12s  %s\n", "NODE", "RAM", "FREE", "IN USE", "NUMEN",
                     "VMS");
    shell_printf(sh, "%4u %12s %12s %12s %12s", node,
                 shell_format_bytes(ram, sizeof(ram), u.ram_bytes),
                 shell_format_bytes(spare, sizeof(spare), u.free_bytes),
                 shell_format_bytes(used, sizeof(used), u.in_use_bytes),
                 shell_format_bytes(own, sizeof(own), u.numen_bytes));
    show_users(sh, node, "  ");
}

/* ---- a VM ---- */

void shell_json_vnodes(struct json *j, const char *key, const struct vm *vm)
{
    json_begin_array(j, key);
    for (uint32_t i = 0; i < vm->placement.count; i++) {
        const struct placement_vnode *vnode = &vm->placement.vnode[i];
        struct vm_slot ranges[VM_SLOTS_MAX];
        uint32_t count = vm_vnode_ranges(vm, i, ranges);

        json_begin_object(j, NULL);
        json_u64(j, "node", vnode->node);
        json_u64(j, "first_vcpu", vnode->first_vcpu);
        json_u64(j, "vcpus", vnode->vcpus);
        json_u64(j, "bytes", vnode->bytes);
        json_begin_array(j, "ranges");
        for (uint32_t r = 0; r < count; r++) {
            json_begin_array(j, NULL);
            json_u64(j, NULL, ranges[r].gpa);
            json_u64(j, NULL, ranges[r].gpa + ranges[r].bytes - 1);
            json_end_array(j);
        }
        json_end_array(j);
        json_end_object(j);
    }
    json_end_array(j);
}

static uint64_t vm_bytes(const struct vm *vm)
{
    uint64_t bytes = 0;

    for (uint32_t node = 0; node < machine.numa.nnodes; node++)
        bytes += atomic_get(&vm->node_bytes[node]);
    return bytes;
}

static void json_vm(struct json *j, struct vm *vm)
{
    struct vm_stats s = {.run_ns = 0};

    vm_stats_add(vm, &s);
    json_begin_object(j, NULL);
    json_string(j, "name", vm->config.name);
    json_u64(j, "bytes", vm_bytes(vm));
    json_u64(j, "remote_bytes", atomic_get(&vm->remote_bytes));
    json_u64(j, "run_ns", s.run_ns);
    json_u64(j, "remote_ns", s.remote_ns);
    shell_json_vnodes(j, "vnodes", vm);
    json_end_object(j);
}

/* In tenths of a percent. */
static uint32_t share_of(uint64_t part, uint64_t whole)
{
    while (whole >> 53) { /* 1000 times as much must fit */
        part >>= 1;
        whole >>= 1;
    }
    return whole ? (uint32_t)(part * 1000 / whole) : 0;
}

static void show_vnodes(struct shell *sh, const struct vm *vm)
{
    char amount[16];

    for (uint32_t i = 0; i < vm->placement.count; i++) {
        const struct placement_vnode *vnode = &vm->placement.vnode[i];

        shell_printf(sh, "%snode %u: %s", i ? "; " : "", vnode->node,
                     shell_format_bytes(amount, sizeof(amount), vnode->bytes));
        if (vnode->vcpus)
            shell_printf(sh, vnode->vcpus > 1 ? ", vCPUs %u-%u" : ", vCPU %u", vnode->first_vcpu,
                         vnode->first_vcpu + vnode->vcpus - 1);
    }
    shell_printf(sh, "\n");
}

static void show_vm(struct shell *sh, struct vm *vm)
{
    struct vm_stats s = {.run_ns = 0};
    uint64_t bytes = vm_bytes(vm);
    uint32_t memory, run;
    char amount[16];

    if (atomic_get(&vm->phase) == VM_EMPTY)
        return;
    vm_stats_add(vm, &s);
    memory = share_of(atomic_get(&vm->remote_bytes), bytes);
    run = share_of(s.remote_ns, s.run_ns);
    shell_printf(sh, "%-16s %12s %5u.%u%% %12llu %5u.%u%%  ", vm->config.name,
                 shell_format_bytes(amount, sizeof(amount), bytes), memory / 10, memory % 10,
                 (unsigned long long)(s.run_ns / NS_PER_MS), run / 10, run % 10);
    show_vnodes(sh, vm);
}

/* ---- the commands ---- */

static void show_vm_next(struct shell *sh)
{
    uint32_t i = sh->index - machine.numa.nnodes;

    if (sh->as_json) {
        json_vm(&sh->json, vms[i]);
        return;
    }
    if (!i)
        shell_printf(sh, "%-16s %12s %8s %12s %8s  %s\n", "VM", "MEMORY", "REMOTE", "RAN ms",
                     "REMOTE", "HOME");
    show_vm(sh, vms[i]);
}

/* First all nodes, then all VMs. */
static bool nodes_and_vms_step(struct shell *sh, void (*show)(struct shell *sh, uint32_t node),
                               void (*json)(struct json *j, uint32_t node))
{
    uint32_t nodes = machine.numa.nnodes;
    struct json *j = &sh->json;

    if (!sh->step && sh->as_json) {
        json_begin_object(j, NULL);
        json_begin_array(j, "nodes");
    }
    if (sh->index >= nodes)
        show_vm_next(sh);
    else if (sh->as_json)
        json(j, sh->index);
    else
        show(sh, sh->index);
    sh->index++;
    if (sh->index == nodes && sh->as_json) {
        json_end_array(j);
        shell_json_distance(j);
        json_begin_array(j, "vms");
    }
    if (sh->index < nodes + vm_count)
        return false;
    if (sh->as_json) {
        json_end_array(j);
        json_end_object(j);
        shell_put(sh, "\n", 1);
    }
    return true;
}

static bool numa_step(struct shell *sh)
{
    return nodes_and_vms_step(sh, show_node, json_numa_node);
}

static bool mem_step(struct shell *sh)
{
    return nodes_and_vms_step(sh, show_mem_node, json_mem_node);
}

const struct shell_command shell_memory_commands[] = {
    {"numa", "", "nodes: CPUs, memory ranges, distances, users; VMs' homes", numa_step, true},
    {"mem", "", "memory of each node, and what VMs have and run elsewhere", mem_step, true},
    {NULL, NULL, NULL, NULL, false},
};
