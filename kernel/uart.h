/*
 * The serial ports and the debug port as the console uses them. kernel/ owns this interface,
 * arch/x86/uart.c implements it. The caller holds the console lock, so nothing here locks.
 *
 * Ports go by slot, 0 to SERIAL_PORTS - 1; one that was never opened, or is gone, takes and gives
 * nothing. No call waits, except uart_open, uart_retune and uart_write_wait, whose waits are
 * bounded: a port that stops taking bytes while it is waited for is dropped for good.
 */
#ifndef KERNEL_UART_H
#define KERNEL_UART_H

#include "hv/serial.h"

/*
 * Turn a PCI function into the I/O ports or memory where its registers are, and let it decode them;
 * memory only once it can be mapped (`may_map`), else -EAGAIN. 0 or -ENODEV.
 */
__attribute__((warn_unused_result)) int uart_resolve(struct serial_config *config, bool may_map);

/* 0, or -ENODEV when there is no such port. *config is told the stride that answered. */
__attribute__((warn_unused_result)) int uart_open(uint32_t slot, struct serial_config *config);

/* Set the line anew, as *config says. */
void uart_retune(uint32_t slot, const struct serial_config *config);

bool uart_present(uint32_t slot);

/* How many of the n bytes the transmitter took. */
size_t uart_write(uint32_t slot, const char *bytes, size_t n);

/* All n bytes, waiting for each within a bound: panic, console=sync, lines shown again. */
void uart_write_wait(uint32_t slot, const char *bytes, size_t n);

size_t uart_read(uint32_t slot, char *bytes, size_t n);

/*
 * Route ISA interrupt `irq` to the boot CPU, whose handler calls console_interrupt, and let the
 * receiver raise it. 0, or -errno when the port must be polled.
 */
__attribute__((warn_unused_result)) int uart_irq_enable(uint32_t slot, uint32_t irq);

/* Ask for an interrupt when the transmitter runs empty. Only ports with an interrupt listen. */
void uart_irq_transmit(uint32_t slot, bool on);

/* Ask for an interrupt when there are bytes to read, as uart_irq_enable does; off, they wait. */
void uart_irq_receive(uint32_t slot, bool on);

/* Raise the line's edge again for the causes that still wait. */
void uart_irq_again(uint32_t slot);

/* An interrupt of the port is pending; asking clears its cause unless that is a received byte. */
bool uart_irq_pending(uint32_t slot);

/* Port 0xE9 of Bochs and QEMU: five ticks a byte where the serial port costs thousands. */
void debug_port_write(const char *bytes, size_t n);

#endif
