/*
 * The vCPU: the one schedulable thing.
 *
 * Only the CPU that has it loaded touches its registers and hardware state. Everybody else sets a
 * bit in its pending word and notifies it (vcpu_post): a blocked vCPU is woken, a running one is
 * interrupted, a ready one finds the bit before its next entry. vcpu_prepare (kernel/vcpu_entry.c)
 * is the only reader that acts on the bits.
 *
 * Tags: [i] set at creation, [c] CPU that has it loaded, [a] atomic, [V] vcpu lock.
 */
#ifndef KERNEL_VCPU_H
#define KERNEL_VCPU_H

#include "hv/atomic.h"
#include "hv/lock.h"
#include "hv/types.h"
#include "kernel/virt.h"
#include "sched/unit.h"

struct virt_vcpu; /* arch: VMCS or VMCB, XSAVE area, lazily switched registers */
struct vlapic;    /* arch: the local APIC */
struct kvm_pv;    /* arch: kvmclock, steal time */
struct guest_cpuid_table;

/* Why a vCPU must be looked at before its next entry. */
enum vcpu_pending_bit {
    PENDING_IRQ = 1u << 0, /* the vlapic may have something to deliver */
    PENDING_NMI = 1u << 1,
    PENDING_INIT = 1u << 2,
    PENDING_SIPI = 1u << 3,   /* vector in sipi_vector */
    PENDING_KICKED = 1u << 4, /* sticky "unhalted" mark of KICK_CPU; ends a HLT, else stays */
    PENDING_KILL = 1u << 6,   /* the VM ends: go no further */
    PENDING_SLEEP = 1u << 7,  /* run_state is not RUNNING: decide whether to block (own CPU only) */
};

/* PENDING_KICKED alone does not hold up an entry. */
#define PENDING_BEFORE_ENTRY (~(uint32_t)PENDING_KICKED)

enum vcpu_run_state {
    VCPU_RUNNING,   /* executes instructions when scheduled */
    VCPU_HALTED,    /* in HLT */
    VCPU_WAIT_SIPI, /* after INIT */
};

/* Names of the statistics in `hypercalls`. */
enum vcpu_hypercall {
    VCPU_HYPERCALL_KICK,
    VCPU_HYPERCALL_YIELD,
    VCPU_HYPERCALL_SCHED_YIELD,
    VCPU_HYPERCALL_SEND_IPI,
    VCPU_HYPERCALL_COUNT
};

/* What a vCPU did, or all vCPUs of a VM did; 64-bit counts do not wrap in a machine's life. */
struct vcpu_stats {
    uint64_t exits[EXIT_KIND_COUNT];
    uint64_t hypercalls[VCPU_HYPERCALL_COUNT];
    uint64_t ipis; /* sent through the local APIC or SEND_IPI */
};

#define VCPU_FAULT_NO_ERROR (-1)

struct vcpu {
    /* First cache lines: what the short exit path touches. */
    uint64_t regs[VCPU_GPR_COUNT];         /* [c] enum vcpu_gpr; offset 0 is known to asm */
    struct virt_vcpu *hw;                  /* [i] offset 128 is known to asm */
    uint32_t pending;                      /* [a] enum vcpu_pending_bit */
    uint32_t run_state;                    /* [c] enum vcpu_run_state */
    struct exit exit;                      /* [c] the last exit */
    struct vlapic *lapic;                  /* [i] */
    struct kvm_pv *pv;                     /* [i] */
    const struct guest_cpuid_table *cpuid; /* [i] */
    struct vm *vm;                         /* [i] */
    struct vcpu_stats stats;               /* [c] read by listings without a lock */
    uint64_t tsc_offset;                   /* [c] guest TSC - host TSC */

    uint32_t id;         /* [i] index in its VM */
    uint32_t apic_id;    /* [i] */
    uint32_t home_node;  /* [i] host node of its virtual node */
    uint8_t sipi_vector; /* [a] valid with PENDING_SIPI */
    bool gave_way;       /* [a] by a pause-loop exit of its own, and has not run since */
    bool passed_over;    /* [a] since then, by another's pause-loop exit */

    ns_t remote_ns;    /* [c, a] ran on CPUs of other nodes, up to the last switch */
    ns_t remote_since; /* [c, a] loaded on such a CPU since then; NS_NEVER: it is not */

    struct spinlock lock; /* rank LOCK_VCPU: decides between block and wake */
    bool blocked;         /* [V] asleep in the scheduler; a post wakes it */
    bool leaving;         /* [V] its VM has ended: it never runs again */
    bool inserted;        /* [V] the scheduler knows it */
    uint32_t wake_mask;   /* [V] pending bits that wake it while blocked */

    struct unit unit; /* the scheduler's view; has its own rules */
};

_Static_assert(offsetof(struct vcpu, regs) == 0, "vmx_entry.S and svm_entry.S");
_Static_assert(offsetof(struct vcpu, hw) == 128, "vmx_entry.S and svm_entry.S");

/*
 * Set pending bits from anywhere and make sure they are seen: wake, interrupt, or leave them to be
 * found.
 */
void vcpu_post(struct vcpu *v, uint32_t bits);

/* The same by the vCPU's own CPU, which looks before its next entry anyway. */
static inline void vcpu_post_self(struct vcpu *v, uint32_t bits)
{
    atomic_fetch_or(&v->pending, bits);
}

/*
 * Arm a fault for the instruction that exited (not skipped). error: its code or
 * VCPU_FAULT_NO_ERROR.
 */
void vcpu_fault(struct vcpu *v, uint8_t vector, int64_t error);

/* The vCPU with this APIC id in the VM, or NULL. */
struct vcpu *vcpu_by_apic_id(struct vm *vm, uint32_t apic_id);

#endif
