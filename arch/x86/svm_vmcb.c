/*
 * What is written into a VMCB, and the registers that live there.
 *
 * Decides which instructions, exceptions, MSRs and ports exit. The guest owns CR0 and CR4 whole:
 * the host gets its own back at each exit. MSRs not in passed_msrs exit, as do all ports; PAT does,
 * though it is switched, because not every implementation lets a guest's access reach the VMCB's
 * copy.
 *
 * Source: APM 2 15.9-15.13, 15.25, appendix B.
 */
#include "arch/x86/svm.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/asm.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/virt_vm.h"
#include "kernel/arch.h"
#include "kernel/mem.h"
#include "kernel/vm.h"

/* Blocks of the MSR permission map, 0x2000 MSRs of two bits each (APM 2 15.11). */
#define MSRPM_BLOCK_BYTES 2048u
#define MSRPM_MSRS        0x1fffu

#define MSRPM_ORDER       1u
#define IOPM_ORDER        2u

#define PAUSE_COUNT       3000u /* PAUSEs in a row, closer together than the threshold's ticks */
#define PAUSE_THRESHOLD   128u

/* As under VT-x (vmx_vmcs.c): the host's #MC, the other vendor's hypercall, endless #AC and #DB. */
#define EXCEPTIONS (BIT(VECTOR_DB) | BIT(VECTOR_UD) | BIT(VECTOR_AC) | BIT(VECTOR_MC))

#define INTERCEPTS1                                                                             \
    (INTERCEPT1_INTR | INTERCEPT1_NMI | INTERCEPT1_INIT | INTERCEPT1_RDPMC | INTERCEPT1_CPUID | \
     INTERCEPT1_INVD | INTERCEPT1_HLT | INTERCEPT1_INVLPGA | INTERCEPT1_IO | INTERCEPT1_MSR |   \
     INTERCEPT1_SHUTDOWN)

#define INTERCEPTS2                                                                       \
    (INTERCEPT2_VMRUN | INTERCEPT2_VMMCALL | INTERCEPT2_VMLOAD | INTERCEPT2_VMSAVE |      \
     INTERCEPT2_STGI | INTERCEPT2_CLGI | INTERCEPT2_SKINIT | INTERCEPT2_WBINVD |          \
     INTERCEPT2_MONITOR | INTERCEPT2_MWAIT | INTERCEPT2_MWAIT_ARMED | INTERCEPT2_XSETBV | \
     INTERCEPT2_RDPRU)

static paddr_t msrpm, iopm; /* [i] shared by all VMs */

/* MSRs that the guest reaches without an exit: each is switched by VMLOAD and VMSAVE. */
static const uint32_t passed_msrs[] = {
    MSR_FS_BASE, MSR_GS_BASE, MSR_KERNEL_GS_BASE, MSR_STAR,         MSR_LSTAR,
    MSR_CSTAR,   MSR_FMASK,   MSR_SYSENTER_CS,    MSR_SYSENTER_ESP, MSR_SYSENTER_EIP,
};

/* An MSR's two bits: the even one stops reads, the odd one writes. */
static void msrpm_pass(uint8_t *map, uint32_t msr, bool writes)
{
    uint32_t bit = 2 * (msr & MSRPM_MSRS);
    uint8_t *byte = map + (msr > MSRPM_MSRS ? MSRPM_BLOCK_BYTES : 0) + bit / 8;

    *byte &= (uint8_t) ~((writes ? 3u : 1u) << bit % 8);
}

int svm_shared_init(void)
{
    uint8_t *map;

    msrpm = mem_alloc_pages(MSRPM_ORDER, 0);
    iopm = mem_alloc_pages(IOPM_ORDER, 0);
    if (msrpm == PADDR_NONE || iopm == PADDR_NONE)
        return -ENOMEM;
    map = phys_to_virt(msrpm);
    memset(map, 0xff, MSRPM_BYTES);
    memset(phys_to_virt(iopm), 0xff, IOPM_BYTES);
    for (unsigned i = 0; i < ARRAY_SIZE(passed_msrs); i++)
        msrpm_pass(map, passed_msrs[i], true);
    if (virt_guest_has_rdtscp())
        msrpm_pass(map, MSR_TSC_AUX, true);
    msrpm_pass(map, MSR_TSC, false); /* the offset applies */
    return 0;
}

void svm_vmcb_init(struct vcpu *v)
{
    struct vmcb *vmcb = v->hw->vmcb;

    memset(vmcb, 0, sizeof(*vmcb));
    vmcb->cr_intercepts = (uint32_t)(INTERCEPT_CR_READ(8) | INTERCEPT_CR_WRITE(8));
    vmcb->exceptions = (uint32_t)EXCEPTIONS;
    vmcb->intercepts1 = (uint32_t)INTERCEPTS1;
    vmcb->intercepts2 = (uint32_t)INTERCEPTS2;
    if (svm_caps.pause_exits) {
        vmcb->intercepts1 |= (uint32_t)INTERCEPT1_PAUSE;
        vmcb->pause_count = svm_caps.pause_filter ? PAUSE_COUNT : 0;
        vmcb->pause_threshold = svm_caps.pause_threshold ? PAUSE_THRESHOLD : 0;
    }
    vmcb->iopm = iopm;
    vmcb->msrpm = msrpm;
    vmcb->virq = VIRQ_MASKING;
    vmcb->nested_paging = 1;
    vmcb->nested_cr3 = v->vm->hw->table.root;
    vmcb->pat = PAT_DEFAULT;
}

static struct vmcb_segment pack(const struct virt_segment *s)
{
    uint16_t rights = (uint16_t)((s->rights & 0xff) | ((s->rights >> 4) & 0xf00));

    return (struct vmcb_segment){s->selector, rights, s->limit, s->base};
}

static void write_segments(struct vmcb *vmcb, const struct virt_start_regs *regs)
{
    vmcb->es = pack(&regs->segments[SEG_ES]);
    vmcb->cs = pack(&regs->segments[SEG_CS]);
    vmcb->ss = pack(&regs->segments[SEG_SS]);
    vmcb->ds = pack(&regs->segments[SEG_DS]);
    vmcb->fs = pack(&regs->segments[SEG_FS]);
    vmcb->gs = pack(&regs->segments[SEG_GS]);
    vmcb->ldtr = pack(&regs->segments[SEG_LDTR]);
    vmcb->tr = pack(&regs->segments[SEG_TR]);
    vmcb->gdtr = (struct vmcb_segment){0, 0, regs->table_limit, 0};
    vmcb->idtr = (struct vmcb_segment){0, 0, regs->table_limit, 0};
    vmcb->cpl = 0;
}

void svm_start_state(struct vcpu *v, enum virt_start start, uint32_t arg)
{
    struct virt_vcpu *hw = v->hw;
    struct vmcb *vmcb = hw->vmcb;
    struct virt_start_regs regs;

    memset(v->regs, 0, sizeof(v->regs));
    memset(&hw->svm, 0, sizeof(hw->svm));
    virt_start_regs(&regs, start, arg);
    virt_state_init(hw);
    write_segments(vmcb, &regs);
    vmcb->cr0 = regs.cr0;
    vmcb->cr2 = 0;
    vmcb->cr3 = 0;
    vmcb->cr4 = 0;
    vmcb->efer = EFER_SVME;
    vmcb->dr6 = VIRT_DR6_INIT;
    vmcb->dr7 = VIRT_DR7_INIT;
    vmcb->rip = regs.rip;
    vmcb->rsp = 0;
    vmcb->rflags = RFLAGS_FIXED;
    vmcb->shadow = 0;
    vmcb->event = 0;
    vmcb->virq = VIRQ_MASKING;
    vmcb->intercepts1 &= (uint32_t) ~(INTERCEPT1_VINTR | INTERCEPT1_IRET);
    vmcb->clean = 0;
}

void svm_set_tsc_offset(struct vcpu *v, uint64_t offset)
{
    v->hw->vmcb->tsc_offset = offset;
    vmcb_changed(v->hw->vmcb, VMCB_CLEAN_CONTROLS);
}

#define IN_VMCB(field, dirties)                 \
    {                                           \
        offsetof(struct vmcb, field), (dirties) \
    }

/*
 * Registers that are simply a field, and what writing one makes dirty. The others are named below.
 */
static const struct {
    uint16_t offset;
    uint16_t dirties;
} reg_fields[VREG_CPL + 1] = {
    [VREG_RIP] = IN_VMCB(rip, 0),
    [VREG_RSP] = IN_VMCB(rsp, 0),
    [VREG_RFLAGS] = IN_VMCB(rflags, 0),
    [VREG_CR0] = IN_VMCB(cr0, VMCB_CLEAN_CR),
    [VREG_CR2] = IN_VMCB(cr2, VMCB_CLEAN_CR2),
    [VREG_CR3] = IN_VMCB(cr3, VMCB_CLEAN_CR),
    [VREG_CR4] = IN_VMCB(cr4, VMCB_CLEAN_CR),
    [VREG_DR7] = IN_VMCB(dr7, VMCB_CLEAN_DR),
    [VREG_CS_BASE] = IN_VMCB(cs.base, VMCB_CLEAN_SEGMENTS),
    [VREG_FS_BASE] = IN_VMCB(fs.base, 0),
    [VREG_GS_BASE] = IN_VMCB(gs.base, 0),
    [VREG_KERNEL_GS_BASE] = IN_VMCB(kernel_gs_base, 0),
    [VREG_STAR] = IN_VMCB(star, 0),
    [VREG_LSTAR] = IN_VMCB(lstar, 0),
    [VREG_CSTAR] = IN_VMCB(cstar, 0),
    [VREG_FMASK] = IN_VMCB(fmask, 0),
    [VREG_SYSENTER_CS] = IN_VMCB(sysenter_cs, 0),
    [VREG_SYSENTER_ESP] = IN_VMCB(sysenter_esp, 0),
    [VREG_SYSENTER_EIP] = IN_VMCB(sysenter_eip, 0),
    [VREG_PAT] = IN_VMCB(pat, VMCB_CLEAN_NESTED),
};

static uint64_t *reg_field(struct vmcb *vmcb, enum virt_reg r)
{
    return (uint64_t *)((char *)vmcb + reg_fields[r].offset);
}

uint64_t svm_get_reg(struct vcpu *v, enum virt_reg r)
{
    struct vmcb *vmcb = v->hw->vmcb;

    if (reg_fields[r].offset)
        return *reg_field(vmcb, r);
    switch (r) {
    case VREG_EFER:
        return vmcb->efer & ~EFER_SVME;
    case VREG_CPL:
        return vmcb->cpl;
    case VREG_XCR0:
        return virt_state_xcr0(v->hw);
    default:
        return asm_rdmsr(MSR_TSC_AUX);
    }
}

void svm_set_reg(struct vcpu *v, enum virt_reg r, uint64_t value)
{
    struct vmcb *vmcb = v->hw->vmcb;

    if (reg_fields[r].offset) {
        *reg_field(vmcb, r) = value;
        vmcb_changed(vmcb, reg_fields[r].dirties);
        return;
    }
    switch (r) {
    case VREG_EFER:
        /* LMA goes with paging, never with a write of EFER. */
        vmcb->efer = (value & ~EFER_LMA) | EFER_SVME | (vmcb->efer & EFER_LMA);
        vmcb_changed(vmcb, VMCB_CLEAN_CR);
        return;
    case VREG_XCR0:
        virt_state_set_xcr0(v->hw, value);
        return;
    case VREG_TSC_AUX:
        asm_wrmsr(MSR_TSC_AUX, value);
        return;
    default:
        return;
    }
}
