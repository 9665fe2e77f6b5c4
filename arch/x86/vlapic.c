/*
 * The guest's local APIC: registers, priorities, acceptance and end of interrupt.
 *
 * Decides which vector a vCPU takes next, and what each register access does.
 * Does not decide when the vCPU is woken or interrupted: a posted vector sets PENDING_IRQ and
 * vcpu_post does the rest. IPIs go out in vlapic_ipi.c, the timer is in vlapic_timer.c.
 *
 * Always x2APIC: MSRs only, 32-bit ids, no MMIO page. Interrupts are edge-triggered, there being no
 * IOAPIC yet, so TMR reads 0 and EOI has no broadcast.
 *
 * Invariant: a vector's IRR bit is set before PENDING_IRQ, and PENDING_IRQ is cleared before IRR is
 * read (kernel/vcpu_entry.c), so none is lost. Source: SDM volume 3, chapter 11.
 */
#include "arch/x86/vlapic.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/regs/apic.h"
#include "arch/x86/regs/segment.h"
#include "kernel/arch.h"

#define VLAPIC_VERSION (0x14u | (VLAPIC_LVT_COUNT - 1) << 16)
#define SVR_AFTER_INIT 0xffu

/* The highest vector set in a bitmap, or -1. */
static int bitmap_highest(const uint64_t words[VLAPIC_VECTOR_WORDS])
{
    for (int i = VLAPIC_VECTOR_WORDS - 1; i >= 0; i--) {
        uint64_t word = atomic_get(&words[i]);

        if (word)
            return i * 64 + 63 - __builtin_clzll(word);
    }
    return -1;
}

/* Processor priority (SDM 11.8.3.1): the greater class of TPR and the highest vector in service. */
static uint32_t vlapic_ppr(const struct vlapic *lapic)
{
    int in_service = bitmap_highest(lapic->isr);
    uint32_t isr_class = in_service < 0 ? 0 : (uint32_t)in_service & APIC_PRIORITY_CLASS;

    return (lapic->tpr & APIC_PRIORITY_CLASS) >= isr_class ? lapic->tpr : isr_class;
}

/* The vector that could be delivered now, or -1. */
static int vlapic_deliverable(const struct vlapic *lapic)
{
    int vector = bitmap_highest(lapic->irr);

    if (vector < 0 || !(lapic->svr & APIC_SVR_ENABLE))
        return -1;
    return ((uint32_t)vector & APIC_PRIORITY_CLASS) > (vlapic_ppr(lapic) & APIC_PRIORITY_CLASS)
               ? vector
               : -1;
}

bool guest_irq_pending(struct vcpu *v)
{
    return vlapic_deliverable(v->lapic) >= 0;
}

int guest_irq_accept(struct vcpu *v)
{
    struct vlapic *lapic = v->lapic;
    int vector = vlapic_deliverable(lapic);

    if (vector < 0)
        return -1;
    atomic_fetch_and(&lapic->irr[vector / 64], ~BIT(vector % 64));
    lapic->isr[vector / 64] |= BIT(vector % 64);
    return vector;
}

void vlapic_post(struct vlapic *lapic, uint8_t vector)
{
    uint64_t old = atomic_fetch_or(&lapic->irr[vector / 64], BIT(vector % 64));

    if (!(old & BIT(vector % 64)))
        vcpu_post(lapic->vcpu, PENDING_IRQ);
}

static void vlapic_eoi(struct vlapic *lapic)
{
    int vector = bitmap_highest(lapic->isr);

    if (vector < 0)
        return;
    lapic->isr[vector / 64] &= ~BIT(vector % 64);
    if (vlapic_deliverable(lapic) >= 0)
        vcpu_post_self(lapic->vcpu, PENDING_IRQ);
}

static void vlapic_set_tpr(struct vlapic *lapic, uint32_t tpr)
{
    lapic->tpr = tpr;
    vcpu_post_self(lapic->vcpu, PENDING_IRQ);
}

void guest_cr8_exit(struct vcpu *v)
{
    struct exit_cr8 access = v->exit.cr8;
    bool rsp = access.gpr == VCPU_RSP;

    if (access.write) {
        uint64_t value = rsp ? virt->get_reg(v, VREG_RSP) : v->regs[access.gpr];

        if (value & ~BITS(3, 0)) {
            vcpu_fault(v, VECTOR_GP, 0);
            return;
        }
        vlapic_set_tpr(v->lapic, (uint32_t)FIELD_PREP(APIC_PRIORITY_CLASS, value));
    } else {
        uint64_t value = FIELD_GET(APIC_PRIORITY_CLASS, v->lapic->tpr);

        if (rsp)
            virt->set_reg(v, VREG_RSP, value);
        else
            v->regs[access.gpr] = value;
    }
    virt->skip(v);
}

uint32_t vlapic_ldr(uint32_t apic_id)
{
    return (uint32_t)(FIELD_PREP(APIC_LDR_CLUSTER, apic_id >> 4) | BIT(apic_id & 15));
}

static uint32_t bitmap_reg(const uint64_t words[VLAPIC_VECTOR_WORDS], uint32_t index)
{
    return (uint32_t)(atomic_get(&words[index / 2]) >> (index % 2 * 32));
}

/* Registers stand 0x10 apart, as in the MMIO page. */
static bool vlapic_is_lvt(uint32_t reg)
{
    return reg >= APIC_LVT_TIMER && reg <= APIC_LVT_ERROR;
}

static bool vlapic_in_bitmap(uint32_t reg, uint32_t first)
{
    return reg >= first && reg < first + (8 << 4);
}

int vlapic_read(struct vlapic *lapic, uint32_t reg, uint64_t *value)
{
    if (vlapic_is_lvt(reg)) {
        *value = lapic->lvt[(reg - APIC_LVT_TIMER) >> 4];
        return 0;
    }
    if (vlapic_in_bitmap(reg, APIC_ISR)) {
        *value = bitmap_reg(lapic->isr, (reg - APIC_ISR) >> 4);
        return 0;
    }
    if (vlapic_in_bitmap(reg, APIC_IRR)) {
        *value = bitmap_reg(lapic->irr, (reg - APIC_IRR) >> 4);
        return 0;
    }
    if (vlapic_in_bitmap(reg, APIC_TMR)) {
        *value = 0;
        return 0;
    }
    switch (reg) {
    case APIC_ID:
        *value = lapic->vcpu->apic_id;
        return 0;
    case APIC_VERSION:
        *value = VLAPIC_VERSION;
        return 0;
    case APIC_TPR:
        *value = lapic->tpr;
        return 0;
    case APIC_PPR:
        *value = vlapic_ppr(lapic);
        return 0;
    case APIC_LDR:
        *value = vlapic_ldr(lapic->vcpu->apic_id);
        return 0;
    case APIC_SVR:
        *value = lapic->svr;
        return 0;
    case APIC_ESR:
        *value = lapic->esr;
        return 0;
    case APIC_ICR:
        *value = lapic->icr;
        return 0;
    case APIC_TIMER_INITIAL:
        *value = lapic->initial_count;
        return 0;
    case APIC_TIMER_CURRENT:
        *value = vlapic_timer_count(lapic);
        return 0;
    case APIC_TIMER_DIVIDE:
        *value = lapic->divide;
        return 0;
    default:
        return -EINVAL;
    }
}

static void vlapic_set_svr(struct vlapic *lapic, uint32_t svr)
{
    lapic->svr = svr;
    if (!(svr & APIC_SVR_ENABLE))
        for (uint32_t i = 0; i < VLAPIC_LVT_COUNT; i++)
            lapic->lvt[i] |= APIC_LVT_MASKED; /* SDM 11.4.7.2 */
    vcpu_post_self(lapic->vcpu, PENDING_IRQ);
}

/* Writable bits of each LVT register (SDM 11.5.1, figure 11-8). */
static const uint32_t lvt_valid[VLAPIC_LVT_COUNT] = {
    [VLAPIC_LVT_TIMER] = APIC_LVT_VECTOR | APIC_LVT_MASKED | APIC_LVT_TIMER_MODE,
    [VLAPIC_LVT_THERMAL] = APIC_LVT_VECTOR | APIC_LVT_MODE | APIC_LVT_MASKED,
    [VLAPIC_LVT_PERF] = APIC_LVT_VECTOR | APIC_LVT_MODE | APIC_LVT_MASKED,
    [VLAPIC_LVT_LINT0] = APIC_LVT_VECTOR | APIC_LVT_MODE | APIC_LVT_MASKED | APIC_LVT_PIN,
    [VLAPIC_LVT_LINT1] = APIC_LVT_VECTOR | APIC_LVT_MODE | APIC_LVT_MASKED | APIC_LVT_PIN,
    [VLAPIC_LVT_ERROR] = APIC_LVT_VECTOR | APIC_LVT_MASKED,
};

static int vlapic_set_lvt(struct vlapic *lapic, uint32_t index, uint64_t value)
{
    uint32_t old = lapic->lvt[index];

    if (value & ~(uint64_t)lvt_valid[index])
        return -EINVAL;
    if (!(lapic->svr & APIC_SVR_ENABLE))
        value |= APIC_LVT_MASKED;
    atomic_set(&lapic->lvt[index], (uint32_t)value);
    if (index == VLAPIC_LVT_TIMER)
        vlapic_timer_lvt_changed(lapic, old);
    return 0;
}

int vlapic_write(struct vlapic *lapic, uint32_t reg, uint64_t value)
{
    if (reg == APIC_EOI && value == 0) { /* the most frequent by far */
        vlapic_eoi(lapic);
        return 0;
    }
    if (reg == APIC_ICR)
        return vlapic_write_icr(lapic, value);
    if (value >> 32)
        return -EINVAL;
    if (vlapic_is_lvt(reg))
        return vlapic_set_lvt(lapic, (reg - APIC_LVT_TIMER) >> 4, value);
    switch (reg) {
    case APIC_TPR:
        if (value & ~BITS(7, 0))
            return -EINVAL;
        vlapic_set_tpr(lapic, (uint32_t)value);
        return 0;
    case APIC_SVR:
        if (value & ~APIC_SVR_VALID)
            return -EINVAL;
        vlapic_set_svr(lapic, (uint32_t)value);
        return 0;
    case APIC_ESR:
        if (value)
            return -EINVAL;
        lapic->esr = lapic->esr_pending;
        lapic->esr_pending = 0;
        return 0;
    case APIC_TIMER_INITIAL:
        vlapic_timer_start(lapic, (uint32_t)value);
        return 0;
    case APIC_TIMER_DIVIDE:
        if (value & ~APIC_TIMER_DIVIDE_VALID)
            return -EINVAL;
        vlapic_timer_divide_changed(lapic, (uint32_t)value);
        return 0;
    case APIC_SELF_IPI:
        if (value & ~BITS(7, 0))
            return -EINVAL;
        lapic->vcpu->stats.ipis++;
        if (value < VLAPIC_VECTOR_MIN)
            lapic->esr_pending |= APIC_ESR_SEND_ILLEGAL;
        else
            vlapic_post(lapic, (uint8_t)value);
        return 0;
    default:
        return -EINVAL;
    }
}

void vlapic_reset(struct vlapic *lapic)
{
    vlapic_timer_stop(lapic);
    memset(lapic->isr, 0, sizeof(lapic->isr));
    for (uint32_t i = 0; i < VLAPIC_VECTOR_WORDS; i++)
        atomic_exchange(&lapic->irr[i], 0);
    lapic->tpr = 0;
    lapic->svr = SVR_AFTER_INIT;
    lapic->esr = 0;
    lapic->esr_pending = 0;
    lapic->icr = 0;
    lapic->divide = 0;
    lapic->initial_count = 0;
    for (uint32_t i = 0; i < VLAPIC_LVT_COUNT; i++)
        lapic->lvt[i] = APIC_LVT_MASKED;
}

void vlapic_init(struct vlapic *lapic, struct vcpu *v)
{
    lapic->vcpu = v;
    vlapic_timer_init(lapic);
    vlapic_reset(lapic);
}
