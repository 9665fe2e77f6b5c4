/* What SPCR and DBG2 share: the kinds of UART, and where its registers are. See serial_gas.c. */
#ifndef BOOT_SERIAL_GAS_H
#define BOOT_SERIAL_GAS_H

#include "hv/serial.h"

/* Subtypes of DBG2's port type 0x8000, which SPCR of revision 2 and up uses too. */
enum serial_subtype {
    SERIAL_16550 = 0,
    SERIAL_16550_SUBSET = 1, /* in SPCR of revision 1: a 16450 */
    SERIAL_16550_GAS = 0x12, /* the address structure tells stride and width in any space */
};

bool serial_subtype_known(uint32_t subtype);

/*
 * Space, base, stride and width out of the generic address structure of GAS_BYTES bytes at `gas`;
 * the rest of *port is left. 0; -ENOENT: the address is 0; -EINVAL: no address of a UART.
 */
__attribute__((warn_unused_result)) int serial_gas_read(const uint8_t *gas, uint32_t subtype,
                                                        struct serial_config *port);

#endif
