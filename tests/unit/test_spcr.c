/*
 * SPCR reader: which port, at what rate, and what is left alone.
 */
#include "fixture_serial.h"

#include "boot/spcr.h"

#define CLOCK  SERIAL_CLOCK_HZ
#define NO_PCI SERIAL_PCI_NONE

static struct fw_warnings warnings;
static struct spcr_info info;

static int read_spcr(const void *data, size_t bytes)
{
    size_t fault;
    int err;

    memset(&warnings, 0, sizeof(warnings));
    err = spcr_parse(data, bytes, &info, &warnings, &fault);
    if (err) {
        assert_int_equal(err, -22);
        assert_int_equal(info.port.space, SERIAL_NONE);
        assert_int_not_equal(warnings.count, 0);
    } else if (info.port.space != SERIAL_NONE) {
        assert_true(info.port.base != 0 || info.port.space == SERIAL_PCI);
        assert_true(info.port.baud <= info.port.clock_hz / 16);
        assert_true(info.port.irq < 16);
        assert_true(info.port.stride <= 4 && info.port.width <= info.port.stride);
    }
    return err;
}

static const struct spcr_row {
    const char *name;
    struct spcr_fields in;
    struct {
        uint32_t space, pci;
        uint64_t base;
        uint32_t stride, width, clock, baud, irq;
    } out;
    const char *warning;
} spcr_rows[] = {
    {"a PC's COM1",
     {.revision = 1, .gas = {1, 8, 0, 0x3f8}, .interrupt_type = 3, .irq = 4, .baud = 7},
     {SERIAL_IO, NO_PCI, 0x3f8, 1, 1, CLOCK, 115200, 4},
     NULL},
    {"SOL at COM3, 57600",
     {.revision = 1, .gas = {1, 8, 1, 0x3e8}, .interrupt_type = 1, .irq = 4, .baud = 6},
     {SERIAL_IO, NO_PCI, 0x3e8, 1, 1, CLOCK, 57600, 4},
     NULL},
    {"19200, I/O APIC only: polled",
     {.revision = 2, .gas = {1, 8, 1, 0x2f8}, .interrupt_type = 2, .irq = 3, .baud = 4},
     {SERIAL_IO, NO_PCI, 0x2f8, 1, 1, CLOCK, 19200, 0},
     NULL},
    {"9600, interrupt out of range",
     {.revision = 2, .gas = {1, 8, 1, 0x2f8}, .interrupt_type = 1, .irq = 16, .baud = 3},
     {SERIAL_IO, NO_PCI, 0x2f8, 1, 1, CLOCK, 9600, 0},
     NULL},
    {"as the firmware left it",
     {.revision = 2, .gas = {1, 8, 1, 0x2f8}},
     {SERIAL_IO, NO_PCI, 0x2f8, 1, 1, CLOCK, 0, 0},
     NULL},
    {"unknown rate",
     {.revision = 2, .gas = {1, 8, 1, 0x2f8}, .baud = 5},
     {SERIAL_IO, NO_PCI, 0x2f8, 1, 1, CLOCK, 0, 0},
     "rate code 5"},
    {"I/O ports lie side by side whatever the width",
     {.revision = 2, .gas = {1, 32, 3, 0x3f8}, .baud = 7},
     {SERIAL_IO, NO_PCI, 0x3f8, 1, 1, CLOCK, 115200, 0},
     NULL},
    {"unless the kind is by address structure",
     {.revision = 2, .kind = 0x12, .gas = {1, 32, 3, 0xe000}, .baud = 7},
     {SERIAL_IO, NO_PCI, 0xe000, 4, 4, CLOCK, 115200, 0},
     NULL},
    {"memory, clock not told: the rate stands",
     {.revision = 2, .gas = {0, 32, 3, 0xfe034000}, .baud = 7},
     {SERIAL_MMIO, NO_PCI, 0xfe034000, 4, 4, 0, 0, 0},
     NULL},
    {"memory, clock told",
     {.revision = 3, .kind = 0x12, .gas = {0, 32, 3, 0xfedc9000}, .baud = 7, .clock = 48000000},
     {SERIAL_MMIO, NO_PCI, 0xfedc9000, 4, 4, 48000000, 115200, 0},
     NULL},
    {"byte accesses to registers of 32 bits",
     {.revision = 3, .gas = {0, 32, 1, 0xfedc9000}, .baud = 7, .clock = 48000000},
     {SERIAL_MMIO, NO_PCI, 0xfedc9000, 4, 1, 48000000, 115200, 0},
     NULL},
    {"access size beside a width of 8",
     {.revision = 3, .gas = {0, 8, 3, 0xfedc9000}},
     {SERIAL_MMIO, NO_PCI, 0xfedc9000, 4, 4, 0, 0, 0},
     NULL},
    {"16 bits, access not told",
     {.revision = 3, .gas = {0, 16, 0, 0xfedc9000}},
     {SERIAL_MMIO, NO_PCI, 0xfedc9000, 2, 2, 0, 0, 0},
     NULL},
    {"impossible widths are bytes",
     {.revision = 3, .gas = {0, 7, 4, 0xfedc9000}},
     {SERIAL_MMIO, NO_PCI, 0xfedc9000, 1, 1, 0, 0, 0},
     NULL},
    {"above 4 GiB",
     {.revision = 3, .gas = {0, 8, 1, 0x380000000000}},
     {SERIAL_MMIO, NO_PCI, 0x380000000000, 1, 1, 0, 0, 0},
     NULL},
    {"the precise rate counts",
     {.revision = 4,
      .gas = {0, 32, 3, 0xfe034000},
      .baud = 7,
      .clock = 48000000,
      .precise_baud = 1500000},
     {SERIAL_MMIO, NO_PCI, 0xfe034000, 4, 4, 48000000, 1500000, 0},
     NULL},
    {"precise rate 0: the coded one",
     {.revision = 4, .gas = {1, 8, 1, 0x3f8}, .baud = 3},
     {SERIAL_IO, NO_PCI, 0x3f8, 1, 1, CLOCK, 9600, 0},
     NULL},
    {"clock and precise rate mean nothing before their revisions",
     {.revision = 2,
      .gas = {1, 8, 1, 0x3f8},
      .baud = 7,
      .clock = 1,
      .precise_baud = 50,
      .bytes = 90},
     {SERIAL_IO, NO_PCI, 0x3f8, 1, 1, CLOCK, 115200, 0},
     NULL},
    {"a revision 4 that ends as revision 2 does",
     {.revision = 4, .gas = {1, 8, 1, 0x3f8}, .baud = 7, .bytes = 80},
     {SERIAL_IO, NO_PCI, 0x3f8, 1, 1, CLOCK, 115200, 0},
     NULL},
    {"a rate above the clock",
     {.revision = 4, .gas = {1, 8, 1, 0x3f8}, .precise_baud = 921600},
     {SERIAL_IO, NO_PCI, 0x3f8, 1, 1, CLOCK, 0, 0},
     "921600 baud"},
    {"the shortest",
     {.revision = 1, .gas = {1, 8, 1, 0x3f8}, .baud = 7, .bytes = 61},
     {SERIAL_IO, NO_PCI, 0x3f8, 1, 1, CLOCK, 115200, 0},
     NULL},
    {"PCI function beside an address",
     {.revision = 2,
      .gas = {1, 8, 1, 0xe0b0},
      .baud = 7,
      .pci_id = 0x8c3d8086,
      .device = 0x16,
      .function = 3},
     {SERIAL_IO, 0xb3, 0xe0b0, 1, 1, CLOCK, 115200, 0},
     NULL},
    {"PCI function alone",
     {.revision = 2, .gas = {1, 8, 1, 0}, .pci_id = 0x00021b36, .bus = 2, .device = 5},
     {SERIAL_PCI, 2 << 8 | 5 << 3, 0, 0, 0, 0, 0, 0},
     NULL},
    {"PCI function of another segment",
     {.revision = 2, .gas = {1, 8, 1, 0x3f8}, .pci_id = 0x00021b36, .segment = 1, .baud = 7},
     {SERIAL_IO, NO_PCI, 0x3f8, 1, 1, CLOCK, 115200, 0},
     "no PCI function 1:0:0.0"},
    {"no such PCI function",
     {.revision = 2, .gas = {1, 8, 1, 0x3f8}, .pci_id = 0x00021b36, .device = 32, .baud = 7},
     {SERIAL_IO, NO_PCI, 0x3f8, 1, 1, CLOCK, 115200, 0},
     "no PCI function"},
    {"redirection is off", {.revision = 2, .gas = {1, 8, 1, 0}}, {.pci = NO_PCI}, NULL},
    {"an ARM UART",
     {.revision = 2, .kind = 3, .gas = {0, 32, 3, 0x9000000}},
     {.pci = NO_PCI},
     "kind 0x3"},
    {"PCI configuration space",
     {.revision = 2, .gas = {2, 8, 1, 0x1000}},
     {.pci = NO_PCI},
     "in space 2"},
    {"I/O port above 16 bits",
     {.revision = 2, .gas = {1, 8, 1, 0x103f8}},
     {.pci = NO_PCI},
     "0x103f8"},
    {"I/O registers that run over the end",
     {.revision = 2, .kind = 0x12, .gas = {1, 32, 3, 0xfff0}},
     {.pci = NO_PCI},
     "0xfff0"},
    {"memory beyond any machine's",
     {.revision = 2, .gas = {0, 8, 1, UINT64_MAX}},
     {.pci = NO_PCI},
     "0xffffffffffffffff"},
};

static void test_rows(void **state)
{
    static struct table t;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(spcr_rows); i++) {
        const struct spcr_row *row = &spcr_rows[i];
        const struct serial_config *p = &info.port;

        spcr_build(&t, &row->in);
        assert_int_equal(read_copy(read_spcr, t.b, t.n), 0);
        if (p->space != row->out.space || p->pci != row->out.pci || p->base != row->out.base)
            fail_msg("%s: wrong port", row->name);
        if (p->space != SERIAL_NONE &&
            (p->stride != row->out.stride || p->width != row->out.width ||
             p->clock_hz != row->out.clock || p->baud != row->out.baud || p->irq != row->out.irq ||
             p->data_bits != 8 || p->stop_bits != 1 || p->parity != SERIAL_PARITY_NONE))
            fail_msg("%s: wrong settings", row->name);
        if (row->warning ? !warned(&warnings, row->warning) : warnings.count != 0)
            fail_msg("%s: wrong warning: %s", row->name, warnings.text[0]);
    }
}

static void test_cruel(void **state)
{
    static struct table t;

    (void)state;
    spcr_build(&t, &spcr_rows[0].in);
    every_prefix_is_refused(read_spcr, &t);
    every_cut_is_survived(read_spcr, &t);
    every_flip_is_survived(read_spcr, &t);
    spcr_build(&t, &(struct spcr_fields){.revision = 4, .gas = {1, 8, 1, 0x3f8}, .bytes = 60});
    assert_int_equal(read_copy(read_spcr, t.b, t.n), -22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_cruel)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
