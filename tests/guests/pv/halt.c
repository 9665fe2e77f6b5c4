/*
 * Halting and what ends it: kicks, NMI, INIT, interrupts (docs/guest-abi.md, and the architecture).
 *
 * vCPU 1 halts; vCPU 0 watches that it stays halted where it should, and wakes it.
 */
#include "tests/guests/pv/check.h"

enum { VEC_TEST = 0x71, BAD_APIC_ID = 0xfffe };

static void kick_other(void)
{
    pv_call(CALL_KICK_CPU, 0, smp_cpus[1]->apic_id, 0, 0);
}

static void nmi_other(void)
{
    apic_send(smp_cpus[1]->apic_id, ICR_NMI | ICR_ASSERT);
}

static void halt_closed(void *arg)
{
    (void)arg;
    asm_cli();
    other_stage(1);
    asm_hlt();
    other_stage(2);
    asm_sti();
}

/* Halts with interrupts off, sleeps, and wakes by `wake`. */
static void wake_test(const char *sleeps, const char *wakes, void (*wake)(void))
{
    other_start(halt_closed, NULL);
    other_wait_stage(1);
    time_delay_us(SETTLE_US);
    check(other_stage_now() == 1, sleeps, "it did not sleep");
    wake();
    check(other_wait_stage(2), wakes, "it still sleeps");
    other_end();
}

static void kick_self_then_halt(void *arg)
{
    (void)arg;
    asm_cli();
    pv_call(CALL_KICK_CPU, 0, cpu_this()->apic_id, 0, 0);
    pv_call(CALL_KICK_CPU, 0, cpu_this()->apic_id, 0, 0);
    asm_hlt(); /* returns at once: the mark is sticky */
    other_stage(1);
    asm_hlt(); /* sleeps: the mark is one bit, and used up */
    other_stage(2);
    asm_sti();
}

static void kick_irq_count(void *arg)
{
    uint32_t *taken = arg;
    uint32_t before = 0, after = 0;

    for (uint32_t v = 0; v < 256; v++)
        before += cpu_this()->irqs[v];
    halt_closed(NULL);
    for (uint32_t v = 0; v < 256; v++)
        after += cpu_this()->irqs[v];
    *taken = after - before;
    other_stage(3);
}

static void kick_tests(void)
{
    uint32_t taken = 0;
    int64_t result;

    if (!pv_has(PV_UNHALT)) {
        check_skip("kick", "PV_UNHALT is not offered");
        return;
    }
    result = pv_call(CALL_KICK_CPU, 0, BAD_APIC_ID, 0, 0);
    check(result == 0, "kick.bad_id", "result %ld", result);
    wake_test("kick.halt_sleeps", "kick.wakes", kick_other);

    other_start(kick_self_then_halt, NULL);
    check(other_wait_stage(1), "kick.sticky", "HLT after a kick sleeps");
    time_delay_us(SETTLE_US);
    check(other_stage_now() == 1, "kick.mark_is_one_bit", "two kicks ended two HLTs");
    kick_other();
    check(other_end(), "kick.again", "it still sleeps");

    other_start(kick_irq_count, &taken);
    other_wait_stage(1);
    time_delay_us(SETTLE_US);
    kick_other();
    check(other_wait_stage(3) && taken == 0, "kick.no_interrupt", "%u taken", taken);
    other_end();
}

/* A fixed interrupt must not end HLT with interrupts off, and must come after STI. */
static void closed_irq_test(void)
{
    uint32_t before = irqs_of(1, VEC_TEST);

    other_start(halt_closed, NULL);
    other_wait_stage(1);
    time_delay_us(SETTLE_US);
    apic_send(smp_cpus[1]->apic_id, ICR_FIXED | ICR_ASSERT | VEC_TEST);
    time_delay_us(SETTLE_US);
    check(other_stage_now() == 1, "halt.irq_waits_for_if", "an interrupt ended HLT with IF=0");
    check(irqs_of(1, VEC_TEST) == before, "halt.irq_held", "it was taken with IF=0");
    nmi_other();
    check(irqs_wait(1, VEC_TEST, before + 1), "halt.irq_after_sti", "it never came");
    other_end();
}

static void halt_open(void *arg)
{
    (void)arg;
    asm_cli();
    other_stage(1);
    asm_sti_hlt();
    other_stage(2);
}

static void open_irq_test(void)
{
    other_start(halt_open, NULL);
    other_wait_stage(1);
    time_delay_us(SETTLE_US);
    check(other_stage_now() == 1, "halt.open_sleeps", "it did not sleep");
    apic_send(smp_cpus[1]->apic_id, ICR_FIXED | ICR_ASSERT | VEC_TEST);
    check(other_wait_stage(2), "halt.open_wakes", "it still sleeps");
    other_end();
}

/* The interrupt is there before STI;HLT: it is taken after the HLT began, and ends it. */
static void shadow_task(void *arg)
{
    (void)arg;
    asm_cli();
    apic_self_ipi(VEC_TEST);
    asm_sti_hlt();
    other_stage(1);
}

static void init_other(void)
{
    smp_send_init(1);
    time_delay_us(SETTLE_US);
}

static void init_test(void)
{
    other_start(halt_closed, NULL);
    other_wait_stage(1);
    time_delay_us(SETTLE_US);
    init_other();
    check(other_stage_now() == 1, "halt.init_holds", "INIT let the program go on");
    check(smp_restart(1), "halt.init_wakes", "it does not start again");
    other_start(halt_open, NULL);
    other_wait_stage(1);
    apic_send(smp_cpus[1]->apic_id, ICR_FIXED | ICR_ASSERT | VEC_TEST);
    check(other_end(), "halt.works_after_init", "it takes no interrupt");
}

void halt_tests(void)
{
    if (smp_count < 2) {
        check_skip("halt", "one vCPU");
        return;
    }
    kick_tests();
    wake_test("halt.closed_sleeps", "halt.nmi_wakes", nmi_other);
    closed_irq_test();
    open_irq_test();
    other_start(shadow_task, NULL);
    check(other_end(), "halt.sti_shadow", "the interrupt came between STI and HLT, or never");
    init_test();
}
