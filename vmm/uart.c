/*
 * A 16550 serial port as a polling driver sees it.
 *
 * Sends at once and is always ready to send; receives from the console through a FIFO. Raises no
 * interrupt (the guest's tables give it none), so IIR always says "none pending". Loopback works,
 * because drivers probe with it. Source: PC16550D data sheet, section 8.
 */
#include "vmm/uart.h"

#include "hv/bits.h"
#include "vmm/vmm_host.h"

enum uart_reg {
    UART_DATA = 0, /* divisor low while DLAB is set */
    UART_IER = 1,  /* divisor high while DLAB is set */
    UART_IIR = 2,  /* FCR when written */
    UART_LCR = 3,
    UART_MCR = 4,
    UART_LSR = 5,
    UART_MSR = 6,
    UART_SCRATCH = 7
};

#define IER_VALID     BITS(3, 0)
#define IIR_NONE      BIT(0)
#define IIR_FIFO_ON   BITS(7, 6)
#define FCR_ENABLE    BIT(0)
#define FCR_CLEAR_RX  BIT(1)
#define LCR_DLAB      BIT(7)
#define MCR_VALID     BITS(4, 0)
#define MCR_LOOPBACK  BIT(4)
#define LSR_DATA      BIT(0)
#define LSR_OVERRUN   BIT(1)
#define LSR_EMPTY     BITS(6, 5)                 /* holding register and shifter */
#define MSR_CONNECTED (BIT(4) | BIT(5) | BIT(7)) /* CTS, DSR, DCD */

void vmm_uart_init(struct vmm_uart *uart, void *host)
{
    *uart = (struct vmm_uart){.host = host, .divisor = 1};
}

void vmm_uart_receive(struct vmm_uart *uart, uint8_t byte)
{
    if (uart->head - uart->tail == VMM_UART_FIFO)
        uart->overrun = true;
    else
        uart->fifo[uart->head++ % VMM_UART_FIFO] = byte;
}

static uint8_t uart_read_data(struct vmm_uart *uart)
{
    if (uart->lcr & LCR_DLAB)
        return (uint8_t)uart->divisor;
    if (uart->head == uart->tail)
        return 0;
    return uart->fifo[uart->tail++ % VMM_UART_FIFO];
}

static uint8_t uart_read_lsr(struct vmm_uart *uart)
{
    uint8_t lsr = LSR_EMPTY;

    if (uart->head != uart->tail)
        lsr |= LSR_DATA;
    if (uart->overrun)
        lsr |= LSR_OVERRUN;
    uart->overrun = false;
    return lsr;
}

/* In loopback RTS, DTR, OUT1 and OUT2 come back as CTS, DSR, RI and DCD. */
static uint8_t uart_read_msr(const struct vmm_uart *uart)
{
    if (!(uart->mcr & MCR_LOOPBACK))
        return MSR_CONNECTED;
    return (uint8_t)((uart->mcr & BIT(1)) << 3 | (uart->mcr & BIT(0)) << 5 |
                     (uart->mcr & BITS(3, 2)) << 4);
}

uint8_t vmm_uart_read(struct vmm_uart *uart, uint32_t reg)
{
    switch (reg) {
    case UART_DATA:
        return uart_read_data(uart);
    case UART_IER:
        return uart->lcr & LCR_DLAB ? (uint8_t)(uart->divisor >> 8) : uart->ier;
    case UART_IIR:
        return IIR_NONE | (uart->fifo_on ? IIR_FIFO_ON : 0);
    case UART_LCR:
        return uart->lcr;
    case UART_MCR:
        return uart->mcr;
    case UART_LSR:
        return uart_read_lsr(uart);
    case UART_MSR:
        return uart_read_msr(uart);
    default:
        return uart->scratch;
    }
}

static void uart_write_data(struct vmm_uart *uart, uint8_t value)
{
    char byte = (char)value;

    if (uart->lcr & LCR_DLAB)
        uart->divisor = (uint16_t)((uart->divisor & 0xff00) | value);
    else if (uart->mcr & MCR_LOOPBACK)
        vmm_uart_receive(uart, value);
    else
        vmm_host_console(uart->host, &byte, 1);
}

void vmm_uart_write(struct vmm_uart *uart, uint32_t reg, uint8_t value)
{
    switch (reg) {
    case UART_DATA:
        uart_write_data(uart, value);
        break;
    case UART_IER:
        if (uart->lcr & LCR_DLAB)
            uart->divisor = (uint16_t)(value << 8 | (uart->divisor & 0xff));
        else
            uart->ier = value & IER_VALID;
        break;
    case UART_IIR:
        uart->fifo_on = value & FCR_ENABLE;
        if (value & FCR_CLEAR_RX)
            uart->tail = uart->head;
        break;
    case UART_LCR:
        uart->lcr = value;
        break;
    case UART_MCR:
        uart->mcr = value & MCR_VALID;
        break;
    case UART_SCRATCH:
        uart->scratch = value;
        break;
    default: /* LSR and MSR are read-only */
        break;
    }
}
