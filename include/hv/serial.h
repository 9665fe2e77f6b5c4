/*
 * A serial port as it is told of: where its registers are and how its line is set. Plain data, the
 * result of com1=, SPCR and DBG2, and what the driver opens.
 */
#ifndef HV_SERIAL_H
#define HV_SERIAL_H

#include "hv/types.h"

#define SERIAL_CLOCK_HZ 1843200u /* of a PC's ports: the divisor counts sixteenths of it */
#define SERIAL_PORTS    3u       /* open at once: one by BIOS data area, SPCR and DBG2 each */

#define SERIAL_COM1     0x3f8u
#define SERIAL_IO_LAST  0xfff8u /* where a port of eight registers may begin at the most */
#define SERIAL_IRQ_LAST 15u     /* of ISA */

enum serial_space {
    SERIAL_NONE,
    SERIAL_IO,   /* base: I/O port */
    SERIAL_MMIO, /* base: physical address */
    SERIAL_PCI,  /* the first BAR of `pci` says where */
};

enum serial_parity { SERIAL_PARITY_NONE, SERIAL_PARITY_ODD, SERIAL_PARITY_EVEN };

/* PCI functions by their address, bus << 8 | device << 3 | function, or by what they are. */
#define SERIAL_PCI_NONE UINT32_MAX
#define SERIAL_PCI_ANY  (UINT32_MAX - 1) /* the first serial port on a bus other than 0 */
#define SERIAL_PCI_AMT  (UINT32_MAX - 2) /* the first on bus 0: Intel AMT's serial-over-LAN */

struct serial_config {
    uint32_t space; /* enum serial_space */
    uint32_t pci;   /* function that must decode its addresses first, or SERIAL_PCI_* */
    paddr_t base;
    uint32_t stride;    /* bytes from register to register; 0: not told, 1 and 4 are tried */
    uint32_t width;     /* bytes of an access: 1, 2 or 4; 0: not told */
    uint32_t clock_hz;  /* 0: not known, the rate cannot be set */
    uint32_t baud;      /* 0: leave the firmware's rate and line settings alone */
    uint32_t data_bits; /* 5..8 */
    uint32_t stop_bits; /* 1 or 2 */
    uint32_t parity;    /* enum serial_parity */
    uint32_t irq;       /* ISA interrupt; 0: none, poll */
};

#endif
