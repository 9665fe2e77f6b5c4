/*
 * Model-specific registers that Numen reads or writes, or lets guests use. SDM 4; APM 2 appendix A.
 */
#ifndef ARCH_X86_REGS_MSR_H
#define ARCH_X86_REGS_MSR_H

#include "hv/bits.h"

#define MSR_TSC              0x10u
#define MSR_APIC_BASE        0x1bu
#define MSR_SMI_COUNT        0x34u /* Intel: SMIs since reset */
#define MSR_FEATURE_CONTROL  0x3au
#define MSR_TSC_ADJUST       0x3bu
#define MSR_UCODE_REV        0x8bu /* Intel: in EDX after CPUID 1; AMD: the whole value */
#define MSR_MTRR_CAP         0xfeu
#define MSR_SYSENTER_CS      0x174u
#define MSR_SYSENTER_ESP     0x175u
#define MSR_SYSENTER_EIP     0x176u
#define MSR_MCG_CAP          0x179u
#define MSR_MCG_STATUS       0x17au
#define MSR_MCG_CTL          0x17bu
#define MSR_MTRR_BASE(pair)  (0x200u + 2 * (pair))
#define MSR_MTRR_MASK(pair)  (0x201u + 2 * (pair))
#define MSR_PAT              0x277u
#define MSR_MTRR_DEFAULT     0x2ffu
#define MSR_MC_CTL(bank)     (0x400u + 4 * (bank))
#define MSR_MC_STATUS(bank)  (0x401u + 4 * (bank))
#define MSR_MC_ADDR(bank)    (0x402u + 4 * (bank))
#define MSR_TSC_DEADLINE     0x6e0u
#define MSR_X2APIC(reg)      (0x800u + ((reg) >> 4)) /* register as an xAPIC MMIO offset */
#define MSR_EFER             0xc0000080u
#define MSR_STAR             0xc0000081u
#define MSR_LSTAR            0xc0000082u
#define MSR_CSTAR            0xc0000083u
#define MSR_FMASK            0xc0000084u
#define MSR_FS_BASE          0xc0000100u
#define MSR_GS_BASE          0xc0000101u
#define MSR_KERNEL_GS_BASE   0xc0000102u
#define MSR_TSC_AUX          0xc0000103u

#define APIC_BASE_BSP        BIT(8)
#define APIC_BASE_X2APIC     BIT(10)
#define APIC_BASE_ENABLE     BIT(11)
#define APIC_BASE_ADDR       BITS(51, 12)

#define MTRR_CAP_VARIABLE    BITS(7, 0) /* pairs of base and mask */
#define MTRR_CAP_FIXED       BIT(8)
#define MTRR_MASK_VALID      BIT(11)

#define FEATURE_CONTROL_LOCK BIT(0)
#define FEATURE_CONTROL_SMX  BIT(1) /* VMXON allowed inside SMX */
#define FEATURE_CONTROL_VMX  BIT(2) /* VMXON allowed outside SMX */

#define EFER_SCE             BIT(0)
#define EFER_LME             BIT(8)
#define EFER_LMA             BIT(10)
#define EFER_NXE             BIT(11)
#define EFER_SVME            BIT(12)

#define MCG_CAP_COUNT        BITS(7, 0)
#define MCG_CAP_CTL          BIT(8)
#define MC_STATUS_VALID      BIT(63)

/* Memory types by PAT index: 0 WB, 1 WT, 2 UC-, 3 UC, and again; what a CPU has after reset. */
#define PAT_DEFAULT 0x0007040600070406ull
#define PAT_HOST    0x0007040600070106ull /* index 1 write-combining; its reset value is not used */

#endif
