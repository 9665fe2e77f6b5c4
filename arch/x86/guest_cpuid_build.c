/*
 * Which CPU features a guest is offered.
 *
 * Everything is a list of what may pass: a bit passes when the host has it, it stands in the list,
 * and what it rests on is offered too (AVX on XCR0, RDTSCP on the VMCS). The lists hold what works
 * without help or with state that Numen switches per vCPU. Left out by design: MONITOR (it would
 * turn off PV yield), VMX, SVM, MTRR, MCE, PMU, LA57, TSC_ADJUST, XSAVES, SPEC_CTRL and all else
 * that comes with an MSR Numen does not keep. The x2APIC and TSC deadline are the vlapic's and are
 * there on every host.
 *
 * Invariant: the vendor is the backend's, since guests choose VMCALL or VMMCALL by it.
 * Source: docs/guest-abi.md; SDM 2A CPUID; AMD APM 3 appendix E.
 */
#include "arch/x86/guest_cpuid.h"

#include <string.h>

#include "arch/x86/guest_cpuid_parts.h"
#include "arch/x86/regs/cpuid.h"

#define BASIC_MAX          0xdu
#define EXTENDED_MAX_INTEL 0x80000008u
#define EXTENDED_MAX_AMD   0x8000001eu

/* Given to the guest when the host's vendor is not the backend's (emulators): Rome, Skylake. */
#define SIGNATURE_AMD   0x00830f10u
#define SIGNATURE_INTEL 0x000506e3u

/* ---- leaf 1 ---- */
#define SSE3     BIT(0)
#define PCLMUL   BIT(1)
#define SSSE3    BIT(9)
#define FMA      BIT(12)
#define CX16     BIT(13)
#define PCID     BIT(17)
#define SSE4_1   BIT(19)
#define SSE4_2   BIT(20)
#define X2APIC   BIT(21)
#define MOVBE    BIT(22)
#define POPCNT   BIT(23)
#define DEADLINE BIT(24)
#define AES      BIT(25)
#define XSAVE    BIT(26)
#define AVX      BIT(28)
#define F16C     BIT(29)
#define RDRAND   BIT(30)
#define HTT      BIT(28)

#define LEAF1_ECX_PASS                                                                            \
    (SSE3 | PCLMUL | SSSE3 | FMA | CX16 | PCID | SSE4_1 | SSE4_2 | MOVBE | POPCNT | AES | XSAVE | \
     AVX | F16C | RDRAND)
#define LEAF1_ECX_AVX   (FMA | AVX | F16C)
#define LEAF1_ECX_XSAVE (XSAVE | LEAF1_ECX_AVX)

/* FPU VME DE PSE TSC MSR PAE; CX8; SEP; PGE; CMOV PAT PSE36; CLFSH; MMX FXSR SSE SSE2 SS */
#define LEAF1_EDX_PASS \
    (BITS(6, 0) | BIT(8) | BIT(11) | BIT(13) | BITS(17, 15) | BIT(19) | BITS(27, 23))
#define CLFLUSH_UNITS (8u << 8) /* 64 bytes in units of 8 */

/* ---- leaf 7 ---- */
#define INVPCID  BIT(10) /* EBX */
#define AVX2     BIT(5)
#define PKU      BIT(3) /* ECX */
#define VAES     BIT(9)
#define VPCLMUL  BIT(10)
#define RDPID    BIT(22)
#define AVX_VNNI BIT(4) /* subleaf 1, EAX */

/*
 * FSGSBASE; BMI1; AVX2, FDP; SMEP BMI2 ERMS INVPCID; FPCSDS; RDSEED ADX SMAP; CLFLUSHOPT CLWB; SHA
 */
#define LEAF7_EBX_PASS                                                                           \
    (BIT(0) | BIT(3) | AVX2 | BIT(6) | BITS(9, 7) | INVPCID | BIT(13) | BITS(20, 18) | BIT(23) | \
     BIT(24) | BIT(29))
/* UMIP PKU; GFNI; CLDEMOTE, MOVDIRI, MOVDIR64B */
#define LEAF7_ECX_PASS \
    (BIT(2) | PKU | BIT(8) | VAES | VPCLMUL | RDPID | BIT(25) | BIT(27) | BIT(28))
#define LEAF7_EDX_PASS   (BIT(4) | BIT(10) | BIT(14))             /* FSRM MD_CLEAR SERIALIZE */
#define LEAF71_EAX_PASS  (AVX_VNNI | BIT(10) | BIT(11) | BIT(12)) /* FZRM FSRS FSRC */

#define LEAF2_SEE_LEAF_4 0x00ff0001u /* one round; descriptor 0xff */
#define ARAT             BIT(2)      /* leaf 6 EAX: the APIC timer never stops */
#define XSAVE_FORMS      BITS(2, 0)  /* leaf 0xD.1 EAX: XSAVEOPT, XSAVEC, XGETBV with ECX = 1 */

/* ---- 0x80000001 ---- */
#define CMP_LEGACY BIT(1) /* ECX */
#define XOP        BIT(11)
#define FMA4       BIT(16)
#define TOPOEXT    BIT(22)
#define RDTSCP     BIT(27) /* EDX */

/* LAHF; LZCNT SSE4A MISALIGNSSE PREFETCHW; TBM */
#define EXT1_ECX_PASS   (BIT(0) | BITS(8, 5) | XOP | FMA4 | BIT(21))
#define EXT1_EDX_PASS   (BIT(11) | BIT(20) | BIT(26) | RDTSCP | BIT(29)) /* SYSCALL NX 1G; LM */
#define EXT1_EDX_AMD    (BIT(22) | BIT(30) | BIT(31))                    /* MMXEXT 3DNOW */
#define EXT1_EDX_LEAF1  (BITS(9, 0) | BITS(17, 12) | BIT(23) | BIT(24))  /* AMD repeats these */

#define INVARIANT_TSC   BIT(8)            /* 0x80000007 EDX */
#define EXT8_EBX_PASS   (BIT(0) | BIT(2)) /* CLZERO, XSAVEERPTR */
#define EXT8_PHYS_BITS  BITS(7, 0)
#define EXT8_LIN_BITS   BITS(15, 8)
#define EXT8_CPUS       BITS(7, 0)
#define EXT8_ID_BITS    BITS(15, 12)
#define PHYS_BITS_LEAST 36u
#define LIN_BITS        48u

struct build {
    struct guest_cpuid_table *table;
    const struct guest_cpuid_config *config;
    bool amd;    /* the guest's vendor family */
    bool rdtscp; /* the backend can run it, RDPID too */
    uint64_t xcr0;
    uint32_t signature;
    struct cpuid_regs vendor; /* leaf 0's EBX, ECX, EDX */
};

static struct cpuid_regs host_leaf(const struct build *b, uint32_t leaf, uint32_t subleaf)
{
    return cpuid_dump_lookup(b->config->host, leaf, subleaf);
}

static void add(struct build *b, uint32_t leaf, uint8_t fixup, struct cpuid_regs regs)
{
    guest_cpuid_add(b->table, leaf, 0, fixup, regs);
}

/* A signature as CPUID spreads it over three registers. */
static struct cpuid_regs signature_regs(uint32_t eax, const char text[static 12])
{
    uint32_t words[3];

    memcpy(words, text, sizeof(words));
    return (struct cpuid_regs){eax, words[0], words[1], words[2]};
}

/* Host's vendor and model where they are of the backend's kind; else a stand-in of that kind. */
static void vendor_choose(struct build *b)
{
    struct cpuid_regs host = host_leaf(b, 0, 0);
    bool host_amd = host.ebx == CPUID_VENDOR_EBX_AMD || host.ebx == CPUID_VENDOR_EBX_HYGON;

    b->amd = b->config->backend == GUEST_ON_SVM;
    b->signature = host_leaf(b, 1, 0).eax;
    b->vendor = (struct cpuid_regs){BASIC_MAX, host.ebx, host.ecx, host.edx};
    if (b->amd == host_amd && host.ebx)
        return;
    /* Leaf 0 has EDX before ECX. */
    b->vendor = b->amd ? signature_regs(BASIC_MAX, "AuthcAMDenti")
                       : signature_regs(BASIC_MAX, "GenuntelineI");
    b->signature = b->amd ? SIGNATURE_AMD : SIGNATURE_INTEL;
}

/* XCR0 bits: what the kernel keeps apart and the host has; nothing without XSAVE and SSE. */
static uint64_t xcr0_offered(const struct build *b)
{
    uint32_t basic = host_leaf(b, 1, 0).ecx;
    uint64_t xcr0 = b->config->xcr0 & GUEST_XCR0_ALL & host_leaf(b, BASIC_MAX, 0).eax;
    const uint64_t least = XCR0_X87 | XCR0_SSE;

    if (!(basic & XSAVE) || (xcr0 & least) != least)
        return 0;
    if (!(basic & AVX))
        xcr0 &= ~XCR0_AVX;
    if (!(host_leaf(b, 7, 0).ecx & PKU))
        xcr0 &= ~XCR0_PKRU;
    return xcr0;
}

static uint32_t cpus_per_socket(const struct build *b)
{
    return b->config->topology.cores * b->config->topology.threads;
}

static void leaf_1_add(struct build *b)
{
    struct cpuid_regs r = host_leaf(b, 1, 0);
    uint32_t cpus = cpus_per_socket(b);
    uint32_t logical = b->amd ? cpus : 1u << guest_topology_socket_shift(&b->config->topology);

    r.eax = b->signature;
    r.ebx = CLFLUSH_UNITS | (uint32_t)FIELD_PREP(LEAF1_EBX_LOGICAL, MIN(logical, 255u));
    r.ecx = (r.ecx & LEAF1_ECX_PASS) | X2APIC | DEADLINE | (uint32_t)CPUID_1_ECX_HYPERVISOR;
    r.edx = (r.edx & LEAF1_EDX_PASS) | (cpus > 1 ? (uint32_t)HTT : 0);
    if (!b->xcr0)
        r.ecx &= (uint32_t)~LEAF1_ECX_XSAVE;
    if (!(b->xcr0 & XCR0_AVX))
        r.ecx &= (uint32_t)~LEAF1_ECX_AVX;
    add(b, 1, FIX_LEAF_1, r);
}

static void leaf_7_add(struct build *b)
{
    struct cpuid_regs r = host_leaf(b, 7, 0), r1 = host_leaf(b, 7, 1);
    bool invpcid = b->amd || (b->config->runs & GUEST_RUNS_INVPCID);

    r.ebx &= LEAF7_EBX_PASS & ~(invpcid ? 0 : INVPCID);
    r.ecx &= LEAF7_ECX_PASS & ~(b->rdtscp ? 0 : RDPID);
    r.edx &= LEAF7_EDX_PASS;
    r1 = (struct cpuid_regs){.eax = r1.eax & LEAF71_EAX_PASS};
    if (!(b->xcr0 & XCR0_AVX)) {
        r.ebx &= (uint32_t)~AVX2;
        r.ecx &= (uint32_t) ~(VAES | VPCLMUL);
        r1.eax &= (uint32_t)~AVX_VNNI;
    }
    if (!(b->xcr0 & XCR0_PKRU))
        r.ecx &= (uint32_t)~PKU;
    r.eax = 1;
    guest_cpuid_add(b->table, 7, 0, FIX_LEAF_7 | FIXUP_BY_ECX, r);
    guest_cpuid_add(b->table, 7, 1, FIXUP_BY_ECX, r1);
}

/* Sizes in EBX are the lookup's; ECX of subleaf 0 is the size with all components on. */
static void leaf_d_add(struct build *b)
{
    static const uint8_t components[] = {2, 9};
    struct cpuid_regs all = {.eax = (uint32_t)b->xcr0, .ecx = XSAVE_LEGACY_BYTES};
    struct cpuid_regs forms = {.eax = host_leaf(b, 0xd, 1).eax & XSAVE_FORMS};

    if (!b->xcr0)
        return;
    for (uint32_t i = 0; i < ARRAY_SIZE(components); i++) {
        struct cpuid_regs c = host_leaf(b, 0xd, components[i]);

        if (b->xcr0 & BIT(components[i]))
            all.ecx = MAX(all.ecx, c.ebx + c.eax);
    }
    guest_cpuid_add(b->table, 0xd, 0, FIX_XSAVE | FIXUP_BY_ECX, all);
    guest_cpuid_add(b->table, 0xd, 1, FIX_XSAVE_C | FIXUP_BY_ECX, forms);
    for (uint32_t i = 0; i < ARRAY_SIZE(components); i++) {
        struct cpuid_regs c = host_leaf(b, 0xd, components[i]);

        c.ecx &= XSAVE_ECX_ALIGN;
        if (b->xcr0 & BIT(components[i]))
            guest_cpuid_add(b->table, 0xd, components[i], FIXUP_BY_ECX, c);
    }
}

static void hypervisor_leaves_add(struct build *b)
{
    add(b, GUEST_CPUID_KVM_BASE, FIX_NONE,
        signature_regs(GUEST_CPUID_KVM_BASE + 1, "KVMKVMKVM\0\0\0"));
    add(b, GUEST_CPUID_KVM_BASE + 1, FIX_NONE, (struct cpuid_regs){.eax = b->config->pv});
    add(b, GUEST_CPUID_NUMEN_BASE, FIX_NONE,
        signature_regs(GUEST_CPUID_NUMEN_BASE + 1, "NumenNumenNu"));
    add(b, GUEST_CPUID_NUMEN_BASE + 1, FIX_NONE, (struct cpuid_regs){.eax = b->config->numen});
}

static void leaf_80000001_add(struct build *b)
{
    struct cpuid_regs r = host_leaf(b, 0x80000001, 0);

    r.eax = b->amd ? b->signature : 0;
    r.ebx = 0;
    r.ecx &= EXT1_ECX_PASS;
    r.edx &= (b->amd ? EXT1_EDX_PASS | EXT1_EDX_AMD : EXT1_EDX_PASS) & ~(b->rdtscp ? 0 : RDTSCP);
    if (!(b->xcr0 & XCR0_AVX))
        r.ecx &= (uint32_t) ~(XOP | FMA4);
    if (b->amd) {
        r.ecx |= TOPOEXT | (cpus_per_socket(b) > 1 ? CMP_LEGACY : 0);
        r.edx |= host_leaf(b, 1, 0).edx & LEAF1_EDX_PASS & EXT1_EDX_LEAF1;
    }
    add(b, 0x80000001, b->amd ? FIX_AMD_FEATURES : FIX_NONE, r);
}

static void leaf_80000008_add(struct build *b)
{
    struct cpuid_regs host = host_leaf(b, 0x80000008, 0), r = {0, 0, 0, 0};
    uint32_t phys = MAX((uint32_t)FIELD_GET(EXT8_PHYS_BITS, host.eax), PHYS_BITS_LEAST);

    r.eax = phys | (uint32_t)FIELD_PREP(EXT8_LIN_BITS, LIN_BITS);
    if (b->amd) {
        r.ebx = host.ebx & EXT8_EBX_PASS;
        r.ecx =
            (uint32_t)(FIELD_PREP(EXT8_CPUS, MIN(cpus_per_socket(b), 256u) - 1) |
                       FIELD_PREP(EXT8_ID_BITS, guest_topology_socket_shift(&b->config->topology)));
    }
    add(b, 0x80000008, FIX_NONE, r);
}

static void extended_leaves_add(struct build *b)
{
    struct cpuid_regs top = b->vendor;
    uint32_t invariant = b->config->tsc_stable ? (uint32_t)INVARIANT_TSC : 0;

    top.eax = b->amd ? EXTENDED_MAX_AMD : EXTENDED_MAX_INTEL;
    if (!b->amd)
        top.ebx = top.ecx = top.edx = 0;
    add(b, 0x80000000, FIX_NONE, top);
    leaf_80000001_add(b);
    for (uint32_t leaf = 0x80000002; leaf <= 0x80000004; leaf++) /* the brand string */
        add(b, leaf, FIX_NONE, host_leaf(b, leaf, 0));
    add(b, 0x80000007, FIX_NONE, (struct cpuid_regs){.edx = invariant});
    leaf_80000008_add(b);
}

void guest_cpuid_build(struct guest_cpuid_table *table, const struct guest_cpuid_config *config)
{
    struct build b = {.table = table, .config = config};

    memset(table, 0, sizeof(*table));
    vendor_choose(&b);
    b.rdtscp = b.amd || (config->runs & GUEST_RUNS_RDTSCP);
    b.xcr0 = xcr0_offered(&b);
    table->xcr0 = b.xcr0;
    table->core_shift = (uint8_t)guest_topology_core_shift(&config->topology);
    table->socket_shift = (uint8_t)guest_topology_socket_shift(&config->topology);

    add(&b, 0, FIX_NONE, b.vendor);
    leaf_1_add(&b);
    if (!b.amd)
        add(&b, 2, FIX_NONE, (struct cpuid_regs){.eax = LEAF2_SEE_LEAF_4});
    add(&b, 6, FIX_NONE, (struct cpuid_regs){.eax = ARAT});
    leaf_7_add(&b);
    leaf_d_add(&b);
    hypervisor_leaves_add(&b);
    extended_leaves_add(&b);
    guest_cpuid_add_topology(table, config, b.amd);
}
