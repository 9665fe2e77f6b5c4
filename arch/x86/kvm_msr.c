/*
 * The paravirtual MSRs: which exist for a VM, and where their writes go.
 *
 * A feature not offered is refused: -EINVAL, which becomes #GP. Source: docs/guest-abi.md.
 */
#include <errno.h>

#include "arch/x86/kvm_pv.h"
#include "kernel/arch.h"
#include "kernel/vm.h"

/* The feature that an MSR belongs to, or 0 for a number that is no paravirtual MSR. */
static uint64_t kvm_msr_feature(uint32_t msr)
{
    switch (msr) {
    case KVM_MSR_WALL_CLOCK_OLD:
    case KVM_MSR_SYSTEM_TIME_OLD:
        return KVM_FEATURE_CLOCKSOURCE;
    case KVM_MSR_WALL_CLOCK:
    case KVM_MSR_SYSTEM_TIME:
        return KVM_FEATURE_CLOCKSOURCE2;
    case KVM_MSR_STEAL_TIME:
        return GUEST_PV_STEAL;
    default:
        return 0;
    }
}

static bool kvm_msr_offered(struct vcpu *v, uint32_t msr)
{
    return (v->vm->pv_features & kvm_msr_feature(msr)) != 0;
}

int kvm_msr_read(struct vcpu *v, uint32_t msr, uint64_t *value)
{
    if (!kvm_msr_offered(v, msr))
        return -EINVAL;
    switch (msr) {
    case KVM_MSR_SYSTEM_TIME:
    case KVM_MSR_SYSTEM_TIME_OLD:
        *value = v->pv->system_time_msr;
        return 0;
    case KVM_MSR_STEAL_TIME:
        *value = v->pv->steal_msr;
        return 0;
    default: /* the wall clock's address is not kept */
        *value = 0;
        return 0;
    }
}

int kvm_msr_write(struct vcpu *v, uint32_t msr, uint64_t value)
{
    if (!kvm_msr_offered(v, msr))
        return -EINVAL;
    switch (msr) {
    case KVM_MSR_SYSTEM_TIME:
    case KVM_MSR_SYSTEM_TIME_OLD:
        return kvm_clock_write_system_time(v, value);
    case KVM_MSR_STEAL_TIME:
        return kvm_steal_write(v, value);
    default:
        return kvm_clock_write_wall_clock(v, value);
    }
}

void kvm_pv_reset(struct vcpu *v)
{
    v->pv->system_time_msr = 0;
    v->pv->steal_msr = 0;
    v->pv->steal = NULL;
}

uint32_t kvm_features_offered(uint32_t wanted)
{
    uint32_t offered = wanted & GUEST_PV_ALL;

    if (!arch_tsc_is_stable())
        offered &= ~(uint32_t)KVM_FEATURE_CLOCKSOURCE_STABLE;
    /* The flush request rides on the steal-time area. */
    if (!(offered & GUEST_PV_STEAL))
        offered &= ~(uint32_t)GUEST_PV_TLB;
    return offered;
}
