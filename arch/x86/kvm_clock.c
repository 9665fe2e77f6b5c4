/*
 * kvmclock: a structure in guest memory from which the guest turns its TSC into nanoseconds.
 *
 * All vCPUs of a VM get the same pair (the counter at the VM's start, 0 ns) and the same
 * multiplier, so their clocks agree by construction and the structure is written once, when its MSR
 * is, or when the guest moves its counter. Where the CPUs' counters are apart it is written again
 * each time the vCPU comes to a CPU. The flag and the feature bit CLOCKSOURCE_STABLE are offered
 * only where the counter is invariant besides. Source: docs/guest-abi.md; Linux
 * Documentation/virt/kvm/x86/msr.rst.
 */
#include <errno.h>

#include "arch/x86/asm.h"
#include "arch/x86/kvm_pv.h"
#include "arch/x86/rtc.h"
#include "kernel/arch.h"
#include "kernel/vm.h"

struct kvm_clock_area {
    uint32_t version; /* odd while it is written */
    uint32_t pad0;
    uint64_t tsc_timestamp;
    uint64_t system_time_ns;
    uint32_t tsc_to_system_mul; /* ns = ((ticks << shift) * mul) >> 32 */
    int8_t tsc_shift;
    uint8_t flags;
    uint8_t pad[2];
};
_Static_assert(sizeof(struct kvm_clock_area) == 32, "pvclock_vcpu_time_info");

#define CLOCK_FLAG_STABLE  0x01
#define CLOCK_MSR_RESERVED BIT(1) /* the address is a multiple of 4, bit 0 is KVM_MSR_ENABLE */

struct kvm_wall_clock_area {
    uint32_t version;
    uint32_t seconds;
    uint32_t nanoseconds;
};

/* Find shift and multiplier with (ticks << shift) * mul / 2^32 = ns; mul keeps its top bit set. */
static void clock_scale(uint64_t tsc_hz, uint32_t *mul, int8_t *shift)
{
    uint64_t hz = tsc_hz;
    int8_t s = 0;

    while (hz > 2 * NS_PER_SEC) { /* ticks shorter than 0.5 ns: halve them first */
        hz >>= 1;
        s--;
    }
    while (hz <= NS_PER_SEC) {
        hz <<= 1;
        s++;
    }
    /* 1e9 * 2^32 < 2^62; the quotient is in [2^31, 2^32). */
    *mul = (uint32_t)((NS_PER_SEC << 32) / hz);
    *shift = s;
}

static void clock_write(struct vcpu *v, struct kvm_clock_area *area)
{
    uint32_t version = atomic_get(&area->version) | 1;
    bool fixed = arch_tsc_is_synchronous();
    uint32_t mul;
    int8_t shift;

    clock_scale(arch_tsc_hz(), &mul, &shift);
    atomic_set(&area->version, version);
    atomic_fence(); /* the guest sees the odd version before any new field */
    if (fixed) {    /* the counter at the VM's start, moved if the guest wrote its own */
        area->tsc_timestamp = v->tsc_offset - v->vm->tsc_offset;
        area->system_time_ns = 0;
    } else {
        area->tsc_timestamp = asm_rdtsc() + v->tsc_offset;
        area->system_time_ns = arch_now() - v->vm->start_ns;
    }
    area->tsc_to_system_mul = mul;
    area->tsc_shift = shift;
    area->flags = arch_tsc_is_stable() ? CLOCK_FLAG_STABLE : 0;
    atomic_set_release(&area->version, version + 1); /* and all fields before the even one */
}

static struct kvm_clock_area *clock_area(struct vcpu *v)
{
    gpa_t gpa = v->pv->system_time_msr & ~KVM_MSR_ENABLE;

    return vm_memory(v->vm, gpa, sizeof(struct kvm_clock_area));
}

int kvm_clock_write_system_time(struct vcpu *v, uint64_t value)
{
    struct kvm_clock_area *area;

    v->pv->system_time_msr = value;
    if (!(value & KVM_MSR_ENABLE))
        return 0;
    area = value & CLOCK_MSR_RESERVED ? NULL : clock_area(v);
    if (!area) {
        v->pv->system_time_msr = 0;
        return -EINVAL;
    }
    clock_write(v, area);
    return 0;
}

void kvm_clock_refresh(struct vcpu *v)
{
    struct kvm_clock_area *area;

    if (!(v->pv->system_time_msr & KVM_MSR_ENABLE))
        return;
    area = clock_area(v);
    if (area)
        clock_write(v, area);
}

void kvm_clock_switch_in(struct vcpu *v)
{
    if (!arch_tsc_is_synchronous())
        kvm_clock_refresh(v);
}

/* The wall clock at the VM's start, when its system time was 0. */
int kvm_clock_write_wall_clock(struct vcpu *v, uint64_t value)
{
    struct kvm_wall_clock_area *area = vm_memory(v->vm, value, sizeof(*area));
    uint64_t start_ns = rtc_boot_seconds() * NS_PER_SEC + v->vm->start_ns;
    uint32_t version;

    if (!area || !IS_ALIGNED(value, 4))
        return -EINVAL;
    version = atomic_get(&area->version) | 1;
    atomic_set(&area->version, version);
    atomic_fence(); /* as in clock_write */
    area->seconds = (uint32_t)(start_ns / NS_PER_SEC);
    area->nanoseconds = (uint32_t)(start_ns % NS_PER_SEC);
    atomic_set_release(&area->version, version + 1);
    return 0;
}
