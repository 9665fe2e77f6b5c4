/* One 16550 behind any way of reaching its registers. See uart16550.c. */
#ifndef ARCH_X86_UART16550_H
#define ARCH_X86_UART16550_H

#include "hv/serial.h"

/* How registers are reached; `offset` is in bytes from the port's base. */
struct uart16550_bus {
    uint8_t (*read)(const struct uart16550_bus *bus, uint32_t offset);
    void (*write)(const struct uart16550_bus *bus, uint32_t offset, uint8_t value);
    void *address;  /* mapped registers, or NULL */
    uint16_t port;  /* or the I/O port */
    uint32_t width; /* bytes of an access: 1, 2, 4 */
};

/* All under its owner's lock. */
struct uart16550 {
    struct uart16550_bus bus;
    uint32_t stride;
    bool present;
    uint32_t burst; /* bytes that THRE promises room for */
    uint8_t ier;
    uint8_t firmware_lcr; /* line settings as they were found */
    uint16_t firmware_divisor;
};

/*
 * Take the port behind `bus`. *config is asked for the line and stride, and is told the stride and
 * width that answered where it named none. 0; -ENODEV: nobody answers.
 */
__attribute__((warn_unused_result)) int uart16550_open(struct uart16550 *u,
                                                       const struct uart16550_bus *bus,
                                                       struct serial_config *config);

/* Other line settings; baud 0, or a clock that is not known: those that were found. */
void uart16550_set_line(struct uart16550 *u, const struct serial_config *config);

/* How many of the n bytes the transmitter took. */
size_t uart16550_write(struct uart16550 *u, const char *bytes, size_t n);

/* All n bytes, waiting for each within a bound; a port that stops taking bytes is gone. */
void uart16550_write_wait(struct uart16550 *u, const char *bytes, size_t n);

size_t uart16550_read(struct uart16550 *u, char *bytes, size_t n);

/* Which causes may interrupt: UART_IER_*. */
void uart16550_set_ier(struct uart16550 *u, uint64_t ier);

/* Raise the line's edge again for the causes that still wait. */
void uart16550_irq_again(struct uart16550 *u);

/* An interrupt is pending; asking clears its cause unless that is a received byte. */
bool uart16550_irq_pending(struct uart16550 *u);

#endif
