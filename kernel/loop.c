/* The loop every CPU ends its bring-up in: look at the hazards, else sleep. */
#include "hv/atomic.h"
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/timer.h"
#include "kernel/work.h"

void cpu_loop(void)
{
    struct cpu *cpu = cpu_this();

    for (;;) {
        uint32_t hazard = atomic_exchange(&cpu->hazard, 0);

        if (hazard & HAZARD_STOP)
            arch_halt();
        if (hazard & HAZARD_TIMER)
            timer_run_due(arch_now());
        if (hazard & HAZARD_INPUT)
            console_service();
        /* A step of work, then the hazards again; sleep when there is no work. */
        if (!work_step())
            arch_idle();
    }
}
