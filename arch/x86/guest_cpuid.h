/*
 * What a guest sees in CPUID: policy, worked out once, and the lookup on the exit path.
 *
 * The host's leaves are only ever masked by lists of what Numen keeps apart per vCPU
 * (docs/guest-abi.md); topology and caches are made up from the VM's configuration, the same on
 * whichever CPU runs. A table serves all vCPUs of a VM: what differs by vCPU or changes while it
 * runs (APIC id and enable, OSXSAVE, OSPKE, XCR0) is filled in at the lookup.
 *
 * Does not decide the guest's topology, which pv features work, or what the backend can run.
 * Source: docs/guest-abi.md; Intel SDM 2A CPUID; AMD APM 3 appendix E.
 */
#ifndef ARCH_X86_GUEST_CPUID_H
#define ARCH_X86_GUEST_CPUID_H

#include "arch/x86/regs/cr.h"
#include "hv/bits.h"
#include "hv/cpuid.h"

/* What guest_cpuid_build can offer; the caller's XSAVE area must have room for it. */
#define GUEST_XCR0_ALL         (XCR0_X87 | XCR0_SSE | XCR0_AVX | XCR0_PKRU)

#define GUEST_CPUID_KVM_BASE   0x40000000u
#define GUEST_CPUID_NUMEN_BASE 0x40000100u
#define GUEST_NUMEN_YIELD      BIT(0) /* leaf 0x40000101 EAX: hypercall 0x100 works */

struct guest_topology {
    uint32_t sockets;
    uint32_t cores;   /* per socket */
    uint32_t threads; /* per core */
};

enum guest_backend { GUEST_ON_VMX, GUEST_ON_SVM };

/* Instructions that need a switch in the VMCS; AMD-V runs what the host has. */
enum {
    GUEST_RUNS_RDTSCP = 1 << 0, /* and RDPID */
    GUEST_RUNS_INVPCID = 1 << 1,
};

struct guest_cpuid_config {
    struct cpuid_dump host; /* leaves 0, 1, 7.0, 7.1, 0xD.0-2, 0xD.9, 0x80000000-0x80000008 */
    enum guest_backend backend;
    uint32_t runs; /* GUEST_RUNS_* */
    struct guest_topology topology;
    bool l3_cache;
    bool tsc_stable; /* offer the invariant TSC */
    uint64_t xcr0;   /* GUEST_XCR0_* that the kernel keeps apart; 0: no XSAVE */
    uint32_t pv;     /* leaf 0x40000001 EAX */
    uint32_t numen;  /* leaf 0x40000101 EAX */
};

#define GUEST_CPUID_ENTRIES 48
#define GUEST_CPUID_BASICS  0x20 /* leaves 0.. and 0x80000000.. that the index covers */
#define GUEST_CPUID_INDEXED (2 * GUEST_CPUID_BASICS + 4)

struct guest_cpuid_table {
    uint8_t first[GUEST_CPUID_INDEXED]; /* leaf -> entry + 1 of its first subleaf, or 0 */
    uint8_t fixup[GUEST_CPUID_ENTRIES]; /* enum cpuid_fixup of guest_cpuid.c */
    uint32_t count;
    uint8_t core_shift; /* of the guest's APIC ids */
    uint8_t socket_shift;
    uint64_t xcr0;                                   /* what XSETBV may set; 0: no XSAVE */
    struct cpuid_entry entries[GUEST_CPUID_ENTRIES]; /* subleaves of a leaf side by side */
};

/* The vCPU's part of the answer. */
struct guest_cpuid_state {
    uint32_t apic_id;
    bool apic_enabled; /* IA32_APIC_BASE */
    bool osxsave;      /* CR4 */
    bool pke;          /* CR4 */
    uint64_t xcr0;
};

/* Bits of the APIC id below the core number, and below the socket number, as leaf 0xB tells. */
uint32_t guest_topology_core_shift(const struct guest_topology *t);
uint32_t guest_topology_socket_shift(const struct guest_topology *t);

/* APIC id of a vCPU: threads first, then cores, then sockets. */
uint32_t guest_topology_apic_id(const struct guest_topology *t, uint32_t vcpu);

void guest_cpuid_build(struct guest_cpuid_table *table, const struct guest_cpuid_config *config);

/* The answer to CPUID with EAX = leaf and ECX = subleaf. A leaf not offered is all zero. */
struct cpuid_regs guest_cpuid_lookup(const struct guest_cpuid_table *table, uint32_t leaf,
                                     uint32_t subleaf, const struct guest_cpuid_state *state);

/*
 * May the guest load this XCR0? (SDM 1 13.3: x87 always, AVX only with SSE, nothing not offered.)
 */
bool guest_cpuid_xcr0_valid(const struct guest_cpuid_table *table, uint64_t xcr0);

#endif
