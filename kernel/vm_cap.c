/*
 * A VM's cap: the pool of sched/cap.h that its vCPUs share, and the timer that refills it.
 *
 * Decides when vCPUs come under the cap and out of it, not what it does to them. The timer is armed
 * only while a vCPU is parked, on the CPU that parked it or served the line last.
 *
 * A VM that ends is lifted out of its cap first, for its vCPUs leave by running. When they have
 * left, nobody parks any more, so the timer that is cancelled then stays off until the next start.
 */
#include "kernel/vm_cap.h"

#include "kernel/arch.h"
#include "kernel/schedule.h"
#include "kernel/vm_build.h"

static void vm_cap_refill(struct timer *timer, ns_t now)
{
    sched_cap_refill(sched, &container_of(timer, struct vm, refill)->cap, now);
}

void vm_cap_init(struct vm *vm)
{
    cap_init(&vm->cap);
    timer_init(&vm->refill, vm_cap_refill);
}

void vm_cap_begin(struct vm *vm)
{
    cap_init(&vm->cap);
    if (vm->config.cap)
        cap_set(&vm->cap, vm->config.cap, vm->config.vcpus, arch_now());
}

struct cap *vm_cap_shared(struct vm *vm)
{
    return vm->config.cap ? &vm->cap : NULL;
}

void vm_set_cap(struct vm *vm, uint32_t percent)
{
    ns_t now = arch_now();

    spin_lock(&vm->lock);
    vm->config.cap = percent;
    if (percent)
        cap_set(&vm->cap, percent, vm->config.vcpus, now);
    /* One that ends stays lifted. Those being built come to the scheduler as vcpu_init_unit says.
     */
    for (uint32_t i = 0; vm->phase != VM_ENDING && i < vm->vcpu_count; i++) {
        struct vcpu *v = vm->vcpus[i];

        if (v->inserted)
            sched_unit_set_cap(sched, &v->unit, vm_cap_shared(vm), now);
        else
            vcpu_init_unit(v);
    }
    spin_unlock(&vm->lock);
}

void vm_cap_lift(struct vm *vm)
{
    for (uint32_t i = 0; i < vm->vcpu_count; i++)
        sched_unit_set_cap(sched, &vm->vcpus[i]->unit, NULL, arch_now());
}

void vm_cap_quiet(struct vm *vm)
{
    timer_cancel(&vm->refill);
    cap_wait_quiet(&vm->cap);
}

void vm_cap_refill_at(struct cap *cap, ns_t at)
{
    timer_arm(&container_of(cap, struct vm, cap)->refill, at);
}
