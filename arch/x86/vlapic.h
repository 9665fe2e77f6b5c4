/*
 * The guest's local APIC, always in x2APIC mode (SDM 11.12). See vlapic.c, vlapic_ipi.c,
 * vlapic_timer.c.
 *
 * Tags: [i] set at creation, [c] CPU that has the vCPU loaded, [a] atomic.
 */
#ifndef ARCH_X86_VLAPIC_H
#define ARCH_X86_VLAPIC_H

#include "kernel/timer.h"
#include "kernel/vcpu.h"

#define VLAPIC_VECTOR_WORDS 4   /* 256 vectors in 64-bit words */
#define VLAPIC_VECTOR_MIN   16u /* a lower one is illegal (SDM 11.5.2) */

enum vlapic_lvt {
    VLAPIC_LVT_TIMER,
    VLAPIC_LVT_THERMAL,
    VLAPIC_LVT_PERF,
    VLAPIC_LVT_LINT0,
    VLAPIC_LVT_LINT1,
    VLAPIC_LVT_ERROR,
    VLAPIC_LVT_COUNT
};

struct vlapic {
    uint64_t irr[VLAPIC_VECTOR_WORDS]; /* [a] set by anyone, cleared by the owner */
    uint64_t isr[VLAPIC_VECTOR_WORDS]; /* [c] */
    struct vcpu *vcpu;                 /* [i] */
    uint32_t tpr;                      /* [c] */
    uint32_t svr;                      /* [c] */
    uint32_t esr;                      /* [c] what a read of ESR shows */
    uint32_t esr_pending;              /* [c] errors since the last write of ESR */
    uint32_t lvt[VLAPIC_LVT_COUNT];    /* [c]; the timer's own is read by its handler [a] */
    uint64_t icr;                      /* [c] */
    uint32_t divide;                   /* [c] DCR as written */
    uint32_t initial_count;            /* [c] */
    struct timer timer;                /* fires on the CPU that armed it */
    ns_t period_ns;                    /* [c] 0 unless periodic; written while the timer is off */
    ns_t due;              /* [a] when the count reaches 0, NS_NEVER when it does not run */
    uint64_t tsc_deadline; /* [a] guest TSC, 0 when off */
};

void vlapic_init(struct vlapic *lapic, struct vcpu *v);

/* As after INIT (SDM 11.4.7.1, 11.12.5.1): the id and the mode stay. */
void vlapic_reset(struct vlapic *lapic);

/* Any CPU: a fixed interrupt of `vector` (>= 16) waits from now on. */
void vlapic_post(struct vlapic *lapic, uint8_t vector);

/* Register access by its MMIO offset, (MSR - 0x800) << 4. 0, or -EINVAL where #GP is due. */
int vlapic_read(struct vlapic *lapic, uint32_t reg, uint64_t *value);
int vlapic_write(struct vlapic *lapic, uint32_t reg, uint64_t value);

int vlapic_write_icr(struct vlapic *lapic, uint64_t icr); /* vlapic_ipi.c */
uint32_t vlapic_ldr(uint32_t apic_id);

void vlapic_timer_init(struct vlapic *lapic); /* vlapic_timer.c */
void vlapic_timer_stop(struct vlapic *lapic);
void vlapic_timer_lvt_changed(struct vlapic *lapic, uint32_t old);
void vlapic_timer_divide_changed(struct vlapic *lapic, uint32_t divide);
void vlapic_timer_start(struct vlapic *lapic, uint32_t count);
uint32_t vlapic_timer_count(const struct vlapic *lapic);
void vlapic_timer_set_deadline(struct vlapic *lapic, uint64_t guest_tsc);
uint64_t vlapic_timer_deadline(const struct vlapic *lapic);

#endif
