/*
 * What the hypervisor offers: KVM's signature, features, hypercalls, kvmclock, steal time; and
 * Numen's own leaf (docs/guest-abi.md).
 *
 * Natively, or with pv=off on the guest, `pv.kvm` is false and hypercalls are not made.
 */
#ifndef GUEST_RT_PV_H
#define GUEST_RT_PV_H

#include "tests/guests/rt/cpu.h"

enum pv_feature {
    PV_CLOCKSOURCE = 1u << 0,
    PV_CLOCKSOURCE2 = 1u << 3,
    PV_STEAL_TIME = 1u << 5,
    PV_UNHALT = 1u << 7,
    PV_TLB_FLUSH = 1u << 9,
    PV_SEND_IPI = 1u << 11,
    PV_SCHED_YIELD = 1u << 13,
    PV_CLOCK_STABLE = 1u << 24,
};

enum pv_call {
    CALL_KICK_CPU = 5,
    CALL_SEND_IPI = 10,
    CALL_SCHED_YIELD = 11,
    CALL_YIELD = 0x100,
};

enum {
    MSR_PV_WALL_CLOCK = 0x4b564d00,
    MSR_PV_SYSTEM_TIME = 0x4b564d01,
    MSR_PV_STEAL_TIME = 0x4b564d03,
    PV_ENABLE = 1,
    PV_ENOSYS = -1000,
    PV_EPERM = -1,
};

struct pv_state {
    bool hypervisor;    /* CPUID says there is one */
    bool kvm;           /* it speaks KVM's ABI */
    bool numen;         /* and it is Numen */
    bool yields;        /* CALL_YIELD is there */
    bool amd;           /* VMMCALL, not VMCALL */
    uint32_t features;  /* enum pv_feature */
    char signature[13]; /* of 0x40000000 */
    char vendor[13];
};

extern struct pv_state pv; /* [i] */

void pv_init(void);

/* On each CPU: registers kvmclock and steal time where they are offered. */
void pv_enable(void);

static inline bool pv_has(uint32_t feature)
{
    return (pv.features & feature) == feature;
}

/* A hypercall by the vendor's instruction. Only RAX changes. */
int64_t pv_call(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* The same by VMCALL or VMMCALL at will; false when it raised an exception. */
bool pv_call_safe(bool vmmcall, uint64_t nr, uint64_t a, int64_t *result);

/* kvmclock's time by the current CPU's structure. */
uint64_t pv_clock_ns(void);

/* The wall clock, ns since 1970, when kvmclock's time was 0: the VM's start. */
uint64_t pv_wall_start_ns(void);

/* Stolen ns of `cpu`, read consistently. */
uint64_t pv_steal_ns(const struct cpu *cpu);

/* The TSC's frequency by kvmclock; 0 without one. */
uint64_t pv_tsc_khz(void);

#endif
