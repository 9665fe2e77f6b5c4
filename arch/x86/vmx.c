/*
 * VT-x: turning it on, moving a vCPU on and off a CPU, running it.
 *
 * Invariants: a VMCS is current and active on the CPU that has its vCPU loaded and on no other,
 * because save() ends with VMCLEAR; so there is never a VMCLEAR by IPI. Host state in the VMCS is
 * rewritten only when the CPU changed. The preemption timer counts guest time, keeps what is left
 * over an exit, and ends every stretch of ALARM_NS: on some machines a guest with IF=0 hides host
 * interrupts until it exits (Bochs 2.7). Elsewhere that is one short exit in 2 ms.
 *
 * Source: SDM 3C 24-27.
 */
#include "arch/x86/vmx.h"

#include <errno.h>

#include "arch/x86/asm.h"
#include "arch/x86/cpu_area.h"
#include "arch/x86/features.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/virt_vm.h"
#include "kernel/arch.h"
#include "kernel/mem.h"
#include "kernel/vm.h"

#define VPID_LAST 65535u
#define ALARM_NS  (2 * NS_PER_MS)

static const uint32_t kept_msrs[KEPT_MSRS] = {
    [KEPT_KERNEL_GS_BASE] = MSR_KERNEL_GS_BASE,
    [KEPT_STAR] = MSR_STAR,
    [KEPT_LSTAR] = MSR_LSTAR,
    [KEPT_CSTAR] = MSR_CSTAR,
    [KEPT_FMASK] = MSR_FMASK,
};

static uint64_t alarm_tsc; /* [i] */

static int vmx_probe(const char **why)
{
    int error = vmx_caps_probe(why);

    if (error)
        return error;
    virt_guest_allow(vmx_caps.proc2 & PROC2_RDTSCP, vmx_caps.proc2 & PROC2_INVPCID);
    alarm_tsc = arch_ns_to_tsc(ALARM_NS);
    if (vmx_shared_init()) {
        *why = "VT-x: no memory for the MSR bitmap";
        return -ENODEV;
    }
    return 0;
}

static int cpu_turn_on(struct virt_cpu *vc, const char **why)
{
    asm_write_cr0(asm_read_cr0() | vmx_caps.cr0_must);
    asm_write_cr4(asm_read_cr4() | vmx_caps.cr4_must | CR4_VMXE);
    *(uint32_t *)phys_to_virt(vc->own_page) = vmx_caps.revision;
    if (!vmxon(vc->own_page)) {
        asm_write_cr4(asm_read_cr4() & ~CR4_VMXE);
        *why = "VT-x: VMXON failed";
        return -ENODEV;
    }
    invept_all();
    return 0;
}

static int vmx_cpu_enable(struct cpu *cpu, const char **why)
{
    int error = firmware_allows_vmx(&cpu_msrs, why);

    if (!error)
        error = vmx_caps_check_cpu(why);
    if (error)
        return error;
    *why = "VT-x: no memory for the VMXON region";
    if (virt_cpu_init(cpu, VPID_LAST))
        return -ENODEV;
    cpu->arch->virt->own_page = mem_alloc_pages(0, cpu->place.node);
    if (cpu->arch->virt->own_page == PADDR_NONE)
        return -ENODEV;
    return cpu_turn_on(cpu->arch->virt, why);
}

static int vmx_vm_init(struct vm *vm)
{
    int error = virt_vm_init(vm, &pt_format_ept, vmx_caps.ept_largest_level);

    if (!error)
        vm->hw->eptp = vm->hw->table.root | EPTP_WB | EPTP_4_LEVELS;
    return error;
}

/* The VMCS of a vCPU that is not loaded is current from vmx_borrow to vmx_return, for set-up. */
void vmx_borrow(struct vcpu *v)
{
    if (!v->hw->cpu)
        vmptrld(v->hw->page);
}

void vmx_return(struct vcpu *v)
{
    const struct virt_cpu *vc = cpu_this()->arch->virt;

    if (v->hw->cpu)
        return;
    vmclear(v->hw->page);
    if (vc->vmcs != PADDR_NONE)
        vmptrld(vc->vmcs);
}

static int vmx_vcpu_init(struct vcpu *v)
{
    int error = virt_vcpu_alloc(v);

    if (error)
        return error;
    *(uint32_t *)phys_to_virt(v->hw->page) = vmx_caps.revision;
    v->hw->vmx.dr6 = VIRT_DR6_INIT;
    vmclear(v->hw->page);
    vmx_borrow(v);
    vmx_vmcs_init(v);
    vmx_start_state(v, VIRT_START_INIT, 0);
    vmx_return(v);
    return 0;
}

static void set_tag(struct virt_vcpu *hw)
{
    if (!vmx_caps.vpid)
        return;
    if (virt_tag_renew(hw))
        invvpid(INVVPID_ALL, 0);
    vmwrite(VMCS_VPID, hw->tag);
}

void vmx_alarm_rearm(void)
{
    vmwrite(VMCS_TIMER, alarm_tsc >> vmx_caps.timer_shift);
}

static void vmx_load(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;

    virt_state_load(hw);
    for (unsigned i = 0; i < KEPT_MSRS; i++)
        asm_wrmsr(kept_msrs[i], hw->vmx.kept[i]);
    asm_write_cr2(hw->vmx.cr2);
    asm_write_dr6(hw->vmx.dr6);
    vmptrld(hw->page);
    hw->cpu->vmcs = hw->page;
    if (hw->cpu != hw->last_cpu)
        vmx_vmcs_set_host(v);
    if (!virt_tag_is_fresh(hw))
        set_tag(hw);
    if (vmx_caps.timer)
        vmx_alarm_rearm();
}

static void vmx_save(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;

    vmclear(hw->page);
    hw->cpu->vmcs = PADDR_NONE;
    hw->launched = 0;
    for (unsigned i = 0; i < KEPT_MSRS; i++)
        hw->vmx.kept[i] = asm_rdmsr(kept_msrs[i]);
    hw->vmx.cr2 = asm_read_cr2();
    hw->vmx.dr6 = asm_read_dr6();
    virt_state_save(hw);
}

/* Without VPIDs every entry and exit flushes by itself (SDM 29.4.3.1). */
static void vmx_tlb_flush(struct vcpu *v)
{
    if (vmx_caps.vpid)
        invvpid(INVVPID_SINGLE, v->hw->tag);
}

static void vmx_tlb_flush_cpu(struct cpu *cpu)
{
    (void)cpu;
    invept_all();
}

const struct virt_ops vmx_ops = {
    .name = "vmx",
    .probe = vmx_probe,
    .cpu_enable = vmx_cpu_enable,
    .vm_init = vmx_vm_init,
    .vm_fini = virt_vm_fini,
    .map = virt_vm_map,
    .lookup = virt_vm_lookup,
    .vcpu_init = vmx_vcpu_init,
    .vcpu_fini = virt_vcpu_free,
    .start_state = vmx_start_state,
    .load = vmx_load,
    .save = vmx_save,
    .run = vmx_run,
    .skip = vmx_skip,
    .event_armed = vmx_event_armed,
    .event_arm = vmx_event_arm,
    .irq_open = vmx_irq_open,
    .nmi_open = vmx_nmi_open,
    .irq_window = vmx_irq_window,
    .nmi_window = vmx_nmi_window,
    .get_reg = vmx_get_reg,
    .set_reg = vmx_set_reg,
    .tlb_flush = vmx_tlb_flush,
    .tlb_flush_cpu = vmx_tlb_flush_cpu,
    .set_tsc_offset = vmx_set_tsc_offset,
};
