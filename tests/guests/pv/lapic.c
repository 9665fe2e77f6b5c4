/*
 * The local APIC of one vCPU: self-IPI, TPR, priorities, EOI order, and x2APIC's refusals.
 */
#include "tests/guests/pv/check.h"

enum { VEC_LOW = 0x41, VEC_MID = 0x62, VEC_HIGH = 0x83, LOG_MAX = 8 };

static uint8_t order[LOG_MAX]; /* vectors in the order of their handlers' start */
static uint32_t norder;
static bool mid_opens; /* VEC_MID's handler lets others in, and looks around */
static bool mid_isr_low, mid_isr_high, mid_irr_low, mid_saw_high;
static uint32_t mid_ppr;

static void log_vector(struct trap_frame *frame)
{
    if (norder < LOG_MAX)
        order[norder++] = (uint8_t)frame->vector;
    if (frame->vector == VEC_MID && mid_opens) {
        uint32_t before = irqs_of(0, VEC_HIGH);

        mid_ppr = apic_read(APIC_PPR);
        apic_self_ipi(VEC_LOW);
        apic_self_ipi(VEC_HIGH);
        asm_sti();
        for (uint32_t i = 0; i < 100; i++) /* some emulators stretch the shadow of STI */
            asm_pause();
        asm_cli();
        mid_saw_high = irqs_of(0, VEC_HIGH) == before + 1;
        mid_isr_low = apic_vector_bit(APIC_ISR, VEC_MID);
        mid_isr_high = apic_vector_bit(APIC_ISR, VEC_HIGH);
        mid_irr_low = apic_vector_bit(APIC_IRR, VEC_LOW);
    }
    apic_eoi();
}

static void order_reset(void)
{
    norder = 0;
    memset(order, 0, sizeof(order));
}

static bool order_is(uint8_t a, uint8_t b, uint8_t c)
{
    return order[0] == a && order[1] == b && order[2] == c;
}

static void settle(void)
{
    asm_sti();
    time_delay_us(2000);
}

static void self_ipi_test(void)
{
    uint32_t before = irqs_of(0, VEC_MID);

    apic_self_ipi(VEC_MID);
    settle();
    check(irqs_of(0, VEC_MID) == before + 1, "self_ipi", "%u interrupts",
          irqs_of(0, VEC_MID) - before);
    asm_cli();
    apic_self_ipi(VEC_MID);
    apic_self_ipi(VEC_MID);
    check(apic_vector_bit(APIC_IRR, VEC_MID), "self_ipi.irr", "IRR is clear with IF=0");
    settle();
    check(irqs_of(0, VEC_MID) == before + 2, "self_ipi.one_bit", "%u interrupts",
          irqs_of(0, VEC_MID) - before);
    check(!apic_vector_bit(APIC_IRR, VEC_MID) && !apic_vector_bit(APIC_ISR, VEC_MID),
          "self_ipi.ended", "IRR or ISR is still set");
}

static void tpr_tests(void)
{
    uint32_t before = irqs_of(0, VEC_MID);

    asm_write_cr8(6);
    check(apic_read(APIC_TPR) == 0x60, "tpr.is_cr8", "TPR %#x with CR8 6", apic_read(APIC_TPR));
    apic_self_ipi(VEC_MID);
    settle();
    check(irqs_of(0, VEC_MID) == before, "tpr.masks", "class 6 came through TPR 6");
    check(apic_read(APIC_PPR) == 0x60, "tpr.ppr", "PPR %#x", apic_read(APIC_PPR));
    apic_self_ipi(VEC_HIGH);
    settle();
    check(irqs_of(0, VEC_HIGH) > 0, "tpr.passes_higher", "class 8 did not come through TPR 6");
    asm_write_cr8(5);
    settle();
    check(irqs_of(0, VEC_MID) == before + 1, "tpr.cr8_lowered", "%u interrupts",
          irqs_of(0, VEC_MID) - before);
    apic_write(APIC_TPR, 0x70);
    check(asm_read_cr8() == 7, "tpr.to_cr8", "CR8 %lu with TPR 0x70", asm_read_cr8());
    apic_self_ipi(VEC_MID);
    settle();
    check(irqs_of(0, VEC_MID) == before + 1, "tpr.masks_by_register", "it came through");
    apic_write(APIC_TPR, 0);
    settle();
    check(irqs_of(0, VEC_MID) == before + 2, "tpr.register_lowered", "%u interrupts",
          irqs_of(0, VEC_MID) - before);
}

static void priority_tests(void)
{
    asm_cli();
    order_reset();
    apic_self_ipi(VEC_LOW);
    apic_self_ipi(VEC_HIGH);
    apic_self_ipi(VEC_MID);
    settle();
    check(order_is(VEC_HIGH, VEC_MID, VEC_LOW), "priority.order", "%#x %#x %#x", order[0], order[1],
          order[2]);

    order_reset();
    mid_opens = true;
    apic_self_ipi(VEC_MID);
    settle();
    mid_opens = false;
    check(mid_ppr == (VEC_MID & 0xf0), "priority.ppr_in_service", "PPR %#x", mid_ppr);
    check(mid_saw_high, "priority.higher_nests", "it waited");
    check(mid_irr_low, "priority.lower_waits", "its IRR bit is clear");
    check(mid_isr_low && !mid_isr_high, "eoi.highest_first", "in service: mid %u high %u",
          mid_isr_low, mid_isr_high);
    check(order_is(VEC_MID, VEC_HIGH, VEC_LOW), "priority.after_eoi", "%#x %#x %#x", order[0],
          order[1], order[2]);
}

/* Intel SDM 3A 11.12.1: what x2APIC refuses. */
static void x2apic_tests(void)
{
    if (!apic_is_x2) {
        check_skip("x2apic", "xAPIC here");
        return;
    }
    check_rdmsr_faults("x2apic.no_dfr", 0x80e);
    check_rdmsr_faults("x2apic.eoi_write_only", 0x80b);
    check_rdmsr_faults("x2apic.self_ipi_write_only", 0x83f);
    check_rdmsr_faults("x2apic.icr_is_one", 0x831);
    check_wrmsr_faults("x2apic.id_read_only", 0x802, 0);
    check_wrmsr_faults("x2apic.ldr_read_only", 0x80d, 0);
    check_wrmsr_faults("x2apic.eoi_zero_only", 0x80b, 1);
    check_wrmsr_faults("x2apic.tpr_reserved", 0x808, 0x100);
    check_wrmsr_faults("x2apic.isr_read_only", 0x810, 0);
}

void lapic_tests(void)
{
    trap_set_handler(VEC_LOW, log_vector);
    trap_set_handler(VEC_MID, log_vector);
    trap_set_handler(VEC_HIGH, log_vector);
    self_ipi_test();
    tpr_tests();
    priority_tests();
    x2apic_tests();
}
