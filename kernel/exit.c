/*
 * VM exits by kind: a table of handlers.
 *
 * Decides what each kind of exit means for the vCPU. Backends have decoded the exit; arch code owns
 * CPUID, MSRs and hypercalls; the VM's devices own ports. A handler that must wait only says so in
 * the vCPU's state; the loop finds it there before the next entry.
 */
#include "kernel/exit.h"

#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/schedule.h"
#include "kernel/vm.h"
#include "kernel/vm_devices.h"

#define VECTOR_UD 6

static void exit_nothing(struct vcpu *v)
{
    (void)v;
}

static void exit_irq(struct vcpu *v)
{
    (void)v;
    arch_irq_take();
}

/*
 * The backend has passed an exception on. Its delivery may raise the next one before the guest
 * executes an instruction, for ever (CVE-2015-5307, CVE-2015-8104), and an interrupt that waits for
 * the entry would then never come in: it is let in here.
 */
static void exit_internal(struct vcpu *v)
{
    (void)v;
    arch_irq_take();
}

static void exit_irq_window(struct vcpu *v)
{
    virt->irq_window(v, false);
    vcpu_post_self(v, PENDING_IRQ);
}

static void exit_nmi_window(struct vcpu *v)
{
    virt->nmi_window(v, false); /* PENDING_NMI is set still */
}

static void exit_hlt(struct vcpu *v)
{
    virt->skip(v);
    v->run_state = VCPU_HALTED;
    vcpu_post_self(v, PENDING_SLEEP);
}

/*
 * May a directed yield help? A vCPU that gave way by such an exit itself most likely spins as well:
 * it is passed over every other time, for what it waited for may have come (KVM's rule since Linux
 * 3.7). Two that look at one time may both pass, or both yield; neither does harm.
 */
static bool pause_may_help(struct vcpu *v)
{
    bool pass;

    if (!unit_is_ready(&v->unit))
        return false;
    if (!atomic_get(&v->gave_way))
        return true;
    pass = !atomic_get(&v->passed_over);
    atomic_set(&v->passed_over, pass);
    return !pass;
}

/*
 * A spin that lasts: let a vCPU of the same VM run that was preempted, perhaps the lock's holder.
 * The search starts behind the last one helped, so that all are in turn. If nobody can be helped,
 * the CPU is kept.
 */
static void exit_pause(struct vcpu *v)
{
    struct vm *vm = v->vm;
    uint32_t at = atomic_get(&vm->last_boosted);

    virt->skip(v);
    atomic_set(&v->gave_way, false);
    for (uint32_t i = 0; i < vm->vcpu_count; i++) {
        struct vcpu *to;

        at = at + 1 < vm->vcpu_count ? at + 1 : 0;
        to = vm->vcpus[at];
        if (to != v && pause_may_help(to) && schedule_yield_to(to)) {
            atomic_set(&vm->last_boosted, at);
            atomic_set(&v->passed_over, false);
            atomic_set(&v->gave_way, true);
            return;
        }
    }
}

static void exit_io(struct vcpu *v)
{
    vm_devices_io(v);
}

static void exit_mem(struct vcpu *v)
{
    const struct exit_mem *mem = &v->exit.mem;

    vm_kill(v->vm, "vCPU %u: %s at guest-physical %#llx, where there is no memory (RIP %#llx)",
            v->id,
            mem->fetch   ? "fetch"
            : mem->write ? "write"
                         : "read",
            (unsigned long long)mem->gpa, (unsigned long long)virt->get_reg(v, VREG_RIP));
}

static void exit_ud(struct vcpu *v)
{
    vcpu_fault(v, VECTOR_UD, VCPU_FAULT_NO_ERROR);
}

static void exit_skip(struct vcpu *v)
{
    virt->skip(v);
}

static void exit_triple_fault(struct vcpu *v)
{
    vm_kill(v->vm, "vCPU %u: triple fault (RIP %#llx)", v->id,
            (unsigned long long)virt->get_reg(v, VREG_RIP));
}

static void exit_entry_failed(struct vcpu *v)
{
    vm_kill(v->vm, "vCPU %u: the CPU refused its state (reason %#llx, RIP %#llx)", v->id,
            (unsigned long long)v->exit.detail, (unsigned long long)virt->get_reg(v, VREG_RIP));
}

static void exit_unknown(struct vcpu *v)
{
    vm_kill(v->vm, "vCPU %u: exit of unknown reason %#llx (RIP %#llx)", v->id,
            (unsigned long long)v->exit.detail, (unsigned long long)virt->get_reg(v, VREG_RIP));
}

void (*const exit_handlers[EXIT_KIND_COUNT])(struct vcpu *v) = {
    [EXIT_IRQ] = exit_irq,
    [EXIT_NMI] = exit_nothing,
    [EXIT_TIMER] = exit_nothing,
    [EXIT_IRQ_WINDOW] = exit_irq_window,
    [EXIT_NMI_WINDOW] = exit_nmi_window,
    [EXIT_CPUID] = guest_cpuid_exit,
    [EXIT_HYPERCALL] = guest_hypercall_exit,
    [EXIT_HLT] = exit_hlt,
    [EXIT_PAUSE] = exit_pause,
    [EXIT_IO] = exit_io,
    [EXIT_RDMSR] = guest_rdmsr_exit,
    [EXIT_WRMSR] = guest_wrmsr_exit,
    [EXIT_XSETBV] = guest_xsetbv_exit,
    [EXIT_CR8] = guest_cr8_exit,
    [EXIT_MEM] = exit_mem,
    [EXIT_UD] = exit_ud,
    [EXIT_NOP] = exit_skip,
    [EXIT_TRIPLE_FAULT] = exit_triple_fault,
    [EXIT_INTERNAL] = exit_internal,
    [EXIT_ENTRY_FAILED] = exit_entry_failed,
    [EXIT_UNKNOWN] = exit_unknown,
};
