/* Control and debug registers, RFLAGS, XCR0. SDM 3A 2.3, 2.5, 2.6; APM 2 3.1. */
#ifndef ARCH_X86_REGS_CR_H
#define ARCH_X86_REGS_CR_H

#include "hv/bits.h"

#define CR0_PE         BIT(0)
#define CR0_MP         BIT(1)
#define CR0_ET         BIT(4)
#define CR0_NE         BIT(5)
#define CR0_WP         BIT(16)
#define CR0_NW         BIT(29)
#define CR0_CD         BIT(30)
#define CR0_PG         BIT(31)

#define CR3_ADDR       BITS(51, 12)

#define CR4_VME        BIT(0)
#define CR4_PVI        BIT(1)
#define CR4_TSD        BIT(2)
#define CR4_DE         BIT(3)
#define CR4_PSE        BIT(4)
#define CR4_PAE        BIT(5)
#define CR4_MCE        BIT(6)
#define CR4_PGE        BIT(7)
#define CR4_PCE        BIT(8)
#define CR4_OSFXSR     BIT(9)
#define CR4_OSXMMEXCPT BIT(10)
#define CR4_UMIP       BIT(11)
#define CR4_LA57       BIT(12)
#define CR4_VMXE       BIT(13)
#define CR4_FSGSBASE   BIT(16)
#define CR4_PCIDE      BIT(17)
#define CR4_OSXSAVE    BIT(18)
#define CR4_SMEP       BIT(20)
#define CR4_SMAP       BIT(21)
#define CR4_PKE        BIT(22)

#define DR7_GD         BIT(13) /* general detect */

#define RFLAGS_FIXED   BIT(1) /* always 1 */
#define RFLAGS_TF      BIT(8)
#define RFLAGS_IF      BIT(9)

#define XCR0_X87       BIT(0)
#define XCR0_SSE       BIT(1)
#define XCR0_AVX       BIT(2)
#define XCR0_PKRU      BIT(9)

#endif
