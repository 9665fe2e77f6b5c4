/*
 * The loop every CPU lives in: hazards, then the current vCPU, and again.
 *
 * Decides the order of things between an exit and the next entry; each thing is done elsewhere.
 * There is one way out of the kernel: the last line of the loop. Interrupts are off all along; they
 * are taken in guest mode, in arch_idle, or in arch_irq_take.
 *
 * Invariant: a hazard or pending bit set by anybody is acted upon before the next instruction of a
 * guest on this CPU, because whoever sets it sends an interrupt after, and an interrupt that comes
 * between the look and the entry ends the guest at once.
 */
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/exit.h"
#include "kernel/gather.h"
#include "kernel/schedule.h"
#include "kernel/timer.h"
#include "kernel/vcpu_entry.h"
#include "kernel/work.h"

static void loop_hazards(struct cpu *cpu)
{
    /* Seq-cst, pairs with cpu_hazard: what was done before a bit was set is visible behind it. */
    uint32_t bits = atomic_exchange(&cpu->hazard, 0);

    if (bits & HAZARD_STOP)
        arch_halt();
    if (bits & HAZARD_GATHER)
        gather_wait();
    if (bits & HAZARD_TLB)
        virt->tlb_flush_cpu(cpu);
    if (bits & HAZARD_TIMER)
        timer_run_due(arch_now());
    if (bits & HAZARD_INPUT)
        console_service();
    if (bits & HAZARD_WORK)
        work_take_share(arch_now());
    if (bits & HAZARD_SCHED)
        schedule(cpu);
}

_Noreturn void cpu_loop(void)
{
    struct cpu *cpu = cpu_this();

    cpu_hazard_self(HAZARD_SCHED);
    for (;;) {
        struct vcpu *v = cpu->current;

        if (atomic_get(&cpu->hazard)) {
            loop_hazards(cpu);
        } else if (!v) {
            if (!work_step())
                arch_idle();
        } else if (vcpu_may_enter(v)) {
            virt->run(v);
            exit_dispatch(v);
        }
    }
}
