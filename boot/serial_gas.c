/*
 * Where a UART's registers are, by an ACPI generic address structure.
 *
 * Decides how its two widths are read: the register width is the distance from register to
 * register, the access size that of one access; each stands in for the other where firmware leaves
 * it out, and the distance is never below the access. I/O ports lie side by side whatever the
 * widths say, except for the kind of UART that is defined by them. Reads no register. Source:
 * ACPI 6.4 section 5.2.3.2; Microsoft's Debug Port Table 2 and Serial Port Console Redirection
 * tables.
 */
#include "boot/serial_gas.h"

#include <errno.h>

#include "boot/acpi.h"
#include "boot/bytes.h"
#include "hv/bits.h"

#define MMIO_LAST    ((1ull << 52) - PAGE_BYTES)
#define ACCESS_BYTE  1u
#define ACCESS_DWORD 3u

bool serial_subtype_known(uint32_t subtype)
{
    return subtype == SERIAL_16550 || subtype == SERIAL_16550_SUBSET || subtype == SERIAL_16550_GAS;
}

static void read_widths(const uint8_t *gas, struct serial_config *port)
{
    uint32_t bits = gas[GAS_BIT_WIDTH], access = gas[GAS_ACCESS];
    uint32_t stride = bits == 16 || bits == 32 ? bits / 8 : 1;
    uint32_t width =
        access >= ACCESS_BYTE && access <= ACCESS_DWORD ? 1u << (access - ACCESS_BYTE) : stride;

    port->stride = MAX(stride, width);
    port->width = width;
}

int serial_gas_read(const uint8_t *gas, uint32_t subtype, struct serial_config *port)
{
    uint32_t space = gas[GAS_SPACE];
    paddr_t base = read_le64(gas + GAS_ADDRESS);

    if (!base)
        return -ENOENT;
    if (space > ACPI_SPACE_IO || base > (space == ACPI_SPACE_IO ? SERIAL_IO_LAST : MMIO_LAST))
        return -EINVAL;
    port->space = space == ACPI_SPACE_IO ? SERIAL_IO : SERIAL_MMIO;
    port->base = base;
    port->stride = 1;
    port->width = 1;
    if (space == ACPI_SPACE_MEMORY || subtype == SERIAL_16550_GAS)
        read_widths(gas, port);
    return space == ACPI_SPACE_IO && base + 7u * port->stride > UINT16_MAX ? -EINVAL : 0;
}
