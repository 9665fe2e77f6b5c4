/*
 * The 16550 serial port by I/O instructions, and the debug port 0xE9.
 *
 * Decides how bytes get through the port without ever waiting for it, panic excepted. Does not
 * decide what is sent or when; the console lock is held by the caller.
 *
 * What real machines taught (and the reason for each): a port that is not there reads all ones, so
 * IER is written and read back before anything else. Only THRE is waited for, never TEMT, which
 * some emulations never set, and always within a bound: on time-out the port is given up. CTS is
 * not looked at, three-wire cables are common. OUT2 gates the interrupt line.
 */
#include "kernel/uart.h"

#include <errno.h>

#include "arch/x86/asm.h"
#include "arch/x86/ioapic.h"
#include "arch/x86/regs/uart.h"
#include "arch/x86/trap.h"
#include "kernel/console.h"
#include "kernel/cpu.h"

/* A 16-byte FIFO at 9600 baud takes 17 ms; a port read takes about a microsecond on hardware. */
#define WAIT_READS 100000u

/* All under the console lock, which the caller holds. */
static struct {
    struct uart_config config;
    bool present;
    uint32_t burst; /* bytes that THRE promises room for */
    bool by_irq;    /* both causes may be let in */
    uint8_t ier;
} uart;

static uint8_t reg_read(enum uart_register reg)
{
    return asm_inb((uint16_t)(uart.config.io_base + reg));
}

static void reg_write(enum uart_register reg, uint64_t value)
{
    asm_outb((uint16_t)(uart.config.io_base + reg), (uint8_t)value);
}

/* IER keeps what is written to it, high bits reading zero, only where there is a UART. */
static bool probe(void)
{
    uint8_t old = reg_read(UART_IER);

    reg_write(UART_IER, 0);
    if (reg_read(UART_IER) != 0)
        return false;
    reg_write(UART_IER, UART_IER_ALL);
    if (reg_read(UART_IER) != UART_IER_ALL) {
        reg_write(UART_IER, old);
        return false;
    }
    reg_write(UART_IER, 0);
    return true;
}

static void set_line(const struct uart_config *c)
{
    uint32_t divisor = MAX(UART_CLOCK_BAUD / c->baud, 1u);
    uint64_t lcr = FIELD_PREP(UART_LCR_DATA_BITS, c->data_bits - 5);

    if (c->stop_bits == 2)
        lcr |= UART_LCR_TWO_STOPS;
    if (c->parity != UART_PARITY_NONE)
        lcr |= UART_LCR_PARITY;
    if (c->parity == UART_PARITY_EVEN)
        lcr |= UART_LCR_EVEN;
    reg_write(UART_LCR, lcr | UART_LCR_DLAB);
    reg_write(UART_DATA, divisor & 0xff);
    reg_write(UART_IER, divisor >> 8);
    reg_write(UART_LCR, lcr);
}

int uart_init(const struct uart_config *config)
{
    uart.config = *config;
    uart.ier = 0;
    uart.present = probe();
    if (!uart.present)
        return -ENODEV;
    if (config->baud)
        set_line(config);
    reg_write(UART_FCR, UART_FCR_ENABLE | UART_FCR_CLEAR);
    reg_write(UART_MCR, UART_MCR_DTR | UART_MCR_RTS | UART_MCR_OUT2);
    uart.burst =
        FIELD_GET(UART_IIR_FIFO, reg_read(UART_IIR)) == FIELD_GET(UART_IIR_FIFO, UART_IIR_FIFO)
            ? UART_FIFO_BYTES
            : 1;
    return 0;
}

bool uart_present(void)
{
    return uart.present;
}

size_t uart_write(const char *bytes, size_t n)
{
    if (!uart.present || !(reg_read(UART_LSR) & UART_LSR_THRE))
        return 0;
    n = MIN(n, uart.burst);
    for (size_t i = 0; i < n; i++)
        reg_write(UART_DATA, (uint8_t)bytes[i]);
    return n;
}

void uart_write_wait(const char *bytes, size_t n)
{
    uint32_t reads = 0;

    while (uart.present && n) {
        size_t sent = uart_write(bytes, n);

        bytes += sent;
        n -= sent;
        reads = sent ? 0 : reads + 1;
        uart.present = reads < WAIT_READS;
    }
}

size_t uart_read(char *bytes, size_t n)
{
    size_t got = 0;

    while (uart.present && got < n && (reg_read(UART_LSR) & UART_LSR_READY))
        bytes[got++] = (char)reg_read(UART_DATA);
    return got;
}

static void set_ier(uint64_t ier)
{
    if (!uart.present || uart.ier == ier)
        return;
    uart.ier = (uint8_t)ier;
    reg_write(UART_IER, ier);
}

int uart_irq_enable(void)
{
    int error;

    if (!uart.present || !uart.config.irq)
        return -ENODEV;
    trap_set_handler(VECTOR_UART, console_interrupt);
    error = ioapic_route(uart.config.irq, VECTOR_UART, cpus[0]);
    if (error)
        return error;
    uart.by_irq = true;
    set_ier(UART_IER_RECEIVE);
    return 0;
}

static void irq_cause(uint64_t cause, bool on)
{
    if (uart.by_irq)
        set_ier(on ? uart.ier | cause : uart.ier & ~cause);
}

void uart_irq_transmit(bool on)
{
    irq_cause(UART_IER_TRANSMIT, on);
}

void uart_irq_receive(bool on)
{
    irq_cause(UART_IER_RECEIVE, on);
}

void uart_irq_again(void)
{
    reg_write(UART_IER, 0);
    reg_write(UART_IER, uart.ier);
}

/* Reading IIR ends the "transmitter empty" cause, LSR an error's, MSR a modem line's. */
bool uart_irq_pending(void)
{
    if (!uart.present || (reg_read(UART_IIR) & UART_IIR_NONE))
        return false;
    reg_read(UART_LSR);
    reg_read(UART_MSR);
    return true;
}

void debug_port_write(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        asm_outb(DEBUG_PORT, (uint8_t)bytes[i]);
}
