/*
 * Events going into a VT-x guest: injection, windows, skipping an instruction.
 *
 * Decides nothing about which event is due (kernel/vcpu_entry.c does). Invariant: `armed` says that
 * VMCS_ENTRY_EVENT is valid; the CPU clears the field's valid bit at every exit, and
 * vmx_exit_decode clears `armed` with it.
 *
 * Source: SDM 3C 25.8.3, 25.4.2, 27.3.1.5, 27.6.
 */
#include "arch/x86/vmx.h"

#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/segment.h"

#define HYPERCALL_BYTES 3u
#define SHADOW          (INTERRUPTIBILITY_STI | INTERRUPTIBILITY_MOV_SS)

/*
 * A VMMCALL came as #UD, for which the CPU gives no instruction length; all other exits that are
 * skipped have one. With TF set the skipped instruction owes the guest a single-step trap, which
 * the pending-debug field delivers at the next entry, behind any armed event.
 */
void vmx_skip(struct vcpu *v)
{
    uint64_t length =
        v->exit.detail == REASON_EXCEPTION ? HYPERCALL_BYTES : vmread(VMCS_EXIT_LENGTH);
    uint64_t blocking = vmread(VMCS_INTERRUPTIBILITY);

    vmwrite(VMCS_GUEST_RIP, vmread(VMCS_GUEST_RIP) + length);
    if (blocking & SHADOW)
        vmwrite(VMCS_INTERRUPTIBILITY, blocking & ~SHADOW);
    if (vmread(VMCS_GUEST_RFLAGS) & RFLAGS_TF)
        vmwrite(VMCS_PENDING_DEBUG, vmread(VMCS_PENDING_DEBUG) | PENDING_DEBUG_STEP);
}

bool vmx_event_armed(struct vcpu *v)
{
    return v->hw->vmx.armed;
}

void vmx_event_arm_raw(struct virt_vcpu *hw, uint32_t event, uint32_t error, uint32_t length)
{
    if (event & EVENT_HAS_ERROR)
        vmwrite(VMCS_ENTRY_ERROR, error);
    if (FIELD_GET(EVENT_TYPE, event) >= EVENT_SOFT_INT)
        vmwrite(VMCS_ENTRY_LENGTH, length);
    vmwrite(VMCS_ENTRY_EVENT, event);
    hw->vmx.armed = true;
}

void vmx_event_arm(struct vcpu *v, const struct virt_event *e)
{
    static const uint8_t types[] = {
        [VIRT_EVENT_IRQ] = EVENT_IRQ,
        [VIRT_EVENT_NMI] = EVENT_NMI,
        [VIRT_EVENT_EXCEPTION] = EVENT_EXCEPTION,
    };
    uint32_t vector = e->type == VIRT_EVENT_NMI ? VECTOR_NMI : e->vector;
    uint64_t event =
        EVENT_VALID | FIELD_PREP(EVENT_TYPE, types[e->type]) | FIELD_PREP(EVENT_VECTOR, vector);

    /* Real mode has no error codes, and the entry check knows (SDM 27.2.1.3). */
    if (e->has_error && (vmread(VMCS_GUEST_CR0) & CR0_PE))
        event |= EVENT_HAS_ERROR;
    vmx_event_arm_raw(v->hw, (uint32_t)event, e->error, 0);
}

bool vmx_irq_open(struct vcpu *v)
{
    return !v->hw->vmx.armed && (vmread(VMCS_GUEST_RFLAGS) & RFLAGS_IF) &&
           !(vmread(VMCS_INTERRUPTIBILITY) & SHADOW);
}

bool vmx_nmi_open(struct vcpu *v)
{
    return !v->hw->vmx.armed && !(vmread(VMCS_INTERRUPTIBILITY) & (SHADOW | INTERRUPTIBILITY_NMI));
}

static void window(struct virt_vcpu *hw, uint32_t control, bool on)
{
    uint32_t proc = on ? hw->vmx.proc | control : hw->vmx.proc & ~control;

    if (proc == hw->vmx.proc)
        return;
    hw->vmx.proc = proc;
    vmwrite(VMCS_PROC, proc);
}

void vmx_irq_window(struct vcpu *v, bool on)
{
    window(v->hw, PROC_IRQ_WINDOW, on);
}

/*
 * The window of NMIs may open within the shadow of an STI, where none can be injected (SDM 26.2,
 * 27.3.1.5). That of interrupts opens behind it: IF is set there.
 */
void vmx_nmi_window(struct vcpu *v, bool on)
{
    bool behind_sti = on && (vmread(VMCS_INTERRUPTIBILITY) & INTERRUPTIBILITY_STI);

    if (behind_sti)
        vmx_irq_window(v, true);
    window(v->hw, PROC_NMI_WINDOW, on && !behind_sti);
}
