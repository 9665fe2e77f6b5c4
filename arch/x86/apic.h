/* The local APIC: one driver for xAPIC (MMIO) and x2APIC (MSRs). See apic.c. */
#ifndef ARCH_X86_APIC_H
#define ARCH_X86_APIC_H

#include "arch/x86/regs/apic.h"
#include "hv/types.h"

/*
 * Boot CPU: choose the mode for all CPUs; `mmio` is the firmware's address for xAPIC. 0 or -errno.
 */
__attribute__((warn_unused_result)) int apic_init(paddr_t mmio);

/* On each CPU: switch it on in that mode, vectors set, everything else masked. 0, or -EIO: it is
 * locked in the other. */
__attribute__((warn_unused_result)) int apic_init_cpu(void);

uint32_t apic_id(void);
uint32_t apic_read(uint32_t reg);
void apic_write(uint32_t reg, uint32_t value);
void apic_eoi(void);
void apic_error_clear(void);

/* One IPI to one CPU. INIT is sent as edge with assert, the form that both modes share. */
void apic_send(uint32_t apic_id, enum apic_delivery_mode mode, uint8_t vector);

#endif
