/* Many IPIs by one hypercall. See vlapic_ipi.c. */
#ifndef ARCH_X86_VLAPIC_IPI_H
#define ARCH_X86_VLAPIC_IPI_H

#include "kernel/vcpu.h"

/*
 * KVM_HC_SEND_IPI: bit i of the 128-bit map names APIC id lowest + i; icr gives vector and mode
 * (fixed or NMI). Returns how many vCPUs got it; ids that do not exist are passed over.
 */
uint64_t vlapic_send_bitmap(struct vcpu *from, const uint64_t bitmap[2], uint32_t lowest,
                            uint64_t icr);

#endif
