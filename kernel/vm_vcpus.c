/*
 * Making a VM's vCPUs, one a step.
 *
 * Decides what a vCPU is before it first runs: its APIC id from the VM's topology, its home node
 * and affinity from its virtual node, waiting for a start-up IPI (the first one's registers are set
 * by vm_image.c).
 */
#include <errno.h>
#include <string.h>

#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/mem.h"
#include "kernel/printk.h"
#include "kernel/vm_build.h"
#include "kernel/vm_cap.h"
#include "kernel/vm_devices.h"

static size_t vm_vcpus_bytes(const struct vm *vm)
{
    return vm->config.vcpus * sizeof(struct vcpu *);
}

static int vm_vcpus_make_arrays(struct vm *vm)
{
    uint32_t node = vm_first_node(vm);

    vm->apic_ids = guest_apic_id(vm, vm->config.vcpus - 1) + 1;
    vm->vcpu_of_apic_id = mem_zalloc(vm->apic_ids * sizeof(uint16_t), node);
    vm->vcpus = mem_zalloc(vm_vcpus_bytes(vm), node);
    if (!vm->vcpu_of_apic_id || !vm->vcpus)
        return -ENOMEM;
    memset(vm->vcpu_of_apic_id, 0xff, vm->apic_ids * sizeof(uint16_t));
    return 0;
}

int vm_vcpus_begin(struct vm *vm)
{
    int err = guest_vm_init(vm);

    if (!err)
        err = vm_vcpus_make_arrays(vm);
    if (err < 0) {
        pr_err("VM %s: no memory for what its vCPUs share", vm->config.name);
        return err;
    }
    vm_devices_init(vm);
    vm_cap_begin(vm);
    vm->last_boosted = 0;
    vm->start_ns = arch_now();
    vm->tsc_offset = 0 - arch_tsc();
    return 0;
}

void vm_vcpus_free_arrays(struct vm *vm)
{
    if (vm->vcpu_of_apic_id)
        mem_free(vm->vcpu_of_apic_id, vm->apic_ids * sizeof(uint16_t));
    if (vm->vcpus)
        mem_free(vm->vcpus, vm_vcpus_bytes(vm));
    vm->vcpu_of_apic_id = NULL;
    vm->vcpus = NULL;
}

/* A vCPU is one block: the struct, then the words of its affinity masks. */
static size_t vcpu_block_bytes(void)
{
    return sizeof(struct vcpu) + 2 * cpumask_nwords(cpu_count) * sizeof(uint64_t);
}

void vcpu_free(struct vcpu *v)
{
    mem_free(v, vcpu_block_bytes());
}

void vcpu_init_unit(struct vcpu *v)
{
    uint64_t *words = (uint64_t *)(v + 1);
    struct unit_params params = {
        .weight = v->vm->config.weight,
        .hard = cpumask_over(words, cpu_count),
        .soft = cpumask_over(words + cpumask_nwords(cpu_count), cpu_count),
        .cap = vm_cap_shared(v->vm),
        .owner = v,
        .vm_id = v->vm->id,
        .index = v->id,
    };

    vm_place_vcpu(v, params.hard, params.soft);
    unit_init(&v->unit, &params);
}

static int vcpu_init(struct vcpu *v, struct vm *vm, uint32_t id)
{
    int err;

    v->vm = vm;
    v->id = id;
    v->home_node = vm_home_of_vcpu(vm, id);
    v->remote_since = NS_NEVER;
    v->apic_id = guest_apic_id(vm, id);
    v->tsc_offset = vm->tsc_offset;
    v->blocked = true;
    v->run_state = VCPU_WAIT_SIPI;
    vcpu_post_self(v, PENDING_SLEEP);
    spin_init(&v->lock, LOCK_VCPU);
    vcpu_init_unit(v);
    err = guest_vcpu_init(v);
    if (err < 0)
        return err;
    err = virt->vcpu_init(v);
    if (err < 0) {
        guest_vcpu_fini(v);
        return err;
    }
    virt->set_tsc_offset(v, v->tsc_offset);
    return 0;
}

int vm_vcpus_next(struct vm *vm)
{
    uint32_t id = vm->vcpu_count;
    struct vcpu *v = mem_zalloc(vcpu_block_bytes(), vm_home_of_vcpu(vm, id));
    int err = v ? vcpu_init(v, vm, id) : -ENOMEM;

    if (err < 0) {
        pr_err("VM %s: no memory for vCPU %u", vm->config.name, id);
        if (v)
            vcpu_free(v);
        return err;
    }
    vm->vcpus[id] = v;
    vm->vcpu_of_apic_id[v->apic_id] = (uint16_t)id;
    vm->vcpu_count = id + 1;
    return vm->vcpu_count < vm->config.vcpus;
}
