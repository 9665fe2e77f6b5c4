/*
 * Where a VM is at home: nodes for its memory, CPUs for its vCPUs.
 *
 * Gathers what mm/placement needs (free memory, CPUs, other VMs' vCPUs by node), lets it choose,
 * and turns the choice into affinity: hard from cpus=, soft to the CPUs of the vCPU's own home
 * node. nodes= names the nodes that may be used; cpus= without it allows the nodes of those CPUs. A
 * guest whose line says nothing of sockets gets one for each virtual node, if these are alike.
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

static bool cpu_is_allowed(const struct vm *vm, uint32_t cpu)
{
    return cpus[cpu] && guest_ranges_have(&vm->config.cpus, cpu);
}

static void place_count_cpus(const struct vm *vm, struct placement_node *nodes)
{
    for (uint32_t c = 0; c < cpu_count; c++)
        if (cpu_is_allowed(vm, c))
            nodes[cpus[c]->place.node].cpus++;
}

/* vCPUs of the other VMs count where they are at home. */
static void place_count_vcpus(const struct vm *vm, struct placement_node *nodes)
{
    for (uint32_t i = 0; i < vm_count; i++) {
        const struct vm *other = vms[i];

        if (other == vm || atomic_get(&other->phase) == VM_EMPTY)
            continue;
        for (uint32_t part = 0; part < other->placement.count; part++)
            nodes[other->placement.vnode[part].node].vcpus += other->placement.vnode[part].vcpus;
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
            struct placement_node *node = &nodes[other->placement.vnode[part].node];
            uint64_t bytes = other->placement.vnode[part].bytes;
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

        if (by_cpus && guest_ranges_have(&vm->config.nodes, n))
            allowed |= BIT(n);
    }
    return allowed;
}

/* The vCPUs of each virtual node that has any, or 0 when they differ. */
static uint32_t place_vcpus_each(const struct vm *vm)
{
    uint32_t each = 0;

    for (uint32_t i = 0; i < vm->placement.count; i++) {
        uint32_t vcpus = vm->placement.vnode[i].vcpus;

        if (vcpus && each && vcpus != each)
            return 0;
        each = vcpus ? vcpus : each;
    }
    return each;
}

/* Sockets that nobody asked for follow the virtual nodes; asked for, they may not fit them. */
static void place_sockets(struct vm *vm)
{
    struct guest_config *c = &vm->config;
    uint32_t each = place_vcpus_each(vm);
    bool fits = true;

    if (!c->sockets_given) {
        c->sockets = each && each % c->threads == 0 ? c->vcpus / each : 1;
        c->cores = c->vcpus / c->sockets / c->threads;
    }
    for (uint32_t i = 0; i < vm->placement.count; i++)
        fits = fits && vm->placement.vnode[i].first_vcpu % (c->cores * c->threads) == 0;
    if (!fits)
        pr_warn("VM %s: a socket of %u vCPUs spans home nodes; smaller ones may fit them", c->name,
                c->cores * c->threads);
}

int vm_place(struct vm *vm)
{
    static struct placement_node nodes[NODES_MAX]; /* CPU 0 builds, one step at a time */
    struct placement_request request = {.memory_bytes = vm->config.memory_bytes,
                                        .vcpus = vm->config.vcpus,
                                        .core_vcpus = vm->config.threads};
    int err;

    for (uint32_t n = 0; n < machine.numa.nnodes; n++)
        nodes[n] = (struct placement_node){.free_bytes = page_free_bytes(&page_pool, n)};
    place_keep_promises(vm, nodes);
    place_count_cpus(vm, nodes);
    place_count_vcpus(vm, nodes);
    request.allowed = place_allowed_nodes(vm, nodes);
    if (vm->config.sockets_given)
        request.socket_vcpus = vm->config.cores * vm->config.threads;
    err = request.allowed ? placement_choose(nodes, machine.numa.nnodes, machine.numa.distance,
                                             &request, &vm->placement)
                          : -EINVAL;
    if (err == -ENOMEM)
        pr_err("VM %s: %llu MiB are more than its nodes have free", vm->config.name,
               (unsigned long long)(vm->config.memory_bytes / MIB));
    else if (err < 0)
        pr_err("VM %s: nodes= and cpus= leave it no node", vm->config.name);
    else
        place_sockets(vm);
    return err;
}

uint32_t vm_home_of_vcpu(const struct vm *vm, uint32_t vcpu)
{
    return vm->placement.vnode[placement_vnode_of_vcpu(&vm->placement, vcpu)].node;
}

void vm_place_vcpu(const struct vcpu *v, struct cpumask hard, struct cpumask soft)
{
    cpumask_zero(hard);
    cpumask_zero(soft);
    for (uint32_t c = 0; c < cpu_count; c++) {
        if (!cpu_is_allowed(v->vm, c))
            continue;
        cpumask_set(hard, c);
        if (cpus[c]->place.node == v->home_node)
            cpumask_set(soft, c);
    }
}
