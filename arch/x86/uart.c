/*
 * The serial ports of this machine: how the registers of each are reached, and its interrupt; and
 * the debug port 0xE9.
 *
 * Decides nothing about the UART itself, that is uart16550.c's, nor which ports are used
 * (boot/serial_choice.c); the console lock is held by the caller. A port in memory is reached by
 * accesses of the width that it was told of with, since some buses take no other.
 */
#include "kernel/uart.h"

#include <errno.h>

#include "arch/x86/asm.h"
#include "arch/x86/ioapic.h"
#include "arch/x86/pci_uart.h"
#include "arch/x86/regs/pci.h"
#include "arch/x86/regs/uart.h"
#include "arch/x86/trap.h"
#include "arch/x86/uart16550.h"
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"

/* All under the console lock, which the caller holds. */
static struct port {
    struct uart16550 uart;
    bool by_irq; /* both causes may be let in */
} ports[SERIAL_PORTS];

/* ---- registers ---- */

static uint8_t io_read(const struct uart16550_bus *bus, uint32_t offset)
{
    uint16_t port = (uint16_t)(bus->port + offset);

    switch (bus->width) {
    case 4:
        return (uint8_t)asm_inl(port);
    case 2:
        return (uint8_t)asm_inw(port);
    default:
        return asm_inb(port);
    }
}

static void io_write(const struct uart16550_bus *bus, uint32_t offset, uint8_t value)
{
    uint16_t port = (uint16_t)(bus->port + offset);

    switch (bus->width) {
    case 4:
        asm_outl(port, value);
        break;
    case 2:
        asm_outw(port, value);
        break;
    default:
        asm_outb(port, value);
    }
}

static uint8_t memory_read(const struct uart16550_bus *bus, uint32_t offset)
{
    const volatile char *at = (const volatile char *)bus->address + offset;

    switch (bus->width) {
    case 4:
        return (uint8_t) * (const volatile uint32_t *)at;
    case 2:
        return (uint8_t) * (const volatile uint16_t *)at;
    default:
        return *(const volatile uint8_t *)at;
    }
}

static void memory_write(const struct uart16550_bus *bus, uint32_t offset, uint8_t value)
{
    volatile char *at = (volatile char *)bus->address + offset;

    switch (bus->width) {
    case 4:
        *(volatile uint32_t *)at = value;
        break;
    case 2:
        *(volatile uint16_t *)at = value;
        break;
    default:
        *(volatile uint8_t *)at = value;
    }
}

/* ---- PCI ---- */

static void pci_select(uint32_t function, uint32_t offset)
{
    asm_outl(PCI_CONFIG_ADDRESS,
             (uint32_t)(PCI_ADDRESS_ENABLE | FIELD_PREP(PCI_ADDRESS_TARGET, function) | offset));
}

static uint32_t pci_read(void *context, uint32_t function, uint32_t offset)
{
    (void)context;
    pci_select(function, offset);
    return asm_inl(PCI_CONFIG_DATA);
}

static void pci_write(void *context, uint32_t function, uint32_t offset, uint32_t value)
{
    (void)context;
    pci_select(function, offset);
    asm_outl(PCI_CONFIG_DATA, value);
}

/* ---- finding and opening ---- */

int uart_resolve(struct serial_config *config, bool may_map)
{
    static const struct pci_config_ops pci = {pci_read, pci_write, NULL};

    if (config->pci != SERIAL_PCI_NONE)
        return pci_uart_resolve(&pci, config, may_map);
    return config->space == SERIAL_MMIO && !may_map ? -EAGAIN : 0;
}

int uart_open(uint32_t slot, struct serial_config *config)
{
    struct uart16550_bus bus = {.read = io_read, .write = io_write, .port = (uint16_t)config->base};
    uint32_t stride = config->stride ? config->stride : 4;

    if (config->space == SERIAL_MMIO) {
        bus.read = memory_read;
        bus.write = memory_write;
        bus.address = arch_map_mmio(config->base, (size_t)stride * UART_REGISTERS);
        if (!bus.address)
            return -ENODEV;
    }
    return uart16550_open(&ports[slot].uart, &bus, config);
}

void uart_retune(uint32_t slot, const struct serial_config *config)
{
    uart16550_set_line(&ports[slot].uart, config);
}

bool uart_present(uint32_t slot)
{
    return ports[slot].uart.present;
}

size_t uart_write(uint32_t slot, const char *bytes, size_t n)
{
    return uart16550_write(&ports[slot].uart, bytes, n);
}

void uart_write_wait(uint32_t slot, const char *bytes, size_t n)
{
    uart16550_write_wait(&ports[slot].uart, bytes, n);
}

size_t uart_read(uint32_t slot, char *bytes, size_t n)
{
    return uart16550_read(&ports[slot].uart, bytes, n);
}

/* ---- interrupts ---- */

static void interrupt_0(void)
{
    console_interrupt(0);
}

static void interrupt_1(void)
{
    console_interrupt(1);
}

static void interrupt_2(void)
{
    console_interrupt(2);
}

/* A vector each, so that a line which works is told from one that does not. */
static void (*const handlers[])(void) = {interrupt_0, interrupt_1, interrupt_2};

_Static_assert(ARRAY_SIZE(handlers) == SERIAL_PORTS, "a handler for each slot");

int uart_irq_enable(uint32_t slot, uint32_t irq)
{
    struct port *port = &ports[slot];
    int error;

    if (!port->uart.present || !irq)
        return -ENODEV;
    trap_set_handler((uint8_t)(VECTOR_UART + slot), handlers[slot]);
    error = ioapic_route(irq, (uint8_t)(VECTOR_UART + slot), cpus[0]);
    if (error)
        return error;
    port->by_irq = true;
    uart16550_set_ier(&port->uart, UART_IER_RECEIVE);
    return 0;
}

static void irq_cause(struct port *port, uint64_t cause, bool on)
{
    if (port->by_irq)
        uart16550_set_ier(&port->uart, on ? port->uart.ier | cause : port->uart.ier & ~cause);
}

void uart_irq_transmit(uint32_t slot, bool on)
{
    irq_cause(&ports[slot], UART_IER_TRANSMIT, on);
}

void uart_irq_receive(uint32_t slot, bool on)
{
    irq_cause(&ports[slot], UART_IER_RECEIVE, on);
}

void uart_irq_again(uint32_t slot)
{
    uart16550_irq_again(&ports[slot].uart);
}

bool uart_irq_pending(uint32_t slot)
{
    return uart16550_irq_pending(&ports[slot].uart);
}

/* ---- the debug port ---- */

void debug_port_write(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        asm_outb(DEBUG_PORT, (uint8_t)bytes[i]);
}
