/*
 * DBG2 reader: which ports a console can use.
 */
#include "fixture_serial.h"

#include "boot/dbg2.h"

static struct fw_warnings warnings;
static struct dbg2_info info;

static int read_dbg2(const void *data, size_t bytes)
{
    size_t fault;
    int err;

    memset(&warnings, 0, sizeof(warnings));
    err = dbg2_parse(data, bytes, &info, &warnings, &fault);
    assert_true(info.count <= DBG2_PORTS_MAX);
    if (err) {
        assert_int_equal(err, -22);
        assert_int_equal(info.count, 0);
        assert_int_not_equal(warnings.count, 0);
    }
    return err;
}

static const struct dbg2_row {
    const char *name;
    uint32_t type, subtype;
    struct gas gas;
    struct {
        uint32_t space;
        uint64_t base;
        uint32_t stride, width, clock, baud;
    } out; /* space SERIAL_NONE: not used */
    const char *warning;
} dbg2_rows[] = {
    {"COM1", 0x8000, 0, {1, 8, 1, 0x3f8}, {SERIAL_IO, 0x3f8, 1, 1, SERIAL_CLOCK_HZ, 115200}, NULL},
    {"subset",
     0x8000,
     1,
     {1, 8, 0, 0x2f8},
     {SERIAL_IO, 0x2f8, 1, 1, SERIAL_CLOCK_HZ, 115200},
     NULL},
    {"LPSS", 0x8000, 0x12, {0, 32, 3, 0xfe034000}, {SERIAL_MMIO, 0xfe034000, 4, 4, 0, 0}, NULL},
    {"ARM PL011", 0x8000, 3, {0, 32, 3, 0x9000000}, {0}, "type 0x8000, subtype 0x3"},
    {"FireWire", 0x8001, 0, {0, 32, 3, 0xfe000000}, {0}, "type 0x8001"},
    {"USB", 0x8002, 1, {0, 32, 3, 0xfe000000}, {0}, "type 0x8002, subtype 0x1"},
    {"network", 0x8003, 0x8086, {0, 32, 3, 0xfe000000}, {0}, "type 0x8003"},
    {"address 0", 0x8000, 0, {1, 8, 1, 0}, {0}, "offset 44 has no usable address"},
    {"odd space", 0x8000, 0, {4, 8, 1, 0x3f8}, {0}, "no usable address"},
};

static void test_rows(void **state)
{
    static struct table t;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(dbg2_rows); i++) {
        const struct dbg2_row *row = &dbg2_rows[i];
        const struct serial_config *p = &info.ports[0];

        dbg2_begin(&t, 1);
        dbg2_port(&t, row->type, row->subtype, row->gas);
        table_end(&t);
        assert_int_equal(read_copy(read_dbg2, t.b, t.n), 0);
        if (info.count != (row->out.space != SERIAL_NONE))
            fail_msg("%s: wrong verdict", row->name);
        if (info.count && (p->space != row->out.space || p->base != row->out.base ||
                           p->stride != row->out.stride || p->width != row->out.width ||
                           p->clock_hz != row->out.clock || p->baud != row->out.baud || p->irq ||
                           p->pci != SERIAL_PCI_NONE))
            fail_msg("%s: wrong port", row->name);
        if (row->warning ? !warned(&warnings, row->warning) : warnings.count != 0)
            fail_msg("%s: wrong warning: %s", row->name, warnings.text[0]);
    }
}

static void build_many(struct table *t, uint32_t ports, uint32_t told)
{
    dbg2_begin(t, told);
    for (uint32_t i = 0; i < ports; i++)
        dbg2_port(t, i == 1 ? 0x8003 : 0x8000, 0, (struct gas){1, 8, 1, 0x1000 + 8 * i});
    table_end(t);
}

static void test_several(void **state)
{
    static struct table t;

    (void)state;
    build_many(&t, 3, 3);
    assert_int_equal(read_copy(read_dbg2, t.b, t.n), 0);
    assert_int_equal(info.count, 2);
    assert_int_equal(info.ports[1].base, 0x1010);
    build_many(&t, 7, 7);
    assert_int_equal(read_copy(read_dbg2, t.b, t.n), 0);
    assert_int_equal(info.count, DBG2_PORTS_MAX);
    build_many(&t, 2, 1); /* fewer told than there are */
    assert_int_equal(read_copy(read_dbg2, t.b, t.n), 0);
    assert_int_equal(info.count, 1);
    assert_int_equal(warnings.count, 0);
    build_many(&t, 1, UINT32_MAX);
    assert_int_equal(read_copy(read_dbg2, t.b, t.n), 0);
    assert_int_equal(info.count, 1);
    assert_true(warned(&warnings, "entry 1 of length 0"));
}

/* Fields of the one entry, and what they must not lead to. */
static void test_impossible(void **state)
{
    static const struct {
        size_t at;
        uint16_t value;
        int err;
        uint32_t count;
        const char *warning;
    } rows[] = {
        {36, 43, -22, 0, "entries from offset 43"},
        {36, 0xffff, -22, 0, "entries from offset 65535"},
        {36, 84, 0, 0, "ends the table"}, /* the end itself */
        {40, 0, 0, 0, NULL},
        {45, 0, 0, 0, "of length 0"},
        {45, 21, 0, 0, "of length 21"},
        {45, 41, 0, 0, "of length 41"},
        {47, 0x0200, 0, 0, "no usable address"}, /* no addresses; a name of two bytes */
        {62, 21, 0, 0, "no usable address"},
        {62, 29, 0, 0, "no usable address"},
        {62, 28, 0, 0, "no usable address"}, /* fits, but holds none */
    };
    static struct table t;

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        build_many(&t, 1, 1);
        memcpy(t.b + rows[i].at, &rows[i].value, 2);
        table_sum(&t);
        assert_int_equal(read_copy(read_dbg2, t.b, t.n), rows[i].err);
        assert_int_equal(info.count, rows[i].count);
        if (rows[i].warning ? !warned(&warnings, rows[i].warning) : warnings.count != 0)
            fail_msg("row %zu: wrong warning: %s", i, warnings.text[0]);
    }
}

static void test_cruel(void **state)
{
    static struct table t;

    (void)state;
    build_many(&t, 2, 2);
    every_prefix_is_refused(read_dbg2, &t);
    every_cut_is_survived(read_dbg2, &t);
    every_flip_is_survived(read_dbg2, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_several),
                                       cmocka_unit_test(test_impossible),
                                       cmocka_unit_test(test_cruel)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
