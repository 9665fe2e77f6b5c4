/*
 * CPU features and control registers.
 *
 * Decides: which protections are on (WP, NX, SMEP, SMAP, UMIP where present) and that all CPUs have
 * the same ones, those of the boot CPU. Does not decide what guests see, nor VMXE and SVME, which
 * virtualization adds.
 * Source: SDM 3A 2.5, 15.3 and 15.8 (machine checks).
 */
#include "arch/x86/features.h"

#include "arch/x86/asm.h"
#include "arch/x86/cpu_model.h"
#include "arch/x86/regs/cpuid.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/msr.h"
#include "boot/entry.h"

_Static_assert(ENTRY_CR0 == (CR0_PG | CR0_WP | CR0_NE | CR0_ET | CR0_MP | CR0_PE), "boot/entry.h");
_Static_assert(ENTRY_CR4 == CR4_PAE, "boot/entry.h");
_Static_assert(ENTRY_MSR_EFER == MSR_EFER, "boot/entry.h");
_Static_assert(ENTRY_EFER_LME == EFER_LME && ENTRY_EFER_NXE == EFER_NXE, "boot/entry.h");
_Static_assert(BIT(ENTRY_CPUID_NX) == CPUID_EXT_EDX_NX, "boot/entry.h");
_Static_assert(BIT(ENTRY_CPUID_LM) == CPUID_EXT_EDX_LM, "boot/entry.h");

#define MODEL_NEHALEM       0x1au
#define PHYSICAL_BITS_LEAST 36u /* where CPUID does not tell */
#define PHYSICAL_BITS_MOST  52u /* that a page-table entry holds */

struct cpu_features cpu_features;

static int read_msr(uint32_t msr, uint64_t *value)
{
    return asm_rdmsr_safe(msr, value);
}

static int write_msr(uint32_t msr, uint64_t value)
{
    return asm_wrmsr_safe(msr, value);
}

const struct msr_ops cpu_msrs = {read_msr, write_msr};

static void read_basic(struct cpu_features *f)
{
    struct cpuid_regs leaf0 = asm_cpuid(CPUID_MAX_BASIC, 0);
    struct cpuid_regs leaf1 = asm_cpuid(CPUID_VERSION, 0);

    f->intel = leaf0.ebx == CPUID_VENDOR_EBX_INTEL;
    f->amd = leaf0.ebx == CPUID_VENDOR_EBX_AMD || leaf0.ebx == CPUID_VENDOR_EBX_HYGON;
    cpu_model_decode(leaf1.eax, &f->family, &f->model, &f->stepping);
    f->x2apic = leaf1.ecx & CPUID_1_ECX_X2APIC;
    f->tsc_deadline = leaf1.ecx & CPUID_1_ECX_DEADLINE;
    f->xsave = leaf1.ecx & CPUID_1_ECX_XSAVE;
    f->hypervisor = leaf1.ecx & CPUID_1_ECX_HYPERVISOR;
    f->pge = leaf1.edx & CPUID_1_EDX_PGE;
    f->mce = leaf1.edx & CPUID_1_EDX_MCE;
    f->mca = leaf1.edx & CPUID_1_EDX_MCA;
    if (leaf0.eax >= CPUID_FEATURES_7) {
        struct cpuid_regs leaf7 = asm_cpuid(CPUID_FEATURES_7, 0);

        f->tsc_adjust = leaf7.ebx & CPUID_7_EBX_TSC_ADJUST;
        f->smep = leaf7.ebx & CPUID_7_EBX_SMEP;
        f->smap = leaf7.ebx & CPUID_7_EBX_SMAP;
        f->umip = leaf7.ecx & CPUID_7_ECX_UMIP;
    }
}

void features_init(void)
{
    struct cpu_features *f = &cpu_features;
    uint32_t max = asm_cpuid(CPUID_MAX_EXTENDED, 0).eax;
    uint32_t edx = asm_cpuid(CPUID_EXTENDED, 0).edx; /* there: head.S has looked */
    uint64_t physical = 0;

    read_basic(f);
    f->nx = edx & CPUID_EXT_EDX_NX;
    f->page_1gib = edx & CPUID_EXT_EDX_PAGE1GB;
    if (max >= CPUID_SIZES)
        physical = FIELD_GET(CPUID_SIZES_EAX_PHYSICAL, asm_cpuid(CPUID_SIZES, 0).eax);
    f->physical_limit = BIT(MIN(MAX(physical, PHYSICAL_BITS_LEAST), PHYSICAL_BITS_MOST));
    if (max >= CPUID_POWER)
        f->invariant_tsc = asm_cpuid(CPUID_POWER, 0).edx & CPUID_POWER_EDX_INVARIANT_TSC;
}

static void machine_check_enable(void)
{
    const struct cpu_features *f = &cpu_features;
    uint32_t first = f->intel && f->family == 6 && f->model < MODEL_NEHALEM;
    uint64_t capabilities, banks;

    /* Safe forms throughout: emulators announce the architecture, or banks, that they lack. */
    if (!f->mca || asm_rdmsr_safe(MSR_MCG_CAP, &capabilities))
        return;
    banks = FIELD_GET(MCG_CAP_COUNT, capabilities);
    if (capabilities & MCG_CAP_CTL)
        (void)asm_wrmsr_safe(MSR_MCG_CTL, UINT64_MAX);
    /* Bank 0 of the first parts of family 6 is the firmware's alone: SDM 3B 15.3.2.1. */
    for (uint32_t bank = first; bank < banks; bank++) {
        if (!asm_wrmsr_safe(MSR_MC_CTL(bank), UINT64_MAX))
            (void)asm_wrmsr_safe(MSR_MC_STATUS(bank), 0);
    }
}

void features_setup_cpu(void)
{
    const struct cpu_features *f = &cpu_features;

    asm_write_cr0(CR0_PG | CR0_WP | CR0_NE | CR0_ET | CR0_MP | CR0_PE);
    asm_write_cr4(CR4_PAE | CR4_OSFXSR | CR4_OSXMMEXCPT | (f->pge ? CR4_PGE : 0) |
                  (f->mce ? CR4_MCE : 0) | (f->xsave ? CR4_OSXSAVE : 0) | (f->smep ? CR4_SMEP : 0) |
                  (f->smap ? CR4_SMAP : 0) | (f->umip ? CR4_UMIP : 0));
    asm_wrmsr(MSR_EFER, EFER_LME | EFER_LMA | (f->nx ? EFER_NXE : 0));
    asm_wrmsr(MSR_PAT, PAT_HOST);
    machine_check_enable();
}

uint32_t features_microcode(void)
{
    uint64_t revision;

    if (cpu_features.intel) {
        (void)asm_wrmsr_safe(MSR_UCODE_REV, 0);
        (void)asm_cpuid(CPUID_VERSION, 0); /* loads the register: SDM 3A 9.11.7.1 */
    }
    if (asm_rdmsr_safe(MSR_UCODE_REV, &revision))
        return 0;
    return (uint32_t)(cpu_features.intel ? revision >> 32 : revision);
}
