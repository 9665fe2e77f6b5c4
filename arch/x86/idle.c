/*
 * Sleeping, taking interrupts, kicking: what the hazard loop asks of a CPU.
 *
 * Idle is HLT, never MWAIT: several parts miss wake-ups of theirs (Intel errata APL30, ICX143,
 * LNL030), and an IPI is needed for a CPU in guest mode anyway.
 */
#include "arch/x86/apic.h"
#include "arch/x86/asm.h"
#include "arch/x86/trap.h"
#include "hv/atomic.h"
#include "kernel/arch.h"
#include "kernel/cpu.h"

void arch_send_kick(struct cpu *cpu)
{
    apic_send(cpu->place.apic_id, APIC_MODE_FIXED, VECTOR_KICK);
}

void arch_idle(void)
{
    /*
     * Interrupts are off: a kick for a bit that is set after this look is held until the STI, whose
     * shadow covers the HLT. The setter's atomic comes before its IPI (kernel/cpu.c).
     */
    if (!atomic_get(&cpu_this()->hazard))
        asm_sti_hlt_cli();
}

void arch_irq_take(void)
{
    asm_irq_window();
}

void arch_halt(void)
{
    for (;;) {
        asm_cli();
        asm_hlt();
    }
}
