/*
 * From AMD-V's exit code to struct exit: a table of small decoders.
 *
 * Decides: which exits are the host's own business (interrupts, machine checks, NMI blocking,
 * exceptions that are only passed on) and end here as EXIT_INTERNAL or are handled on the way. All
 * others become a neutral kind, and the kernel acts on it.
 *
 * Invariants: an event whose delivery the exit cut short is armed again before a decoder runs; the
 * VMCB's next_rip is right behind every exit whose instruction may be skipped. CPUs without NRIP
 * save leave that field alone; there it is filled in here, by the instruction's only length without
 * prefixes.
 *
 * Source: APM 2 15.7, 15.12, 15.20, appendix C.
 */
#include "arch/x86/svm.h"

#include "arch/x86/guest_fetch.h"
#include "arch/x86/regs/segment.h"
#include "kernel/arch.h"
#include "kernel/printk.h"
#include "kernel/vm.h"

struct decoder {
    uint8_t kind;                   /* enum exit_kind, set before `decode` is called */
    uint8_t bytes;                  /* of the instruction; 0: none is skipped, or `decode` knows */
    void (*decode)(struct vcpu *v); /* or NULL */
};

#define HYPERCALL_BYTES 3u
#define CR8_BYTES_MAX   6u
#define OPCODE_HLT      0xf4u

static void arm_exception(struct vcpu *v, uint64_t vector, bool has_error, uint64_t error)
{
    struct virt_event e = {VIRT_EVENT_EXCEPTION, (uint8_t)vector, has_error, (uint32_t)error};

    svm_event_arm(v, &e);
}

/* IF is clear again: the interrupt waits in the APIC until the kernel takes it. */
static void decode_intr(struct vcpu *v)
{
    const struct vmcb *vmcb = v->hw->vmcb;

    if (vmcb->shadow & SVM_SHADOW)
        v->hw->svm.shadow_rip = vmcb->rip;
}

/*
 * QEMU's TCG does not load the interrupt shadow at VMRUN: after an exit between STI and HLT the
 * window opens before the HLT, and an interrupt injected there would let the guest sleep through
 * it. That HLT counts as executed, which it would be on hardware.
 */
static void decode_vintr(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;
    bool in_shadow = hw->svm.shadow_rip == hw->vmcb->rip;
    uint8_t opcode;

    hw->svm.shadow_rip = 0;
    if (!in_shadow || guest_fetch(v, &opcode, 1) != 1 || opcode != OPCODE_HLT)
        return;
    v->exit.kind = EXIT_HLT;
    hw->vmcb->next_rip = hw->vmcb->rip + 1;
}

static void decode_debug(struct vcpu *v)
{
    if (svm_nmi_step_done(v))
        v->exit.kind = EXIT_NMI_WINDOW;
    else
        arm_exception(v, VECTOR_DB, false, 0);
}

static void decode_hypercall(struct vcpu *v)
{
    v->exit.cpl = v->hw->vmcb->cpl;
}

static void decode_undefined(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;

    if (!guest_fetch_is_hypercall(v)) {
        arm_exception(v, VECTOR_UD, false, 0);
        return;
    }
    v->exit.kind = EXIT_HYPERCALL;
    v->exit.cpl = hw->vmcb->cpl;
    hw->vmcb->next_rip = hw->vmcb->rip + HYPERCALL_BYTES;
}

static void decode_alignment(struct vcpu *v)
{
    arm_exception(v, VECTOR_AC, true, v->hw->vmcb->exit_info1);
}

static void decode_machine_check(struct vcpu *v)
{
    (void)v;
    __asm__ volatile("int $18" ::: "memory");
}

static void decode_io(struct vcpu *v)
{
    struct vmcb *vmcb = v->hw->vmcb;
    uint64_t info = vmcb->exit_info1;

    v->exit.io = (struct exit_io){
        .port = (uint16_t)FIELD_GET(SVM_IO_PORT, info),
        .bytes = (uint8_t)FIELD_GET(SVM_IO_BYTES, info),
        .in = info & SVM_IO_IN,
        .string = info & SVM_IO_STRING,
    };
    vmcb->next_rip = vmcb->exit_info2;
}

static void decode_msr(struct vcpu *v)
{
    v->exit.kind = v->hw->vmcb->exit_info1 ? EXIT_WRMSR : EXIT_RDMSR;
}

/*
 * MOV to or from CR8 without decode assists: [LOCK] [REX] 0F 20/22 modrm. The LOCK prefix is AMD's
 * way to name CR8 outside long mode (APM 3, MOV CRn). Returns false for anything else.
 */
static bool read_cr8_move(struct vcpu *v, uint8_t *reg, size_t *bytes)
{
    uint8_t code[CR8_BYTES_MAX];
    size_t n = guest_fetch(v, code, sizeof(code));
    uint8_t rex = 0;
    size_t at = 0;

    while (at < n && (code[at] == 0xf0 || (code[at] & 0xf0) == 0x40)) {
        if (code[at] != 0xf0)
            rex = code[at];
        at++;
    }
    if (at + 3 > n || code[at] != 0x0f || (code[at + 1] != 0x20 && code[at + 1] != 0x22))
        return false;
    *reg = (uint8_t)((code[at + 2] & 7) | (rex & 1 ? 8 : 0));
    *bytes = at + 3;
    return true;
}

static void decode_cr8(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;
    uint8_t reg = (uint8_t)FIELD_GET(SVM_CR_GPR, hw->vmcb->exit_info1);
    size_t bytes = 0;

    if (!(svm_caps.decode && svm_caps.nrip)) {
        if (!read_cr8_move(v, &reg, &bytes)) {
            v->exit.kind = EXIT_UNKNOWN;
            return;
        }
        hw->vmcb->next_rip = hw->vmcb->rip + bytes;
    }
    v->exit.cr8.write = hw->vmcb->exit_code >= SVM_EXIT_CR_WRITE;
    v->exit.cr8.gpr = reg;
}

static void decode_nested_fault(struct vcpu *v)
{
    const struct vmcb *vmcb = v->hw->vmcb;

    v->exit.kind = EXIT_MEM;
    v->exit.mem = (struct exit_mem){
        .gpa = vmcb->exit_info2,
        .write = vmcb->exit_info1 & SVM_NPF_WRITE,
        .fetch = vmcb->exit_info1 & SVM_NPF_FETCH,
    };
}

/* Guests have no PMU: no counter number is valid. */
static void decode_rdpmc(struct vcpu *v)
{
    arm_exception(v, VECTOR_GP, true, 0);
}

static const struct decoder decoders[SVM_EXIT_COUNT] = {
    [SVM_EXIT_CR_READ + 8] = {EXIT_CR8, 0, decode_cr8},
    [SVM_EXIT_CR_WRITE + 8] = {EXIT_CR8, 0, decode_cr8},
    [SVM_EXIT_EXCEPTION + VECTOR_DB] = {EXIT_INTERNAL, 0, decode_debug},
    [SVM_EXIT_EXCEPTION + VECTOR_UD] = {EXIT_INTERNAL, 0, decode_undefined},
    [SVM_EXIT_EXCEPTION + VECTOR_AC] = {EXIT_INTERNAL, 0, decode_alignment},
    [SVM_EXIT_EXCEPTION + VECTOR_MC] = {EXIT_INTERNAL, 0, decode_machine_check},
    [SVM_EXIT_INTR] = {EXIT_IRQ, 0, decode_intr},
    [SVM_EXIT_NMI] = {EXIT_NMI, 0, NULL},
    [SVM_EXIT_VINTR] = {EXIT_IRQ_WINDOW, 0, decode_vintr},
    [SVM_EXIT_RDPMC] = {EXIT_INTERNAL, 0, decode_rdpmc},
    [SVM_EXIT_CPUID] = {EXIT_CPUID, 2, NULL},
    [SVM_EXIT_IRET] = {EXIT_INTERNAL, 0, svm_nmi_iret},
    [SVM_EXIT_INVD] = {EXIT_NOP, 2, NULL},
    [SVM_EXIT_PAUSE] = {EXIT_PAUSE, 2, NULL},
    [SVM_EXIT_HLT] = {EXIT_HLT, 1, NULL},
    [SVM_EXIT_INVLPGA] = {EXIT_UD, 0, NULL},
    [SVM_EXIT_IO] = {EXIT_IO, 0, decode_io},
    [SVM_EXIT_MSR] = {EXIT_RDMSR, 2, decode_msr},
    [SVM_EXIT_SHUTDOWN] = {EXIT_TRIPLE_FAULT, 0, NULL},
    [SVM_EXIT_VMRUN] = {EXIT_UD, 0, NULL},
    [SVM_EXIT_VMMCALL] = {EXIT_HYPERCALL, HYPERCALL_BYTES, decode_hypercall},
    [SVM_EXIT_VMLOAD] = {EXIT_UD, 0, NULL},
    [SVM_EXIT_VMSAVE] = {EXIT_UD, 0, NULL},
    [SVM_EXIT_STGI] = {EXIT_UD, 0, NULL},
    [SVM_EXIT_CLGI] = {EXIT_UD, 0, NULL},
    [SVM_EXIT_SKINIT] = {EXIT_UD, 0, NULL},
    [SVM_EXIT_WBINVD] = {EXIT_NOP, 2, NULL},
    [SVM_EXIT_MONITOR] = {EXIT_UD, 0, NULL},
    [SVM_EXIT_MWAIT] = {EXIT_UD, 0, NULL},
    [SVM_EXIT_MWAIT_ARMED] = {EXIT_UD, 0, NULL},
    [SVM_EXIT_XSETBV] = {EXIT_XSETBV, 3, NULL},
    [SVM_EXIT_RDPRU] = {EXIT_UD, 0, NULL},
};

static void entry_failed(struct vcpu *v)
{
    const struct vmcb *vmcb = v->hw->vmcb;

    v->exit.kind = EXIT_ENTRY_FAILED;
    virt_tags_expire(v->hw->cpu); /* a flush that this VMRUN was to do may not have been done */
    pr_err("svm: %s/%u: VMRUN refused; cr0 %#llx cr3 %#llx cr4 %#llx efer %#llx asid %u",
           v->vm->config.name, v->id, (unsigned long long)vmcb->cr0, (unsigned long long)vmcb->cr3,
           (unsigned long long)vmcb->cr4, (unsigned long long)vmcb->efer, vmcb->asid);
    pr_err("svm: rip %#llx rflags %#llx cs %#x dr6 %#llx dr7 %#llx event %#llx",
           (unsigned long long)vmcb->rip, (unsigned long long)vmcb->rflags, vmcb->cs.rights,
           (unsigned long long)vmcb->dr6, (unsigned long long)vmcb->dr7,
           (unsigned long long)vmcb->event);
}

/*
 * Codes outside the table. Some implementations store VMEXIT_INVALID, -1, without its high half.
 * Out of line: inlined, its registers would be saved on every exit.
 */
static __attribute__((noinline)) void decode_other(struct vcpu *v, uint64_t code)
{
    v->exit.kind = EXIT_UNKNOWN;
    if (code == SVM_EXIT_NPF)
        decode_nested_fault(v);
    else if ((uint32_t)code == UINT32_MAX)
        entry_failed(v);
}

void svm_exit_decode(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;
    struct vmcb *vmcb = hw->vmcb;
    uint64_t code = vmcb->exit_code;
    const struct decoder *d;

    vmcb->event = vmcb->exit_event; /* ignored without its valid bit */
    vmcb->tlb_control = SVM_TLB_KEEP;
    vmcb->clean = VMCB_CLEAN_ALL;
    v->exit.detail = code;
    if (__builtin_expect(code >= SVM_EXIT_COUNT, 0)) {
        decode_other(v, code);
        return;
    }
    d = &decoders[code];
    if (!svm_caps.nrip)
        vmcb->next_rip = vmcb->rip + d->bytes;
    v->exit.kind = d->kind;
    if (d->decode)
        d->decode(v);
}
