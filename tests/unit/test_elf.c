/*
 * Guest images: ELF32, ELF64, address fields; and every way they may be wrong.
 */
#include "fixture_elf.h"

#include "boot/elf.h"

#define MEMORY (16 * MIB)

static struct table t;
static struct image image;
static size_t fault;

static int parse_bytes(const void *data, size_t bytes)
{
    int err = image_parse(data, bytes, MEMORY, &image, &fault);

    if (err)
        return err;
    assert_true(image.nsegments > 0 && image.nsegments <= IMAGE_SEGMENTS_MAX);
    for (uint32_t i = 0; i < image.nsegments; i++) {
        const struct image_segment *s = &image.segment[i];

        assert_true(s->mem_bytes > 0 && s->file_bytes <= s->mem_bytes);
        assert_true(s->file_offset <= bytes && s->file_bytes <= bytes - s->file_offset);
        assert_true(s->base <= MEMORY && s->mem_bytes <= MEMORY - s->base);
        assert_true(image.end >= s->base + s->mem_bytes);
    }
    return 0;
}

static int parse(void)
{
    return read_copy(parse_bytes, t.b, t.n);
}

static const struct elf_load two[] = {
    {0x100, 0x100000, 0x100000, 0x800, 0x800},
    {0x900, 0x200000, 0x200000, 0x100, 0x3000},
};

static void test_elf32(void **state)
{
    (void)state;
    elf32_build(&t, 0x100010, two, 2, 3);
    assert_int_equal(parse(), 0);
    assert_int_equal(image.elf_bits, 32);
    assert_int_equal(image.entry, 0x100010);
    assert_int_equal(image.flags, 3);
    assert_int_equal(image.nsegments, 2);
    assert_true(image.segment[1].base == 0x200000 && image.segment[1].mem_bytes == 0x3000);
    assert_true(image.segment[1].file_offset == 0x900 && image.segment[1].file_bytes == 0x100);
    assert_true(image.end == 0x203000);
}

static void test_elf64(void **state)
{
    static const struct elf_load high[] = {
        {0x100, 0xffffffff80100000, 0x100000, 0x800, 0x1000},
        {0, 0, 0x300000, 0, 0}, /* an empty one is left out */
    };

    (void)state;
    elf64_build(&t, 0x100010, two, 2, 0);
    assert_int_equal(parse(), 0);
    assert_int_equal(image.elf_bits, 64);
    assert_int_equal(image.entry, 0x100010);
    elf64_build(&t, 0xffffffff80100020, high, 2, 0); /* a virtual entry is translated */
    assert_int_equal(parse(), 0);
    assert_int_equal(image.entry, 0x100020);
    assert_int_equal(image.nsegments, 1);
    elf64_build(&t, 0x100020, high, 1, 0); /* a physical one is taken as it is */
    assert_int_equal(parse(), 0);
    assert_int_equal(image.entry, 0x100020);
}

static const struct bad_row {
    const char *name;
    uint64_t entry;
    struct elf_load load;
    int err;
} bad_rows[] = {
    {"entry outside", 0x300000, {0, 0x100000, 0x100000, 16, 16}, -22},
    {"file bytes beyond the image", 0x100000, {0xf00, 0x100000, 0x100000, 0x200, 0x200}, -22},
    {"offset beyond the image", 0x100000, {0x2000, 0x100000, 0x100000, 0, 16}, -22},
    {"offset wraps", 0x100000, {UINT64_MAX - 7, 0x100000, 0x100000, 16, 16}, -22},
    {"more in the file than in memory", 0x100000, {0, 0x100000, 0x100000, 17, 16}, -22},
    {"above memory", 0x1000000, {0, 0x1000000, 0x1000000, 16, 16}, -7},
    {"ends above memory", 0x100000, {0, 0x100000, 0x100000, 16, 16 * MIB}, -7},
    {"address wraps", 0x100000, {0, 0x100000, UINT64_MAX - 7, 16, 16}, -7},
    {"memory size wraps", 0x100000, {0, 0x100000, 0x100000, 16, UINT64_MAX}, -7},
    {"nothing to load", 0x100000, {0, 0x100000, 0x100000, 0, 0}, -22},
};

static void test_bad_segments(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad_rows); i++) {
        elf64_build(&t, bad_rows[i].entry, &bad_rows[i].load, 1, 0);
        if (parse() != bad_rows[i].err)
            fail_msg("%s", bad_rows[i].name);
    }
}

static void test_many_segments(void **state)
{
    struct elf_load loads[IMAGE_SEGMENTS_MAX + 1];

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(loads); i++)
        loads[i] = (struct elf_load){0, i << 16, i << 16, 16, 16};
    elf32_build(&t, 0, loads, IMAGE_SEGMENTS_MAX, 0);
    assert_int_equal(parse(), 0);
    elf32_build(&t, 0, loads, IMAGE_SEGMENTS_MAX + 1, 0);
    assert_int_equal(parse(), -28);
}

static void test_bad_headers(void **state)
{
    (void)state;
    elf32_build(&t, 0x100000, two, 2, 1u << 3); /* a requirement no loader knows */
    assert_int_equal(parse(), -22);
    elf32_build(&t, 0x100000, two, 2, 0);
    t.b[4] = 3; /* class */
    assert_int_equal(parse(), -8);
    elf32_build(&t, 0x100000, two, 2, 0);
    t.b[5] = 2; /* byte order */
    assert_int_equal(parse(), -8);
    elf32_build(&t, 0x100000, two, 2, 0);
    t.b[18] = 183; /* machine */
    assert_int_equal(parse(), -8);
    elf32_build(&t, 0x100000, two, 2, 0);
    t.b[42] = 31; /* size of a program header */
    assert_int_equal(parse(), -22);
    elf32_build(&t, 0x100000, two, 2, 0);
    set_u32(&t, 28, 0xfffffff0); /* where they are */
    assert_int_equal(parse(), -22);
    elf64_build(&t, 0x100000, two, 2, 0);
    t.b[54] = 55;
    assert_int_equal(parse(), -22);
    elf64_build(&t, 0x100000, two, 2, 0);
    t.b[56] = 200; /* how many there are */
    assert_int_equal(parse(), -22);
    elf64_build(&t, 0x100000, two, 2, 0);
    t.n = 60; /* a 64-bit header has 64 bytes */
    assert_int_equal(parse(), -8);
    t.n = 51; /* a 32-bit one 52 */
    assert_int_equal(parse(), -8);
    elf64_build(&t, 0x100000, two, 2, 0);
    t.b[0] = 0;
    assert_int_equal(parse(), -8);
}

/* An image of address fields alone, with the multiboot header at 0x20. */
static void build_addresses(uint32_t header, uint32_t load, uint32_t load_end, uint32_t bss_end,
                            uint32_t entry)
{
    t.n = 0;
    put_zeros(&t, 0x20);
    put_mb1_header(&t, 1u << 16);
    put(&t, header, 4);
    put(&t, load, 4);
    put(&t, load_end, 4);
    put(&t, bss_end, 4);
    put(&t, entry, 4);
    put_zeros(&t, 0x100 - t.n);
}

static void test_addresses(void **state)
{
    (void)state;
    build_addresses(0x100020, 0x100000, 0x100080, 0x102000, 0x100040);
    assert_int_equal(parse(), 0);
    assert_int_equal(image.elf_bits, 0);
    assert_true(image.segment[0].file_offset == 0 && image.segment[0].file_bytes == 0x80);
    assert_true(image.segment[0].base == 0x100000 && image.segment[0].mem_bytes == 0x2000);
    assert_int_equal(image.entry, 0x100040);
    build_addresses(0x100020, 0x100010, 0, 0, 0x100040); /* all of the file, no zeroes */
    assert_int_equal(parse(), 0);
    assert_true(image.segment[0].file_offset == 0x10 && image.segment[0].mem_bytes == 0xf0);

    build_addresses(0x100020, 0x100021, 0, 0, 0x100040); /* loads from behind the header */
    assert_int_equal(parse(), -22);
    build_addresses(0x100020, 0xfffff, 0, 0, 0x100040); /* from before the file */
    assert_int_equal(parse(), -22);
    build_addresses(0x100020, 0x100000, 0xfffff, 0, 0x100040);
    assert_int_equal(parse(), -22);
    build_addresses(0x100020, 0x100000, 0x100080, 0x10007f, 0x100040);
    assert_int_equal(parse(), -22);
    build_addresses(0x100020, 0x100000, 0x100101, 0, 0x100040);
    assert_int_equal(parse(), -22);
    build_addresses(0x100020, 0x100000, 0, 0xffffffff, 0x100040);
    assert_int_equal(parse(), -7);
    build_addresses(0x100020, 0x100000, 0, 0, 0x100100);
    assert_int_equal(parse(), -22);
    t.n = 0x3c; /* cut within the fields */
    assert_int_equal(parse(), -22);
}

static void test_header_place(void **state)
{
    (void)state;
    t.n = 0;
    put_zeros(&t, 8192 - 8);
    put_mb1_header(&t, 0); /* crosses the 8 KiB that are searched */
    assert_int_equal(parse(), -8);
    t.n = 0;
    put_zeros(&t, 6); /* not 4-byte aligned */
    put_mb1_header(&t, 0);
    put_zeros(&t, 64);
    assert_int_equal(parse(), -8);
    t.n = 0;
    put_zeros(&t, 8);
    put_mb1_header(&t, 0);
    t.b[16] ^= 1; /* wrong checksum */
    put_zeros(&t, 64);
    assert_int_equal(parse(), -8);
}

static void test_cruel(void **state)
{
    (void)state;
    elf32_build(&t, 0x100010, two, 2, 3);
    for (size_t n = 0; n < t.n; n++)
        (void)read_copy(parse_bytes, t.b, n);
    t.n = 0x200; /* the headers, and a little of what they promise */
    every_flip_is_survived(parse_bytes, &t);
    elf64_build(&t, 0x100010, two, 2, 3);
    every_flip_is_survived(parse_bytes, &t);
    build_addresses(0x100020, 0x100000, 0x100080, 0x102000, 0x100040);
    every_flip_is_survived(parse_bytes, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elf32),        cmocka_unit_test(test_elf64),
        cmocka_unit_test(test_bad_segments), cmocka_unit_test(test_many_segments),
        cmocka_unit_test(test_bad_headers),  cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_header_place), cmocka_unit_test(test_cruel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
