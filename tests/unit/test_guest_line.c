/*
 * The line of a guest module.
 */
#include "fixture_acpi.h"

#include "boot/guest_line.h"

static struct fw_warnings warnings;
static struct guest_config c;
static struct guest_line_error error;

static int parse(const char *line)
{
    memset(&warnings, 0, sizeof(warnings));
    memset(&error, 0, sizeof(error));
    return guest_line_parse(line, &c, &error, &warnings);
}

static void test_full(void **state)
{
    (void)state;
    assert_int_equal(
        parse("/boot/spin.elf name=web vcpus=4 memory=256M weight=512 cap=150 cpus=0-3,8 "
              "nodes=0 sockets=1 cores=2 threads=2 l3-cache=on pv=steal,unhalt "
              "initrd=env autostart=off --  locks=3  ms=0 'x y'"),
        0);
    assert_int_equal(warnings.count, 0);
    assert_string_equal(c.name, "web");
    assert_string_equal(c.initrd, "env");
    assert_int_equal(c.vcpus, 4);
    assert_true(c.memory_bytes == 256 * MIB);
    assert_int_equal(c.weight, 512);
    assert_int_equal(c.cap, 150);
    assert_int_equal(c.cpus.count, 2);
    assert_int_equal(c.cpus.range[0].first, 0);
    assert_int_equal(c.cpus.range[0].last, 3);
    assert_int_equal(c.cpus.range[1].first, 8);
    assert_int_equal(c.cpus.range[1].last, 8);
    assert_int_equal(c.nodes.count, 1);
    assert_true(c.sockets == 1 && c.cores == 2 && c.threads == 2);
    assert_true(c.l3_cache && !c.autostart);
    assert_int_equal(c.pv, GUEST_PV_STEAL | GUEST_PV_UNHALT);
    assert_string_equal(c.cmdline, "locks=3  ms=0 'x y'");
}

static void test_defaults(void **state)
{
    (void)state;
    assert_int_equal(parse(""), 0);
    assert_string_equal(c.name, "");
    assert_true(c.vcpus == 1 && c.sockets == 1 && c.cores == 1 && c.threads == 1);
    assert_int_equal(c.weight, 256);
    assert_int_equal(c.cap, 0);
    assert_true(c.memory_bytes == 64 * MIB);
    assert_int_equal(c.pv, 0x01002aab); /* all that there are */
    assert_true(c.autostart && !c.l3_cache && c.cpus.count == 0 && c.nodes.count == 0);
    assert_string_equal(c.cmdline, "");
}

static const struct name_row {
    const char *line, *name, *cmdline;
} name_rows[] = {
    {"hello.elf", "hello", ""},
    {"  /a/b.c/hello.elf vcpus=1", "hello", ""},
    {"vcpus=1 -- a", "", "a"},
    {"-- a -- b", "", "a -- b"},
    {".hidden", ".hidden", ""},
    {"sp@ce.bin --", "sp_ce", ""},
    {"0123456789012345678901234567890123456789.elf", "0123456789012345678901234567890", ""},
    {"x.elf name=a name=b", "b", ""},
    {"x name=Az-09_.b", "Az-09_.b", ""},
    {"/A[Z]{z}.elf", "A_Z__z_", ""},
    {"@`9:/.elf", ".elf", ""},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(name_rows); i++) {
        assert_int_equal(parse(name_rows[i].line), 0);
        assert_string_equal(c.name, name_rows[i].name);
        assert_string_equal(c.cmdline, name_rows[i].cmdline);
    }
}

static const struct topology_row {
    const char *line;
    uint32_t vcpus, sockets, cores, threads; /* vcpus 0: refused */
} topology_rows[] = {
    {"x vcpus=4", 4, 1, 4, 1},
    {"x vcpus=8 sockets=2", 8, 2, 4, 1},
    {"x vcpus=8 threads=2", 8, 1, 4, 2},
    {"x vcpus=8 cores=2", 8, 4, 2, 1},
    {"x sockets=2 cores=3 threads=2", 12, 2, 3, 2},
    {"x vcpus=3 threads=2", 0, 0, 0, 0},
    {"x vcpus=5 sockets=2", 0, 0, 0, 0},
    {"x vcpus=2 cores=4", 0, 0, 0, 0},
    {"x vcpus=1 sockets=2", 0, 0, 0, 0},
    {"x sockets=255 cores=255", 0, 0, 0, 0},
    {"x sockets=2 cores=128", 0, 0, 0, 0},
    {"x vcpus=255", 255, 1, 255, 1},
};

static void test_topology(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(topology_rows); i++) {
        const struct topology_row *row = &topology_rows[i];
        int err = parse(row->line);

        if (err != (row->vcpus ? 0 : -22))
            fail_msg("%s: %d", row->line, err);
        if (err)
            assert_non_null(strstr(error.text, "are not"));
        else
            assert_true(c.vcpus == row->vcpus && c.sockets == row->sockets &&
                        c.cores == row->cores && c.threads == row->threads);
    }
}

static const struct bad_row {
    const char *line;
    size_t offset;
    const char *text;
} bad_rows[] = {
    {"x vcpus=0", 2, "guest x: vcpus=0 must be 1 to 255"},
    {"x   vcpus=256", 4, "vcpus=256 must be"},
    {"x vcpus=four", 2, "vcpus=four"},
    {"x memory=1M", 2, "memory=1M must be 2M or more"},
    {"x memory=99999999T", 2, "memory="},
    {"x memory=65T", 2, "memory=65T must be"},
    {"x name=", 2, "name= must be"},
    {"x name=a/b", 2, "name=a/b"},
    {"x name=01234567890123456789012345678901", 2, "1 to 31"},
    {"x weight=0", 2, "weight=0"},
    {"x weight=65536", 2, "weight=65536"},
    {"x cap=-1", 2, "cap=-1"},
    {"x cap=25501", 2, "cap=25501"},
    {"x vcpus=2 cap=201", 0, "more than 200"},
    {"x cap=101", 0, "more than 100"},
    {"x cpus=", 2, "cpus="},
    {"x cpus=3-1", 2, "cpus=3-1"},
    {"x cpus=1,", 2, "cpus=1,"},
    {"x cpus=1-", 2, "cpus=1-"},
    {"x cpus=4096", 2, "cpus=4096"},
    {"x cpus=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", 2, "at most 16"},
    {"x cpus=000000000000000000000000000001", 2, "cpus="},
    {"x nodes=64", 2, "nodes=64"},
    {"x threads=3", 2, "1 or 2"},
    {"x sockets=0", 2, "sockets=0"},
    {"x cores=0", 2, "cores=0"},
    {"x l3-cache=big", 2, "on or off"},
    {"x autostart=2", 2, "on or off"},
    {"x pv=kvmclock,", 2, "pv=kvmclock,"},
    {"x pv=magic", 2, "some of kvmclock"},
    {"x initrd=", 2, "another module"},
};

static void test_bad(void **state)
{
    static char line[1200];

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad_rows); i++) {
        assert_int_equal(parse(bad_rows[i].line), -22);
        if (error.offset != bad_rows[i].offset || !strstr(error.text, bad_rows[i].text))
            fail_msg("%s: %zu: %s", bad_rows[i].line, error.offset, error.text);
    }
    memset(line, 'a', sizeof(line) - 1);
    memcpy(line, "x -- ", 5);
    assert_int_equal(parse(line), -22);
    assert_non_null(strstr(error.text, "command line is longer than 511"));
    memcpy(line, "x aaaa", 6);
    assert_int_equal(parse(line), -22);
    assert_non_null(strstr(error.text, "too long"));
}

static void test_unknown(void **state)
{
    (void)state;
    assert_int_equal(parse("x frob=50 word vcpus=2"), 0);
    assert_int_equal(c.vcpus, 2);
    assert_true(warned(&warnings, "guest x: key frob is unknown"));
    assert_true(warned(&warnings, "guest x: word word is unknown"));
}

static void test_pv(void **state)
{
    (void)state;
    assert_int_equal(parse("x pv=off"), 0);
    assert_int_equal(c.pv, 0);
    assert_int_equal(parse("x pv=off pv=on"), 0);
    assert_int_equal(c.pv, GUEST_PV_ALL);
    assert_int_equal(parse("x pv=kvmclock,nodelay,steal,unhalt,tlb,ipi,yield"), 0);
    assert_int_equal(c.pv, GUEST_PV_ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full),  cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_names), cmocka_unit_test(test_topology),
        cmocka_unit_test(test_bad),   cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_pv),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
