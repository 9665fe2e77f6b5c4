/*
 * Local APIC and I/O APIC registers. SDM 3A 10.4-10.12; 82093AA data sheet.
 *
 * Local APIC registers are named by their xAPIC MMIO offset; MSR_X2APIC() turns it into the MSR.
 */
#ifndef ARCH_X86_REGS_APIC_H
#define ARCH_X86_REGS_APIC_H

#include "hv/bits.h"

#define APIC_ID                 0x020u
#define APIC_VERSION            0x030u
#define APIC_TPR                0x080u
#define APIC_PPR                0x0a0u
#define APIC_EOI                0x0b0u
#define APIC_LDR                0x0d0u
#define APIC_DFR                0x0e0u
#define APIC_SVR                0x0f0u
#define APIC_ISR                0x100u /* 8 registers, 0x10 apart; so are TMR and IRR */
#define APIC_TMR                0x180u
#define APIC_IRR                0x200u
#define APIC_ESR                0x280u
#define APIC_LVT_CMCI           0x2f0u
#define APIC_ICR                0x300u
#define APIC_ICR_HIGH           0x310u
#define APIC_LVT_TIMER          0x320u
#define APIC_LVT_THERMAL        0x330u
#define APIC_LVT_PERF           0x340u
#define APIC_LVT_LINT0          0x350u
#define APIC_LVT_LINT1          0x360u
#define APIC_LVT_ERROR          0x370u
#define APIC_TIMER_INITIAL      0x380u
#define APIC_TIMER_CURRENT      0x390u
#define APIC_TIMER_DIVIDE       0x3e0u
#define APIC_SELF_IPI           0x3f0u

#define APIC_VERSION_MAX_LVT    BITS(23, 16)
#define APIC_PRIORITY_CLASS     BITS(7, 4)   /* of a vector, TPR, PPR */
#define APIC_LDR_CLUSTER        BITS(31, 16) /* x2APIC logical destination: SDM 11.12.10.2 */
#define APIC_LDR_MEMBERS        BITS(15, 0)
#define APIC_SVR_ENABLE         BIT(8)
#define APIC_SVR_VALID          BITS(9, 0)
#define APIC_ESR_SEND_ILLEGAL   BIT(5)

#define APIC_LVT_VECTOR         BITS(7, 0)
#define APIC_LVT_MODE           BITS(10, 8)
#define APIC_LVT_PIN            (BIT(13) | BIT(15)) /* LINT0 and LINT1: polarity and trigger mode */
#define APIC_LVT_MASKED         BIT(16)
#define APIC_LVT_TIMER_MODE     BITS(18, 17)
#define APIC_TIMER_ONESHOT      0u
#define APIC_TIMER_PERIODIC     1u
#define APIC_TIMER_DEADLINE     2u
#define APIC_TIMER_DIVIDE_BY_1  0xbu
#define APIC_TIMER_DIVIDE_VALID (BIT(3) | BITS(1, 0))

#define APIC_ICR_VECTOR         BITS(7, 0)
#define APIC_ICR_MODE           BITS(10, 8)
#define APIC_ICR_DEST_LOGICAL   BIT(11)
#define APIC_ICR_BUSY           BIT(12) /* xAPIC only */
#define APIC_ICR_ASSERT         BIT(14)
#define APIC_ICR_LEVEL          BIT(15)
#define APIC_ICR_SHORTHAND      BITS(19, 18)
#define APIC_ICR_XAPIC_DEST     BITS(63, 56)
#define APIC_ICR_X2APIC_DEST    BITS(63, 32)
#define APIC_ICR_X2APIC_VALID   (BITS(63, 32) | BITS(19, 18) | BITS(15, 14) | BITS(11, 0))
#define APIC_X2APIC_BROADCAST   UINT32_MAX

enum apic_delivery_mode {
    APIC_MODE_FIXED = 0,
    APIC_MODE_LOWEST = 1,
    APIC_MODE_SMI = 2,
    APIC_MODE_NMI = 4,
    APIC_MODE_INIT = 5,
    APIC_MODE_SIPI = 6,
    APIC_MODE_EXTINT = 7
};

enum apic_shorthand { APIC_TO_DEST = 0, APIC_TO_SELF = 1, APIC_TO_ALL = 2, APIC_TO_OTHERS = 3 };

/* I/O APIC: two MMIO registers select and move a 32-bit register. */
#define IOAPIC_SELECT           0x00u
#define IOAPIC_WINDOW           0x10u
#define IOAPIC_REG_VERSION      0x01u
#define IOAPIC_REG_ENTRY(pin)   (0x10u + 2 * (pin)) /* low half; the high half follows */
#define IOAPIC_VERSION_LAST     BITS(23, 16)

#define IOAPIC_ENTRY_ACTIVE_LOW BIT(13)
#define IOAPIC_ENTRY_LEVEL      BIT(15)
#define IOAPIC_ENTRY_MASKED     BIT(16)
#define IOAPIC_ENTRY_DEST       BITS(63, 56)

#endif
