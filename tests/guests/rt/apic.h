/*
 * The local APIC: x2APIC by MSR where CPUID offers it, else xAPIC through its page at 0xfee00000.
 * `apic=xapic` on the command line keeps to the page unless firmware left x2APIC on.
 *
 * Registers are named by their xAPIC offset (Intel SDM 3A 11.4.1); the MSR is 0x800 + offset / 16.
 */
#ifndef GUEST_RT_APIC_H
#define GUEST_RT_APIC_H

#include "hv/types.h"

enum apic_reg {
    APIC_ID = 0x20,
    APIC_VERSION = 0x30,
    APIC_TPR = 0x80,
    APIC_PPR = 0xa0,
    APIC_EOI = 0xb0,
    APIC_LDR = 0xd0,
    APIC_DFR = 0xe0,
    APIC_SVR = 0xf0,
    APIC_ISR = 0x100,
    APIC_IRR = 0x200,
    APIC_ESR = 0x280,
    APIC_ICR = 0x300,
    APIC_ICR_HIGH = 0x310,
    APIC_LVT_TIMER = 0x320,
    APIC_LVT_LINT0 = 0x350,
    APIC_LVT_LINT1 = 0x360,
    APIC_LVT_ERROR = 0x370,
    APIC_TIMER_START = 0x380,
    APIC_TIMER_NOW = 0x390,
    APIC_TIMER_DIVIDE = 0x3e0,
    APIC_SELF_IPI = 0x3f0,
};

enum apic_icr {
    ICR_FIXED = 0x000,
    ICR_LOWEST = 0x100,
    ICR_NMI = 0x400,
    ICR_INIT = 0x500,
    ICR_STARTUP = 0x600,
    ICR_LOGICAL = 0x800,
    ICR_BUSY = 0x1000,
    ICR_ASSERT = 0x4000,
    ICR_SELF = 0x40000,
    ICR_ALL = 0x80000,
    ICR_OTHERS = 0xc0000,
};

enum apic_timer {
    TIMER_MASKED = 0x10000,
    TIMER_PERIODIC = 0x20000,
    TIMER_DEADLINE = 0x40000,
};

enum {
    MSR_APIC_BASE = 0x1b,
    MSR_TSC_DEADLINE = 0x6e0,
    MSR_X2APIC = 0x800,
};

extern bool apic_is_x2;         /* [i] */
extern uint64_t apic_timer_khz; /* [i] at divide by 1; 0: the timer does not count */
extern bool apic_has_deadline;  /* [i] */

void apic_init(void);      /* once: chooses the mode */
void apic_enable(void);    /* on each CPU: all local vectors masked, TPR 0 */
void apic_calibrate(void); /* once, after apic_enable and time_init */
uint32_t apic_read(uint32_t reg);
void apic_write(uint32_t reg, uint32_t value);
uint32_t apic_own_id(void);

/*
 * Sends what icr_low says to the APIC id (or logical id) `dest`; earlier stores are visible first.
 */
void apic_send(uint32_t dest, uint32_t icr_low);

void apic_self_ipi(uint32_t vector);
void apic_eoi(void);

/* Fires `vector` once in, or every, `us` microseconds; a count of 0 is made 1. */
void apic_timer_oneshot(uint32_t vector, uint64_t us);
void apic_timer_periodic(uint32_t vector, uint64_t us);
void apic_timer_stop(void);

/* The bit of vector in a 256-bit register (ISR, IRR). */
bool apic_vector_bit(uint32_t reg, uint32_t vector);

#endif
