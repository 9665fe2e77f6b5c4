/* CPUs by number, and hazards from afar (see cpu.h). */
#include "kernel/cpu.h"

#include "kernel/arch.h"

struct cpu *cpus[CPUS_MAX];
uint32_t cpu_count;

void cpu_hazard(struct cpu *cpu, uint32_t bits)
{
    /* Sequentially consistent against the owner's "hazard clear, now sleep": arch_idle. */
    uint32_t old = atomic_fetch_or(&cpu->hazard, bits);

    /* Bits that were set already have their interrupt on its way. */
    if (cpu == cpu_this() || (old & bits) == bits)
        return;
    cpu_this()->kicks_sent++;
    arch_send_kick(cpu);
}
