/*
 * Hypercalls: KVM's KICK_CPU, SEND_IPI and SCHED_YIELD, and Numen's own YIELD.
 *
 * Decides who is kicked, yielded to or interrupted; the scheduler does the
 * rest. Registers and results as docs/guest-abi.md lists them: number in RAX,
 * arguments RBX RCX RDX RSI, result in RAX, nothing else changed. A call from
 * ring 3 gets -EPERM, one that is unknown or not offered -KVM_ENOSYS.
 */
#include "arch/x86/kvm_pv.h"
#include "arch/x86/vlapic_ipi.h"
#include "kernel/arch.h"
#include "kernel/schedule.h"
#include "kernel/vm.h"

enum hypercall_nr {
    HYPERCALL_KICK_CPU = 5,
    HYPERCALL_SEND_IPI = 10,
    HYPERCALL_SCHED_YIELD = 11,
    HYPERCALL_YIELD = 0x100
};

/* Keeps the registers that a call needs off the path of those that need none. */
#define NOINLINE         __attribute__((noinline))

#define HYPERCALL_EPERM  ((uint64_t)-1)
#define HYPERCALL_ENOSYS ((uint64_t)-1000)

/*
 * A kick before the HLT makes that HLT return at once: the mark is sticky. No interrupt is
 * injected.
 */
static NOINLINE uint64_t hypercall_kick(struct vcpu *v, uint32_t apic_id)
{
    struct vcpu *to = vcpu_by_apic_id(v->vm, apic_id);

    v->stats.hypercalls[VCPU_HYPERCALL_KICK]++;
    if (to == v) {
        vcpu_post_self(v, PENDING_KICKED);
    } else if (to) {
        vcpu_post(to, PENDING_KICKED);
        schedule_yield_to(to);
    }
    return 0;
}

static NOINLINE uint64_t hypercall_sched_yield(struct vcpu *v, uint32_t apic_id)
{
    struct vcpu *to = vcpu_by_apic_id(v->vm, apic_id);

    v->stats.hypercalls[VCPU_HYPERCALL_SCHED_YIELD]++;
    if (to && to != v)
        schedule_yield_to(to);
    return 0;
}

static NOINLINE uint64_t hypercall_send_ipi(struct vcpu *v)
{
    const uint64_t bitmap[2] = {v->regs[VCPU_RBX], v->regs[VCPU_RCX]};

    v->stats.hypercalls[VCPU_HYPERCALL_SEND_IPI]++;
    return vlapic_send_bitmap(v, bitmap, (uint32_t)v->regs[VCPU_RDX], v->regs[VCPU_RSI]);
}

static uint64_t hypercall_yield(struct vcpu *v)
{
    v->stats.hypercalls[VCPU_HYPERCALL_YIELD]++;
    schedule_yield();
    return 0;
}

static uint64_t hypercall_do(struct vcpu *v)
{
    uint32_t offered = v->vm->pv_features;

    switch (v->regs[VCPU_RAX]) {
    case HYPERCALL_KICK_CPU:
        if (offered & GUEST_PV_UNHALT)
            return hypercall_kick(v, (uint32_t)v->regs[VCPU_RCX]);
        break;
    case HYPERCALL_SEND_IPI:
        if (offered & GUEST_PV_IPI)
            return hypercall_send_ipi(v);
        break;
    case HYPERCALL_SCHED_YIELD:
        if (offered & GUEST_PV_YIELD)
            return hypercall_sched_yield(v, (uint32_t)v->regs[VCPU_RBX]);
        break;
    case HYPERCALL_YIELD:
        return hypercall_yield(v);
    default:
        break;
    }
    return HYPERCALL_ENOSYS;
}

void guest_hypercall_exit(struct vcpu *v)
{
    v->regs[VCPU_RAX] = v->exit.cpl ? HYPERCALL_EPERM : hypercall_do(v);
    virt->skip(v);
}
