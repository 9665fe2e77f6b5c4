/*
 * A UART that is a PCI function.
 *
 * Decides which function is meant (an address, or the first of class 0700 beyond or on bus 0, as in
 * Xen's `pci` and `amt`) and where its registers are: the first BAR that holds an address. Firmware
 * often leaves decoding off, so the command register's I/O or memory bit is set before the port is
 * touched. BARs are read, never sized: writing them would take a port away that firmware's SMM or
 * management engine may be using. Segment 0 only. Source: PCI Local Bus 3.0, 6.1 to 6.2.5.
 *
 * Touches the machine by struct pci_config_ops alone; the scan is bounded by the buses there can
 * be.
 */
#include "arch/x86/pci_uart.h"

#include <errno.h>

#include "arch/x86/regs/pci.h"

#define FUNCTIONS_A_DEVICE 8u
#define FUNCTIONS_A_BUS    256u
#define BUSES              256u

static uint32_t header_field(const struct pci_config_ops *ops, uint32_t function, uint64_t mask)
{
    return (uint32_t)FIELD_GET(mask, ops->read(ops->ctx, function, PCI_HEADER));
}

static bool exists(const struct pci_config_ops *ops, uint32_t function)
{
    uint32_t id = ops->read(ops->ctx, function, PCI_ID);

    return FIELD_GET(PCI_ID_VENDOR, id) != PCI_VENDOR_NONE && id;
}

static bool is_serial(const struct pci_config_ops *ops, uint32_t function)
{
    return FIELD_GET(PCI_CLASS_CODE, ops->read(ops->ctx, function, PCI_CLASS)) == PCI_CLASS_SERIAL;
}

/* The first serial port from function `from` up to `to`; SERIAL_PCI_NONE: there is none. */
static uint32_t find(const struct pci_config_ops *ops, uint32_t from, uint32_t to)
{
    for (uint32_t f = from; f < to; f++) {
        if (exists(ops, f)) {
            if (is_serial(ops, f))
                return f;
            if (f % FUNCTIONS_A_DEVICE || header_field(ops, f, PCI_HEADER_MULTI))
                continue;
        } else if (f % FUNCTIONS_A_DEVICE) {
            continue;
        }
        f += FUNCTIONS_A_DEVICE - 1; /* function 0 says that it has no brothers */
    }
    return SERIAL_PCI_NONE;
}

/* Space and base out of the first BAR that holds an address. */
static int read_bars(const struct pci_config_ops *ops, struct serial_config *config)
{
    for (uint32_t i = 0; i < PCI_BARS; i++) {
        uint32_t bar = ops->read(ops->ctx, config->pci, PCI_BAR0 + 4 * i);
        bool io = bar & PCI_BAR_IO, wide;
        paddr_t base = bar & (io ? PCI_BAR_IO_BASE : PCI_BAR_MEMORY_BASE);

        wide = !io && FIELD_GET(PCI_BAR_MEMORY_TYPE, bar) == PCI_BAR_MEMORY_64 && i + 1 < PCI_BARS;
        if (wide)
            base |= (paddr_t)ops->read(ops->ctx, config->pci, PCI_BAR0 + 4 * ++i) << 32;
        if (!base)
            continue;
        config->space = io ? SERIAL_IO : SERIAL_MMIO;
        config->base = base;
        if (io && !config->stride)
            config->stride = config->width = 1;
        return 0;
    }
    return -ENODEV;
}

static void decode(const struct pci_config_ops *ops, const struct serial_config *config)
{
    uint32_t command = (uint32_t)(ops->read(ops->ctx, config->pci, PCI_COMMAND) & PCI_COMMAND_BITS);
    uint32_t bit = config->space == SERIAL_IO ? PCI_COMMAND_IO : PCI_COMMAND_MEMORY;

    if (!(command & bit))
        ops->write(ops->ctx, config->pci, PCI_COMMAND, command | bit);
}

int pci_uart_resolve(const struct pci_config_ops *ops, struct serial_config *config, bool may_map)
{
    struct serial_config c = *config;

    if (c.pci == SERIAL_PCI_ANY)
        c.pci = find(ops, FUNCTIONS_A_BUS, BUSES * FUNCTIONS_A_BUS);
    else if (c.pci == SERIAL_PCI_AMT)
        c.pci = find(ops, 0, FUNCTIONS_A_BUS);
    if (c.pci == SERIAL_PCI_NONE || !exists(ops, c.pci) ||
        header_field(ops, c.pci, PCI_HEADER_TYPE) != PCI_HEADER_ORDINARY)
        return -ENODEV;
    if (c.space == SERIAL_PCI && read_bars(ops, &c))
        return -ENODEV;
    if (c.space == SERIAL_MMIO && !may_map)
        return -EAGAIN;
    decode(ops, &c);
    *config = c;
    return 0;
}
