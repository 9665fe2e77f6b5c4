/*
 * The local APIC's timer: one-shot, periodic, TSC deadline, masked.
 */
#include "tests/guests/pv/check.h"

enum { VEC_TIMER = 0x72, SHOT_US = 5000, LONG_US = 1000000, FAR_US = 60000000, PERIODS = 5 };

static void oneshot_tests(void)
{
    uint32_t before = irqs_of(0, VEC_TIMER);
    uint64_t start, us;

    apic_timer_oneshot(VEC_TIMER, LONG_US); /* a vCPU may have to wait for its CPU in between */
    check(apic_read(APIC_TIMER_NOW) > 0, "timer.counts", "the count is 0 at once");
    start = asm_rdtsc();
    apic_timer_oneshot(VEC_TIMER, SHOT_US);
    check(irqs_wait(0, VEC_TIMER, before + 1), "timer.oneshot", "it never fired");
    us = (asm_rdtsc() - start) * 1000 / time_tsc_khz;
    check(us >= SHOT_US * 8 / 10, "timer.not_early", "after %lu us instead of %u", us, SHOT_US);
    time_delay_us(SHOT_US * 4);
    check(irqs_of(0, VEC_TIMER) == before + 1, "timer.oneshot_once", "%u times",
          irqs_of(0, VEC_TIMER) - before);
    check(apic_read(APIC_TIMER_NOW) == 0, "timer.ends_at_zero", "count %u",
          apic_read(APIC_TIMER_NOW));
}

static void periodic_tests(void)
{
    uint32_t before = irqs_of(0, VEC_TIMER);

    apic_timer_periodic(VEC_TIMER, SHOT_US);
    check(irqs_wait(0, VEC_TIMER, before + PERIODS), "timer.periodic", "only %u",
          irqs_of(0, VEC_TIMER) - before);
    apic_timer_stop();
    time_delay_us(SHOT_US);
    before = irqs_of(0, VEC_TIMER);
    time_delay_us(SHOT_US * 4);
    check(irqs_of(0, VEC_TIMER) == before, "timer.stops", "it fired again");
}

static void masked_test(void)
{
    uint32_t before = irqs_of(0, VEC_TIMER);

    apic_timer_oneshot(TIMER_MASKED | VEC_TIMER, SHOT_US);
    time_delay_us(SHOT_US * 4);
    check(irqs_of(0, VEC_TIMER) == before, "timer.masked", "it fired");
    apic_timer_stop();
}

static void halted_test(void)
{
    uint32_t before = irqs_of(0, VEC_TIMER);

    asm_cli();
    apic_timer_oneshot(VEC_TIMER, SHOT_US);
    asm_sti_hlt();
    check(irqs_wait(0, VEC_TIMER, before + 1), "timer.ends_halt", "another interrupt did");
}

static void deadline_tests(void)
{
    uint32_t before = irqs_of(0, VEC_TIMER);
    uint64_t at, now;

    if (!apic_has_deadline) {
        check_skip("timer.deadline", "CPUID does not offer it");
        return;
    }
    apic_write(APIC_LVT_TIMER, TIMER_DEADLINE | VEC_TIMER);
    asm_mfence();              /* the LVT's write by page is not ordered with WRMSR */
    at = time_from_us(FAR_US); /* it reads 0 once it has passed, and a vCPU may wait for its CPU */
    asm_wrmsr(MSR_TSC_DEADLINE, at);
    check(asm_rdmsr(MSR_TSC_DEADLINE) == at, "timer.deadline_reads_back", "%lu, not %lu",
          asm_rdmsr(MSR_TSC_DEADLINE), at);
    at = time_from_us(SHOT_US);
    asm_wrmsr(MSR_TSC_DEADLINE, at);
    irqs_wait(0, VEC_TIMER, before + 1);
    now = asm_rdtsc();
    check(irqs_of(0, VEC_TIMER) == before + 1 && now >= at, "timer.deadline",
          "%u interrupts, %ld ticks after it", irqs_of(0, VEC_TIMER) - before, (int64_t)(now - at));
    if (pv.kvm)
        check(asm_rdmsr(MSR_TSC_DEADLINE) == 0, "timer.deadline_cleared", "MSR %#lx",
              asm_rdmsr(MSR_TSC_DEADLINE));
    else
        check_skip("timer.deadline_cleared", "no KVM ABI here (Bochs leaves it)");
    asm_wrmsr(MSR_TSC_DEADLINE, 1); /* long past */
    check(irqs_wait(0, VEC_TIMER, before + 2), "timer.deadline_past", "it never fired");
    asm_wrmsr(MSR_TSC_DEADLINE, time_from_us(SHOT_US));
    asm_wrmsr(MSR_TSC_DEADLINE, 0);
    time_delay_us(SHOT_US * 4);
    check(irqs_of(0, VEC_TIMER) == before + 2, "timer.deadline_disarmed", "it fired");
    apic_timer_stop();
}

void timer_tests(void)
{
    if (!apic_timer_khz) {
        check(false, "timer.counts", "it does not count");
        return;
    }
    oneshot_tests();
    periodic_tests();
    masked_test();
    halted_test();
    deadline_tests();
}
