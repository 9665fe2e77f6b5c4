/*
 * Which ports are opened, in which order, told by whom: a table of machines, each a list of ports
 * that answer.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "boot/serial_choice.h"
#include "hv/bits.h"

#define PORTS_MAX 6

/* A machine: where ports answer, where its PCI functions' registers are. */
struct machine_row {
    const char *name;
    const char *com1;
    uint16_t bda[SERIAL_BDA_PORTS];
    const char *spcr, *dbg2; /* in com1='s spelling; baud and all */
    uint64_t answers[PORTS_MAX];
    const char *early, *late; /* what was done by then */
};

static const struct machine_row *row;
static bool late;
static char done[256];

/* Function 00:16.3 has its registers at I/O 0xe0b0, 00:1a.0 in memory, the others nowhere. */
static int fake_resolve(void *ctx, struct serial_config *config)
{
    (void)ctx;
    if (config->space == SERIAL_PCI && config->pci == 0xb3) {
        config->space = SERIAL_IO;
        config->base = 0xe0b0;
    } else if (config->space == SERIAL_PCI && config->pci == 0xd0) {
        config->space = SERIAL_MMIO;
        config->base = 0xfe034000;
    }
    if (config->space == SERIAL_PCI)
        return -ENODEV;
    return config->space == SERIAL_MMIO && !late ? -EAGAIN : 0;
}

static void note(const char *what, uint32_t slot, const struct serial_config *c)
{
    size_t n = strlen(done);

    snprintf(done + n, sizeof(done) - n, "%s%s%u=%lx:%u:%u", n ? " " : "", what, slot,
             (unsigned long)c->base, c->baud, c->irq);
}

static int fake_open(void *ctx, uint32_t slot, struct serial_config *config)
{
    (void)ctx;
    assert_true(slot < SERIAL_PORTS);
    for (size_t i = 0; i < PORTS_MAX; i++) {
        if (row->answers[i] != config->base)
            continue;
        config->stride = config->stride ? config->stride : 4;
        note("", slot, config);
        return 0;
    }
    note("-", slot, config);
    return -ENODEV;
}

static void fake_retune(void *ctx, uint32_t slot, const struct serial_config *config)
{
    (void)ctx;
    note("~", slot, config);
}

static const struct serial_ops ops = {fake_resolve, fake_open, fake_retune, NULL};

static const struct machine_row rows[] = {
    {"a PC", "", {0x3f8}, NULL, NULL, {0x3f8}, "0=3f8:115200:4", ""},
    {"COM2 alone, as the BIOS tells", "", {0x2f8}, NULL, NULL, {0x2f8}, "0=2f8:115200:3", ""},
    {"the BIOS's first does not answer",
     "",
     {0x3f8, 0x3e8},
     NULL,
     NULL,
     {0x3e8},
     "-0=3f8:115200:4 0=3e8:115200:4",
     ""},
    {"one of the BIOS's is enough",
     "",
     {0x3f8, 0x2f8},
     NULL,
     NULL,
     {0x3f8, 0x2f8},
     "0=3f8:115200:4",
     ""},
    {"no BIOS: COM1", "", {0}, NULL, NULL, {0x3f8}, "", "0=3f8:115200:4"},
    {"no BIOS: its data area holds anything",
     "",
     {0x60, 0xffff, 0x3fc, 0xf000},
     NULL,
     NULL,
     {0x3f8},
     "-0=f000:115200:0",
     "0=3f8:115200:4"},
    {"nothing anywhere", "", {0}, NULL, NULL, {0}, "", "-0=3f8:115200:4"},
    {"nothing anywhere, though told of: tried once",
     "",
     {0x3f8},
     "9600",
     "115200",
     {0},
     "-0=3f8:115200:4",
     ""},
    {"SOL beside COM1: both",
     "",
     {0x3f8, 0x2f8},
     "57600,8n1,0x2f8,3",
     NULL,
     {0x3f8, 0x2f8},
     "0=3f8:115200:4",
     "1=2f8:57600:3"},
    {"SPCR tells COM1 again, alike", "", {0x3f8}, "115200", NULL, {0x3f8}, "0=3f8:115200:4", ""},
    {"SPCR tells COM1's rate",
     "",
     {0x3f8},
     "57600",
     NULL,
     {0x3f8},
     "0=3f8:115200:4",
     "~0=3f8:57600:4"},
    {"SPCR: leave it alone",
     "",
     {0x3f8},
     "auto,,,0",
     NULL,
     {0x3f8},
     "0=3f8:115200:4",
     "~0=3f8:0:0"},
    {"SPCR tells another clock",
     "",
     {0x3f8},
     "115200/230400",
     NULL,
     {0x3f8},
     "0=3f8:115200:4",
     "~0=3f8:115200:4"},
    {"SPCR tells another parity",
     "",
     {0x3f8},
     "115200,8e1",
     NULL,
     {0x3f8},
     "0=3f8:115200:4",
     "~0=3f8:115200:4"},
    {"SPCR tells another stop bit",
     "",
     {0x3f8},
     "115200,8n2",
     NULL,
     {0x3f8},
     "0=3f8:115200:4",
     "~0=3f8:115200:4"},
    {"SPCR tells another number of data bits",
     "",
     {0x3f8},
     "115200,7n1",
     NULL,
     {0x3f8},
     "0=3f8:115200:4",
     "~0=3f8:115200:4"},
    {"both leave the rate alone", "auto", {0x3f8}, "auto", NULL, {0x3f8}, "0=3f8:0:4", ""},
    {"but com1= has a rate", "9600", {0x3f8}, "57600", NULL, {0x3f8}, "0=3f8:9600:4", ""},
    {"com1= rate and interrupt for a port of SPCR",
     "9600,,,0",
     {0},
     "57600,8n1,0x2f8,3",
     NULL,
     {0x2f8},
     "",
     "0=2f8:9600:0"},
    {"DBG2 tells COM1 again, and knows no rate",
     "",
     {0x3f8},
     "57600",
     "115200,8n1,0x3f8,0",
     {0x3f8},
     "0=3f8:115200:4",
     "~0=3f8:57600:4"},
    {"DBG2 alone", "", {0}, NULL, "auto,,0xfe034000", {0xfe034000}, "", "0=fe034000:0:0"},
    {"SPCR absent, DBG2 there",
     "",
     {0},
     "115200,8n1,0x2f8,3",
     "auto,,0xfe034000",
     {0xfe034000},
     "",
     "-0=2f8:115200:3 0=fe034000:0:0"},
    {"all three",
     "",
     {0x3f8},
     "57600,8n1,0x2f8,3",
     "auto,,0xfe034000",
     {0x3f8, 0x2f8, 0xfe034000},
     "0=3f8:115200:4",
     "1=2f8:57600:3 2=fe034000:0:0"},
    {"com1= names the only one",
     "9600,8n1,0x2f8,3",
     {0x3f8},
     "57600",
     "115200",
     {0x3f8, 0x2f8},
     "0=2f8:9600:3",
     ""},
    {"com1= names one that is not there",
     "9600,8n1,0x2e8",
     {0x3f8},
     NULL,
     NULL,
     {0x3f8},
     "-0=2e8:9600:3 0=3f8:9600:4",
     ""},
    {"com1= in memory waits, and is the only one",
     "auto,,0xfe034000",
     {0x3f8},
     "57600",
     NULL,
     {0x3f8, 0xfe034000},
     "",
     "0=fe034000:0:0"},
    {"com1= in memory, not there",
     "auto,,0xfe034000",
     {0x3f8},
     NULL,
     NULL,
     {0x3f8},
     "",
     "-0=fe034000:0:0 0=3f8:0:4"},
    {"com1= by PCI function, I/O",
     "115200,8n1,00:16.3",
     {0x3f8},
     NULL,
     NULL,
     {0x3f8, 0xe0b0},
     "0=e0b0:115200:0",
     ""},
    {"com1= by PCI function, memory",
     "115200,8n1,00:1a.0",
     {0x3f8},
     NULL,
     NULL,
     {0xfe034000},
     "",
     "0=fe034000:115200:0"},
    {"com1= by PCI function that does not exist",
     "115200,8n1,03:00.0",
     {0x3f8},
     NULL,
     NULL,
     {0x3f8},
     "0=3f8:115200:4",
     ""},
    {"SPCR by PCI function is the BIOS's port",
     "",
     {0xe0b0},
     "115200,8n1,00:16.3",
     NULL,
     {0xe0b0},
     "0=e0b0:115200:0",
     ""},
};

static struct serial_config told_config(const char *text)
{
    struct serial_option o;
    size_t fault;

    assert_int_equal(serial_option_parse(text, &o, &fault), 0);
    return o.config;
}

static void play(const struct machine_row *machine, struct serial_set *set)
{
    static struct serial_facts facts;
    size_t fault;

    memset(&facts, 0, sizeof(facts));
    row = machine;
    assert_int_equal(serial_option_parse(row->com1, &facts.option, &fault), 0);
    memcpy(facts.bda, row->bda, sizeof(facts.bda));
    late = false;
    done[0] = 0;
    serial_choose_early(set, &facts, &ops);
    if (strcmp(done, row->early) != 0)
        fail_msg("%s: early: %s", row->name, done);
    if (row->spcr)
        facts.spcr.port = told_config(row->spcr);
    if (row->dbg2)
        facts.dbg2 = (struct dbg2_info){1, {told_config(row->dbg2)}};
    late = true;
    done[0] = 0;
    serial_choose_late(set, &facts, &ops);
    if (strcmp(done, row->late) != 0)
        fail_msg("%s: late: %s", row->name, done);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct serial_set set;
        uint32_t fresh = 0;

        play(&rows[i], &set);
        for (const char *s = done; s[0]; s++)
            fresh |= *s == '=' && (s - done < 2 || s[-2] != '-') ? 1u << (s[-1] - '0') : 0;
        assert_int_equal(set.fresh, fresh);
        assert_false(set.waits);
    }
}

/* What the caller prints: who told of each, and what was tried in vain. */
static void test_sources(void **state)
{
    static const struct machine_row all = {"",
                                           "",
                                           {0x3e8, 0x3f8},
                                           "57600,8n1,0x2f8,3",
                                           "auto,,0xfe034000",
                                           {0x3f8, 0x2f8, 0xfe034000},
                                           "-0=3e8:115200:4 0=3f8:115200:4",
                                           "1=2f8:57600:3 2=fe034000:0:0"};
    static const struct machine_row none = {"",  ",,02:00.0",       {0x3e8},          NULL, NULL,
                                            {0}, "-0=3e8:115200:4", "-0=3f8:115200:4"};
    struct serial_set set;

    (void)state;
    play(&all, &set);
    assert_int_equal(set.count, 3);
    assert_int_equal(set.ports[0].source, SERIAL_BY_BDA);
    assert_int_equal(set.ports[1].source, SERIAL_BY_SPCR);
    assert_int_equal(set.ports[2].source, SERIAL_BY_DBG2);
    assert_int_equal(set.ports[2].config.stride, 4); /* as it answered */
    assert_int_equal(set.nabsent, 1);
    play(&none, &set);
    assert_int_equal(set.count, 0);
    assert_int_equal(set.nabsent, 3);
    assert_int_equal(set.absent[0].config.space, SERIAL_PCI);
    assert_int_equal(set.absent[0].source, SERIAL_BY_OPTION);
    assert_int_equal(set.absent[1].source, SERIAL_BY_BDA);
    assert_int_equal(set.absent[2].source, SERIAL_BY_DEFAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_sources)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
