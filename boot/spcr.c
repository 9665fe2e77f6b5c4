/*
 * SPCR: the serial port that firmware uses for its own console, with its rate.
 *
 * Decides what of the table can be used: only UARTs that are 16550s, in memory or I/O space;
 * another kind is named in a warning and *info says that there is none. The rate is the precise one
 * of revision 4 where it is set, else the coded one; both 0, an unknown code, or a clock that is
 * not told leave the rate as firmware made it. An interrupt counts only where the table says that
 * it is one of the 8259s; else the port is polled. Tables that end early lack only what they do not
 * hold. Source: Microsoft, Serial Port Console Redirection Table, revisions 1 to 4.
 */
#include "boot/spcr.h"

#include <errno.h>

#include "boot/acpi.h"
#include "boot/bytes.h"
#include "boot/serial_gas.h"
#include "boot/serial_option.h"
#include "boot/warn.h"

enum {
    SPCR_REVISION = 8,
    SPCR_INTERFACE = 36,
    SPCR_GAS = 40,
    SPCR_INTERRUPT_TYPE = 52,
    SPCR_IRQ = 53,
    SPCR_BAUD = 58,
    SPCR_PARITY = 59,
    SPCR_STOP_BITS = 60,
    SPCR_LEAST = 61,
    SPCR_PCI_DEVICE_ID = 64,
    SPCR_PCI_BUS = 68,
    SPCR_PCI_DEVICE = 69,
    SPCR_PCI_FUNCTION = 70,
    SPCR_PCI_SEGMENT = 75,
    SPCR_CLOCK = 76,        /* from revision 3 */
    SPCR_PRECISE_BAUD = 80, /* from revision 4 */
};

#define INTERRUPT_8259    BIT(0)
#define PCI_ID_NONE       0xffffu
#define PCI_DEVICE_LAST   0x1fu
#define PCI_FUNCTION_LAST 7u

struct spcr_bytes {
    const uint8_t *p;
    size_t length;
};

static bool has(const struct spcr_bytes *t, size_t at, size_t bytes)
{
    return at + bytes <= t->length;
}

static uint32_t coded_baud(uint32_t code, struct fw_warnings *w)
{
    switch (code) {
    case 3:
        return 9600;
    case 4:
        return 19200;
    case 6:
        return 57600;
    case 7:
        return 115200;
    case 0:
        return 0;
    default:
        boot_warn(w, "SPCR: rate code %u is unknown; the rate is left alone", code);
        return 0;
    }
}

static void read_rate(const struct spcr_bytes *t, struct serial_config *port, struct fw_warnings *w)
{
    uint32_t revision = t->p[SPCR_REVISION];
    uint32_t clock = 0, baud = 0;

    if (revision >= 3 && has(t, SPCR_CLOCK, 4))
        clock = read_le32(t->p + SPCR_CLOCK);
    if (revision >= 4 && has(t, SPCR_PRECISE_BAUD, 4))
        baud = read_le32(t->p + SPCR_PRECISE_BAUD);
    if (!baud)
        baud = coded_baud(t->p[SPCR_BAUD], w);
    if (!clock && port->space == SERIAL_IO)
        clock = SERIAL_CLOCK_HZ;
    if (baud > clock / 16) {
        if (clock)
            boot_warn(w, "SPCR: %u baud from a clock of %u Hz; the rate is left alone", baud,
                      clock);
        baud = 0;
    }
    port->clock_hz = clock;
    port->baud = baud;
    port->parity = SERIAL_PARITY_NONE; /* the table has no other */
    port->stop_bits = 1;
}

static void read_interrupt(const struct spcr_bytes *t, struct serial_config *port)
{
    uint32_t irq = t->p[SPCR_IRQ];

    port->irq = 0;
    if ((t->p[SPCR_INTERRUPT_TYPE] & INTERRUPT_8259) && irq <= SERIAL_IRQ_LAST)
        port->irq = irq;
}

static void read_pci(const struct spcr_bytes *t, struct serial_config *port, struct fw_warnings *w)
{
    uint32_t device, function;

    port->pci = SERIAL_PCI_NONE;
    if (!has(t, SPCR_PCI_SEGMENT, 1) || read_le32(t->p + SPCR_PCI_DEVICE_ID) == UINT32_MAX ||
        read_le16(t->p + SPCR_PCI_DEVICE_ID) == PCI_ID_NONE ||
        !read_le32(t->p + SPCR_PCI_DEVICE_ID))
        return;
    device = t->p[SPCR_PCI_DEVICE];
    function = t->p[SPCR_PCI_FUNCTION];
    if (t->p[SPCR_PCI_SEGMENT] || device > PCI_DEVICE_LAST || function > PCI_FUNCTION_LAST) {
        boot_warn(w, "SPCR: no PCI function %x:%x:%x.%x can be reached", t->p[SPCR_PCI_SEGMENT],
                  t->p[SPCR_PCI_BUS], device, function);
        return;
    }
    port->pci = (uint32_t)t->p[SPCR_PCI_BUS] << 8 | device << 3 | function;
}

int spcr_parse(const void *data, size_t bytes, struct spcr_info *info, struct fw_warnings *w,
               size_t *fault)
{
    struct spcr_bytes t = {.p = data};
    struct serial_config port = serial_com1();
    uint32_t kind;
    int err;

    *info = (struct spcr_info){.port = {.pci = SERIAL_PCI_NONE}};
    err = acpi_header_check(data, bytes, ACPI_SIG_SPCR, SPCR_LEAST, &t.length, w, fault);
    if (err)
        return err;
    kind = t.p[SPCR_INTERFACE];
    if (!serial_subtype_known(kind)) {
        boot_warn(w, "SPCR: UART of kind 0x%x is none that Numen drives; ignored", kind);
        return 0;
    }
    read_pci(&t, &port, w);
    err = serial_gas_read(t.p + SPCR_GAS, kind, &port);
    if (err == -EINVAL)
        boot_warn(w, "SPCR: address 0x%lx in space %u is no UART's; ignored",
                  read_le64(t.p + SPCR_GAS + GAS_ADDRESS), t.p[SPCR_GAS + GAS_SPACE]);
    if (err == -ENOENT && port.pci != SERIAL_PCI_NONE) {
        port.space = SERIAL_PCI;
        port.base = 0;
        port.stride = port.width = 0;
        err = 0;
    }
    if (err)
        return 0;
    read_rate(&t, &port, w);
    read_interrupt(&t, &port);
    info->port = port;
    return 0;
}
