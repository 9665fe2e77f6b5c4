/* CPUID as a CPU answers, kept for the topology decoder, guests' CPUID and listings. */
#ifndef ARCH_X86_CPUID_CAPTURE_H
#define ARCH_X86_CPUID_CAPTURE_H

#include "arch/x86/cpu_area.h"

/* On the CPU itself: its leaves, and what else it alone can tell (microcode). */
void cpuid_capture(struct arch_cpu *arch);

struct cpuid_dump cpuid_of(const struct arch_cpu *arch);

#endif
