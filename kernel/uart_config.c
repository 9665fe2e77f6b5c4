/*
 * com1=BAUD[,DPS[,IO-BASE[,IRQ]]] to struct uart_config. Pure.
 *
 * Spelt as in Xen: `com1=115200,8n1,0x3f8,4`. BAUD `auto` leaves rate and line settings as the
 * firmware made them, which serial-over-LAN controllers need. An empty part keeps the value before
 * it; IRQ 0 means that the port is polled.
 */
#include "kernel/uart.h"

#include <errno.h>
#include <string.h>

#define BAUD_MAX 115200u

/* A decimal or 0x number at *text, which moves behind it; -1 when there is none or above `max`. */
static int64_t read_number(const char **text, int64_t max)
{
    bool hex = (*text)[0] == '0' && (*text)[1] == 'x';
    const char *s = *text + (hex ? 2 : 0);
    const char *start = s;
    int64_t n = 0;

    for (;; s++) {
        if (*s >= '0' && *s <= '9')
            n = n * (hex ? 16 : 10) + (*s - '0');
        else if (hex && *s >= 'a' && *s <= 'f')
            n = n * 16 + (*s - 'a' + 10);
        else
            break;
        if (n > max)
            return -1;
    }
    *text = s;
    return s == start ? -1 : n;
}

static const char *read_baud(struct uart_config *c, const char *text)
{
    int64_t baud;

    if (!strncmp(text, "auto", 4)) {
        c->baud = 0;
        return text + 4;
    }
    baud = read_number(&text, BAUD_MAX);
    if (baud < 50)
        return NULL;
    c->baud = (uint32_t)baud;
    return text;
}

/* Three characters: data bits, parity, stop bits. */
static const char *read_line(struct uart_config *c, const char *text)
{
    static const char parities[] = "noe"; /* in the order of enum uart_parity */
    const char *parity;

    if (text[0] < '5' || text[0] > '8' || !text[1])
        return NULL;
    parity = strchr(parities, text[1]);
    if (!parity || (text[2] != '1' && text[2] != '2'))
        return NULL;
    c->data_bits = (uint32_t)(text[0] - '0');
    c->parity = (uint32_t)(parity - parities);
    c->stop_bits = (uint32_t)(text[2] - '0');
    return text + 3;
}

static const char *read_port(struct uart_config *c, const char *text)
{
    int64_t port = read_number(&text, 0xfff8);

    c->io_base = (uint16_t)port;
    return port > 0 ? text : NULL;
}

static const char *read_irq(struct uart_config *c, const char *text)
{
    int64_t irq = read_number(&text, 15);

    c->irq = (uint32_t)irq;
    return irq >= 0 ? text : NULL;
}

int uart_config_parse(struct uart_config *config, const char *text)
{
    static const char *(*const parts[])(struct uart_config *, const char *) = {read_baud, read_line,
                                                                               read_port, read_irq};
    struct uart_config c = *config;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (*text != ',' && *text) {
            text = parts[i](&c, text);
            if (!text)
                return -EINVAL;
        }
        if (!*text) {
            *config = c;
            return 0;
        }
        if (*text++ != ',')
            return -EINVAL;
    }
    return -EINVAL;
}
