/*
 * MSRs of a guest: the ones Numen keeps, and #GP for all others.
 *
 * Decides by a table of {number, register of the backend, check}; x2APIC, TSC and paravirtual MSRs
 * have code of their own. An MSR that is not here does not exist for the guest: no value is
 * invented (docs/guest-abi.md). Source: SDM volume 4; APM 2, appendix A.
 */
#include <errno.h>

#include "arch/x86/guest_vcpu.h"
#include "arch/x86/kvm_pv.h"
#include "arch/x86/regs/apic.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/regs/segment.h"
#include "arch/x86/vlapic.h"
#include "kernel/arch.h"
#include "kernel/vm.h"

#define X2APIC_FIRST      MSR_X2APIC(0)
#define X2APIC_LAST       0x8ffu
#define APIC_BASE_DEFAULT 0xfee00000ull /* physical address of the register page (SDM 11.4.4) */

enum msr_check { MSR_ANY, MSR_32BIT, MSR_CANONICAL, MSR_PAT_TYPES, MSR_RDTSCP_32BIT };

struct msr_register {
    uint32_t msr;
    uint8_t reg;   /* enum virt_reg */
    uint8_t check; /* enum msr_check */
};

/* MSRs that are nothing but a register of the VMCS or VMCB. */
static const struct msr_register msr_registers[] = {
    {MSR_SYSENTER_CS, VREG_SYSENTER_CS, MSR_32BIT},
    {MSR_SYSENTER_ESP, VREG_SYSENTER_ESP, MSR_CANONICAL},
    {MSR_SYSENTER_EIP, VREG_SYSENTER_EIP, MSR_CANONICAL},
    {MSR_PAT, VREG_PAT, MSR_PAT_TYPES},
    {MSR_STAR, VREG_STAR, MSR_ANY},
    {MSR_LSTAR, VREG_LSTAR, MSR_CANONICAL},
    {MSR_CSTAR, VREG_CSTAR, MSR_CANONICAL},
    {MSR_FMASK, VREG_FMASK, MSR_32BIT},
    {MSR_FS_BASE, VREG_FS_BASE, MSR_CANONICAL},
    {MSR_GS_BASE, VREG_GS_BASE, MSR_CANONICAL},
    {MSR_KERNEL_GS_BASE, VREG_KERNEL_GS_BASE, MSR_CANONICAL},
    {MSR_TSC_AUX, VREG_TSC_AUX, MSR_RDTSCP_32BIT},
};

static const struct msr_register *msr_register_find(struct vcpu *v, uint32_t msr)
{
    for (uint32_t i = 0; i < ARRAY_SIZE(msr_registers); i++)
        if (msr_registers[i].msr == msr)
            return msr_registers[i].check == MSR_RDTSCP_32BIT && !guest_vcpu_has_rdtscp(v)
                       ? NULL
                       : &msr_registers[i];
    return NULL;
}

/* Memory types 2, 3 and above 7 are reserved in each byte of the PAT (SDM 12.12.2). */
static bool msr_pat_is_valid(uint64_t value)
{
    for (uint32_t i = 0; i < 8; i++, value >>= 8)
        if ((value & 0xff) > 7 || (value & 0xff) == 2 || (value & 0xff) == 3)
            return false;
    return true;
}

static bool msr_value_is_valid(uint8_t check, uint64_t value)
{
    switch (check) {
    case MSR_32BIT:
    case MSR_RDTSCP_32BIT:
        return value >> 32 == 0;
    case MSR_CANONICAL:
        return (uint64_t)((int64_t)(value << 16) >> 16) == value;
    case MSR_PAT_TYPES:
        return msr_pat_is_valid(value);
    default:
        return true;
    }
}

/* The local APIC stays enabled and in x2APIC mode: there is no MMIO page to fall back to. */
static uint64_t msr_apic_base(const struct vcpu *v)
{
    return APIC_BASE_DEFAULT | APIC_BASE_ENABLE | APIC_BASE_X2APIC | (v->id ? 0 : APIC_BASE_BSP);
}

static int msr_write_efer(struct vcpu *v, uint64_t value)
{
    uint64_t old = virt->get_reg(v, VREG_EFER);
    uint64_t valid = EFER_SCE | EFER_LME | EFER_LMA | (guest_vcpu_has_nx(v) ? EFER_NXE : 0);

    if (value & ~valid)
        return -EINVAL;
    if (((value ^ old) & EFER_LME) && (virt->get_reg(v, VREG_CR0) & CR0_PG))
        return -EINVAL; /* SDM 4.1.2: not while paging is on */
    virt->set_reg(v, VREG_EFER, (value & ~EFER_LMA) | (old & EFER_LMA));
    return 0;
}

/* A write of the TSC moves this vCPU's offset. */
static int msr_write_tsc(struct vcpu *v, uint64_t value)
{
    v->tsc_offset = value - arch_tsc();
    virt->set_tsc_offset(v, v->tsc_offset);
    kvm_clock_refresh(v);
    return 0;
}

static int msr_read(struct vcpu *v, uint32_t msr, uint64_t *value)
{
    const struct msr_register *r;

    if (msr >= X2APIC_FIRST && msr <= X2APIC_LAST)
        return vlapic_read(v->lapic, (msr - X2APIC_FIRST) << 4, value);
    switch (msr) {
    case MSR_APIC_BASE:
        *value = msr_apic_base(v);
        return 0;
    case MSR_TSC:
        *value = arch_tsc() + v->tsc_offset;
        return 0;
    case MSR_TSC_DEADLINE:
        *value = vlapic_timer_deadline(v->lapic);
        return 0;
    case MSR_EFER:
        *value = virt->get_reg(v, VREG_EFER);
        return 0;
    default:
        break;
    }
    r = msr_register_find(v, msr);
    if (!r)
        return kvm_msr_read(v, msr, value);
    *value = virt->get_reg(v, r->reg);
    return 0;
}

static int msr_write(struct vcpu *v, uint32_t msr, uint64_t value)
{
    const struct msr_register *r;

    switch (msr) {
    case MSR_APIC_BASE:
        return value == msr_apic_base(v) ? 0 : -EINVAL;
    case MSR_TSC:
        return msr_write_tsc(v, value);
    case MSR_TSC_DEADLINE:
        vlapic_timer_set_deadline(v->lapic, value);
        return 0;
    case MSR_EFER:
        return msr_write_efer(v, value);
    default:
        break;
    }
    r = msr_register_find(v, msr);
    if (!r)
        return kvm_msr_write(v, msr, value);
    if (!msr_value_is_valid(r->check, value))
        return -EINVAL;
    virt->set_reg(v, r->reg, value);
    return 0;
}

void guest_rdmsr_exit(struct vcpu *v)
{
    uint64_t value = 0;

    if (msr_read(v, (uint32_t)v->regs[VCPU_RCX], &value) < 0) {
        vcpu_fault(v, VECTOR_GP, 0);
        return;
    }
    v->regs[VCPU_RAX] = (uint32_t)value;
    v->regs[VCPU_RDX] = value >> 32;
    virt->skip(v);
}

void guest_wrmsr_exit(struct vcpu *v)
{
    uint32_t msr = (uint32_t)v->regs[VCPU_RCX];
    uint64_t value = (uint32_t)v->regs[VCPU_RAX] | v->regs[VCPU_RDX] << 32;
    int err;

    if (msr >= X2APIC_FIRST && msr <= X2APIC_LAST) /* EOI is the most frequent */
        err = vlapic_write(v->lapic, (msr - X2APIC_FIRST) << 4, value);
    else
        err = msr_write(v, msr, value);
    if (err < 0)
        vcpu_fault(v, VECTOR_GP, 0);
    else
        virt->skip(v);
}
