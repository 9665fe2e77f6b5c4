/*
 * Messages to a vCPU: post, fault, find.
 *
 * Decides how a set bit is made to be seen: the sleeper is woken, the running one interrupted, the
 * ready one left to find it. See kernel/vcpu_entry.c for the other side.
 */
#include "kernel/vcpu.h"

#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/schedule.h"
#include "kernel/vm.h"

void vcpu_post(struct vcpu *v, uint32_t bits)
{
    /*
     * Seq-cst, before `blocked` and the unit are looked at: pairs with vcpu_sleep and schedule().
     */
    uint32_t old = atomic_fetch_or(&v->pending, bits);

    if ((old & bits) == bits)
        return; /* whoever set them made them seen */
    spin_lock(&v->lock);
    if (v->blocked) {
        if (bits & v->wake_mask) {
            v->blocked = false;
            schedule_wake(v);
        }
    } else if (bits & PENDING_BEFORE_ENTRY) {
        schedule_interrupt(v);
    }
    spin_unlock(&v->lock);
}

void vcpu_fault(struct vcpu *v, uint8_t vector, int64_t error)
{
    struct virt_event e = {
        .type = VIRT_EVENT_EXCEPTION,
        .vector = vector,
        .has_error = error >= 0,
        .error = error >= 0 ? (uint32_t)error : 0,
    };

    virt->event_arm(v, &e);
}

struct vcpu *vcpu_by_apic_id(struct vm *vm, uint32_t apic_id)
{
    uint32_t index = apic_id < vm->apic_ids ? vm->vcpu_of_apic_id[apic_id] : UINT16_MAX;

    return index < vm->vcpu_count ? vm->vcpus[index] : NULL;
}
