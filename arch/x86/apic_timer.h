/* The local APIC's timer: arch_timer_set (kernel/arch.h). See apic_timer.c. */
#ifndef ARCH_X86_APIC_TIMER_H
#define ARCH_X86_APIC_TIMER_H

/* Boot CPU, behind tsc_init: choose deadline or one-shot mode, measure the latter's rate. */
void apic_timer_init(void);

/* On each CPU, behind apic_init_cpu: set up, disarmed. */
void apic_timer_init_cpu(void);

#endif
