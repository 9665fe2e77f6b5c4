/*
 * Events going into an AMD-V guest: injection, windows, skipping an instruction.
 *
 * The hardware knows neither a blocked virtual NMI nor an NMI window, so both are made here.
 * Injecting an NMI turns on the IRET intercept. At that exit the IRET has not run yet: an NMI that
 * waits may go in only behind it, and so the guest is single-stepped over the IRET (svm_nmi_iret,
 * svm_nmi_step_done); with no NMI waiting, a later exit finds RIP elsewhere and takes the blocking
 * as ended.
 *
 * While nmi_step is set, RFLAGS.TF in the VMCB is not the guest's; step_guest_tf is. No event is
 * armed meanwhile that would push that TF: an NMI that waits behind an armed event waits for a
 * window of interrupts instead, or for any other exit, which comes a little late but shows the
 * guest no false flag.
 *
 * Source: APM 2 15.20, 15.21.
 */
#include "arch/x86/svm.h"

#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/segment.h"

#define WINDOW_PRIORITY 15u

static void intercept(struct vmcb *vmcb, uint64_t bit, bool on)
{
    vmcb->intercepts1 = (uint32_t)(on ? vmcb->intercepts1 | bit : vmcb->intercepts1 & ~bit);
    vmcb_changed(vmcb, VMCB_CLEAN_CONTROLS);
}

static void step_start(struct virt_vcpu *hw)
{
    hw->svm.nmi_step = true;
    hw->svm.step_guest_tf = hw->vmcb->rflags & RFLAGS_TF;
    hw->vmcb->rflags |= RFLAGS_TF;
}

/* An IRET that has run has loaded the guest's own TF; otherwise it is put back. */
static void step_stop(struct virt_vcpu *hw)
{
    bool iret_ran = hw->svm.nmi_iret && hw->vmcb->rip != hw->svm.iret_rip;

    hw->svm.nmi_step = false;
    if (!iret_ran && !hw->svm.step_guest_tf)
        hw->vmcb->rflags &= ~RFLAGS_TF;
}

/* Take note of an IRET that has run since. */
static void nmi_blocking_update(struct virt_vcpu *hw)
{
    if (!hw->svm.nmi_iret || hw->vmcb->rip == hw->svm.iret_rip)
        return;
    if (hw->svm.nmi_step)
        step_stop(hw);
    hw->svm.nmi_iret = false;
    hw->svm.nmi_blocked = false;
}

static void arm(struct virt_vcpu *hw, uint64_t event)
{
    if (hw->svm.nmi_step)
        step_stop(hw);
    hw->vmcb->event = event;
}

/*
 * TF is the guest's own, which owes it a trap behind the skipped instruction, or that of our step.
 */
static void skip_with_tf(struct virt_vcpu *hw)
{
    if (hw->svm.nmi_step)
        step_stop(hw);
    if (!(hw->vmcb->rflags & RFLAGS_TF))
        return;
    hw->vmcb->dr6 |= VIRT_DR6_STEP;
    vmcb_changed(hw->vmcb, VMCB_CLEAN_DR);
    arm(hw, SVM_EVENT_VALID | FIELD_PREP(SVM_EVENT_TYPE, SVM_EVENT_EXCEPTION) |
                FIELD_PREP(SVM_EVENT_VECTOR, VECTOR_DB));
}

void svm_skip(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;
    struct vmcb *vmcb = hw->vmcb;

    vmcb->rip = vmcb->next_rip;
    vmcb->shadow = 0;
    if (__builtin_expect(vmcb->rflags & RFLAGS_TF, 0))
        skip_with_tf(hw);
}

bool svm_event_armed(struct vcpu *v)
{
    return v->hw->vmcb->event & SVM_EVENT_VALID;
}

void svm_event_arm(struct vcpu *v, const struct virt_event *e)
{
    static const uint8_t types[] = {
        [VIRT_EVENT_IRQ] = SVM_EVENT_IRQ,
        [VIRT_EVENT_NMI] = SVM_EVENT_NMI,
        [VIRT_EVENT_EXCEPTION] = SVM_EVENT_EXCEPTION,
    };
    struct virt_vcpu *hw = v->hw;
    uint64_t event = SVM_EVENT_VALID | FIELD_PREP(SVM_EVENT_TYPE, types[e->type]) |
                     FIELD_PREP(SVM_EVENT_VECTOR, e->vector);

    if (e->type == VIRT_EVENT_NMI) {
        hw->svm.nmi_blocked = true;
        hw->svm.nmi_iret = false;
        intercept(hw->vmcb, INTERCEPT1_IRET, true);
    }
    if (e->has_error && (hw->vmcb->cr0 & CR0_PE))
        event |= SVM_EVENT_HAS_ERROR | FIELD_PREP(SVM_EVENT_ERROR, e->error);
    arm(hw, event);
}

bool svm_irq_open(struct vcpu *v)
{
    const struct vmcb *vmcb = v->hw->vmcb;

    return (vmcb->rflags & RFLAGS_IF) && !(vmcb->shadow & SVM_SHADOW) && !svm_event_armed(v);
}

bool svm_nmi_open(struct vcpu *v)
{
    nmi_blocking_update(v->hw);
    return !v->hw->svm.nmi_blocked && !(v->hw->vmcb->shadow & SVM_SHADOW) && !svm_event_armed(v);
}

/* A virtual interrupt that is never delivered: its intercept tells when one could be. */
static void window_set(struct virt_vcpu *hw, bool on)
{
    struct vmcb *vmcb = hw->vmcb;
    uint64_t virq = VIRQ_MASKING;

    if (on)
        virq |= VIRQ_PENDING | VIRQ_IGNORE_TPR | FIELD_PREP(VIRQ_PRIORITY, WINDOW_PRIORITY);
    if (!!(vmcb->intercepts1 & INTERCEPT1_VINTR) == on)
        return;
    vmcb->virq = virq;
    vmcb_changed(vmcb, VMCB_CLEAN_VIRQ);
    intercept(vmcb, INTERCEPT1_VINTR, on);
}

void svm_irq_window(struct vcpu *v, bool on)
{
    v->hw->svm.irq_window = on;
    window_set(v->hw, on || (v->hw->svm.nmi_window && svm_event_armed(v)));
}

void svm_nmi_window(struct vcpu *v, bool on)
{
    struct virt_vcpu *hw = v->hw;
    bool behind_event = on && svm_event_armed(v);

    nmi_blocking_update(hw);
    hw->svm.nmi_window = on;
    window_set(hw, hw->svm.irq_window || behind_event);
    if (!on) {
        if (hw->svm.nmi_step)
            step_stop(hw);
        return;
    }
    /*
     * Blocked by a handler: its IRET will exit. Else one instruction, the IRET or a shadow's, is in
     * the way.
     */
    if (!behind_event && !hw->svm.nmi_step && (!hw->svm.nmi_blocked || hw->svm.nmi_iret))
        step_start(hw);
}

void svm_nmi_iret(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;

    hw->svm.nmi_iret = true;
    hw->svm.iret_rip = hw->vmcb->rip;
    intercept(hw->vmcb, INTERCEPT1_IRET, false);
    if (hw->svm.nmi_window)
        step_start(hw);
}

bool svm_nmi_step_done(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;
    struct vmcb *vmcb = hw->vmcb;
    bool guest_tf = hw->svm.step_guest_tf;

    if (!hw->svm.nmi_step)
        return false;
    step_stop(hw);
    if (hw->svm.nmi_iret) {
        hw->svm.nmi_iret = false;
        hw->svm.nmi_blocked = false;
    }
    /* What else the guest asked for, its own single step or a breakpoint, is still its own. */
    if (guest_tf || (vmcb->dr6 & BITS(3, 0)))
        return false;
    vmcb->dr6 &= ~VIRT_DR6_STEP;
    vmcb_changed(vmcb, VMCB_CLEAN_DR);
    return true;
}
