/* What the boot CPU can do, as host code needs to know; and the control registers made of it. */
#ifndef ARCH_X86_FEATURES_H
#define ARCH_X86_FEATURES_H

#include "arch/x86/firmware_msr.h"
#include "hv/types.h"

/* [i] by features_init */
struct cpu_features {
    bool nx, page_1gib, x2apic, tsc_deadline, invariant_tsc;
    bool smep, smap, umip, pge, mce, mca, xsave, tsc_adjust;
    bool hypervisor; /* there is one below */
    bool intel, amd;
    uint32_t family, model, stepping;
    paddr_t physical_limit; /* addresses from here up set reserved bits of a page-table entry */
};

extern struct cpu_features cpu_features;
extern const struct msr_ops cpu_msrs; /* the MSRs of the CPU that asks */

void features_init(void);

/*
 * On each CPU: CR0, CR4, EFER and PAT are written whole, never as firmware's value with bits added:
 * that would keep LA57, CET, PCIDE or whatever else it turned on. Machine-check banks are enabled.
 */
void features_setup_cpu(void);

/* Revision of the microcode this CPU runs; 0: it does not say. */
uint32_t features_microcode(void);

#endif
