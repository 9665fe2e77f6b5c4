/*
 * The UART driver against a fake UART: present and absent ones, odd ones, and that no wait is
 * without end.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/x86/regs/uart.h"
#include "arch/x86/uart16550.h"

#define ACCESS_LIMIT 400000u /* a few of the driver's bounds; a wait without end runs into it */

/* How this one differs from a sound 16550A whose registers lie side by side. */
struct fake_kind {
    const char *name;
    bool absent;         /* all ones, writes go nowhere */
    bool deaf;           /* reads 0, keeps nothing: RAM-less memory */
    bool ier_stuck;      /* keeps no IER */
    bool thre_stuck;     /* takes no byte */
    bool no_fifo;        /* 8250, 16450 */
    bool no_scratch;     /* 8250 */
    bool dlab_left;      /* firmware left the divisor latch open */
    bool ier_high;       /* bit 7 of IER is a switch of its own that reads 1 */
    uint32_t stride;     /* 0: 1 */
    uint32_t slow;       /* reads of LSR until THRE comes back */
    uint32_t gone_after; /* bytes until it vanishes */
};

static struct fake {
    struct fake_kind kind;
    uint8_t ier, lcr, mcr, fcr, scratch;
    uint16_t divisor;
    uint32_t busy;
    uint32_t accesses, writes, widths; /* widths: a bit for each seen */
    uint32_t sent, burst, burst_max;
    char text[256];
    const char *input;
    uint8_t iir;
} fake;

static bool fake_is_gone(void)
{
    return fake.kind.absent || (fake.kind.gone_after && fake.sent >= fake.kind.gone_after);
}

/* The register at `offset`, or 8: there is nothing there. */
static uint32_t fake_register(const struct uart16550_bus *bus, uint32_t offset)
{
    uint32_t stride = fake.kind.stride ? fake.kind.stride : 1;

    fake.widths |= bus->width;
    if (fake.accesses++ > ACCESS_LIMIT)
        fail_msg("%s: no end of it", fake.kind.name);
    return offset % stride || offset / stride > 7 ? 8 : offset / stride;
}

static uint8_t fake_lsr(void)
{
    uint8_t lsr = *fake.input ? UART_LSR_READY : 0;

    if (fake.busy)
        fake.busy--;
    if (!fake.busy && !fake.kind.thre_stuck) {
        lsr |= UART_LSR_THRE;
        fake.burst = 0;
    }
    return lsr;
}

static uint8_t fake_read(const struct uart16550_bus *bus, uint32_t offset)
{
    uint32_t reg = fake_register(bus, offset);

    if (fake_is_gone())
        return 0xff;
    if (fake.kind.deaf)
        return 0;
    switch (reg) {
    case UART_DATA:
        if (fake.lcr & UART_LCR_DLAB)
            return (uint8_t)fake.divisor;
        return *fake.input ? (uint8_t)*fake.input++ : 0;
    case UART_IER:
        if (fake.lcr & UART_LCR_DLAB)
            return (uint8_t)(fake.divisor >> 8);
        return (uint8_t)(fake.ier | (fake.kind.ier_high ? 0x80 : 0));
    case UART_IIR:
        return (uint8_t)(fake.iir | (fake.fcr & 1 && !fake.kind.no_fifo ? 0xc0 : 0));
    case UART_LCR:
        return fake.lcr;
    case UART_MCR:
        return fake.mcr;
    case UART_LSR:
        return fake_lsr();
    case UART_MSR:
        return 0; /* CTS is not there: a cable of three wires */
    case 7:
        return fake.kind.no_scratch ? 0xff : fake.scratch;
    default:
        return 0;
    }
}

static void fake_send(uint8_t value)
{
    assert_false(fake.kind.thre_stuck);
    if (fake.sent < sizeof(fake.text) - 1)
        fake.text[fake.sent] = (char)value;
    fake.sent++;
    fake.burst++;
    fake.burst_max = fake.burst > fake.burst_max ? fake.burst : fake.burst_max;
    fake.busy = fake.kind.slow;
}

static void fake_write(const struct uart16550_bus *bus, uint32_t offset, uint8_t value)
{
    uint32_t reg = fake_register(bus, offset);

    fake.writes++;
    if (fake_is_gone() || fake.kind.deaf)
        return;
    switch (reg) {
    case UART_DATA:
        if (fake.lcr & UART_LCR_DLAB)
            fake.divisor = (uint16_t)((fake.divisor & 0xff00) | value);
        else
            fake_send(value);
        break;
    case UART_IER:
        if (fake.lcr & UART_LCR_DLAB)
            fake.divisor = (uint16_t)((fake.divisor & 0xff) | value << 8);
        else if (!fake.kind.ier_stuck)
            fake.ier = value & 0x0f;
        break;
    case UART_FCR:
        fake.fcr = value;
        break;
    case UART_LCR:
        fake.lcr = value;
        break;
    case UART_MCR:
        fake.mcr = value & 0x1f;
        break;
    case 7:
        fake.scratch = value;
        break;
    default:
        break;
    }
}

static const struct uart16550_bus bus = {.read = fake_read, .write = fake_write, .width = 1};

static struct serial_config config(uint32_t baud, uint32_t stride)
{
    return (struct serial_config){.space = SERIAL_IO,
                                  .pci = SERIAL_PCI_NONE,
                                  .stride = stride,
                                  .width = stride,
                                  .clock_hz = SERIAL_CLOCK_HZ,
                                  .baud = baud,
                                  .data_bits = 8,
                                  .stop_bits = 1};
}

/* A new machine, whose firmware runs the port at 38400 7e1. */
static int open_fake(struct uart16550 *u, const struct fake_kind *kind, struct serial_config *c)
{
    memset(&fake, 0, sizeof(fake));
    fake.kind = *kind;
    fake.input = "";
    fake.divisor = 3;
    fake.lcr = 0x1a;
    fake.ier = 0x01;
    fake.iir = UART_IIR_NONE;
    if (kind->dlab_left)
        fake.lcr |= UART_LCR_DLAB;
    return uart16550_open(u, &bus, c);
}

static const struct fake_kind sound = {.name = "sound"};

static void test_probe(void **state)
{
    static const struct {
        struct fake_kind kind;
        uint32_t stride; /* as told */
        int error;
        uint32_t found;
    } rows[] = {
        {{.name = "16550A"}, 1, 0, 1},
        {{.name = "absent", .absent = true}, 1, -ENODEV, 0},
        {{.name = "absent, stride not told", .absent = true}, 0, -ENODEV, 0},
        {{.name = "zeros", .deaf = true}, 0, -ENODEV, 0},
        {{.name = "IER not kept", .ier_stuck = true}, 1, -ENODEV, 0},
        {{.name = "8250 without scratch", .no_scratch = true, .no_fifo = true}, 1, 0, 1},
        {{.name = "THRE stuck", .thre_stuck = true}, 1, 0, 1},
        {{.name = "DLAB left set", .dlab_left = true}, 1, 0, 1},
        {{.name = "switch in IER", .ier_high = true}, 1, 0, 1},
        {{.name = "stride 4", .stride = 4}, 4, 0, 4},
        {{.name = "stride 4, not told", .stride = 4}, 0, 0, 4},
        {{.name = "stride 1, not told", .stride = 1}, 0, 0, 1},
        {{.name = "stride 4, told as 1", .stride = 4}, 1, -ENODEV, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct serial_config c = config(115200, rows[i].stride);
        struct uart16550 u;

        if (open_fake(&u, &rows[i].kind, &c) != rows[i].error)
            fail_msg("%s: wrong verdict", rows[i].kind.name);
        assert_int_equal(u.present, !rows[i].error);
        if (rows[i].kind.absent)
            assert_int_equal(fake.writes, 0); /* whatever else lives there is left in peace */
        if (rows[i].error)
            continue;
        assert_int_equal(c.stride, rows[i].found);
        assert_int_equal(fake.divisor, 1);
        assert_int_equal(fake.lcr, 0x03);
        assert_int_equal(fake.ier, 0);
        assert_int_equal(fake.mcr, UART_MCR_DTR | UART_MCR_RTS | UART_MCR_OUT2);
        assert_int_equal(u.burst, rows[i].kind.no_fifo ? 1 : 16);
        if (rows[i].found == 4)
            assert_true(fake.widths & 4);
    }
}

static void test_line(void **state)
{
    static const struct {
        uint32_t clock, baud, data, stop, parity;
        uint16_t divisor;
        uint8_t lcr;
    } rows[] = {
        {1843200, 115200, 8, 1, SERIAL_PARITY_NONE, 1, 0x03},
        {1843200, 9600, 7, 2, SERIAL_PARITY_EVEN, 12, 0x1e},
        {1843200, 50, 5, 1, SERIAL_PARITY_ODD, 2304, 0x08},
        {48000000, 115200, 8, 1, SERIAL_PARITY_NONE, 26, 0x03},
        {48000000, 1500000, 8, 1, SERIAL_PARITY_NONE, 2, 0x03},
        {UINT32_MAX, 50, 8, 1, SERIAL_PARITY_NONE, 0xffff, 0x03},
        {UINT32_MAX, UINT32_MAX / 16, 8, 1, SERIAL_PARITY_NONE, 1, 0x03},
        {1843200, 0, 8, 1, SERIAL_PARITY_NONE, 3, 0x1a}, /* the firmware's */
        {0, 115200, 8, 1, SERIAL_PARITY_NONE, 3, 0x1a},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct serial_config c = config(rows[i].baud, 1), other = config(19200, 1);
        struct uart16550 u;

        c.clock_hz = rows[i].clock;
        c.data_bits = rows[i].data;
        c.stop_bits = rows[i].stop;
        c.parity = rows[i].parity;
        for (int again = 0; again < 2; again++) {
            if (again)
                uart16550_set_line(&u, &c);
            else
                assert_int_equal(open_fake(&u, &sound, &c), 0);
            if (fake.divisor != rows[i].divisor || fake.lcr != rows[i].lcr)
                fail_msg("row %zu: divisor %u, LCR %x", i, fake.divisor, fake.lcr);
            uart16550_set_line(&u, &other);
            assert_int_equal(fake.divisor, 6);
        }
    }
}

static void test_write(void **state)
{
    static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    static const struct fake_kind kinds[] = {{.name = "quick"},
                                             {.name = "slow", .slow = 50000},
                                             {.name = "8250", .no_fifo = true, .slow = 9}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct serial_config c = config(115200, 1);
        struct uart16550 u;
        uint32_t burst = kinds[i].no_fifo ? 1 : 16;

        assert_int_equal(open_fake(&u, &kinds[i], &c), 0);
        assert_int_equal(uart16550_write(&u, text, 5), burst < 5 ? burst : 5);
        if (kinds[i].slow)
            assert_int_equal(uart16550_write(&u, text, 5), 0); /* does not wait */
        fake.sent = 0;
        uart16550_write_wait(&u, text, sizeof(text) - 1);
        assert_string_equal(fake.text, text);
        assert_int_equal(fake.sent, sizeof(text) - 1);
        assert_true(fake.burst_max <= burst && u.present);
    }
}

/* A port that stops taking bytes, or vanishes, is given up, and costs nothing from then on. */
static void test_given_up(void **state)
{
    static const struct fake_kind kinds[] = {{.name = "THRE stuck", .thre_stuck = true},
                                             {.name = "vanishes", .gone_after = 20}};
    static const char text[64] = "all of this and more";

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        struct serial_config c = config(115200, 1);
        struct uart16550 u;
        char key;

        assert_int_equal(open_fake(&u, &kinds[i], &c), 0);
        uart16550_write_wait(&u, text, sizeof(text));
        assert_false(u.present);
        fake.accesses = 0;
        uart16550_write_wait(&u, text, sizeof(text));
        assert_int_equal(uart16550_write(&u, text, 1), 0);
        assert_int_equal(uart16550_read(&u, &key, 1), 0);
        assert_false(uart16550_irq_pending(&u));
        uart16550_set_ier(&u, UART_IER_RECEIVE);
        assert_int_equal(fake.accesses, 0);
    }
}

/* Not waited for, a stuck port stays: it may only be slow. */
static void test_stuck_is_no_wait(void **state)
{
    static const struct fake_kind stuck = {.name = "THRE stuck", .thre_stuck = true};
    struct serial_config c = config(115200, 1);
    struct uart16550 u;

    (void)state;
    assert_int_equal(open_fake(&u, &stuck, &c), 0);
    fake.accesses = 0;
    assert_int_equal(uart16550_write(&u, "x", 1), 0);
    assert_int_equal(fake.accesses, 1);
    fake.kind.thre_stuck = false;
    assert_int_equal(uart16550_write(&u, "x", 1), 1);
}

static void test_read(void **state)
{
    struct serial_config c = config(115200, 1);
    struct uart16550 u;
    char keys[8] = "";

    (void)state;
    assert_int_equal(open_fake(&u, &sound, &c), 0);
    assert_int_equal(uart16550_read(&u, keys, 8), 0);
    fake.input = "help";
    assert_int_equal(uart16550_read(&u, keys, 3), 3);
    assert_int_equal(uart16550_read(&u, keys + 3, 5), 1);
    assert_string_equal(keys, "help");
    fake.input = "x";
    fake.kind.absent = true; /* all ones say "a byte is here" too */
    assert_int_equal(uart16550_read(&u, keys, 8), 0);
    assert_false(u.present);
}

static void test_interrupts(void **state)
{
    struct serial_config c = config(115200, 1);
    struct uart16550 u;

    (void)state;
    assert_int_equal(open_fake(&u, &sound, &c), 0);
    assert_false(uart16550_irq_pending(&u));
    uart16550_set_ier(&u, UART_IER_RECEIVE);
    assert_int_equal(fake.ier, UART_IER_RECEIVE);
    fake.writes = 0;
    uart16550_set_ier(&u, UART_IER_RECEIVE);
    assert_int_equal(fake.writes, 0);
    uart16550_irq_again(&u);
    assert_int_equal(fake.ier, UART_IER_RECEIVE);
    assert_int_equal(fake.writes, 2);
    fake.iir = 0x04;
    assert_true(uart16550_irq_pending(&u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_stuck_is_no_wait),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_interrupts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
