/*
 * The serial port and the debug port as the console uses them. kernel/ owns this interface,
 * arch/x86/uart.c implements it. The caller holds the console lock, so nothing here locks.
 *
 * No call waits, except uart_write_wait, whose wait is bounded: a port that stops taking bytes is
 * dropped for good.
 */
#ifndef KERNEL_UART_H
#define KERNEL_UART_H

#include "hv/types.h"

enum uart_parity { UART_PARITY_NONE, UART_PARITY_ODD, UART_PARITY_EVEN };

struct uart_config {
    uint32_t baud;      /* 0: leave the firmware's rate and line settings alone */
    uint32_t data_bits; /* 5..8 */
    uint32_t stop_bits; /* 1 or 2 */
    uint32_t parity;    /* enum uart_parity */
    uint16_t io_base;
    uint32_t irq; /* ISA interrupt number; 0: none, poll */
};

/* "baud[,DPS[,io-base[,irq]]]" over the defaults of COM1; 0, or -EINVAL and *config as it was. */
__attribute__((warn_unused_result)) int uart_config_parse(struct uart_config *config,
                                                          const char *text);

/* 0, or -ENODEV when there is no such port. */
__attribute__((warn_unused_result)) int uart_init(const struct uart_config *config);

bool uart_present(void);

/* How many of the n bytes the transmitter took. */
size_t uart_write(const char *bytes, size_t n);

/* Panic: all n bytes, waiting for each within a bound. */
void uart_write_wait(const char *bytes, size_t n);

size_t uart_read(char *bytes, size_t n);

/*
 * Route the interrupt line to the boot CPU, whose handler calls console_interrupt, and let the
 * receiver raise it. 0, or -errno when the port must be polled.
 */
__attribute__((warn_unused_result)) int uart_irq_enable(void);

/* Ask for an interrupt when the transmitter runs empty. */
void uart_irq_transmit(bool on);

/* Ask for an interrupt when there are bytes to read, as uart_irq_enable does; off, they wait. */
void uart_irq_receive(bool on);

/* Raise the line's edge again for the causes that still wait. */
void uart_irq_again(void);

/* An interrupt of the port is pending; asking clears its cause unless that is a received byte. */
bool uart_irq_pending(void);

/* Port 0xE9 of Bochs and QEMU: five ticks a byte where the serial port costs thousands. */
void debug_port_write(const char *bytes, size_t n);

#endif
