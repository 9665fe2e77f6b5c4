/* Whose the bits of CR0 and CR4 are under VT-x; see vmx_vmcs.c. */
#ifndef ARCH_X86_VMX_CR_H
#define ARCH_X86_VMX_CR_H

#include "arch/x86/regs/cr.h"

#define VMX_CR0_HOST (CR0_NE | CR0_CD | CR0_NW)

#define VMX_CR4_GUEST                                                                            \
    (CR4_VME | CR4_PVI | CR4_TSD | CR4_DE | CR4_PSE | CR4_PAE | CR4_PGE | CR4_PCE | CR4_OSFXSR | \
     CR4_OSXMMEXCPT | CR4_UMIP | CR4_FSGSBASE | CR4_PCIDE | CR4_OSXSAVE | CR4_SMEP | CR4_SMAP |  \
     CR4_PKE)

/* Written by the guest to its shadow only. */
#define VMX_CR4_SHADOWED CR4_MCE

#endif
