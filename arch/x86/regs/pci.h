/* PCI configuration space, the header of an ordinary function (PCI Local Bus 3.0, 6.1, 6.2.5). */
#ifndef ARCH_X86_REGS_PCI_H
#define ARCH_X86_REGS_PCI_H

#include "hv/bits.h"

#define PCI_CONFIG_ADDRESS  0xcf8u
#define PCI_CONFIG_DATA     0xcfcu
#define PCI_ADDRESS_ENABLE  BIT(31)
#define PCI_ADDRESS_TARGET  BITS(23, 8) /* bus, device, function */

#define PCI_ID              0x00u /* vendor below, device above */
#define PCI_ID_VENDOR       BITS(15, 0)
#define PCI_COMMAND         0x04u /* with the status above it, whose bits clear when 1 is written */
#define PCI_COMMAND_BITS    BITS(15, 0)
#define PCI_COMMAND_IO      BIT(0)
#define PCI_COMMAND_MEMORY  BIT(1)
#define PCI_CLASS           0x08u /* revision below */
#define PCI_CLASS_CODE      BITS(31, 16)
#define PCI_HEADER          0x0cu
#define PCI_HEADER_TYPE     BITS(22, 16)
#define PCI_HEADER_MULTI    BIT(23)
#define PCI_BAR0            0x10u
#define PCI_BARS            6u

#define PCI_BAR_IO          BIT(0)
#define PCI_BAR_IO_BASE     BITS(15, 2)
#define PCI_BAR_MEMORY_BASE BITS(31, 4)
#define PCI_BAR_MEMORY_TYPE BITS(2, 1)
#define PCI_BAR_MEMORY_64   2u

#define PCI_VENDOR_NONE     0xffffu
#define PCI_CLASS_SERIAL    0x0700u
#define PCI_HEADER_ORDINARY 0u

#endif
