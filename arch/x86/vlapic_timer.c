/*
 * The guest's local APIC timer: one-shot, periodic, TSC deadline.
 *
 * The APIC's input clock is one tick a nanosecond. The timer is a kernel timer: armed on the CPU
 * that runs the vCPU when it writes the register, it stays there when the vCPU sleeps or moves and
 * posts its vector from there. Registers that the handler reads are changed only while the timer is
 * off (timer_cancel waits for a running handler). Source: SDM 11.5.4.
 */
#include "arch/x86/regs/apic.h"
#include "arch/x86/vlapic.h"
#include "kernel/arch.h"

/* Floor for a period: a guest cannot make the host spend all of its time in timer handlers. */
#define PERIOD_MIN_NS (200 * NS_PER_US)

/* Divide configuration (SDM figure 11-10): bits 3, 1, 0 select 2, 4, ... 128, 1. */
static uint32_t timer_divisor(uint32_t divide)
{
    uint32_t code = (divide & 3) | (divide & 8) >> 1;

    return 1u << ((code + 1) & 7);
}

static uint64_t timer_mode(uint32_t lvt)
{
    return FIELD_GET(APIC_LVT_TIMER_MODE, lvt);
}

/* The period that the registers ask for; 0 unless periodic. */
static ns_t timer_period(const struct vlapic *lapic)
{
    ns_t length = (ns_t)lapic->initial_count * timer_divisor(lapic->divide); /* < 2^39 */

    if (timer_mode(lapic->lvt[VLAPIC_LVT_TIMER]) != APIC_TIMER_PERIODIC)
        return 0;
    return MAX(length, PERIOD_MIN_NS);
}

static void vlapic_timer_fire(struct timer *timer, ns_t now)
{
    struct vlapic *lapic = container_of(timer, struct vlapic, timer);
    uint32_t lvt = atomic_get(&lapic->lvt[VLAPIC_LVT_TIMER]);

    atomic_set(&lapic->tsc_deadline, 0);
    if (lapic->period_ns) {
        ns_t next = atomic_get(&lapic->due) + lapic->period_ns;

        if (next <= now) /* missed periods are not made up for */
            next = now + lapic->period_ns;
        atomic_set(&lapic->due, next);
        timer_arm(timer, next);
    } else {
        atomic_set(&lapic->due, NS_NEVER);
    }
    if (!(lvt & APIC_LVT_MASKED) && FIELD_GET(APIC_LVT_VECTOR, lvt) >= VLAPIC_VECTOR_MIN)
        vlapic_post(lapic, (uint8_t)FIELD_GET(APIC_LVT_VECTOR, lvt));
}

static void vlapic_timer_arm(struct vlapic *lapic, ns_t due, ns_t period)
{
    timer_cancel(&lapic->timer);
    lapic->period_ns = period;
    atomic_set(&lapic->due, due);
    if (due != NS_NEVER)
        timer_arm(&lapic->timer, due);
}

void vlapic_timer_init(struct vlapic *lapic)
{
    timer_init(&lapic->timer, vlapic_timer_fire);
    lapic->due = NS_NEVER;
}

void vlapic_timer_stop(struct vlapic *lapic)
{
    vlapic_timer_arm(lapic, NS_NEVER, 0);
    atomic_set(&lapic->tsc_deadline, 0);
}

void vlapic_timer_start(struct vlapic *lapic, uint32_t count)
{
    uint64_t mode = timer_mode(lapic->lvt[VLAPIC_LVT_TIMER]);
    ns_t length = (ns_t)count * timer_divisor(lapic->divide); /* < 2^39 */

    if (mode == APIC_TIMER_DEADLINE)
        return; /* writes are ignored in this mode */
    lapic->initial_count = count;
    if (!count)
        vlapic_timer_stop(lapic);
    else
        vlapic_timer_arm(lapic, arch_now() + length, timer_period(lapic));
}

uint32_t vlapic_timer_count(const struct vlapic *lapic)
{
    ns_t due = atomic_get(&lapic->due);
    ns_t now = arch_now();

    if (timer_mode(lapic->lvt[VLAPIC_LVT_TIMER]) == APIC_TIMER_DEADLINE || due == NS_NEVER ||
        due <= now)
        return 0;
    return (uint32_t)((due - now) / timer_divisor(lapic->divide));
}

void vlapic_timer_divide_changed(struct vlapic *lapic, uint32_t divide)
{
    uint32_t left = vlapic_timer_count(lapic);

    lapic->divide = divide;
    if (left) /* the count goes on at the new speed */
        vlapic_timer_arm(lapic, arch_now() + (ns_t)left * timer_divisor(divide),
                         timer_period(lapic));
}

void vlapic_timer_lvt_changed(struct vlapic *lapic, uint32_t old)
{
    uint64_t was = timer_mode(old);
    uint64_t is = timer_mode(lapic->lvt[VLAPIC_LVT_TIMER]);

    if (was == is)
        return;
    /* Into or out of deadline mode disarms (SDM 11.5.4.1); else the count goes on. */
    if (was == APIC_TIMER_DEADLINE || is == APIC_TIMER_DEADLINE) {
        vlapic_timer_stop(lapic);
        return;
    }
    if (vlapic_timer_count(lapic))
        vlapic_timer_arm(lapic, atomic_get(&lapic->due), timer_period(lapic));
}

void vlapic_timer_set_deadline(struct vlapic *lapic, uint64_t guest_tsc)
{
    uint64_t now_tsc = arch_tsc() + lapic->vcpu->tsc_offset;
    ns_t due;

    if (timer_mode(lapic->lvt[VLAPIC_LVT_TIMER]) != APIC_TIMER_DEADLINE)
        return; /* ignored in the other modes */
    if (!guest_tsc) {
        vlapic_timer_stop(lapic);
        return;
    }
    due = arch_now();
    if (guest_tsc > now_tsc) {
        ns_t length = arch_tsc_to_ns(guest_tsc - now_tsc);

        due = length < NS_NEVER - 1 - due ? due + length : NS_NEVER - 1;
    }
    vlapic_timer_arm(lapic, due, 0);
    atomic_set(&lapic->tsc_deadline, guest_tsc);
}

uint64_t vlapic_timer_deadline(const struct vlapic *lapic)
{
    return atomic_get(&lapic->tsc_deadline);
}
