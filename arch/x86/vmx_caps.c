/*
 * What VT-x offers on this machine, and what of it is used.
 *
 * Decides: EPT with write-back and four levels, unrestricted guest, TRUE controls and virtual NMIs
 * are required, each missing one named; VPID, pause-loop exiting, 1 GiB pages and the preemption
 * timer are used where they are there. Every control bit written is checked against the capability
 * MSRs first, so an entry never fails for a control.
 *
 * Source: SDM 3D appendix A; SDM 3C 24.7.
 */
#include "arch/x86/vmx.h"

#include <errno.h>

#include "arch/x86/asm.h"
#include "arch/x86/features.h"
#include "arch/x86/regs/cpuid.h"
#include "arch/x86/regs/msr.h"
#include "kernel/machine.h"
#include "kernel/printk.h"

struct vmx_caps vmx_caps;

#define PIN_REQUIRED (PIN_IRQ_EXITING | PIN_NMI_EXITING | PIN_VIRTUAL_NMIS)
#define PIN_OPTIONAL PIN_PREEMPTION_TIMER
#define PROC_REQUIRED                                                                        \
    (PROC_TSC_OFFSET | PROC_HLT | PROC_MWAIT | PROC_RDPMC | PROC_CR8_LOAD | PROC_CR8_STORE | \
     PROC_IO | PROC_MSR_BITMAP | PROC_MONITOR | PROC_SECONDARY)
#define PROC_TOGGLED   (PROC_IRQ_WINDOW | PROC_NMI_WINDOW) /* allowed, but off at first */
#define PROC2_REQUIRED (PROC2_EPT | PROC2_UNRESTRICTED)
#define PROC2_OPTIONAL (PROC2_RDTSCP | PROC2_VPID | PROC2_WBINVD | PROC2_PLE | PROC2_INVPCID)
#define EXIT_REQUIRED                                                                    \
    (EXITC_SAVE_DEBUG | EXITC_HOST64 | EXITC_ACK_IRQ | EXITC_SAVE_PAT | EXITC_LOAD_PAT | \
     EXITC_SAVE_EFER | EXITC_LOAD_EFER)
#define EXIT_OPTIONAL  EXITC_SAVE_TIMER
#define ENTRY_REQUIRED (ENTRYC_LOAD_DEBUG | ENTRYC_LOAD_PAT | ENTRYC_LOAD_EFER)
#define ENTRY_TOGGLED  ENTRYC_IA32E
#define EPT_REQUIRED   (EPT_CAP_4_LEVELS | EPT_CAP_WB | EPT_CAP_INVEPT | EPT_CAP_INVEPT_ALL)
#define VPID_REQUIRED  (VPID_CAP_INVVPID | VPID_CAP_SINGLE | VPID_CAP_ALL)

/* The controls of one group: what must be 1, what is required, and what exists of the optional. */
static bool controls_choose(uint32_t msr, uint64_t required, uint64_t optional, uint64_t toggled,
                            uint32_t *chosen)
{
    uint64_t caps = asm_rdmsr(msr);
    uint64_t may = FIELD_GET(VMX_CTLS_MAY, caps);

    *chosen = (uint32_t)(FIELD_GET(VMX_CTLS_MUST, caps) | required | (optional & may));
    return !((required | toggled) & ~may);
}

static int refuse(const char **why, const char *reason)
{
    *why = reason;
    return -ENODEV;
}

static int probe_ept(const char **why)
{
    uint64_t caps = asm_rdmsr(MSR_VMX_EPT_VPID_CAP);

    if ((caps & EPT_REQUIRED) != EPT_REQUIRED)
        return refuse(why, "VT-x: EPT lacks write-back, four levels or INVEPT");
    vmx_caps.ept_largest_level = !(caps & EPT_CAP_2M) ? 1 : caps & EPT_CAP_1G ? 3 : 2;
    if ((caps & VPID_REQUIRED) != VPID_REQUIRED)
        vmx_caps.proc2 &= ~(uint32_t)PROC2_VPID;
    vmx_caps.vpid = vmx_caps.proc2 & PROC2_VPID;
    return 0;
}

/* ple=: the CPU's own loop detection where it has one; `on` without one intercepts every PAUSE. */
static void probe_pause(void)
{
    uint32_t wish = machine.options.ple.word;
    uint64_t may = FIELD_GET(VMX_CTLS_MAY, asm_rdmsr(MSR_VMX_TRUE_PROC_CTLS));

    if (wish == PLE_OFF)
        vmx_caps.proc2 &= ~(uint32_t)PROC2_PLE;
    vmx_caps.ple = vmx_caps.proc2 & PROC2_PLE;
    if (wish == PLE_ON && !vmx_caps.ple && (may & PROC_PAUSE))
        vmx_caps.proc |= (uint32_t)PROC_PAUSE;
}

/* Secondary controls by name, since these are what older parts lack. */
static int probe_secondary(const char **why)
{
    uint64_t may;

    if (!(asm_rdmsr(MSR_VMX_BASIC) & VMX_BASIC_TRUE_CTLS))
        return refuse(why, "VT-x: the CPU has neither TRUE controls nor EPT");
    may = FIELD_GET(VMX_CTLS_MAY, asm_rdmsr(MSR_VMX_TRUE_PROC_CTLS));
    may = may & PROC_SECONDARY ? FIELD_GET(VMX_CTLS_MAY, asm_rdmsr(MSR_VMX_PROC2_CTLS)) : 0;
    if (!(may & PROC2_EPT))
        return refuse(why, "VT-x: the CPU has no EPT");
    if (!(may & PROC2_UNRESTRICTED))
        return refuse(why, "VT-x: the CPU has no unrestricted guest mode");
    if (!controls_choose(MSR_VMX_PROC2_CTLS, PROC2_REQUIRED, PROC2_OPTIONAL, 0, &vmx_caps.proc2))
        return refuse(why, "VT-x: a secondary control is missing");
    return probe_ept(why);
}

static int probe_primary(const char **why)
{
    struct vmx_caps *c = &vmx_caps;

    if (!controls_choose(MSR_VMX_TRUE_PIN_CTLS, PIN_REQUIRED, PIN_OPTIONAL, 0, &c->pin) ||
        !controls_choose(MSR_VMX_TRUE_PROC_CTLS, PROC_REQUIRED, 0, PROC_TOGGLED, &c->proc) ||
        !controls_choose(MSR_VMX_TRUE_EXIT_CTLS, EXIT_REQUIRED, EXIT_OPTIONAL, 0, &c->exit) ||
        !controls_choose(MSR_VMX_TRUE_ENTRY_CTLS, ENTRY_REQUIRED, 0, ENTRY_TOGGLED, &c->entry))
        return refuse(why,
                      "VT-x: a required control is missing (virtual NMIs, PAT or EFER switching)");
    return 0;
}

static void probe_timer(void)
{
    struct vmx_caps *c = &vmx_caps;

    c->timer = (c->pin & PIN_PREEMPTION_TIMER) && (c->exit & EXITC_SAVE_TIMER);
    if (!c->timer) {
        c->pin &= ~(uint32_t)PIN_PREEMPTION_TIMER;
        c->exit &= ~(uint32_t)EXITC_SAVE_TIMER;
    }
    c->timer_shift = (uint32_t)FIELD_GET(VMX_MISC_TIMER_SHIFT, asm_rdmsr(MSR_VMX_MISC));
}

int vmx_caps_probe(const char **why)
{
    struct vmx_caps *c = &vmx_caps;
    int error;

    if (!(asm_cpuid(CPUID_VERSION, 0).ecx & CPUID_1_ECX_VMX)) {
        if (cpu_features.intel)
            *why = "the CPU has no VT-x, or firmware hides it";
        return -ENODEV;
    }
    error = firmware_allows_vmx(&cpu_msrs, why);
    if (!error)
        error = probe_secondary(why);
    if (!error)
        error = probe_primary(why);
    if (error)
        return error;
    c->revision = (uint32_t)FIELD_GET(VMX_BASIC_REVISION, asm_rdmsr(MSR_VMX_BASIC));
    c->cr0_must = asm_rdmsr(MSR_VMX_CR0_FIXED0);
    c->cr4_must = asm_rdmsr(MSR_VMX_CR4_FIXED0);
    probe_timer();
    probe_pause();
    pr_info("virt: VT-x with EPT (pages up to %s), unrestricted guest%s%s%s",
            c->ept_largest_level == 3   ? "1 GiB"
            : c->ept_largest_level == 2 ? "2 MiB"
                                        : "4 KiB",
            c->vpid ? ", VPID" : "", c->ple ? ", pause-loop exiting" : "",
            c->timer ? ", preemption timer" : "");
    return 0;
}

/* Chosen controls of one group that this CPU would refuse. */
static bool controls_allowed(uint32_t msr, uint32_t chosen)
{
    uint64_t caps = asm_rdmsr(msr);

    return !(chosen & ~FIELD_GET(VMX_CTLS_MAY, caps)) &&
           !(~chosen & FIELD_GET(VMX_CTLS_MUST, caps));
}

int vmx_caps_check_cpu(const char **why)
{
    const struct vmx_caps *c = &vmx_caps;

    if (FIELD_GET(VMX_BASIC_REVISION, asm_rdmsr(MSR_VMX_BASIC)) != c->revision ||
        !controls_allowed(MSR_VMX_TRUE_PIN_CTLS, c->pin) ||
        !controls_allowed(MSR_VMX_TRUE_PROC_CTLS, c->proc) ||
        !controls_allowed(MSR_VMX_PROC2_CTLS, c->proc2) ||
        !controls_allowed(MSR_VMX_TRUE_EXIT_CTLS, c->exit) ||
        !controls_allowed(MSR_VMX_TRUE_ENTRY_CTLS, c->entry))
        return refuse(why, "VT-x: this CPU offers less than the boot CPU");
    return 0;
}
