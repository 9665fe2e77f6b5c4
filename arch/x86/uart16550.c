/*
 * The 16550 and what is made in its likeness.
 *
 * Decides how bytes get through the port without ever waiting for it, panic excepted. Does not
 * decide where ports are (boot/serial_choice.c), how a register is reached (struct uart16550_bus)
 * or what is sent when. Knows no instruction, so tests give it a fake UART.
 *
 * What real machines taught, and the reason for each rule: a port that is not there reads all ones,
 * so it is read first, and IER is written and read back before it is believed. One that vanishes
 * later, a BAR turned off by firmware, reads all ones too, THRE among them: it is given up. Only
 * THRE is waited for, never TEMT, which some emulations never set, and always within a bound. CTS
 * is not looked at, three-wire cables are common; DTR and RTS are raised for those that look. OUT2
 * gates the interrupt line. The scratch register is not asked: an 8250 has none. Firmware may leave
 * DLAB set, which hides IER. Registers that lie four bytes apart do not answer at one byte apart,
 * while the reverse may seem so (MCR keeps what IER's test writes); so 1 is tried first.
 */
#include "arch/x86/uart16550.h"

#include <errno.h>

#include "arch/x86/regs/uart.h"

/* A 16-byte FIFO at 9600 baud takes 17 ms; a port read takes about a microsecond on hardware. */
#define WAIT_READS  100000u

#define ALL_ONES    0xffu
#define DIVISOR_MAX 0xffffu

static uint8_t reg_read(const struct uart16550 *u, enum uart_register reg)
{
    return u->bus.read(&u->bus, reg * u->stride);
}

static void reg_write(const struct uart16550 *u, enum uart_register reg, uint64_t value)
{
    u->bus.write(&u->bus, reg * u->stride, (uint8_t)value);
}

/* IER keeps what is written to its lower half, only where there is a UART. */
static bool probe(const struct uart16550 *u)
{
    uint8_t old, lcr = reg_read(u, UART_LCR);

    if (reg_read(u, UART_LSR) == ALL_ONES || lcr == ALL_ONES)
        return false;
    if (lcr & UART_LCR_DLAB)
        reg_write(u, UART_LCR, lcr & ~UART_LCR_DLAB);
    old = reg_read(u, UART_IER);
    reg_write(u, UART_IER, 0);
    if (!(reg_read(u, UART_IER) & UART_IER_ALL)) {
        reg_write(u, UART_IER, UART_IER_ALL);
        if ((reg_read(u, UART_IER) & UART_IER_ALL) == UART_IER_ALL) {
            reg_write(u, UART_IER, 0);
            return true;
        }
    }
    reg_write(u, UART_IER, old);
    return false;
}

/* With the strides that the port may have; those that fit are left in *u. */
static bool probe_strides(struct uart16550 *u, const struct serial_config *config)
{
    u->stride = config->stride ? config->stride : 1;
    u->bus.width = config->width ? config->width : 1;
    if (probe(u))
        return true;
    if (config->stride)
        return false;
    u->stride = 4;
    u->bus.width = config->width ? config->width : 4;
    return probe(u);
}

static void set_divisor(const struct uart16550 *u, uint64_t lcr, uint32_t divisor)
{
    reg_write(u, UART_LCR, lcr | UART_LCR_DLAB);
    reg_write(u, UART_DATA, divisor & 0xff);
    reg_write(u, UART_IER, divisor >> 8);
    reg_write(u, UART_LCR, lcr);
}

static void keep_firmware_line(struct uart16550 *u)
{
    uint64_t lcr = reg_read(u, UART_LCR) & ~UART_LCR_DLAB;

    u->firmware_lcr = (uint8_t)lcr;
    reg_write(u, UART_LCR, lcr | UART_LCR_DLAB);
    u->firmware_divisor = (uint16_t)(reg_read(u, UART_DATA) | reg_read(u, UART_IER) << 8);
    reg_write(u, UART_LCR, lcr);
}

static void wait_for_room(struct uart16550 *u)
{
    for (uint32_t i = 0; i < WAIT_READS && !(reg_read(u, UART_LSR) & UART_LSR_THRE); i++)
        ;
}

void uart16550_set_line(struct uart16550 *u, const struct serial_config *config)
{
    uint64_t lcr = FIELD_PREP(UART_LCR_DATA_BITS, config->data_bits - 5);
    uint32_t divisor;

    wait_for_room(u); /* what is being sent would change its rate */
    if (!config->baud || !config->clock_hz) {
        set_divisor(u, u->firmware_lcr, u->firmware_divisor);
        return;
    }
    /* To the nearest: 16 * baud <= clock_hz < 2^32. */
    divisor =
        (uint32_t)(((uint64_t)config->clock_hz + 8ull * config->baud) / (16ull * config->baud));
    if (config->stop_bits == 2)
        lcr |= UART_LCR_TWO_STOPS;
    if (config->parity != SERIAL_PARITY_NONE)
        lcr |= UART_LCR_PARITY;
    if (config->parity == SERIAL_PARITY_EVEN)
        lcr |= UART_LCR_EVEN;
    set_divisor(u, lcr, MIN(MAX(divisor, 1u), DIVISOR_MAX));
}

int uart16550_open(struct uart16550 *u, const struct uart16550_bus *bus,
                   struct serial_config *config)
{
    *u = (struct uart16550){.bus = *bus};
    if (!probe_strides(u, config))
        return -ENODEV;
    config->stride = u->stride;
    config->width = u->bus.width;
    u->present = true;
    keep_firmware_line(u);
    if (config->baud && config->clock_hz)
        uart16550_set_line(u, config);
    reg_write(u, UART_FCR, UART_FCR_ENABLE | UART_FCR_CLEAR);
    reg_write(u, UART_MCR, UART_MCR_DTR | UART_MCR_RTS | UART_MCR_OUT2);
    u->burst =
        FIELD_GET(UART_IIR_FIFO, reg_read(u, UART_IIR)) == FIELD_GET(UART_IIR_FIFO, UART_IIR_FIFO)
            ? UART_FIFO_BYTES
            : 1;
    return 0;
}

/* LSR; 0 once the port is gone. */
static uint8_t line_status(struct uart16550 *u)
{
    uint8_t lsr = u->present ? reg_read(u, UART_LSR) : 0;

    if (lsr == ALL_ONES) {
        u->present = false;
        return 0;
    }
    return lsr;
}

size_t uart16550_write(struct uart16550 *u, const char *bytes, size_t n)
{
    if (!(line_status(u) & UART_LSR_THRE))
        return 0;
    n = MIN(n, u->burst);
    for (size_t i = 0; i < n; i++)
        reg_write(u, UART_DATA, (uint8_t)bytes[i]);
    return n;
}

void uart16550_write_wait(struct uart16550 *u, const char *bytes, size_t n)
{
    uint32_t reads = 0;

    while (u->present && n) {
        size_t sent = uart16550_write(u, bytes, n);

        bytes += sent;
        n -= sent;
        reads = sent ? 0 : reads + 1;
        if (reads == WAIT_READS)
            u->present = false;
    }
}

size_t uart16550_read(struct uart16550 *u, char *bytes, size_t n)
{
    size_t got = 0;

    while (got < n && (line_status(u) & UART_LSR_READY))
        bytes[got++] = (char)reg_read(u, UART_DATA);
    return got;
}

void uart16550_set_ier(struct uart16550 *u, uint64_t ier)
{
    if (!u->present || u->ier == ier)
        return;
    u->ier = (uint8_t)ier;
    reg_write(u, UART_IER, ier);
}

void uart16550_irq_again(struct uart16550 *u)
{
    reg_write(u, UART_IER, 0);
    reg_write(u, UART_IER, u->ier);
}

/* Reading IIR ends the "transmitter empty" cause, LSR an error's, MSR a modem line's. */
bool uart16550_irq_pending(struct uart16550 *u)
{
    if (!u->present || (reg_read(u, UART_IIR) & UART_IIR_NONE))
        return false;
    reg_read(u, UART_LSR);
    reg_read(u, UART_MSR);
    return true;
}
