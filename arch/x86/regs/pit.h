/* The 8254 timer and the 8259 interrupt controllers, as far as Numen touches them. */
#ifndef ARCH_X86_REGS_PIT_H
#define ARCH_X86_REGS_PIT_H

#include "hv/bits.h"

#define PIT_HZ           1193182ull
#define PIT_CHANNEL_2    0x42u
#define PIT_COMMAND      0x43u
#define PIT_LATCH_2      0x80u
#define PIT_SET_2_RATE   0xb4u /* channel 2, both bytes, mode 2 */
#define PIT_GATE_PORT    0x61u
#define PIT_GATE_ENABLE  0x01u
#define PIT_GATE_SPEAKER 0x02u

#define PIC1_COMMAND     0x20u
#define PIC1_DATA        0x21u
#define PIC2_COMMAND     0xa0u
#define PIC2_DATA        0xa1u
#define PIC_ICW1         0x11u /* edge, cascade, four words */
#define PIC_ICW4_8086    0x01u
#define PIC_MASK_ALL     0xffu

#endif
