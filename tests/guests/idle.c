/*
 * idle: every vCPU halts, woken by a periodic timer. For tests that start and kill VMs.
 *
 * Options: hz=N (default 10), ms=N (ends after that time; default 0: never), every=MS (vCPU 0
 * prints a line; default 0: only the first).
 */
#include "tests/guests/rt/rt.h"

enum { VEC_TICK = 0x40 };

static uint64_t hz, ms, every;

static void idle_tick(struct trap_frame *frame)
{
    (void)frame;
    apic_eoi();
}

static void idle_forever(void *arg)
{
    uint64_t end = time_from_us(ms * 1000), next = time_from_us(every * 1000);
    struct cpu *me = cpu_this();

    (void)arg;
    apic_timer_periodic(VEC_TICK, 1000000 / hz);
    while (!ms || !time_passed(end)) {
        asm_cli();
        asm_sti_hlt();
        if (!every || me->index != 0 || !time_passed(next))
            continue;
        rt_printf("idle: %u ticks on vCPU 0\n", me->irqs[VEC_TICK]);
        next = time_from_us(every * 1000);
    }
    apic_timer_stop();
}

int guest_main(void)
{
    hz = MAX(opt_u64("hz", 10), 1);
    ms = opt_u64("ms", 0);
    every = opt_u64("every", 0);
    trap_set_handler(VEC_TICK, idle_tick);
    rt_printf("idle: %u vCPUs at %lu Hz\n", smp_count, hz);
    smp_run_first(smp_count, idle_forever, NULL);
    for (uint32_t i = 0; i < smp_count; i++)
        rt_printf("idle: vCPU %u took %u ticks\n", i, smp_cpus[i]->irqs[VEC_TICK]);
    return 0;
}
