/*
 * The local APIC's timer.
 *
 * Decides the mode: TSC deadline where the CPU offers it, else one-shot, whose rate is measured
 * against the TSC with the interrupt masked. A deadline that one count cannot reach fires early;
 * the tree (kernel/timer.c) then finds nothing due and sets it again. Invariant: hardware is
 * written only when the deadline changes, since a write costs an exit where Numen itself is a
 * guest. Source: SDM 3A 10.5.4.
 */
#include "arch/x86/apic_timer.h"

#include "arch/x86/apic.h"
#include "arch/x86/asm.h"
#include "arch/x86/cpu_area.h"
#include "arch/x86/features.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/trap.h"
#include "arch/x86/tsc_measure.h"
#include "kernel/arch.h"
#include "kernel/printk.h"

static bool deadline_mode; /* [i] */
static uint64_t count_hz;  /* [i] one-shot mode */

/* Counts down; turned round so that it counts up like every clock. */
static uint32_t read_count(const struct tsc_clock *clock)
{
    (void)clock;
    return ~apic_read(APIC_TIMER_CURRENT);
}

static void measure_rate(void)
{
    static const struct tsc_clock counter = {
        .name = "APIC timer", .read = read_count, .mask = UINT32_MAX};

    apic_write(APIC_LVT_TIMER, APIC_LVT_MASKED);
    apic_write(APIC_TIMER_DIVIDE, APIC_TIMER_DIVIDE_BY_1);
    apic_write(APIC_TIMER_INITIAL, UINT32_MAX);
    count_hz = tsc_measure_counter(&counter, asm_rdtsc, arch_tsc_hz()).hz;
    apic_write(APIC_TIMER_INITIAL, 0);
}

void apic_timer_init(void)
{
    deadline_mode = cpu_features.tsc_deadline;
    if (deadline_mode) {
        pr_info("timer: TSC deadline");
        return;
    }
    measure_rate();
    if (!count_hz)
        panic("the local APIC's timer stands still");
    pr_info("timer: one-shot, %lu.%03lu MHz", count_hz / 1000000, count_hz / 1000 % 1000);
}

void apic_timer_init_cpu(void)
{
    uint32_t mode = deadline_mode ? APIC_TIMER_DEADLINE : APIC_TIMER_ONESHOT;

    apic_write(APIC_TIMER_DIVIDE, APIC_TIMER_DIVIDE_BY_1);
    apic_write(APIC_LVT_TIMER, (uint32_t)FIELD_PREP(APIC_LVT_TIMER_MODE, mode) | VECTOR_TIMER);
    /*
     * An xAPIC's LVT is written by a store, the deadline by an MSR: SDM 3A 10.5.4.1 wants a fence.
     */
    asm_mfence();
}

static void set_deadline(ns_t deadline)
{
    uint64_t own_start = arch_tsc() - arch_ns_to_tsc(arch_now());
    /* Half the counter's range is a century: a guest may ask for more, and the sum not wrap. */
    uint64_t ticks = MIN(arch_ns_to_tsc(deadline), UINT64_MAX / 2);
    uint64_t tsc = deadline == NS_NEVER ? 0 : own_start + ticks;

    /* The hardware compares with the CPU's own counter. One tick late, so that it is due then. */
    asm_wrmsr(MSR_TSC_DEADLINE, tsc ? tsc + 1 - (uint64_t)cpu_this()->arch->tsc_offset : 0);
}

static void set_count(ns_t deadline)
{
    ns_t now = arch_now();
    uint64_t count;

    if (deadline == NS_NEVER) {
        count = 0;
    } else if (deadline <= now) {
        count = 1;
    } else {
        __extension__ unsigned __int128 counts = (unsigned __int128)(deadline - now) * count_hz;

        /* Longer than the counter: as far as it goes. */
        if (counts >> 64 >= NS_PER_SEC)
            count = UINT32_MAX;
        else
            count = asm_div128((uint64_t)(counts >> 64), (uint64_t)counts, NS_PER_SEC) + 1;
    }
    apic_write(APIC_TIMER_INITIAL, (uint32_t)MIN(count, UINT32_MAX));
}

void arch_timer_set(ns_t deadline)
{
    struct arch_cpu *arch = cpu_this()->arch;

    if (arch->timer_deadline == deadline)
        return;
    arch->timer_deadline = deadline;
    if (deadline_mode)
        set_deadline(deadline);
    else
        set_count(deadline);
}
