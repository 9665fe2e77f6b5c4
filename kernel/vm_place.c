/*
 * Where a VM is at home: nodes for its memory, CPUs for its vCPUs.
 *
 * Gathers what mm/placement needs (free memory, CPUs, other VMs' vCPUs by node), lets it choose,
 * and turns the choice into affinity: hard from cpus=, soft to the CPUs of the home nodes. nodes=
 * names the nodes that may be used; cpus= without it allows the nodes of those CPUs.
 */
#include <errno.h>

#include "hv/cpumask.h"
#include "kernel/cpu.h"
#include "kernel/machine.h"
#include "kernel/mem.h"
#include "kernel/mem_init.h"
#include "kernel/printk.h"
#include "kernel/vm_build.h"
#include "kernel/vm_life.h"

static bool range_has(const struct guest_ranges *r, uint32_t n)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (n >= r->range[i].first && n <= r->range[i].last)
            return true;
    return r->count == 0;
}

static bool cpu_is_allowed(const struct vm *vm, uint32_t cpu)
{
    return cpus[cpu] && range_has(&vm->config.cpus, cpu);
}

static void place_count_cpus(const struct vm *vm, struct placement_node *nodes)
{
    for (uint32_t c = 0; c < cpu_count; c++)
        if (cpu_is_allowed(vm, c))
            nodes[cpus[c]->place.node].cpus++;
}

/* vCPUs of the other VMs count at their first home node. */
static void place_count_vcpus(const struct vm *vm, struct placement_node *nodes)
{
    for (uint32_t i = 0; i < vm_count; i++) {
        const struct vm *other = vms[i];

        if (other != vm && atomic_get(&other->phase) != VM_EMPTY && other->placement.count)
            nodes[other->placement.node[0]].vcpus += other->config.vcpus;
    }
}

/* VMs take their memory step by step: what one that is being built has yet to take is not free. */
static void place_keep_promises(const struct vm *vm, struct placement_node *nodes)
{
    for (uint32_t i = 0; i < vm_count; i++) {
        const struct vm *other = vms[i];
        uint64_t taken = other->cursor;

        if (other == vm || atomic_get(&other->phase) != VM_BUILDING || other->stage == 0)
            continue;
        for (uint32_t part = 0; part < other->placement.count; part++) {
            struct placement_node *node = &nodes[other->placement.node[part]];
            uint64_t bytes = other->placement.bytes[part];
            uint64_t here = MIN(taken, bytes);

            taken -= here;
            node->free_bytes -= MIN(node->free_bytes, bytes - here);
        }
    }
}

static uint64_t place_allowed_nodes(const struct vm *vm, const struct placement_node *nodes)
{
    uint64_t allowed = 0;

    for (uint32_t n = 0; n < machine.numa.nnodes; n++) {
        bool by_cpus = vm->config.nodes.count || !vm->config.cpus.count || nodes[n].cpus;

        if (by_cpus && range_has(&vm->config.nodes, n))
            allowed |= BIT(n);
    }
    return allowed;
}

int vm_place(struct vm *vm)
{
    static struct placement_node nodes[NODES_MAX]; /* CPU 0 builds, one step at a time */
    struct placement_request request = {.memory_bytes = vm->config.memory_bytes,
                                        .vcpus = vm->config.vcpus};
    int err;

    for (uint32_t n = 0; n < machine.numa.nnodes; n++)
        nodes[n] = (struct placement_node){.free_bytes = page_free_bytes(&page_pool, n)};
    place_keep_promises(vm, nodes);
    place_count_cpus(vm, nodes);
    place_count_vcpus(vm, nodes);
    request.allowed = place_allowed_nodes(vm, nodes);
    err = request.allowed ? placement_choose(nodes, machine.numa.nnodes, machine.numa.distance,
                                             &request, &vm->placement)
                          : -EINVAL;
    if (err == -ENOMEM)
        pr_err("VM %s: %llu MiB are more than its nodes have free", vm->config.name,
               (unsigned long long)(vm->config.memory_bytes / MIB));
    else if (err < 0)
        pr_err("VM %s: nodes= and cpus= leave it no node", vm->config.name);
    return err;
}

static bool vm_is_at_home(const struct vm *vm, uint32_t node)
{
    for (uint32_t i = 0; i < vm->placement.count; i++)
        if (vm->placement.node[i] == node)
            return true;
    return false;
}

void vm_place_vcpu(const struct vm *vm, struct cpumask hard, struct cpumask soft)
{
    cpumask_zero(hard);
    cpumask_zero(soft);
    for (uint32_t c = 0; c < cpu_count; c++) {
        if (!cpu_is_allowed(vm, c))
            continue;
        cpumask_set(hard, c);
        if (vm_is_at_home(vm, cpus[c]->place.node))
            cpumask_set(soft, c);
    }
}
