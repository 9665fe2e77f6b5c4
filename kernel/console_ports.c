/*
 * The console's serial ports (see console_state.h): which are opened when, and how the one stream
 * of bytes reaches all of them.
 *
 * Decides that every open port gets every byte at its own pace: the ring of mixed bytes moves on
 * when all have taken them. A port that takes nothing for a second while another does is not waited
 * for any longer: it misses bytes, and is back as soon as it takes one. A port that is found late,
 * or whose rate was wrong so far, is first given the lines that the others have shown.
 *
 * Does not decide which ports there are (boot/serial_choice.c) nor how a UART is driven.
 */
#include <string.h>

#include "boot/serial_choice.h"
#include "kernel/arch.h"
#include "kernel/bringup.h"
#include "kernel/console.h"
#include "kernel/console_state.h"
#include "kernel/printk.h"
#include "kernel/uart.h"

#define STALL_NS   NS_PER_SEC
#define TEXT_CHARS 80u

static struct serial_facts facts; /* [i] */
static struct serial_set set;     /* [i] */
static bool memory_can_be_mapped; /* [i] */

/* ---- finding them ---- */

static int op_resolve(void *context, struct serial_config *config)
{
    (void)context;
    return uart_resolve(config, memory_can_be_mapped);
}

static int op_open(void *context, uint32_t slot, struct serial_config *config)
{
    (void)context;
    return uart_open(slot, config);
}

static void op_retune(void *context, uint32_t slot, const struct serial_config *config)
{
    (void)context;
    uart_retune(slot, config);
}

static const struct serial_ops uart_ops = {op_resolve, op_open, op_retune, NULL};

static const char *const source_names[SERIAL_SOURCES] = {[SERIAL_BY_OPTION] = "com1=",
                                                         [SERIAL_BY_BDA] = "BIOS data area",
                                                         [SERIAL_BY_SPCR] = "SPCR",
                                                         [SERIAL_BY_DBG2] = "DBG2",
                                                         [SERIAL_BY_DEFAULT] = "default"};

static void describe_function(char *text, uint32_t pci)
{
    if (pci == SERIAL_PCI_ANY)
        format_text(text, TEXT_CHARS, "PCI beyond bus 0");
    else if (pci == SERIAL_PCI_AMT)
        format_text(text, TEXT_CHARS, "PCI bus 0");
    else
        format_text(text, TEXT_CHARS, "PCI %02x:%02x.%x", pci >> 8, pci >> 3 & 0x1f, pci & 7);
}

static const char *com_name(paddr_t base)
{
    static const char *const names[] = {"", "COM1 at ", "COM2 at ", "COM3 at ", "COM4 at "};

    return names[serial_com_number(base)];
}

static void describe_place(char *text, const struct serial_config *c)
{
    char function[TEXT_CHARS] = "", *at = function;

    if (c->pci != SERIAL_PCI_NONE)
        describe_function(function, c->pci);
    if (c->space == SERIAL_PCI)
        format_text(text, TEXT_CHARS, "%s", at);
    else if (c->space == SERIAL_IO)
        format_text(text, TEXT_CHARS, "%sI/O 0x%lx%s%s", com_name(c->base), c->base,
                    *at ? " of " : "", at);
    else
        format_text(text, TEXT_CHARS, "memory 0x%lx%s%s, registers %u bytes apart", c->base,
                    *at ? " of " : "", at, c->stride);
}

static void print_open(const struct serial_candidate *port)
{
    const struct serial_config *c = &port->config;
    char parity = "noe"[c->parity];
    char place[TEXT_CHARS], line[TEXT_CHARS] = "rate left alone", irq[TEXT_CHARS] = "polled";

    describe_place(place, c);
    if (c->baud && c->clock_hz)
        format_text(line, sizeof(line), "%u %u%c%u", c->baud, c->data_bits, parity, c->stop_bits);
    if (c->irq)
        format_text(irq, sizeof(irq), "interrupt %u", c->irq);
    pr_info("console: %s by %s, %s, %s", place, source_names[port->source], line, irq);
}

/* What was tried in vain from entry `from` on, in one line. */
static void print_absent(uint32_t from)
{
    char text[LOG_TEXT_MAX] = "";
    size_t n = 0;

    for (uint32_t i = from; i < set.nabsent && n < sizeof(text); i++) {
        char place[TEXT_CHARS];

        describe_place(place, &set.absent[i].config);
        n += (size_t)format_text(text + n, sizeof(text) - n, "%s %s (by %s)", n ? "," : "", place,
                                 source_names[set.absent[i].source]);
    }
    if (n)
        pr_info("console: no serial port at%s", text);
}

static void print_news(uint32_t absent_before)
{
    for (uint32_t slot = 0; slot < set.count; slot++)
        if (set.fresh & BIT(slot))
            print_open(&set.ports[slot]);
    print_absent(absent_before);
}

static void read_facts(const char *com1)
{
    const void *bda = arch_map_firmware(NULL, SERIAL_BDA, sizeof(facts.bda));
    size_t fault;

    if (serial_option_parse(com1, &facts.option, &fault))
        pr_warn("com1=%s is not understood from `%s` on; ignored", com1, com1 + fault);
    if (bda)
        memcpy(facts.bda, bda, sizeof(facts.bda));
}

bool console_ports_early(const char *com1)
{
    read_facts(com1);
    serial_choose_early(&set, &facts, &uart_ops);
    print_news(0);
    return set.count != 0;
}

/* The lines that the console has shown so far, for a port that could not show them. */
static void replay(uint32_t slot) MUST_HOLD(console.lock)
{
    struct log_cursor cursor = log_oldest(&console.log);
    struct log_line line;

    while (cursor.seq < console.mixer.cursor.seq && log_read(&console.log, &cursor, &line)) {
        if (line.level >= console.mixer.level)
            continue;
        if (line.level == LOG_WARNING)
            uart_write_wait(slot, MIXER_WARNING, strlen(MIXER_WARNING));
        uart_write_wait(slot, line.text, line.length);
        uart_write_wait(slot, "\r\n", 2);
    }
}

void console_ports_late(const struct spcr_info *spcr, const struct dbg2_info *dbg2)
{
    uint32_t absent = set.nabsent;

    facts.spcr = *spcr;
    facts.dbg2 = *dbg2;
    memory_can_be_mapped = true;
    console_lock();
    if (console.open)
        console_drain(); /* what is on its way must not reach the new ports twice */
    serial_choose_late(&set, &facts, &uart_ops);
    for (uint32_t slot = 0; slot < set.count && console.open; slot++)
        if (set.fresh & BIT(slot))
            replay(slot);
    console_unlock();
    print_news(absent);
    if (!set.count)
        pr_warn("no serial port");
}

void console_ports_panic(void)
{
    struct serial_config config = serial_com1();

    if (!console_ports_present() && uart_open(0, &config))
        return; /* the debug port is all there is */
}

/* ---- sending ---- */

bool console_ports_present(void)
{
    for (uint32_t slot = 0; slot < SERIAL_PORTS; slot++)
        if (uart_present(slot))
            return true;
    return false;
}

/* How many bytes of the ring the port takes now. */
static uint32_t send(uint32_t slot, struct console_port *port) MUST_HOLD(console.lock)
{
    const char *bytes;
    uint32_t n = byte_ring_peek(&console.tx, port->ahead, &bytes), sent = n;
    ns_t now;

    if (!n)
        return 0;
    if (console.sync)
        uart_write_wait(slot, bytes, n);
    else
        sent = (uint32_t)uart_write(slot, bytes, n);
    port->ahead += sent;
    if (sent) {
        port->waiting = port->stalled = false;
        return sent;
    }
    now = arch_now();
    if (!port->waiting)
        port->since = now;
    port->waiting = true;
    port->stalled = now - port->since > STALL_NS;
    return 0;
}

/* Bytes that all have taken: by the slowest, but a stalled port counts only if all are stalled. */
static uint32_t taken_by_all(void) MUST_HOLD(console.lock)
{
    uint32_t least[2] = {UINT32_MAX, UINT32_MAX}; /* of the live, of the stalled */

    for (uint32_t slot = 0; slot < SERIAL_PORTS; slot++) {
        const struct console_port *port = &console.ports[slot];

        if (uart_present(slot))
            least[port->stalled] = MIN(least[port->stalled], port->ahead);
    }
    if (least[0] == UINT32_MAX)
        least[0] = least[1];
    return least[0] == UINT32_MAX ? byte_ring_count(&console.tx) : least[0];
}

bool console_ports_send(void)
{
    uint32_t sent = 0, done;

    for (uint32_t slot = 0; slot < SERIAL_PORTS; slot++)
        if (uart_present(slot))
            sent += send(slot, &console.ports[slot]);
    done = taken_by_all();
    byte_ring_drop(&console.tx, done);
    for (uint32_t slot = 0; slot < SERIAL_PORTS; slot++) {
        struct console_port *port = &console.ports[slot];

        port->ahead -= MIN(port->ahead, done);
    }
    return sent;
}

void console_ports_want_interrupt(void)
{
    for (uint32_t slot = 0; slot < SERIAL_PORTS; slot++)
        uart_irq_transmit(slot, byte_ring_count(&console.tx) > console.ports[slot].ahead);
}

/* ---- interrupts ---- */

static bool irq_is_taken(uint32_t slot, uint32_t irq)
{
    for (uint32_t i = 0; i < slot; i++)
        if (console.ports[i].by_irq && set.ports[i].config.irq == irq)
            return true;
    return false;
}

bool console_ports_listen(void)
{
    bool any = false;

    for (uint32_t slot = 0; slot < set.count; slot++) {
        uint32_t irq = set.ports[slot].config.irq;

        /* An edge-triggered line cannot be shared: the second port's edge may not be one. */
        if (!irq || irq_is_taken(slot, irq))
            continue;
        console.ports[slot].by_irq = uart_irq_enable(slot, irq) == 0;
        any |= console.ports[slot].by_irq;
    }
    return any;
}

void console_ports_interrupt(uint32_t slot)
{
    bool pending = true;

    console.ports[slot].interrupted = true;
    /* The line is edge triggered: every cause must be cleared, or there is no next edge. */
    for (uint32_t i = 0; i < CONSOLE_IRQ_ROUNDS && (pending = uart_irq_pending(slot)); i++)
        console_receive();
    if (pending)
        uart_irq_again(slot);
}

void console_ports_check_interrupts(void)
{
    for (uint32_t slot = 0; slot < set.count; slot++) {
        struct console_port *port = &console.ports[slot];
        bool silent;
        char place[TEXT_CHARS];

        console_lock();
        silent = port->by_irq && !port->interrupted;
        if (silent)
            port->by_irq = false;
        console_unlock();
        if (!silent)
            continue;
        describe_place(place, &set.ports[slot].config);
        pr_warn("the interrupt of %s does not arrive; the port is polled", place);
    }
}

bool console_ports_polled(void)
{
    for (uint32_t slot = 0; slot < SERIAL_PORTS; slot++)
        if (uart_present(slot) && !console.ports[slot].by_irq)
            return true;
    return false;
}
