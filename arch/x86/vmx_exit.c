/*
 * From VT-x's exit reason to struct exit: a table of small decoders.
 *
 * Decides: which exits are the host's own business (interrupts, NMI, machine checks, the bits of
 * CR0 and CR4 that it owns, exceptions that are only passed on) and end here as EXIT_INTERNAL. All
 * others become a neutral kind, and the kernel acts on it. A decoder reads only the fields its kind
 * needs.
 *
 * Invariant: an event whose delivery the exit cut short is armed again before its decoder returns.
 * Only exceptions, EPT exits and task switches can cut one short (SDM 28.2.4).
 */
#include "arch/x86/vmx.h"

#include "arch/x86/asm.h"
#include "arch/x86/guest_fetch.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/segment.h"
#include "arch/x86/trap.h"
#include "arch/x86/vmx_cr.h"
#include "kernel/arch.h"
#include "kernel/printk.h"
#include "kernel/vm.h"

struct decoder {
    uint8_t kind;                   /* enum exit_kind, set before `decode` is called */
    void (*decode)(struct vcpu *v); /* or NULL */
};

static void arm_exception(struct vcpu *v, uint8_t vector, bool has_error, uint32_t error)
{
    struct virt_event e = {VIRT_EVENT_EXCEPTION, vector, has_error, error};

    vmx_event_arm(v, &e);
}

static void block_nmis(bool on)
{
    uint64_t blocking = vmread(VMCS_INTERRUPTIBILITY);

    vmwrite(VMCS_INTERRUPTIBILITY,
            on ? blocking | INTERRUPTIBILITY_NMI : blocking & ~INTERRUPTIBILITY_NMI);
}

/*
 * Arm again what the exit interrupted. An NMI must not find itself blocked by its own first
 * delivery; and when nothing was being delivered but an IRET had just ended NMI blocking before it
 * faulted, the blocking is put back, since the IRET runs again (SDM 28.2.3).
 */
static void restore_event(struct virt_vcpu *hw, bool nmi_unblocked)
{
    uint32_t event = (uint32_t)vmread(VMCS_VECTORING_EVENT);

    if (!(event & EVENT_VALID)) {
        if (nmi_unblocked)
            block_nmis(true);
        return;
    }
    if (FIELD_GET(EVENT_TYPE, event) == EVENT_NMI)
        block_nmis(false);
    vmx_event_arm_raw(hw, event & (uint32_t)~EVENT_NMI_UNBLOCKED,
                      (uint32_t)vmread(VMCS_VECTORING_ERROR), (uint32_t)vmread(VMCS_EXIT_LENGTH));
}

/*
 * The trap or fault is the guest's; DR6 and DR7.GD are left to software on this exit (SDM 28.1). So
 * is the pending single step: under TF, in the shadow of STI or MOV SS, the entry check wants it to
 * be there (SDM 27.3.1.5), and a program in ring 3 can bring this about.
 */
static void pass_on_debug(struct vcpu *v, uint32_t event)
{
    asm_write_dr6((asm_read_dr6() & ~BITS(3, 0)) |
                  (vmread(VMCS_QUALIFICATION) & QUAL_DEBUG_CAUSES));
    vmwrite(VMCS_GUEST_DR7, vmread(VMCS_GUEST_DR7) & ~DR7_GD);
    if ((vmread(VMCS_INTERRUPTIBILITY) & (INTERRUPTIBILITY_STI | INTERRUPTIBILITY_MOV_SS)) &&
        (vmread(VMCS_GUEST_RFLAGS) & RFLAGS_TF))
        vmwrite(VMCS_PENDING_DEBUG, vmread(VMCS_PENDING_DEBUG) | PENDING_DEBUG_STEP);
    vmx_event_arm_raw(v->hw, event, 0, (uint32_t)vmread(VMCS_EXIT_LENGTH));
}

static void decode_hypercall(struct vcpu *v)
{
    v->exit.kind = EXIT_HYPERCALL;
    v->exit.cpl = (uint8_t)FIELD_GET(RIGHTS_DPL, vmread(VMCS_GUEST_SS_RIGHTS));
}

static void decode_exception(struct vcpu *v)
{
    uint32_t info = (uint32_t)vmread(VMCS_EXIT_EVENT);
    uint32_t event = info & (uint32_t)~EVENT_NMI_UNBLOCKED;
    uint64_t vector = FIELD_GET(EVENT_VECTOR, info);

    if (FIELD_GET(EVENT_TYPE, info) == EVENT_NMI) {
        /* NMIs stay blocked after this exit until an IRET: taking it through the gate gives one. */
        v->exit.kind = EXIT_NMI;
        __asm__ volatile("int $2" ::: "memory");
        return;
    }
    restore_event(v->hw, info & EVENT_NMI_UNBLOCKED);
    if (vector == VECTOR_MC)
        __asm__ volatile("int $18" ::: "memory");
    else if (vector == VECTOR_UD && guest_fetch_is_hypercall(v))
        decode_hypercall(v);
    else if (vector == VECTOR_DB)
        pass_on_debug(v, event);
    else
        vmx_event_arm_raw(v->hw, event, (uint32_t)vmread(VMCS_EXIT_ERROR), 0);
}

static void decode_irq(struct vcpu *v)
{
    (void)v;
    trap_interrupt((uint8_t)vmread(VMCS_EXIT_EVENT));
}

/* What the guest with IF=0 hid from this CPU is pending in its APIC. */
static void decode_timer(struct vcpu *v)
{
    (void)v;
    vmx_alarm_rearm();
    arch_irq_take();
}

static uint64_t gpr(struct vcpu *v, uint8_t number)
{
    return number == VCPU_RSP ? vmread(VMCS_GUEST_RSP) : v->regs[number];
}

/*
 * A MOV to CR0 or CR4 that touches bits of the host. The shadow takes the new value of those bits
 * and the instruction runs again; then it exits no more, and the CPU itself does all that such a
 * MOV implies (long mode, PDPTEs, #GP for bad combinations).
 */
static void decode_cr_write(struct vcpu *v, uint64_t number, uint64_t value)
{
    v->exit.kind = EXIT_INTERNAL;
    if (number == 0)
        vmwrite(VMCS_CR0_SHADOW, value & VMX_CR0_HOST);
    else if (number == 4 && !(value & ~(VMX_CR4_GUEST | VMX_CR4_SHADOWED)))
        vmwrite(VMCS_CR4_SHADOW, value & VMX_CR4_SHADOWED);
    else
        arm_exception(v, VECTOR_GP, true, 0);
}

static void decode_cr(struct vcpu *v)
{
    uint64_t qual = vmread(VMCS_QUALIFICATION);
    uint64_t number = FIELD_GET(QUAL_CR_NUMBER, qual);
    uint64_t access = FIELD_GET(QUAL_CR_ACCESS, qual);
    uint8_t reg = (uint8_t)FIELD_GET(QUAL_CR_GPR, qual);

    if (number == 8) {
        v->exit.cr8.write = access == QUAL_CR_MOV_TO;
        v->exit.cr8.gpr = reg;
    } else if (access == QUAL_CR_MOV_TO) {
        decode_cr_write(v, number, gpr(v, reg));
    } else {
        v->exit.kind = EXIT_UNKNOWN;
    }
}

static void decode_io(struct vcpu *v)
{
    uint64_t qual = vmread(VMCS_QUALIFICATION);

    v->exit.io = (struct exit_io){
        .port = (uint16_t)FIELD_GET(QUAL_IO_PORT, qual),
        .bytes = (uint8_t)(FIELD_GET(QUAL_IO_BYTES, qual) + 1),
        .in = qual & QUAL_IO_IN,
        .string = qual & QUAL_IO_STRING,
    };
}

static void decode_ept_violation(struct vcpu *v)
{
    uint64_t qual = vmread(VMCS_QUALIFICATION);

    restore_event(v->hw, qual & QUAL_EPT_NMI_UNBLOCKED);
    v->exit.mem = (struct exit_mem){
        .gpa = vmread(VMCS_GUEST_PHYSICAL),
        .write = qual & QUAL_EPT_WRITE,
        .fetch = qual & QUAL_EPT_FETCH,
    };
}

/* Guests have no PMU: no counter number is valid. */
static void decode_rdpmc(struct vcpu *v)
{
    arm_exception(v, VECTOR_GP, true, 0);
}

static const struct decoder decoders[REASON_COUNT] = {
    [REASON_EXCEPTION] = {EXIT_INTERNAL, decode_exception},
    [REASON_IRQ] = {EXIT_IRQ, decode_irq},
    [REASON_TRIPLE_FAULT] = {EXIT_TRIPLE_FAULT, NULL},
    [REASON_IRQ_WINDOW] = {EXIT_IRQ_WINDOW, NULL},
    [REASON_NMI_WINDOW] = {EXIT_NMI_WINDOW, NULL},
    [REASON_CPUID] = {EXIT_CPUID, NULL},
    [REASON_GETSEC] = {EXIT_UD, NULL},
    [REASON_HLT] = {EXIT_HLT, NULL},
    [REASON_INVD] = {EXIT_NOP, NULL},
    [REASON_RDPMC] = {EXIT_INTERNAL, decode_rdpmc},
    [REASON_VMCALL] = {EXIT_HYPERCALL, decode_hypercall},
    [REASON_VMCLEAR] = {EXIT_UD, NULL},
    [REASON_VMLAUNCH] = {EXIT_UD, NULL},
    [REASON_VMPTRLD] = {EXIT_UD, NULL},
    [REASON_VMPTRST] = {EXIT_UD, NULL},
    [REASON_VMREAD] = {EXIT_UD, NULL},
    [REASON_VMRESUME] = {EXIT_UD, NULL},
    [REASON_VMWRITE] = {EXIT_UD, NULL},
    [REASON_VMXOFF] = {EXIT_UD, NULL},
    [REASON_VMXON] = {EXIT_UD, NULL},
    [REASON_CR] = {EXIT_CR8, decode_cr},
    [REASON_IO] = {EXIT_IO, decode_io},
    [REASON_RDMSR] = {EXIT_RDMSR, NULL},
    [REASON_WRMSR] = {EXIT_WRMSR, NULL},
    [REASON_MWAIT] = {EXIT_UD, NULL},
    [REASON_MONITOR] = {EXIT_UD, NULL},
    [REASON_PAUSE] = {EXIT_PAUSE, NULL},
    [REASON_EPT_VIOLATION] = {EXIT_MEM, decode_ept_violation},
    [REASON_INVEPT] = {EXIT_UD, NULL},
    [REASON_TIMER] = {EXIT_TIMER, decode_timer},
    [REASON_INVVPID] = {EXIT_UD, NULL},
    [REASON_WBINVD] = {EXIT_NOP, NULL},
    [REASON_XSETBV] = {EXIT_XSETBV, NULL},
};

static void entry_refused(struct vcpu *v, uint64_t detail)
{
    v->exit.kind = EXIT_ENTRY_FAILED;
    v->exit.detail = detail;
    pr_err("vmx: %s/%u: entry failed, %#llx; cr0 %#llx cr4 %#llx efer %#llx entry %#llx",
           v->vm->config.name, v->id, (unsigned long long)detail,
           (unsigned long long)vmread(VMCS_GUEST_CR0), (unsigned long long)vmread(VMCS_GUEST_CR4),
           (unsigned long long)vmread(VMCS_GUEST_EFER),
           (unsigned long long)vmread(VMCS_ENTRY_CTLS));
    pr_err(
        "vmx: rip %#llx rflags %#llx event %#llx blocking %#llx pending %#llx qualification %#llx",
        (unsigned long long)vmread(VMCS_GUEST_RIP), (unsigned long long)vmread(VMCS_GUEST_RFLAGS),
        (unsigned long long)vmread(VMCS_ENTRY_EVENT),
        (unsigned long long)vmread(VMCS_INTERRUPTIBILITY),
        (unsigned long long)vmread(VMCS_PENDING_DEBUG),
        (unsigned long long)vmread(VMCS_QUALIFICATION));
    for (unsigned i = 0; i < SEG_COUNT; i++)
        pr_err("vmx: segment %u: %#llx base %#llx limit %#llx rights %#llx", i,
               (unsigned long long)vmread(VMCS_GUEST_ES + 2 * i),
               (unsigned long long)vmread(VMCS_GUEST_ES_BASE + 2 * i),
               (unsigned long long)vmread(VMCS_GUEST_ES_LIMIT + 2 * i),
               (unsigned long long)vmread(VMCS_GUEST_ES_RIGHTS + 2 * i));
}

void vmx_entry_failed(struct vcpu *v)
{
    entry_refused(v, vmread(VMCS_INSTRUCTION_ERROR));
}

void vmx_exit_decode(struct vcpu *v)
{
    uint64_t reason = vmread(VMCS_EXIT_REASON);
    struct virt_vcpu *hw = v->hw;
    const struct decoder *d;

    hw->launched = 1;
    hw->vmx.armed = false;
    v->exit.detail = reason;
    if (__builtin_expect(reason >= REASON_COUNT, 0)) {
        entry_refused(v, reason);
        return;
    }
    d = &decoders[reason];
    v->exit.kind = d->kind;
    if (d->decode)
        d->decode(v);
}
