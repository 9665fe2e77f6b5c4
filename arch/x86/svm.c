/*
 * AMD-V: turning it on, moving a vCPU on and off a CPU, running it.
 *
 * Decides: nested paging is required; NRIP save, clean bits, flush by ASID, decode assists and the
 * pause filter are used where they are there, since emulators and old parts lack them. Invariant:
 * the host's own VMLOAD state is taken once per CPU, at cpu_enable; FS, GS, TR and the SYSCALL MSRs
 * of the host do not change afterwards.
 *
 * Source: APM 2 15.4-15.5, 15.16, 15.25.
 */
#include "arch/x86/svm.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/asm.h"
#include "arch/x86/cpu_area.h"
#include "arch/x86/features.h"
#include "arch/x86/regs/cpuid.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/virt_vm.h"
#include "kernel/arch.h"
#include "kernel/mem.h"
#include "kernel/machine.h"
#include "kernel/printk.h"

struct svm_caps svm_caps;

static int refuse(const char **why, const char *reason)
{
    *why = reason;
    return -ENODEV;
}

/* ple=: by the filter where there is one; `on` without one means at every PAUSE. */
static bool pause_exits_wanted(bool has_filter)
{
    uint32_t wish = machine.options.ple.word;

    return wish == PLE_ON || (wish == PLE_AUTO && has_filter);
}

static int svm_probe(const char **why)
{
    struct svm_caps *c = &svm_caps;
    struct cpuid_regs leaf;

    if (asm_cpuid(CPUID_MAX_EXTENDED, 0).eax < CPUID_SVM ||
        !(asm_cpuid(CPUID_EXTENDED, 0).ecx & CPUID_EXT_ECX_SVM)) {
        if (cpu_features.amd)
            *why = "the CPU has no AMD-V, or firmware hides it";
        return -ENODEV;
    }
    if (firmware_allows_svm(&cpu_msrs, why))
        return -ENODEV;
    leaf = asm_cpuid(CPUID_SVM, 0);
    if (!(leaf.edx & SVM_EDX_NP))
        return refuse(why, "AMD-V: the CPU has no nested paging");
    *c = (struct svm_caps){
        .asid_last = leaf.ebx - 1,
        .nrip = leaf.edx & SVM_EDX_NRIP,
        .clean = leaf.edx & SVM_EDX_CLEAN,
        .flush_asid = leaf.edx & SVM_EDX_FLUSH_ASID,
        .decode = leaf.edx & SVM_EDX_DECODE,
        .pause_filter = leaf.edx & SVM_EDX_PAUSE_FILTER,
        .pause_exits = pause_exits_wanted(leaf.edx & SVM_EDX_PAUSE_FILTER),
        .pause_threshold = leaf.edx & SVM_EDX_PAUSE_THRESH,
        .page_1gib = cpu_features.page_1gib,
    };
    virt_guest_allow(asm_cpuid(CPUID_EXTENDED, 0).edx & CPUID_EXT_EDX_RDTSCP, true);
    if (svm_shared_init())
        return refuse(why, "AMD-V: no memory for the permission maps");
    pr_info("virt: AMD-V with nested paging (pages up to %s), %u ASIDs%s%s%s%s%s",
            c->page_1gib ? "1 GiB" : "2 MiB", c->asid_last, c->nrip ? ", NRIP save" : "",
            c->pause_filter ? ", pause filter" : "", c->decode ? ", decode assists" : "",
            c->flush_asid ? ", flush by ASID" : "", c->clean ? ", clean bits" : "");
    return 0;
}

static void vmsave(paddr_t page)
{
    __asm__ volatile("vmsave %0" : : "a"(page) : "memory");
}

static int svm_cpu_enable(struct cpu *cpu, const char **why)
{
    struct virt_cpu *vc;

    if (firmware_allows_svm(&cpu_msrs, why))
        return -ENODEV;
    if (virt_cpu_init(cpu, svm_caps.asid_last))
        return refuse(why, "AMD-V: no memory");
    vc = cpu->arch->virt;
    vc->own_page = mem_alloc_pages(0, cpu->place.node);
    vc->host_page = mem_alloc_pages(0, cpu->place.node);
    if (vc->own_page == PADDR_NONE || vc->host_page == PADDR_NONE)
        return refuse(why, "AMD-V: no memory for the host save areas");
    memset(phys_to_virt(vc->own_page), 0, PAGE_BYTES);
    memset(phys_to_virt(vc->host_page), 0, PAGE_BYTES);
    asm_wrmsr(MSR_EFER, asm_rdmsr(MSR_EFER) | EFER_SVME);
    asm_wrmsr(MSR_VM_HSAVE_PA, vc->own_page);
    vmsave(vc->host_page);
    return 0;
}

static int svm_vm_init(struct vm *vm)
{
    return virt_vm_init(vm, &pt_format_npt, svm_caps.page_1gib ? 3 : 2);
}

static int svm_vcpu_init(struct vcpu *v)
{
    int error = virt_vcpu_alloc(v);

    if (error)
        return error;
    v->hw->vmcb = phys_to_virt(v->hw->page);
    svm_vmcb_init(v);
    svm_start_state(v, VIRT_START_INIT, 0);
    return 0;
}

static void set_tag(struct virt_vcpu *hw)
{
    if (virt_tag_renew(hw))
        hw->vmcb->tlb_control = SVM_TLB_FLUSH_ALL;
    hw->vmcb->asid = hw->tag;
    vmcb_changed(hw->vmcb, VMCB_CLEAN_ASID);
}

/* What another CPU may have cached of this VMCB is worth nothing here, so nothing is clean. */
static void svm_load(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;

    virt_state_load(hw);
    hw->host_page = hw->cpu->host_page;
    hw->vmcb->clean = 0;
    asm_write_cr2(hw->vmcb->cr2); /* VMRUN does it too, but not in Bochs 2.7 */
    if (!virt_tag_is_fresh(hw))
        set_tag(hw);
}

/*
 * A flush that was asked for but no VMRUN has done: a vCPU can lose the CPU between load() and its
 * entry. Others have tags of the new generation meanwhile, so the next one given out must flush.
 */
static void flush_stays_due(struct virt_vcpu *hw)
{
    if (hw->vmcb->tlb_control == SVM_TLB_KEEP)
        return;
    hw->vmcb->tlb_control = SVM_TLB_KEEP;
    virt_tags_expire(hw->cpu);
}

static void svm_save(struct vcpu *v)
{
    flush_stays_due(v->hw);
    virt_state_save(v->hw);
}

static void svm_tlb_flush(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;

    if (!svm_caps.flush_asid)
        set_tag(hw);
    else if (hw->vmcb->tlb_control == SVM_TLB_KEEP)
        hw->vmcb->tlb_control = SVM_TLB_FLUSH_ASID;
}

/* The vCPU that is loaded keeps running and gets a new tag at once, the others do when they are. */
static void svm_tlb_flush_cpu(struct cpu *cpu)
{
    virt_tags_expire(cpu->arch->virt);
    if (cpu->current)
        set_tag(cpu->current->hw);
}

const struct virt_ops svm_ops = {
    .name = "svm",
    .probe = svm_probe,
    .cpu_enable = svm_cpu_enable,
    .vm_init = svm_vm_init,
    .vm_fini = virt_vm_fini,
    .map = virt_vm_map,
    .lookup = virt_vm_lookup,
    .vcpu_init = svm_vcpu_init,
    .vcpu_fini = virt_vcpu_free,
    .start_state = svm_start_state,
    .load = svm_load,
    .save = svm_save,
    .run = svm_run,
    .skip = svm_skip,
    .event_armed = svm_event_armed,
    .event_arm = svm_event_arm,
    .irq_open = svm_irq_open,
    .nmi_open = svm_nmi_open,
    .irq_window = svm_irq_window,
    .nmi_window = svm_nmi_window,
    .get_reg = svm_get_reg,
    .set_reg = svm_set_reg,
    .tlb_flush = svm_tlb_flush,
    .tlb_flush_cpu = svm_tlb_flush_cpu,
    .set_tsc_offset = svm_set_tsc_offset,
};
