/*
 * What is written into a VMCS, and the registers that live there.
 *
 * Decides who owns which bit of CR0 and CR4. The guest owns all of CR0 but NE, which VMX wants set,
 * and CD and NW, which would take the caches from the other guests of the core. It owns those bits
 * of CR4 that it may turn on and off as it likes; VMXE and MCE stay as the host needs them. A guest
 * reads its own values of the host's bits from the shadow registers.
 *
 * Source: SDM 3C 25-27; A.7, A.8.
 */
#include "arch/x86/vmx.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/asm.h"
#include "arch/x86/cpu_area.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/vmx_cr.h"
#include "arch/x86/virt_vm.h"
#include "kernel/arch.h"
#include "kernel/mem.h"
#include "kernel/vm.h"

/* The bitmap's four parts: reads and writes of MSRs 0.. and 0xc0000000.. (SDM 25.6.9). */
#define BITMAP_HIGH  0x400u /* added for 0xc0000000.. */
#define BITMAP_WRITE 0x800u /* added for writes */
#define BITMAP_MSRS  0x1fffu

/*
 * Loops of PAUSEs closer together than the gap, longer than the window, end in an exit; TSC ticks.
 */
#define PLE_GAP    128u
#define PLE_WINDOW 4096u

/*
 * Exceptions that exit. #MC belongs to the host. #UD: VMMCALL raises it here. #AC and #DB: a guest
 * can make their delivery raise them again for ever, and no interrupt gets in between
 * (CVE-2015-5307, CVE-2015-8104); an exit at each round lets it in.
 */
#define EXCEPTIONS (BIT(VECTOR_DB) | BIT(VECTOR_UD) | BIT(VECTOR_AC) | BIT(VECTOR_MC))

static paddr_t msr_bitmap; /* [i] shared by all VMs */

extern const char vmx_exit_point[]; /* vmx_entry.S */

/* MSRs that the guest reaches without an exit: each is switched by VMCS, load() and save(). */
static const uint32_t passed_msrs[] = {
    MSR_FS_BASE, MSR_GS_BASE, MSR_KERNEL_GS_BASE, MSR_STAR,         MSR_LSTAR,        MSR_CSTAR,
    MSR_FMASK,   MSR_PAT,     MSR_SYSENTER_CS,    MSR_SYSENTER_ESP, MSR_SYSENTER_EIP,
};

static void bitmap_pass(uint8_t *bitmap, uint32_t msr)
{
    uint32_t bit = msr & BITMAP_MSRS;

    bitmap[(msr > BITMAP_MSRS ? BITMAP_HIGH : 0) + bit / 8] &= (uint8_t)~BIT(bit % 8);
}

int vmx_shared_init(void)
{
    uint8_t *reads;

    msr_bitmap = mem_alloc_pages(0, 0);
    if (msr_bitmap == PADDR_NONE)
        return -ENOMEM;
    reads = phys_to_virt(msr_bitmap);
    memset(reads, 0xff, PAGE_BYTES);
    for (unsigned i = 0; i < ARRAY_SIZE(passed_msrs); i++) {
        bitmap_pass(reads, passed_msrs[i]);
        bitmap_pass(reads + BITMAP_WRITE, passed_msrs[i]);
    }
    if (virt_guest_has_rdtscp()) {
        bitmap_pass(reads, MSR_TSC_AUX);
        bitmap_pass(reads + BITMAP_WRITE, MSR_TSC_AUX);
    }
    bitmap_pass(reads, MSR_TSC); /* the offset applies; writes exit */
    return 0;
}

static void init_controls(struct vcpu *v)
{
    v->hw->vmx.proc = vmx_caps.proc;
    vmwrite(VMCS_PIN, vmx_caps.pin);
    vmwrite(VMCS_PROC, vmx_caps.proc);
    vmwrite(VMCS_PROC2, vmx_caps.proc2);
    vmwrite(VMCS_EXIT_CTLS, vmx_caps.exit);
    vmwrite(VMCS_ENTRY_CTLS, vmx_caps.entry);
    vmwrite(VMCS_EXCEPTIONS, EXCEPTIONS);
    vmwrite(VMCS_MSR_BITMAP, msr_bitmap);
    vmwrite(VMCS_EPTP, v->vm->hw->eptp);
    vmwrite(VMCS_LINK, UINT64_MAX);
    vmwrite(VMCS_CR0_MASK, VMX_CR0_HOST);
    vmwrite(VMCS_CR4_MASK, ~VMX_CR4_GUEST);
    if (vmx_caps.ple) {
        vmwrite(VMCS_PLE_GAP, PLE_GAP);
        vmwrite(VMCS_PLE_WINDOW, PLE_WINDOW);
    }
}

/* A VMCS after VMCLEAR holds anything: what is not used is said to be so. */
static void init_unused(void)
{
    static const uint16_t zeroes[] = {
        VMCS_PF_MASK,
        VMCS_PF_MATCH,
        VMCS_CR3_TARGETS,
        VMCS_EXIT_MSR_STORES,
        VMCS_EXIT_MSR_LOADS,
        VMCS_ENTRY_MSR_LOADS,
        VMCS_TSC_OFFSET,
        VMCS_GUEST_DEBUGCTL,
        VMCS_HOST_FS,
        VMCS_HOST_GS,
        VMCS_HOST_FS_BASE,
        VMCS_HOST_SYSENTER_CS,
        VMCS_HOST_SYSENTER_ESP,
        VMCS_HOST_SYSENTER_EIP,
        VMCS_GUEST_SYSENTER_CS,
        VMCS_GUEST_SYSENTER_ESP,
        VMCS_GUEST_SYSENTER_EIP,
        VMCS_ENTRY_LENGTH,
        VMCS_ENTRY_ERROR,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(zeroes); i++)
        vmwrite(zeroes[i], 0);
}

void vmx_vmcs_init(struct vcpu *v)
{
    init_controls(v);
    init_unused();
    vmwrite(VMCS_GUEST_PAT, PAT_DEFAULT);
    vmwrite(VMCS_HOST_RIP, (uint64_t)vmx_exit_point);
    vmwrite(VMCS_HOST_CS, GDT_SELECTOR(GDT_CODE64));
    vmwrite(VMCS_HOST_SS, GDT_SELECTOR(GDT_DATA));
    vmwrite(VMCS_HOST_DS, GDT_SELECTOR(GDT_DATA));
    vmwrite(VMCS_HOST_ES, GDT_SELECTOR(GDT_DATA));
    vmwrite(VMCS_HOST_TR, GDT_SELECTOR(GDT_TSS));
    vmwrite(VMCS_HOST_PAT, asm_rdmsr(MSR_PAT));
    vmwrite(VMCS_HOST_EFER, asm_rdmsr(MSR_EFER));
}

void vmx_vmcs_set_host(struct vcpu *v)
{
    const struct cpu *cpu = cpu_this();
    struct table_pointer idt;

    (void)v;
    asm_sidt(&idt);
    vmwrite(VMCS_HOST_CR0, asm_read_cr0());
    vmwrite(VMCS_HOST_CR3, asm_read_cr3());
    vmwrite(VMCS_HOST_CR4, asm_read_cr4());
    vmwrite(VMCS_HOST_GS_BASE, (uint64_t)cpu);
    vmwrite(VMCS_HOST_TR_BASE, (uint64_t)&cpu->arch->tss);
    vmwrite(VMCS_HOST_GDTR_BASE, (uint64_t)cpu->arch->gdt);
    vmwrite(VMCS_HOST_IDTR_BASE, idt.base);
}

static void write_segments(const struct virt_start_regs *regs)
{
    for (unsigned i = 0; i < SEG_COUNT; i++) {
        const struct virt_segment *s = &regs->segments[i];

        vmwrite(VMCS_GUEST_ES + 2 * i, s->selector);
        vmwrite(VMCS_GUEST_ES_LIMIT + 2 * i, s->limit);
        vmwrite(VMCS_GUEST_ES_RIGHTS + 2 * i, s->rights);
        vmwrite(VMCS_GUEST_ES_BASE + 2 * i, s->base);
    }
    vmwrite(VMCS_GUEST_GDTR_BASE, 0);
    vmwrite(VMCS_GUEST_GDTR_LIMIT, regs->table_limit);
    vmwrite(VMCS_GUEST_IDTR_BASE, 0);
    vmwrite(VMCS_GUEST_IDTR_LIMIT, regs->table_limit);
}

static void write_cr0(uint64_t value)
{
    vmwrite(VMCS_GUEST_CR0, (value & ~(CR0_CD | CR0_NW)) | CR0_NE);
    vmwrite(VMCS_CR0_SHADOW, value);
}

static void write_cr4(uint64_t value)
{
    vmwrite(VMCS_GUEST_CR4,
            (value & VMX_CR4_GUEST) | (asm_read_cr4() & CR4_MCE) | vmx_caps.cr4_must);
    vmwrite(VMCS_CR4_SHADOW, value);
}

/* LMA goes with paging, never with a write of EFER; the entry control must say the same as LMA. */
static void write_efer(uint64_t value)
{
    uint64_t lma = vmread(VMCS_GUEST_EFER) & EFER_LMA;

    vmwrite(VMCS_GUEST_EFER, (value & ~EFER_LMA) | lma);
}

void vmx_start_state(struct vcpu *v, enum virt_start start, uint32_t arg)
{
    struct virt_vcpu *hw = v->hw;
    struct virt_start_regs regs;

    memset(v->regs, 0, sizeof(v->regs));
    virt_start_regs(&regs, start, arg);
    virt_state_init(hw);
    vmx_borrow(v);
    write_segments(&regs);
    write_cr0(regs.cr0);
    write_cr4(0);
    vmwrite(VMCS_GUEST_EFER, 0);
    vmwrite(VMCS_ENTRY_CTLS, vmx_caps.entry);
    vmwrite(VMCS_GUEST_CR3, 0);
    vmwrite(VMCS_GUEST_DR7, VIRT_DR7_INIT);
    vmwrite(VMCS_GUEST_RIP, regs.rip);
    vmwrite(VMCS_GUEST_RSP, 0);
    vmwrite(VMCS_GUEST_RFLAGS, RFLAGS_FIXED);
    vmwrite(VMCS_INTERRUPTIBILITY, 0);
    vmwrite(VMCS_ACTIVITY, 0);
    vmwrite(VMCS_PENDING_DEBUG, 0);
    vmwrite(VMCS_ENTRY_EVENT, 0);
    hw->vmx.armed = false;
    vmx_set_reg(v, VREG_CR2, 0);
    if (hw->cpu)
        asm_write_dr6(VIRT_DR6_INIT);
    else
        hw->vmx.dr6 = VIRT_DR6_INIT;
    vmx_return(v);
}

void vmx_set_tsc_offset(struct vcpu *v, uint64_t offset)
{
    vmx_borrow(v);
    vmwrite(VMCS_TSC_OFFSET, offset);
    vmx_return(v);
}

/* Registers that are simply a field. The others are handled by name below. */
static const uint16_t reg_fields[VREG_CPL + 1] = {
    [VREG_RIP] = VMCS_GUEST_RIP,
    [VREG_RSP] = VMCS_GUEST_RSP,
    [VREG_RFLAGS] = VMCS_GUEST_RFLAGS,
    [VREG_CR3] = VMCS_GUEST_CR3,
    [VREG_EFER] = VMCS_GUEST_EFER,
    [VREG_DR7] = VMCS_GUEST_DR7,
    [VREG_CS_BASE] = VMCS_GUEST_CS_BASE,
    [VREG_FS_BASE] = VMCS_GUEST_FS_BASE,
    [VREG_GS_BASE] = VMCS_GUEST_GS_BASE,
    [VREG_SYSENTER_CS] = VMCS_GUEST_SYSENTER_CS,
    [VREG_SYSENTER_ESP] = VMCS_GUEST_SYSENTER_ESP,
    [VREG_SYSENTER_EIP] = VMCS_GUEST_SYSENTER_EIP,
    [VREG_PAT] = VMCS_GUEST_PAT,
};

static uint64_t guest_view(enum vmcs_field reg, enum vmcs_field shadow, uint64_t host_bits)
{
    return (vmread(reg) & ~host_bits) | (vmread(shadow) & host_bits);
}

/* The MSR that a loaded vCPU's register is in, or 0. */
static uint32_t reg_msr(enum virt_reg r)
{
    switch (r) {
    case VREG_KERNEL_GS_BASE:
        return MSR_KERNEL_GS_BASE;
    case VREG_STAR:
        return MSR_STAR;
    case VREG_LSTAR:
        return MSR_LSTAR;
    case VREG_CSTAR:
        return MSR_CSTAR;
    case VREG_FMASK:
        return MSR_FMASK;
    case VREG_TSC_AUX:
        return MSR_TSC_AUX;
    default:
        return 0;
    }
}

uint64_t vmx_get_reg(struct vcpu *v, enum virt_reg r)
{
    if (reg_fields[r])
        return vmread(reg_fields[r]);
    switch (r) {
    case VREG_CR0:
        return guest_view(VMCS_GUEST_CR0, VMCS_CR0_SHADOW, VMX_CR0_HOST);
    case VREG_CR4:
        return guest_view(VMCS_GUEST_CR4, VMCS_CR4_SHADOW, ~VMX_CR4_GUEST);
    case VREG_CPL:
        return FIELD_GET(RIGHTS_DPL, vmread(VMCS_GUEST_SS_RIGHTS));
    case VREG_XCR0:
        return virt_state_xcr0(v->hw);
    case VREG_CR2:
        return asm_read_cr2();
    default:
        return asm_rdmsr(reg_msr(r));
    }
}

void vmx_set_reg(struct vcpu *v, enum virt_reg r, uint64_t value)
{
    struct virt_vcpu *hw = v->hw;

    switch (r) {
    case VREG_CR0:
        write_cr0(value);
        return;
    case VREG_CR4:
        write_cr4(value);
        return;
    case VREG_EFER:
        write_efer(value);
        return;
    case VREG_XCR0:
        virt_state_set_xcr0(hw, value);
        return;
    case VREG_CR2:
        if (hw->cpu)
            asm_write_cr2(value);
        hw->vmx.cr2 = value;
        return;
    case VREG_CPL:
        return;
    default:
        break;
    }
    if (reg_fields[r])
        vmwrite(reg_fields[r], value);
    else
        asm_wrmsr(reg_msr(r), value);
}
