/*
 * com1=, in Xen's spelling:
 *
 *   BAUD[/BASE-BAUD][,DPS[,WHERE[,IRQ[,BUS:DEV.FN]]]][,reg-shift=N][,reg-width=N]
 *
 * WHERE is an I/O port, an address (above 0xffff), `pci`, `amt`, or the function itself. BAUD
 * `auto` leaves rate and line settings as the firmware made them, which serial-over-LAN controllers
 * need; BASE-BAUD is the rate of divisor 1, a sixteenth of the clock. An empty part keeps its
 * default. IRQ 0 means that the port is polled; without IRQ a port of the PC's four has its usual
 * one and any other is polled. What Xen takes and Numen does not: `msi`, a bridge, and the form by
 * name=value beyond the two above.
 *
 * Decides nothing about whether there is such a port.
 */
#include "boot/serial_option.h"

#include <errno.h>
#include <string.h>

#include "hv/bits.h"

#define BAUD_LEAST    50
#define BASE_BAUD_MAX (UINT32_MAX / 16)
#define MMIO_MAX      ((1ull << 52) - 1)
#define REG_SHIFT_MAX 4 /* and the widest register, in bytes */
#define FIELD_NONE    UINT64_MAX

static const struct {
    uint16_t base;
    uint8_t irq;
} com_ports[] = {{SERIAL_COM1, 4}, {0x2f8, 3}, {0x3e8, 4}, {0x2e8, 3}};

struct serial_config serial_com1(void)
{
    return (struct serial_config){.space = SERIAL_IO,
                                  .pci = SERIAL_PCI_NONE,
                                  .base = SERIAL_COM1,
                                  .stride = 1,
                                  .width = 1,
                                  .clock_hz = SERIAL_CLOCK_HZ,
                                  .baud = 115200,
                                  .data_bits = 8,
                                  .stop_bits = 1,
                                  .parity = SERIAL_PARITY_NONE,
                                  .irq = com_ports[0].irq};
}

uint32_t serial_com_number(paddr_t io_base)
{
    for (uint32_t i = 0; i < ARRAY_SIZE(com_ports); i++)
        if (com_ports[i].base == io_base)
            return i + 1;
    return 0;
}

uint32_t serial_isa_irq(paddr_t io_base)
{
    uint32_t com = serial_com_number(io_base);

    return com ? com_ports[com - 1].irq : 0;
}

/* The value of a digit, or `base` for what is none. */
static uint32_t digit(char c, uint32_t base)
{
    uint32_t value = base;

    if (c >= '0' && c <= '9')
        value = (uint32_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
        value = (uint32_t)(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
        value = (uint32_t)(c - 'A') + 10;
    return MIN(value, base);
}

/* A number at *text, which moves behind it; FIELD_NONE when there is none or above `max`. */
static uint64_t read_digits(const char **text, uint32_t base, uint64_t max)
{
    const char *s = *text;
    uint64_t n = 0;

    for (; digit(*s, base) < base; s++) {
        n = n * base + digit(*s, base);
        if (n > max)
            return FIELD_NONE;
    }
    if (s == *text)
        return FIELD_NONE;
    *text = s;
    return n;
}

/* Decimal, or hexadecimal behind 0x. max <= 2^52, so that a step before the check cannot wrap. */
static uint64_t read_number(const char **text, uint64_t max)
{
    const char *s = *text;
    uint64_t n;

    if (s[0] != '0' || s[1] != 'x')
        return read_digits(text, 10, max);
    s += 2;
    n = read_digits(&s, 16, max);
    if (n != FIELD_NONE)
        *text = s;
    return n;
}

/* Readers of one part: false, and *text at the fault, when it is not understood. */
typedef bool part_reader(struct serial_option *o, const char **text);

static bool read_rate(struct serial_option *o, const char **text)
{
    uint64_t baud = 0, base_baud = SERIAL_CLOCK_HZ / 16;

    if (!strncmp(*text, "auto", 4)) {
        *text += 4;
    } else {
        baud = read_number(text, BASE_BAUD_MAX);
        if (baud == FIELD_NONE || baud < BAUD_LEAST)
            return false;
    }
    if (**text == '/') {
        ++*text;
        base_baud = read_number(text, BASE_BAUD_MAX);
        if (base_baud == FIELD_NONE || !base_baud)
            return false;
        o->has_clock = true;
    }
    if (baud > base_baud)
        return false;
    o->config.baud = (uint32_t)baud;
    o->config.clock_hz = (uint32_t)base_baud * 16;
    o->has_rate = true;
    return true;
}

/* Three characters: data bits, parity, stop bits. */
static bool read_line(struct serial_option *o, const char **text)
{
    static const char parities[] = "noe"; /* in the order of enum serial_parity */
    const char *s = *text, *parity;

    if (s[0] < '5' || s[0] > '8' || !s[1])
        return false;
    parity = strchr(parities, s[1]);
    if (!parity || (s[2] != '1' && s[2] != '2'))
        return false;
    o->config.data_bits = (uint32_t)(s[0] - '0');
    o->config.parity = (uint32_t)(parity - parities);
    o->config.stop_bits = (uint32_t)(s[2] - '0');
    o->has_line = true;
    *text += 3;
    return true;
}

static void set_place(struct serial_option *o, uint32_t space, uint64_t base, uint32_t pci)
{
    struct serial_config *c = &o->config;

    c->space = space;
    c->base = base;
    c->pci = pci;
    c->stride = space == SERIAL_IO ? 1 : 0;
    c->width = c->stride;
    o->has_place = true;
}

/* BUS:DEV.FN, hexadecimal as in Xen and lspci. */
static bool read_function(struct serial_option *o, const char **text)
{
    static const struct {
        uint32_t max;
        char end;
    } parts[] = {{0xff, ':'}, {0x1f, '.'}, {7, 0}};
    uint64_t n[ARRAY_SIZE(parts)];

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        n[i] = read_digits(text, 16, parts[i].max);
        if (n[i] == FIELD_NONE || (parts[i].end && **text != parts[i].end))
            return false;
        *text += parts[i].end != 0;
    }
    set_place(o, SERIAL_PCI, 0, (uint32_t)(n[0] << 8 | n[1] << 3 | n[2]));
    return true;
}

static bool is_function(const char *text)
{
    while (digit(*text, 16) < 16)
        text++;
    return *text == ':';
}

static bool read_place(struct serial_option *o, const char **text)
{
    uint64_t base;

    if (!strncmp(*text, "pci", 3) || !strncmp(*text, "amt", 3)) {
        set_place(o, SERIAL_PCI, 0, **text == 'p' ? SERIAL_PCI_ANY : SERIAL_PCI_AMT);
        *text += 3;
        return true;
    }
    if (is_function(*text))
        return read_function(o, text);
    base = read_number(text, MMIO_MAX);
    if (base == FIELD_NONE || !base || (base > SERIAL_IO_LAST && base <= UINT16_MAX))
        return false;
    set_place(o, base > UINT16_MAX ? SERIAL_MMIO : SERIAL_IO, base, SERIAL_PCI_NONE);
    return true;
}

static bool read_irq(struct serial_option *o, const char **text)
{
    uint64_t irq = read_number(text, SERIAL_IRQ_LAST);

    o->config.irq = (uint32_t)irq;
    o->has_irq = true;
    return irq != FIELD_NONE;
}

/* reg-shift=N or reg-width=N. */
static bool read_named(struct serial_option *o, const char **text)
{
    bool shift = !strncmp(*text, "reg-shift=", 10);
    uint64_t n;

    if (!shift && strncmp(*text, "reg-width=", 10) != 0)
        return false;
    *text += 10;
    n = read_number(text, REG_SHIFT_MAX);
    if (n == FIELD_NONE || (!shift && n != 1 && n != 2 && n != 4))
        return false;
    if (shift)
        o->config.stride = 1u << n;
    else
        o->config.width = (uint32_t)n;
    return true;
}

/* False, and *text at the fault. */
static bool read_all(struct serial_option *o, const char **text)
{
    static part_reader *const parts[] = {read_rate, read_line, read_place, read_irq, read_function};
    size_t part = 0;

    while (**text) {
        if (!strncmp(*text, "reg-", 4)) {
            part = ARRAY_SIZE(parts); /* names end what goes by place */
            if (!read_named(o, text))
                return false;
        } else if (part == ARRAY_SIZE(parts)) {
            return false;
        } else if (**text == ',') {
            part++;
        } else if (!parts[part++](o, text)) {
            return false;
        }
        if (!**text)
            break;
        if (**text != ',')
            return false;
        ++*text;
    }
    return true;
}

int serial_option_parse(const char *text, struct serial_option *option, size_t *fault)
{
    struct serial_option o = {.config = serial_com1()};
    const char *at = text;

    if (!read_all(&o, &at)) {
        *option = (struct serial_option){.config = serial_com1()};
        *fault = (size_t)(at - text);
        return -EINVAL;
    }
    if (o.has_place && !o.has_irq)
        o.config.irq = o.config.space == SERIAL_IO ? serial_isa_irq(o.config.base) : 0;
    *option = o;
    return 0;
}
