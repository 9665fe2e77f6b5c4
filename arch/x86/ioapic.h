/* I/O APICs and the old PIC. See ioapic.c. */
#ifndef ARCH_X86_IOAPIC_H
#define ARCH_X86_IOAPIC_H

#include "hv/firmware.h"

struct cpu;

/* Masks the PIC and every input of every I/O APIC. `madt` may be NULL: then there is none. */
void ioapic_init(const struct madt_info *madt);

/*
 * Let an ISA interrupt in as `vector` on `cpu` (trap_set_handler first). 0; -ENOENT: no I/O APIC
 * has that input; -ERANGE: the CPU's APIC id does not fit the 8 bits of an entry.
 */
__attribute__((warn_unused_result)) int ioapic_route(uint32_t irq, uint8_t vector,
                                                     const struct cpu *cpu);

#endif
