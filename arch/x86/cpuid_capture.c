/*
 * Capturing CPUID.
 *
 * Decides which subleaves exist: those of leaves that enumerate until a type of zero (4, 0xB, 0x1F,
 * 0x8000001D, 0x80000026), a count (7, 0x14, 0x17..), or a bit map (0xD). All others have one.
 * Leaves are asked for up to the CPU's own maxima only: beyond, it answers with another leaf's
 * data.
 */
#include "arch/x86/cpuid_capture.h"

#include "arch/x86/asm.h"
#include "arch/x86/features.h"
#include "arch/x86/regs/cpuid.h"

#define SUBLEAVES_MAX   8u
#define XSAVE_SUBLEAVES BITS(19, 2) /* components with a subleaf of their own */
#define EXTENDED_SPAN   0x100u

static struct cpuid_regs add(struct arch_cpu *arch, uint32_t leaf, uint32_t subleaf)
{
    struct cpuid_regs regs = asm_cpuid(leaf, subleaf);

    if (arch->cpuid_count < CPU_CPUID_ENTRIES)
        arch->cpuid[arch->cpuid_count++] = (struct cpuid_entry){leaf, subleaf, regs};
    return regs;
}

/* Cache and topology leaves: until the type field says that there is no more. */
static void add_enumerated(struct arch_cpu *arch, uint32_t leaf)
{
    bool caches = leaf == CPUID_CACHES || leaf == CPUID_AMD_CACHES;

    for (uint32_t subleaf = 0; subleaf < SUBLEAVES_MAX; subleaf++) {
        struct cpuid_regs regs = add(arch, leaf, subleaf);

        if (caches ? !(regs.eax & CPUID_CACHE_TYPE) : !(regs.ecx & CPUID_TOPOLOGY_ECX_TYPE))
            return;
    }
}

static void add_xsave(struct arch_cpu *arch)
{
    struct cpuid_regs user = add(arch, CPUID_XSAVE, 0);
    struct cpuid_regs system = add(arch, CPUID_XSAVE, 1);

    for (uint32_t component = 2; component < 20; component++)
        if ((user.eax | system.ecx) & XSAVE_SUBLEAVES & BIT(component))
            add(arch, CPUID_XSAVE, component);
}

static void add_leaf(struct arch_cpu *arch, uint32_t leaf)
{
    switch (leaf) {
    case CPUID_CACHES:
    case CPUID_TOPOLOGY:
    case CPUID_TOPOLOGY_V2:
    case CPUID_AMD_CACHES:
    case CPUID_AMD_TOPOLOGY_V2:
        add_enumerated(arch, leaf);
        break;
    case CPUID_FEATURES_7:
        for (uint32_t last = add(arch, leaf, 0).eax, n = 1; n <= MIN(last, 2); n++)
            add(arch, leaf, n);
        break;
    case CPUID_XSAVE:
        add_xsave(arch);
        break;
    default:
        add(arch, leaf, 0);
    }
}

void cpuid_capture(struct arch_cpu *arch)
{
    uint32_t basic = asm_cpuid(CPUID_MAX_BASIC, 0).eax;
    uint32_t extended = asm_cpuid(CPUID_MAX_EXTENDED, 0).eax;

    arch->cpuid_count = 0;
    for (uint32_t leaf = 0; leaf <= MIN(basic, CPUID_TOPOLOGY_V2); leaf++)
        add_leaf(arch, leaf);
    if (extended - CPUID_MAX_EXTENDED < EXTENDED_SPAN)
        for (uint32_t leaf = CPUID_MAX_EXTENDED; leaf <= MIN(extended, CPUID_AMD_TOPOLOGY_V2);
             leaf++)
            add_leaf(arch, leaf);
    arch->microcode = features_microcode();
}

struct cpuid_dump cpuid_of(const struct arch_cpu *arch)
{
    return (struct cpuid_dump){.entries = arch->cpuid, .count = arch->cpuid_count};
}
