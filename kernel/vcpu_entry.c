/*
 * What is pending for a vCPU, acted upon before its next entry, on the CPU that has it loaded.
 *
 * Decides the order (end, INIT, start-up, sleep, NMI, interrupt) and whether a halted vCPU sleeps
 * on. Does not decide who posts what (vcpu_post) nor who runs next (sched/).
 *
 * Block and wake: the decision to sleep is taken under the vCPU's lock after one more look at the
 * pending word; a poster sets its bit first and takes the lock after. So either the sleeper sees
 * the bit, or the poster sees `blocked` and wakes it.
 *
 * An interrupt's PENDING_IRQ is cleared before the vlapic is asked, and set again while a vector
 * cannot go in yet: an interrupt window is asked for then, and any other exit that comes before it
 * looks again, too (Bochs 2.7 forgets a virtual interrupt of AMD-V at an exit with IF=0).
 * PENDING_NMI stays set until the NMI is armed: there is no IRR for it, and a HLT or any other exit
 * that comes before the window finds it there.
 */
#include "kernel/vcpu_entry.h"

#include <string.h>

#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/schedule.h"
#include "kernel/vm_life.h"

#define RFLAGS_IF    (1u << 9)

#define WAKES_ALWAYS (PENDING_INIT | PENDING_KILL)

static void pending_clear(struct vcpu *v, uint32_t bits)
{
    atomic_fetch_and(&v->pending, ~bits);
}

static bool pending_take(struct vcpu *v, uint32_t bit)
{
    if (!(atomic_get(&v->pending) & bit))
        return false;
    pending_clear(v, bit);
    return true;
}

static void vcpu_now_running(struct vcpu *v)
{
    v->run_state = VCPU_RUNNING;
    pending_clear(v, PENDING_SLEEP);
}

static void vcpu_take_init(struct vcpu *v)
{
    guest_vcpu_reset(v);
    virt->start_state(v, VIRT_START_INIT, 0);
    virt->tlb_flush(v); /* CR0 and CR3 changed behind the CPU's back */
    v->run_state = VCPU_WAIT_SIPI;
    pending_clear(v, PENDING_NMI | PENDING_IRQ | PENDING_KICKED);
    vcpu_post_self(v, PENDING_SLEEP);
}

static void vcpu_take_sipi(struct vcpu *v)
{
    /* SDM 9.4.4.1: a start-up IPI is ignored by a CPU that does not wait for one. */
    if (v->run_state != VCPU_WAIT_SIPI)
        return;
    virt->start_state(v, VIRT_START_SIPI, atomic_get(&v->sipi_vector));
    vcpu_now_running(v);
}

static bool vcpu_takes_interrupts(struct vcpu *v)
{
    return virt->get_reg(v, VREG_RFLAGS) & RFLAGS_IF;
}

/*
 * Is there a reason for a halted vCPU to go on? An armed event, such as the trap of a single step
 * over HLT, is one.
 */
static bool vcpu_halt_ends(struct vcpu *v)
{
    if (pending_take(v, PENDING_KICKED) || virt->event_armed(v))
        return true;
    if ((atomic_get(&v->pending) & PENDING_NMI) && virt->nmi_open(v))
        return true;
    if (!vcpu_takes_interrupts(v))
        return false;
    pending_clear(v, PENDING_IRQ);
    return guest_irq_pending(v);
}

static uint32_t vcpu_wake_mask(struct vcpu *v)
{
    if (v->run_state == VCPU_WAIT_SIPI)
        return WAKES_ALWAYS | PENDING_SIPI;
    return WAKES_ALWAYS | PENDING_KICKED | (virt->nmi_open(v) ? PENDING_NMI : 0) |
           (vcpu_takes_interrupts(v) ? PENDING_IRQ : 0);
}

static void vcpu_sleep(struct vcpu *v)
{
    uint32_t mask = vcpu_wake_mask(v);

    spin_lock(&v->lock);
    if (!(atomic_get(&v->pending) & mask)) {
        v->blocked = true;
        v->wake_mask = mask;
        schedule_sleep();
    }
    spin_unlock(&v->lock);
}

/* True when the vCPU runs on. */
static bool vcpu_stay_awake(struct vcpu *v)
{
    if (v->run_state == VCPU_HALTED && vcpu_halt_ends(v)) {
        vcpu_now_running(v);
        vcpu_post_self(v, PENDING_IRQ); /* may have been cleared while it could not be taken */
        return true;
    }
    vcpu_sleep(v);
    return false;
}

static void vcpu_deliver_nmi(struct vcpu *v)
{
    static const struct virt_event nmi = {.type = VIRT_EVENT_NMI, .vector = 2};

    if (!virt->nmi_open(v)) {
        virt->nmi_window(v, true);
        return;
    }
    pending_clear(v, PENDING_NMI);
    virt->nmi_window(v, false);
    virt->event_arm(v, &nmi);
}

/* A vector waits that cannot go in at this entry. */
static void vcpu_wait_for_window(struct vcpu *v)
{
    virt->irq_window(v, true);
    vcpu_post_self(v, PENDING_IRQ);
}

static void vcpu_deliver_irq(struct vcpu *v)
{
    struct virt_event irq = {.type = VIRT_EVENT_IRQ};

    if (!guest_irq_pending(v))
        return;
    if (!virt->irq_open(v)) {
        vcpu_wait_for_window(v);
        return;
    }
    irq.vector = (uint8_t)guest_irq_accept(v);
    virt->event_arm(v, &irq);
    if (guest_irq_pending(v))
        vcpu_wait_for_window(v);
}

bool vcpu_prepare(struct vcpu *v)
{
    uint32_t pending = atomic_get_acquire(&v->pending);

    if (pending & PENDING_KILL) {
        vm_vcpu_leaves(v);
        return false;
    }
    if (pending & PENDING_INIT) {
        pending_clear(v, PENDING_INIT);
        vcpu_take_init(v);
    }
    if (pending_take(v, PENDING_SIPI))
        vcpu_take_sipi(v);
    if (v->run_state != VCPU_RUNNING && !vcpu_stay_awake(v))
        return false;
    if (atomic_get(&v->pending) & PENDING_NMI)
        vcpu_deliver_nmi(v);
    if (pending_take(v, PENDING_IRQ))
        vcpu_deliver_irq(v);
    return true;
}
