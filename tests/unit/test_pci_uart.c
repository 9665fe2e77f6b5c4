/*
 * PCI serial ports against a fake configuration space: which function is meant, where its registers
 * are, and that decoding is let in without a BAR being written.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/x86/pci_uart.h"
#include "arch/x86/regs/pci.h"

#define FUNCTIONS 8
#define STATUS    0xf9000000u /* bits that clear when 1 is written */

struct fake_function {
    uint32_t address; /* bus << 8 | device << 3 | function */
    uint32_t class_code, header;
    uint32_t bars[PCI_BARS];
    uint32_t command;
};

#define F(address, class_code, header, command, ...)        \
    {                                                       \
        address, class_code, header, {__VA_ARGS__}, command \
    }

static struct fake_function functions[FUNCTIONS];
static uint32_t reads, writes;

static struct fake_function *fake_find(uint32_t address)
{
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        if (functions[i].class_code && functions[i].address == address)
            return &functions[i];
    return NULL;
}

static uint32_t fake_read(void *ctx, uint32_t function, uint32_t offset)
{
    struct fake_function *f = fake_find(function);

    (void)ctx;
    reads++;
    assert_true(function < 0x10000);
    if (!f)
        return UINT32_MAX;
    switch (offset) {
    case PCI_ID:
        return 0x8c3d8086;
    case PCI_COMMAND:
        return f->command | STATUS;
    case PCI_CLASS:
        return f->class_code << 16 | 0x0204;
    case PCI_HEADER:
        return f->header << 16;
    default:
        assert_true(offset >= PCI_BAR0 && offset < PCI_BAR0 + 4 * PCI_BARS);
        return f->bars[(offset - PCI_BAR0) / 4];
    }
}

static void fake_write(void *ctx, uint32_t function, uint32_t offset, uint32_t value)
{
    (void)ctx;
    writes++;
    assert_int_equal(offset, PCI_COMMAND); /* never a BAR */
    assert_int_equal(value & 0xffff0000, 0);
    fake_find(function)->command = value;
}

static const struct pci_config_ops ops = {fake_read, fake_write, NULL};

static const struct pci_row {
    const char *name;
    uint32_t wanted;
    bool may_map;
    struct fake_function machine[FUNCTIONS];
    int error;
    uint32_t pci, space;
    uint64_t base;
    uint32_t stride, command;
} rows[] = {
    {"I/O at an address",
     0xb3,
     false,
     {F(0xb3, 0x0700, 0, 0, 0xe0b1)},
     0,
     0xb3,
     SERIAL_IO,
     0xe0b0,
     1,
     1},
    {"decoding on already",
     0xb3,
     false,
     {F(0xb3, 0x0700, 0, 7, 0xe0b1)},
     0,
     0xb3,
     SERIAL_IO,
     0xe0b0,
     1,
     7},
    {"memory",
     0xd0,
     true,
     {F(0xd0, 0x1180, 0, 4, 0xfe034000)},
     0,
     0xd0,
     SERIAL_MMIO,
     0xfe034000,
     0,
     6},
    {"memory of 64 bits",
     0xd0,
     true,
     {F(0xd0, 0x0700, 0, 0, 0xfe03400c, 0x38)},
     0,
     0xd0,
     SERIAL_MMIO,
     0x38fe034000,
     0,
     2},
    {"memory of 64 bits below 4 GiB",
     0xd0,
     true,
     {F(0xd0, 0x0700, 0, 0, 0xfe034004, 0)},
     0,
     0xd0,
     SERIAL_MMIO,
     0xfe034000,
     0,
     2},
    {"memory too early", 0xd0, false, {F(0xd0, 0x0700, 0, 0, 0xfe034000)}, -EAGAIN, 0, 0, 0, 0, 0},
    {"the first BAR is empty",
     0xd0,
     true,
     {F(0xd0, 0x0700, 0, 0, 0, 0xe001)},
     0,
     0xd0,
     SERIAL_IO,
     0xe000,
     1,
     1},
    {"no BAR holds an address",
     0xd0,
     true,
     {F(0xd0, 0x0700, 0, 0, 1, 0, 4)},
     -ENODEV,
     0,
     0,
     0,
     0,
     0},
    {"a wide BAR at the end",
     0xd0,
     true,
     {F(0xd0, 0x0700, 0, 0, 0, 0, 0, 0, 0, 4)},
     -ENODEV,
     0,
     0,
     0,
     0,
     0},
    {"no such function", 0xd1, true, {F(0xd0, 0x0700, 0, 0, 0xe001)}, -ENODEV, 0, 0, 0, 0, 0},
    {"a bridge", 0xd0, true, {F(0xd0, 0x0700, 1, 0, 0xe001)}, -ENODEV, 0, 0, 0, 0, 0},
    {"amt: the first on bus 0",
     SERIAL_PCI_AMT,
     false,
     {F(0x00, 0x0600, 0, 0, 0), F(0xb0, 0x0780, 0x80, 0, 0), F(0xb3, 0x0700, 0, 0, 0xe0b1),
      F(0x208, 0x0700, 0, 0, 0xd001)},
     0,
     0xb3,
     SERIAL_IO,
     0xe0b0,
     1,
     1},
    {"amt: brothers of a function that stands alone do not exist",
     SERIAL_PCI_AMT,
     false,
     {F(0xb0, 0x0780, 0, 0, 0), F(0xb3, 0x0700, 0, 0, 0xe0b1)},
     -ENODEV,
     0,
     0,
     0,
     0,
     0},
    {"pci: the first beyond bus 0",
     SERIAL_PCI_ANY,
     false,
     {F(0x18, 0x0700, 0, 0, 0xe0b1), F(0x200, 0x0700, 0, 0, 0xd009),
      F(0x300, 0x0700, 0, 0, 0xc001)},
     0,
     0x200,
     SERIAL_IO,
     0xd008,
     1,
     1},
    {"pci: the last function there can be",
     SERIAL_PCI_ANY,
     false,
     {F(0xfff8, 0x0600, 0x80, 0, 0), F(0xffff, 0x0700, 0, 0, 0xd009)},
     0,
     0xffff,
     SERIAL_IO,
     0xd008,
     1,
     1},
    {"pci: none", SERIAL_PCI_ANY, false, {F(0x18, 0x0700, 0, 0, 0xe0b1)}, -ENODEV, 0, 0, 0, 0, 0},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct pci_row *row = &rows[i];
        struct serial_config c = {.space = SERIAL_PCI, .pci = row->wanted}, was = c;

        memcpy(functions, row->machine, sizeof(functions));
        reads = writes = 0;
        if (pci_uart_resolve(&ops, &c, row->may_map) != row->error)
            fail_msg("%s: wrong verdict", row->name);
        assert_true(reads < 0x20000);
        if (row->error) {
            assert_int_equal(writes, 0);
            assert_memory_equal(&c, &was, sizeof(c));
            continue;
        }
        if (c.pci != row->pci || c.space != row->space || c.base != row->base ||
            c.stride != row->stride)
            fail_msg("%s: wrong place", row->name);
        if (fake_find(c.pci)->command != row->command || writes != (row->command != 7))
            fail_msg("%s: command %x", row->name, fake_find(c.pci)->command);
    }
}

/* SPCR names the function beside the address: the address stands. */
static void test_address_is_told(void **state)
{
    struct serial_config c = {.space = SERIAL_IO, .pci = 0xb3, .base = 0x3f8, .stride = 1};

    (void)state;
    memset(functions, 0, sizeof(functions));
    functions[0] = (struct fake_function)F(0xb3, 0x0700, 0, 0, 0xe0b1);
    assert_int_equal(pci_uart_resolve(&ops, &c, false), 0);
    assert_int_equal(c.base, 0x3f8);
    assert_int_equal(functions[0].command, PCI_COMMAND_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_address_is_told)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
