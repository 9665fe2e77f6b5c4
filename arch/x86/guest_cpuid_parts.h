/*
 * Inside of the guest's CPUID: what builds a table, shared by its three files. Nobody else includes
 * this.
 */
#ifndef ARCH_X86_GUEST_CPUID_PARTS_H
#define ARCH_X86_GUEST_CPUID_PARTS_H

#include "arch/x86/guest_cpuid.h"

/* What the lookup puts into an entry from the vCPU's state. */
enum cpuid_fixup {
    FIX_NONE,
    FIX_LEAF_1,       /* APIC id, APIC enabled, OSXSAVE */
    FIX_LEAF_7,       /* OSPKE */
    FIX_LEAF_B,       /* x2APIC id */
    FIX_XSAVE,        /* size of the area under this XCR0 */
    FIX_XSAVE_C,      /* size of the compacted one */
    FIX_AMD_FEATURES, /* APIC enabled */
    FIX_AMD_UNIT,     /* APIC id, core, node */
};

#define FIXUP_KIND   0x7f
#define FIXUP_BY_ECX 0x80 /* the leaf has subleaves; without it ECX does not matter */

/* Bits that the build and the lookup both know. */
#define LEAF1_EBX_LOGICAL  BITS(23, 16)
#define LEAF1_EBX_APIC_ID  BITS(31, 24)
#define LEAF1_ECX_OSXSAVE  BIT(27)
#define LEAF1_EDX_APIC     BIT(9)
#define LEAF7_ECX_OSPKE    BIT(4)
#define XSAVE_LEGACY_BYTES 576u   /* x87, SSE and the header */
#define XSAVE_ECX_ALIGN    BIT(1) /* in a compacted area: at a multiple of 64 */
#define AMD_UNIT_CORE      BITS(7, 0)

/* Append an answer; leaves in any order, subleaves of one leaf one after the other. */
void guest_cpuid_add(struct guest_cpuid_table *table, uint32_t leaf, uint32_t subleaf,
                     uint8_t fixup, struct cpuid_regs regs);

/* Leaves 4 or 0x8000001D, 0xB, 0x8000001E, 0x80000005/6. */
void guest_cpuid_add_topology(struct guest_cpuid_table *table,
                              const struct guest_cpuid_config *config, bool amd);

#endif
