/* com1=: every form of it, and what is refused leaves COM1's settings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "boot/serial_option.h"
#include "hv/bits.h"

#define CLOCK     SERIAL_CLOCK_HZ
#define NO_PCI    SERIAL_PCI_NONE
#define IO(base)  SERIAL_IO, NO_PCI, base, 1, 1
#define MEM(base) SERIAL_MMIO, NO_PCI, base, 0, 0
#define PCI(f)    SERIAL_PCI, f, 0, 0, 0

enum { RATE = 1, LINE = 2, PLACE = 4, IRQ = 8, HZ = 16 };

static const struct good_row {
    const char *text;
    uint32_t has;
    struct serial_config config;
} good_rows[] = {
    {"", 0, {IO(0x3f8), CLOCK, 115200, 8, 1, SERIAL_PARITY_NONE, 4}},
    {"9600", RATE, {IO(0x3f8), CLOCK, 9600, 8, 1, SERIAL_PARITY_NONE, 4}},
    {"57600,7e2", RATE | LINE, {IO(0x3f8), CLOCK, 57600, 7, 2, SERIAL_PARITY_EVEN, 4}},
    {"auto", RATE, {IO(0x3f8), CLOCK, 0, 8, 1, SERIAL_PARITY_NONE, 4}},
    {"auto,,0x2f8,3", RATE | PLACE | IRQ, {IO(0x2f8), CLOCK, 0, 8, 1, SERIAL_PARITY_NONE, 3}},
    {"auto,,0x2f8", RATE | PLACE, {IO(0x2f8), CLOCK, 0, 8, 1, SERIAL_PARITY_NONE, 3}},
    {",,0x3e8", PLACE, {IO(0x3e8), CLOCK, 115200, 8, 1, SERIAL_PARITY_NONE, 4}},
    {",,0x2e8", PLACE, {IO(0x2e8), CLOCK, 115200, 8, 1, SERIAL_PARITY_NONE, 3}},
    {",,0xd000", PLACE, {IO(0xd000), CLOCK, 115200, 8, 1, SERIAL_PARITY_NONE, 0}},
    {",,,0", IRQ, {IO(0x3f8), CLOCK, 115200, 8, 1, SERIAL_PARITY_NONE, 0}},
    {"115200,8o1,1000,0",
     RATE | LINE | PLACE | IRQ,
     {IO(1000), CLOCK, 115200, 8, 1, SERIAL_PARITY_ODD, 0}},
    {"921600/921600", RATE | HZ, {IO(0x3f8), 14745600, 921600, 8, 1, SERIAL_PARITY_NONE, 4}},
    {"auto/3000000", RATE | HZ, {IO(0x3f8), 48000000, 0, 8, 1, SERIAL_PARITY_NONE, 4}},
    {"115200,8n1,0xfe034000",
     RATE | LINE | PLACE,
     {MEM(0xfe034000), CLOCK, 115200, 8, 1, SERIAL_PARITY_NONE, 0}},
    {"115200/3000000,8n1,0xFE034000,0,reg-shift=2,reg-width=4",
     RATE | HZ | LINE | PLACE | IRQ,
     {SERIAL_MMIO, NO_PCI, 0xfe034000, 4, 4, 48000000, 115200, 8, 1, SERIAL_PARITY_NONE, 0}},
    {",,0x3f8,reg-shift=0", PLACE, {IO(0x3f8), CLOCK, 115200, 8, 1, SERIAL_PARITY_NONE, 4}},
    {"auto,,pci", RATE | PLACE, {PCI(SERIAL_PCI_ANY), CLOCK, 0, 8, 1, SERIAL_PARITY_NONE, 0}},
    {"auto,,amt", RATE | PLACE, {PCI(SERIAL_PCI_AMT), CLOCK, 0, 8, 1, SERIAL_PARITY_NONE, 0}},
    {"auto,,00:16.3", RATE | PLACE, {PCI(0xb3), CLOCK, 0, 8, 1, SERIAL_PARITY_NONE, 0}},
    {"auto,,fF:1f.7,5", RATE | PLACE | IRQ, {PCI(0xffff), CLOCK, 0, 8, 1, SERIAL_PARITY_NONE, 5}},
    {"auto,,pci,0,02:00.1",
     RATE | PLACE | IRQ,
     {PCI(0x201), CLOCK, 0, 8, 1, SERIAL_PARITY_NONE, 0}},
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good_rows); i++) {
        const struct good_row *row = &good_rows[i];
        struct serial_option o;
        const struct serial_config *c = &o.config, *e = &row->config;
        size_t fault;
        uint32_t has;

        if (serial_option_parse(row->text, &o, &fault))
            fail_msg("%s: refused at %zu", row->text, fault);
        has = (o.has_rate ? RATE : 0) | (o.has_line ? LINE : 0) | (o.has_place ? PLACE : 0) |
              (o.has_irq ? IRQ : 0) | (o.has_clock ? HZ : 0);
        if (has != row->has || c->space != e->space || c->pci != e->pci || c->base != e->base ||
            c->stride != e->stride || c->width != e->width || c->clock_hz != e->clock_hz ||
            c->baud != e->baud || c->data_bits != e->data_bits || c->stop_bits != e->stop_bits ||
            c->parity != e->parity || c->irq != e->irq)
            fail_msg("%s: read wrongly", row->text);
    }
}

static void test_bad(void **state)
{
    static const struct {
        const char *text;
        size_t fault;
    } rows[] = {
        {"x", 0},
        {"0", 1},
        {"115201", 6},
        {"9600x", 4},
        {"9600/", 5},
        {"9600/0", 6},
        {"115200/57600", 12},
        {"9600,9n1", 5},
        {"9600,8x1", 5},
        {"9600,8n3", 5},
        {"9600,8n", 5},
        {"9600,8", 5},
        {"9600,8n1x", 8},
        {"9600,8n1,0", 10},
        {"9600,8n1,0xfff9", 15},
        {"9600,8n1,0x10000000000000", 9},
        {"9600,8n1,zz", 9},
        {"9600,8n1,0x3f8,16", 15},
        {"9600,8n1,0x3f8,4,5", 18},
        {"9600,8n1,0x3f8,4,00:01.0,1", 25},
        {"9600,8n1,0x", 9},
        {"99999999999999999999", 0},
        {"auto,,00:20.0", 9},
        {"auto,,00:1f", 11},
        {"auto,,00:1f.8", 12},
        {"auto,,100:1f.1", 6},
        {"auto,,pcie", 9},
        {"auto,reg-shift=5", 15},
        {"auto,reg-width=3", 16},
        {"auto,reg-size=1", 5},
        {"auto,reg-shift=1,8n1", 17},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct serial_option o;
        size_t fault = 99;

        assert_int_equal(serial_option_parse(rows[i].text, &o, &fault), -EINVAL);
        if (fault != rows[i].fault)
            fail_msg("%s: fault at %zu", rows[i].text, fault);
        assert_int_equal(o.config.base, SERIAL_COM1);
        assert_int_equal(o.config.baud, 115200);
        assert_false(o.has_rate || o.has_line || o.has_place || o.has_irq);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
