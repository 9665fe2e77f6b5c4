/*
 * The lookup in a guest's CPUID table: a direct index to the leaf, then the vCPU's own bits.
 *
 * This is the CPUID exit's path, so the index covers every leaf that is ever offered and a leaf's
 * few subleaves stand side by side. Whatever is not in the table is all zero, whichever vendor:
 * Intel's habit of answering with the highest leaf serves nobody.
 *
 * Does not decide what is offered: guest_cpuid_build.c does.
 */
#include "arch/x86/guest_cpuid.h"

#include "hv/assert.h"
#include "arch/x86/guest_cpuid_parts.h"

#define LEAF_EXTENDED 0x80000000u
#define LEAF_TOPOLOGY 0xbu
#define LEAF_XSAVE    0xdu
#define HYPER_LEAVES  2u /* of each signature */
#define SUBLEAF_LOW   BITS(7, 0)

/* Index of a leaf, or GUEST_CPUID_INDEXED for one that is never offered. */
static uint32_t leaf_index(uint32_t leaf)
{
    if (leaf < GUEST_CPUID_BASICS)
        return leaf;
    if (leaf - LEAF_EXTENDED < GUEST_CPUID_BASICS)
        return GUEST_CPUID_BASICS + (leaf - LEAF_EXTENDED);
    if (leaf - GUEST_CPUID_KVM_BASE < HYPER_LEAVES)
        return 2 * GUEST_CPUID_BASICS + (leaf - GUEST_CPUID_KVM_BASE);
    if (leaf - GUEST_CPUID_NUMEN_BASE < HYPER_LEAVES)
        return 2 * GUEST_CPUID_BASICS + HYPER_LEAVES + (leaf - GUEST_CPUID_NUMEN_BASE);
    return GUEST_CPUID_INDEXED;
}

void guest_cpuid_add(struct guest_cpuid_table *table, uint32_t leaf, uint32_t subleaf,
                     uint8_t fixup, struct cpuid_regs regs)
{
    uint32_t at = table->count, index = leaf_index(leaf);

    ASSERT(at < GUEST_CPUID_ENTRIES && index < GUEST_CPUID_INDEXED);
    table->entries[at] = (struct cpuid_entry){leaf, subleaf, regs};
    table->fixup[at] = fixup;
    table->count++;
    if (!table->first[index])
        table->first[index] = (uint8_t)(at + 1);
}

/* Bytes of the XSAVE area that holds the components of xcr0. */
static uint32_t xsave_bytes(const struct guest_cpuid_table *table, uint64_t xcr0, bool compacted)
{
    uint32_t bytes = XSAVE_LEGACY_BYTES;

    for (uint32_t i = table->first[LEAF_XSAVE] - 1u; i < table->count; i++) {
        const struct cpuid_entry *e = &table->entries[i];

        if (e->leaf != LEAF_XSAVE)
            break;
        if (e->subleaf < 2 || !(xcr0 & BIT(e->subleaf)))
            continue;
        if (!compacted) {
            bytes = MAX(bytes, e->regs.ebx + e->regs.eax);
            continue;
        }
        if (e->regs.ecx & XSAVE_ECX_ALIGN)
            bytes = ALIGN_UP(bytes, 64u);
        bytes += e->regs.eax;
    }
    return bytes;
}

static struct cpuid_regs entry_fix(const struct guest_cpuid_table *table, uint32_t at,
                                   const struct guest_cpuid_state *state)
{
    struct cpuid_regs r = table->entries[at].regs;

    switch (table->fixup[at] & FIXUP_KIND) {
    case FIX_LEAF_1:
        r.ebx |= (uint32_t)FIELD_PREP(LEAF1_EBX_APIC_ID, state->apic_id);
        r.ecx |= state->osxsave ? (uint32_t)LEAF1_ECX_OSXSAVE : 0;
        r.edx |= state->apic_enabled ? (uint32_t)LEAF1_EDX_APIC : 0;
        break;
    case FIX_LEAF_7:
        r.ecx |= state->pke ? (uint32_t)LEAF7_ECX_OSPKE : 0;
        break;
    case FIX_LEAF_B:
        r.edx = state->apic_id;
        break;
    case FIX_XSAVE:
        r.ebx = xsave_bytes(table, state->xcr0 & table->xcr0, false);
        break;
    case FIX_XSAVE_C:
        r.ebx = xsave_bytes(table, state->xcr0 & table->xcr0, true);
        break;
    case FIX_AMD_FEATURES:
        r.edx |= state->apic_enabled ? (uint32_t)LEAF1_EDX_APIC : 0;
        break;
    case FIX_AMD_UNIT:
        r.eax = state->apic_id;
        r.ebx |= (state->apic_id >> table->core_shift) &
                 (uint32_t)(BIT(table->socket_shift - table->core_shift) - 1) & AMD_UNIT_CORE;
        r.ecx |= (state->apic_id >> table->socket_shift) & AMD_UNIT_CORE;
        break;
    default:
        break;
    }
    return r;
}

struct cpuid_regs guest_cpuid_lookup(const struct guest_cpuid_table *table, uint32_t leaf,
                                     uint32_t subleaf, const struct guest_cpuid_state *state)
{
    uint32_t index = leaf_index(leaf), at;

    if (index == GUEST_CPUID_INDEXED || !table->first[index])
        return (struct cpuid_regs){0, 0, 0, 0};
    at = table->first[index] - 1u;
    if (!(table->fixup[at] & FIXUP_BY_ECX))
        return entry_fix(table, at, state);
    for (; at < table->count && table->entries[at].leaf == leaf; at++)
        if (table->entries[at].subleaf == subleaf)
            return entry_fix(table, at, state);
    /* Levels that do not exist still echo ECX and tell the APIC id. */
    if (leaf == LEAF_TOPOLOGY)
        return (struct cpuid_regs){0, 0, subleaf & (uint32_t)SUBLEAF_LOW, state->apic_id};
    return (struct cpuid_regs){0, 0, 0, 0};
}

bool guest_cpuid_xcr0_valid(const struct guest_cpuid_table *table, uint64_t xcr0)
{
    if (!(xcr0 & XCR0_X87) || (xcr0 & ~table->xcr0))
        return false;
    return !(xcr0 & XCR0_AVX) || (xcr0 & XCR0_SSE);
}
