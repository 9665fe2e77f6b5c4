/*
 * KVM's paravirtual clock, steal time and hypercalls as a guest finds them (docs/guest-abi.md).
 * See kvm_clock.c, kvm_steal.c, kvm_hypercall.c.
 */
#ifndef ARCH_X86_KVM_PV_H
#define ARCH_X86_KVM_PV_H

#include "hv/guest_config.h"
#include "kernel/vcpu.h"

/* MSR numbers; the two old ones go with feature bit 0, the new ones with bit 3. */
enum kvm_msr {
    KVM_MSR_WALL_CLOCK_OLD = 0x11,
    KVM_MSR_SYSTEM_TIME_OLD = 0x12,
    KVM_MSR_WALL_CLOCK = 0x4b564d00,
    KVM_MSR_SYSTEM_TIME = 0x4b564d01,
    KVM_MSR_STEAL_TIME = 0x4b564d03
};

#define KVM_MSR_ENABLE BIT(0) /* of SYSTEM_TIME and STEAL_TIME; the address has it clear */

/* The three bits of GUEST_PV_KVMCLOCK. */
#define KVM_FEATURE_CLOCKSOURCE        BIT(0)
#define KVM_FEATURE_CLOCKSOURCE2       BIT(3)
#define KVM_FEATURE_CLOCKSOURCE_STABLE BIT(24)

struct kvm_steal_area;

struct kvm_pv {
    uint64_t system_time_msr;     /* [c] as written */
    uint64_t steal_msr;           /* [c] as written */
    struct kvm_steal_area *steal; /* [c] the guest's area in host memory; NULL when off */
    ns_t wait_at_start;           /* [c] wait time of the unit when the area was registered */
};

/* What this VM may be offered of `wanted`: bits that do not work on this machine fall away. */
uint32_t kvm_features_offered(uint32_t wanted);

/* 0, or -EINVAL where #GP is due. */
int kvm_msr_read(struct vcpu *v, uint32_t msr, uint64_t *value);
int kvm_msr_write(struct vcpu *v, uint32_t msr, uint64_t value);

int kvm_clock_write_system_time(struct vcpu *v, uint64_t value); /* kvm_clock.c */
int kvm_clock_write_wall_clock(struct vcpu *v, uint64_t value);
void kvm_clock_refresh(struct vcpu *v);   /* the guest's counter was moved */
void kvm_clock_switch_in(struct vcpu *v); /* acts only where the CPUs' counters are apart */
int kvm_steal_write(struct vcpu *v, uint64_t value); /* kvm_steal.c */
void kvm_steal_switch_in(struct vcpu *v, ns_t now);
void kvm_steal_switch_out(struct vcpu *v, bool preempted);
void kvm_pv_reset(struct vcpu *v);

#endif
