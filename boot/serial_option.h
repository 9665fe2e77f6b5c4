/* com1= to what it says of a serial port. See serial_option.c. */
#ifndef BOOT_SERIAL_OPTION_H
#define BOOT_SERIAL_OPTION_H

#include "hv/serial.h"

struct serial_option {
    struct serial_config config;
    bool has_rate;  /* a baud rate or `auto` */
    bool has_clock; /* the base rate was given too */
    bool has_line;  /* data bits, parity, stop bits */
    bool has_place; /* I/O port, address or PCI function */
    bool has_irq;
};

/* The settings of COM1: 115200,8n1, interrupt 4. */
struct serial_config serial_com1(void);

/* 1 to 4 for COM1 to COM4, the places of a PC's ports; 0 for any other. */
uint32_t serial_com_number(paddr_t io_base);

/* The ISA interrupt of a PC's four ports; 0 for any other. */
uint32_t serial_isa_irq(paddr_t io_base);

/*
 * Parts that `text` does not name are COM1's. 0; or -EINVAL, *fault at the offset of what is not
 * understood and *option as for "".
 */
__attribute__((warn_unused_result)) int serial_option_parse(const char *text,
                                                            struct serial_option *option,
                                                            size_t *fault);

#endif
