/*
 * Which serial ports the console uses.
 *
 * Decides: a port that com1= names is the only one, if it answers. Otherwise one port for each who
 * tells of some, the first of his that answers: the BIOS data area, SPCR, DBG2; and COM1 when none
 * did. They run at once, since a board's COM1 answers whether or not anything is plugged in, while
 * the console that somebody reads may be serial-over-LAN on another. A port that is told of twice
 * is opened once; SPCR has the better word on its rate and interrupt, DBG2 knows neither. What
 * com1= says of rate, line and interrupt goes before all of them.
 *
 * Does not touch hardware: it calls struct serial_ops. Invariants: a port that did not answer is
 * not tried again; slots are dense and keep their numbers; as each teller adds one port at most and
 * com1= stands alone, SPCR and DBG2 find room.
 */
#include "boot/serial_choice.h"

#include <errno.h>

#include "hv/bits.h"

#define BDA_PORT_LEAST 0x100u /* below are the board's own devices */

/* A set is filled by the BIOS data area, SPCR and DBG2, or by one other. */
_Static_assert(SERIAL_PORTS >= 3, "a slot for each teller");

static bool same_port(const struct serial_config *a, const struct serial_config *b)
{
    return a->space == b->space && a->base == b->base &&
           (a->space != SERIAL_PCI || a->pci == b->pci);
}

static bool same_line(const struct serial_config *a, const struct serial_config *b)
{
    if (!a->baud || !b->baud)
        return a->baud == b->baud;
    return a->baud == b->baud && a->clock_hz == b->clock_hz && a->data_bits == b->data_bits &&
           a->stop_bits == b->stop_bits && a->parity == b->parity;
}

static bool was_absent(const struct serial_set *set, const struct serial_config *config)
{
    for (uint32_t i = 0; i < set->nabsent; i++)
        if (same_port(&set->absent[i].config, config))
            return true;
    return false;
}

static void note_absent(struct serial_set *set, const struct serial_config *config,
                        enum serial_source source)
{
    if (set->nabsent < SERIAL_ABSENT_MAX && !was_absent(set, config))
        set->absent[set->nabsent++] = (struct serial_candidate){*config, source};
}

/* True: told of before, and open. Of the tellers that come second, SPCR alone knows the line. */
static bool merge(struct serial_set *set, const struct serial_config *config,
                  enum serial_source source, const struct serial_ops *ops)
{
    for (uint32_t slot = 0; slot < set->count; slot++) {
        struct serial_candidate *port = &set->ports[slot];
        struct serial_config had = port->config;

        if (!same_port(&had, config))
            continue;
        if (source != SERIAL_BY_SPCR)
            return true;
        port->source = source;
        port->config = *config;
        port->config.stride = had.stride;
        port->config.width = had.width;
        if (!same_line(&had, config)) {
            ops->retune(ops->ctx, slot, &port->config);
            set->fresh |= 1u << slot;
        }
        return true;
    }
    return false;
}

/* 0: open, now or before. */
static int try_port(struct serial_set *set, struct serial_config config, enum serial_source source,
                    const struct serial_ops *ops)
{
    int error = 0;

    if (was_absent(set, &config))
        return -ENODEV;
    if (config.pci != SERIAL_PCI_NONE || config.space != SERIAL_IO)
        error = ops->resolve(ops->ctx, &config);
    if (error == -EAGAIN)
        return error;
    if (!error && merge(set, &config, source, ops))
        return 0;
    if (!error)
        error = ops->open(ops->ctx, set->count, &config);
    if (error) {
        note_absent(set, &config, source);
        return error;
    }
    set->fresh |= 1u << set->count;
    set->ports[set->count++] = (struct serial_candidate){config, source};
    return 0;
}

/* What com1= says of any port, laid over what a table says of this one. */
static struct serial_config overlay_option(const struct serial_option *option,
                                           struct serial_config config)
{
    const struct serial_config *o = &option->config;

    if (option->has_rate)
        config.baud = o->baud;
    if (option->has_clock)
        config.clock_hz = o->clock_hz;
    if (option->has_line) {
        config.data_bits = o->data_bits;
        config.stop_bits = o->stop_bits;
        config.parity = o->parity;
    }
    if (option->has_irq)
        config.irq = o->irq;
    return config;
}

static void try_bda(struct serial_set *set, const struct serial_facts *facts,
                    const struct serial_ops *ops)
{
    for (uint32_t i = 0; i < SERIAL_BDA_PORTS; i++) {
        struct serial_config config = serial_com1();
        uint16_t port = facts->bda[i];

        /* Where there is no BIOS, these bytes may be anything. */
        if (port < BDA_PORT_LEAST || port > SERIAL_IO_LAST || port % 8)
            continue;
        config.base = port;
        config.irq = serial_isa_irq(port);
        if (!try_port(set, overlay_option(&facts->option, config), SERIAL_BY_BDA, ops))
            return;
    }
}

void serial_choose_early(struct serial_set *set, const struct serial_facts *facts,
                         const struct serial_ops *ops)
{
    *set = (struct serial_set){0};
    if (facts->option.has_place) {
        int error = try_port(set, facts->option.config, SERIAL_BY_OPTION, ops);

        set->waits = error == -EAGAIN;
        if (!error || set->waits)
            return;
    }
    try_bda(set, facts, ops);
}

void serial_choose_late(struct serial_set *set, const struct serial_facts *facts,
                        const struct serial_ops *ops)
{
    const struct serial_option *option = &facts->option;

    set->fresh = 0;
    if (set->waits) {
        set->waits = false;
        if (try_port(set, option->config, SERIAL_BY_OPTION, ops))
            try_bda(set, facts, ops);
    }
    if (set->count && set->ports[0].source == SERIAL_BY_OPTION)
        return;
    if (facts->spcr.port.space != SERIAL_NONE)
        (void)try_port(set, overlay_option(option, facts->spcr.port), SERIAL_BY_SPCR, ops);
    for (uint32_t i = 0; i < facts->dbg2.count; i++)
        if (!try_port(set, overlay_option(option, facts->dbg2.ports[i]), SERIAL_BY_DBG2, ops))
            break;
    if (!set->count)
        (void)try_port(set, overlay_option(option, serial_com1()), SERIAL_BY_DEFAULT, ops);
}
