/*
 * Steal time, the preempted flag, and the PV TLB flush that rides on it.
 *
 * At each switch to a CPU the time the vCPU was runnable but did not run is written to the guest's
 * area; at each switch away `preempted` says whether it left while runnable. Another vCPU that
 * wants a TLB flush sets bit 1 of `preempted` by compare-and-swap instead of sending an IPI; the
 * exchange with 0 at the next switch-in sees it. Nothing is written on the short exit path.
 * Source: docs/guest-abi.md; Linux Documentation/virt/kvm/x86/msr.rst and cpuid.rst.
 */
#include <errno.h>

#include "arch/x86/kvm_pv.h"
#include "kernel/arch.h"
#include "kernel/vm.h"

struct kvm_steal_area {
    uint64_t steal_ns;
    uint32_t version; /* odd while it is written */
    uint32_t flags;
    uint8_t preempted; /* KVM_VCPU_* */
    uint8_t pad[47];
};
_Static_assert(sizeof(struct kvm_steal_area) == 64, "kvm_steal_time");

#define KVM_VCPU_PREEMPTED BIT(0)
#define KVM_VCPU_FLUSH_TLB BIT(1)

#define STEAL_RESERVED     BITS(5, 1)

static ns_t steal_wait_ns(struct vcpu *v, ns_t now)
{
    ns_t run, wait;

    unit_times(&v->unit, now, &run, &wait);
    return wait + unit_capped_ns(&v->unit, now);
}

static void steal_write(struct vcpu *v, ns_t now)
{
    struct kvm_steal_area *area = v->pv->steal;
    uint32_t version = atomic_get(&area->version) | 1;

    atomic_set(&area->version, version);
    atomic_fence(); /* the guest sees the odd version before the new time */
    area->steal_ns = steal_wait_ns(v, now) - v->pv->wait_at_start;
    area->flags = 0;
    atomic_set_release(&area->version, version + 1);
}

int kvm_steal_write(struct vcpu *v, uint64_t value)
{
    struct kvm_pv *pv = v->pv;
    ns_t now = arch_now();

    if (value & STEAL_RESERVED)
        return -EINVAL;
    pv->steal_msr = value;
    pv->steal = NULL;
    if (!(value & KVM_MSR_ENABLE))
        return 0;
    pv->steal = vm_memory(v->vm, value & ~KVM_MSR_ENABLE, sizeof(*pv->steal));
    if (!pv->steal) {
        pv->steal_msr = 0;
        return -EINVAL;
    }
    pv->wait_at_start = steal_wait_ns(v, now);
    steal_write(v, now);
    return 0;
}

void kvm_steal_switch_in(struct vcpu *v, ns_t now)
{
    struct kvm_steal_area *area = v->pv->steal;
    uint8_t before;

    if (!area)
        return;
    before = atomic_exchange(&area->preempted, (uint8_t)0);
    if ((before & KVM_VCPU_FLUSH_TLB) && (v->vm->pv_features & GUEST_PV_TLB))
        virt->tlb_flush(v);
    steal_write(v, now);
}

void kvm_steal_switch_out(struct vcpu *v, bool preempted)
{
    if (v->pv->steal && preempted)
        atomic_exchange(&v->pv->steal->preempted, (uint8_t)KVM_VCPU_PREEMPTED);
}
