/*
 * Multiboot 1 and 2 information, good and damaged.
 */
#include "fixture_phys.h"

#include "boot/memmap.h"
#include "boot/multiboot.h"

#define INFO_PA 0x9500ull

static struct fw_warnings warnings;
static struct mem_range ranges[32];
static struct memmap map;
static char arena[512];
static struct boot_info info;
static struct phys mem;
static uint32_t magic = MULTIBOOT2_MAGIC;

static void reset(size_t arena_bytes)
{
    memset(&warnings, 0, sizeof(warnings));
    memmap_init(&map, ranges, ARRAY_SIZE(ranges));
    memset(&info, 0, sizeof(info));
    info.map = &map;
    info.arena = arena;
    info.arena_capacity = arena_bytes;
}

static int parse(void)
{
    struct phys_view view = phys_view(&mem);
    size_t fault;
    int err = multiboot_parse(&info, &view, magic, INFO_PA, &warnings, &fault);

    assert_non_null(info.cmdline);
    assert_non_null(info.loader);
    assert_true(info.arena_used <= info.arena_capacity);
    assert_true(info.nmodules <= BOOT_MODULES_MAX && info.rsdp_bytes <= BOOT_RSDP_BYTES);
    for (uint32_t i = 0; i < info.nmodules; i++)
        assert_true(info.modules[i].end >= info.modules[i].start && info.modules[i].string);
    return err;
}

/* For the cruelties: `data` is the information itself. */
static int parse_bytes(const void *data, size_t bytes)
{
    reset(sizeof(arena));
    memset(&mem, 0, sizeof(mem));
    phys_add(&mem, INFO_PA, data, bytes);
    return parse();
}

static size_t tag_begin(struct table *t, uint32_t type)
{
    size_t at = t->n;

    put(t, type, 4);
    put(t, 0, 4);
    return at;
}

static void tag_end(struct table *t, size_t at)
{
    set_u32(t, at + 4, (uint32_t)(t->n - at));
    while (t->n % 8)
        put(t, 0, 1);
}

static void put_string(struct table *t, const char *s)
{
    do
        put(t, (uint8_t)*s, 1);
    while (*s++);
}

static void tag_string(struct table *t, uint32_t type, const char *s)
{
    size_t at = tag_begin(t, type);

    put_string(t, s);
    tag_end(t, at);
}

static void tag_module(struct table *t, uint32_t start, uint32_t end, const char *s)
{
    size_t at = tag_begin(t, 3);

    put(t, start, 4);
    put(t, end, 4);
    put_string(t, s);
    tag_end(t, at);
}

static void tag_mmap(struct table *t)
{
    size_t at = tag_begin(t, 6);

    put(t, 24, 4);
    put(t, 0, 4);
    put(t, 0x100000, 8);
    put(t, 0x7ee0000, 8);
    put(t, 1, 8);
    put(t, 0, 8);
    put(t, 0x9fc00, 8);
    put(t, 1, 8);
    tag_end(t, at);
}

static void tag_efi_mmap(struct table *t)
{
    size_t at = tag_begin(t, 17);

    put(t, 48, 4);
    put(t, 1, 4);
    for (uint32_t i = 0; i < 3; i++) { /* conventional, runtime services, absurd length */
        put(t, i == 1 ? 5 : 7, 8);
        put(t, i == 2 ? 1ull << 40 : i << 24, 8);
        put(t, 0, 8);
        put(t, i == 2 ? UINT64_MAX : 16, 8);
        put_zeros(t, 16);
    }
    tag_end(t, at);
}

static void tag_rsdp(struct table *t, uint32_t type, size_t bytes, uint8_t fill)
{
    size_t at = tag_begin(t, type);

    for (size_t i = 0; i < bytes; i++)
        put(t, fill, 1);
    tag_end(t, at);
}

static void tag_framebuffer(struct table *t)
{
    size_t at = tag_begin(t, 8);

    put(t, 0x1c0000000, 8);
    put(t, 4096, 4);
    put(t, 1024, 4);
    put(t, 768, 4);
    put(t, 32, 1);
    put(t, 1, 1);
    put(t, 0, 2);
    put(t, 0x080008080810, 6);
    tag_end(t, at);
}

static void mb2_begin(struct table *t)
{
    t->n = 0;
    put(t, 0, 8);
}

static void mb2_end(struct table *t)
{
    put(t, 0, 4);
    put(t, 8, 4);
    set_u32(t, 0, (uint32_t)t->n);
}

static void mb2_good(struct table *t)
{
    mb2_begin(t);
    tag_string(t, 1, "console=com1 numa=on");
    tag_string(t, 2, "GRUB 2.06");
    tag_module(t, 0x200000, 0x234567, "name=web vcpus=2");
    tag_rsdp(t, 15, 36, 0xaa);
    tag_rsdp(t, 14, 20, 0xbb);
    tag_mmap(t);
    tag_efi_mmap(t);
    tag_framebuffer(t);
    tag_string(t, 21, "an unknown tag");
    mb2_end(t);
}

static void test_mb2_good(void **state)
{
    static struct table t;

    (void)state;
    magic = MULTIBOOT2_MAGIC;
    mb2_good(&t);
    assert_int_equal(parse_bytes(t.b, t.n), 0);
    assert_int_equal(warnings.count, 0);
    assert_string_equal(info.cmdline, "console=com1 numa=on");
    assert_string_equal(info.loader, "GRUB 2.06");
    assert_int_equal(info.nmodules, 1);
    assert_string_equal(info.modules[0].string, "name=web vcpus=2");
    assert_true(info.efi);
    assert_int_equal(info.rsdp_bytes, 36); /* the new one, though the old one came later */
    assert_int_equal(info.rsdp[0], 0xaa);
    assert_int_equal(info.framebuffer.kind, FRAMEBUFFER_RGB);
    assert_true(info.framebuffer.addr == 0x1c0000000 && info.framebuffer.width == 1024);
    assert_int_equal(info.framebuffer.red_pos, 16);
    assert_true(memmap_ram_bytes(&map, 0, UINT64_MAX) == 0x9f000 + 0x7ee0000);

    boot_claim_all(&info, 0x100000, 0x180000);
    assert_int_equal(memmap_find(&map, 0x17ffff)->type, MEM_CLAIM_IMAGE);
    assert_int_equal(memmap_find(&map, 0x234567)->type, MEM_CLAIM_MODULE);
    assert_int_equal(memmap_find(&map, 0x235000)->type, MEM_RAM);
    assert_int_equal(memmap_find(&map, INFO_PA)->type, MEM_CLAIM_BOOTINFO);
}

static void test_mb2_maps(void **state)
{
    static struct table t;
    size_t at;

    (void)state;
    magic = MULTIBOOT2_MAGIC;
    mb2_begin(&t); /* the EFI map counts where there is no other */
    tag_efi_mmap(&t);
    mb2_end(&t);
    assert_int_equal(parse_bytes(t.b, t.n), 0);
    assert_int_equal(memmap_find(&map, 0)->type, MEM_RAM);
    assert_int_equal(memmap_find(&map, 1 << 24)->type, MEM_RESERVED);
    assert_true(memmap_find(&map, 1ull << 40)->length == (1ull << 52) - (1ull << 40));

    mb2_begin(&t); /* then the two sizes */
    at = tag_begin(&t, 4);
    put(&t, 640, 4);
    put(&t, 31 * 1024, 4);
    tag_end(&t, at);
    mb2_end(&t);
    assert_int_equal(parse_bytes(t.b, t.n), 0);
    assert_true(memmap_ram_bytes(&map, 0, UINT64_MAX) == 640 * KIB + 31 * MIB);
    assert_true(warned(&warnings, "no memory map"));

    mb2_begin(&t); /* then nothing can be done */
    mb2_end(&t);
    assert_int_equal(parse_bytes(t.b, t.n), -2);

    for (uint32_t entry = 0; entry < 24; entry += 8) { /* entries too small are not walked */
        mb2_begin(&t);
        at = tag_begin(&t, 6);
        put(&t, entry, 8);
        put_zeros(&t, 48);
        tag_end(&t, at);
        mb2_end(&t);
        assert_int_equal(parse_bytes(t.b, t.n), -2);
        assert_true(warned(&warnings, "has entries of"));
    }
}

/* GRUB on BIOS: an EGA text screen comes without colour fields and is no fault. */
static void test_mb2_text_screen(void **state)
{
    static struct table t;
    size_t at;

    (void)state;
    magic = MULTIBOOT2_MAGIC;
    mb2_begin(&t);
    tag_efi_mmap(&t);
    at = tag_begin(&t, 8);
    put(&t, 0xb8000, 8);
    put(&t, 160, 4);
    put(&t, 80, 4);
    put(&t, 25, 4);
    put(&t, 16, 1);
    put(&t, 2, 1);
    put(&t, 0, 2);
    tag_end(&t, at);
    mb2_end(&t);
    assert_int_equal(parse_bytes(t.b, t.n), 0);
    assert_int_equal(info.framebuffer.kind, FRAMEBUFFER_TEXT);
    assert_int_equal(info.framebuffer.width, 80);
    assert_false(warned(&warnings, "too short"));
    t.b[at + 29] = 1; /* a picture without colour fields cannot be drawn to */
    assert_int_equal(parse_bytes(t.b, t.n), 0);
    assert_int_equal(info.framebuffer.kind, FRAMEBUFFER_NONE);
}

/* An EFI loader that hands over an e820 map says by tag 11 or 12 what it is. */
static void test_mb2_efi_tags(void **state)
{
    static struct table t;

    (void)state;
    magic = MULTIBOOT2_MAGIC;
    for (uint32_t type = 10; type <= 13; type++) {
        mb2_begin(&t);
        tag_mmap(&t);
        tag_rsdp(&t, type, 8, 0);
        mb2_end(&t);
        assert_int_equal(parse_bytes(t.b, t.n), 0);
        assert_int_equal(info.efi, type == 11 || type == 12);
    }
}

static void test_mb2_damage(void **state)
{
    static struct table t;

    (void)state;
    magic = MULTIBOOT2_MAGIC;
    mb2_good(&t);
    every_prefix_is_refused(parse_bytes, &t);
    every_flip_is_survived(parse_bytes, &t);
    for (size_t n = 0; n <= t.n; n++) { /* cut, with a total that tells the truth */
        set_u32(&t, 0, (uint32_t)n);
        (void)read_copy(parse_bytes, t.b, n);
    }

    set_u32(&t, 0, 7); /* a total below the header, and one beyond all reason */
    assert_int_equal(read_copy(parse_bytes, t.b, t.n), -22);
    set_u32(&t, 0, UINT32_MAX);
    assert_int_equal(read_copy(parse_bytes, t.b, t.n), -22);

    mb2_begin(&t); /* a tag without length ends the walk; what came before stands */
    tag_mmap(&t);
    tag_string(&t, 1, "a");
    put(&t, 2, 8);
    tag_string(&t, 2, "b");
    mb2_end(&t);
    assert_int_equal(parse_bytes(t.b, t.n), 0);
    assert_string_equal(info.cmdline, "a");
    assert_string_equal(info.loader, "");
    assert_true(warned(&warnings, "tag 2 of 0 bytes"));

    mb2_begin(&t); /* a string without its NUL, a module that ends before it starts, a short tag */
    tag_mmap(&t);
    tag_module(&t, 0x2000, 0x1000, "x");
    put(&t, 1, 4);
    put(&t, 11, 4);
    put(&t, 0x4142434445464748, 8);
    put(&t, 15, 4);
    put(&t, 8, 4);
    mb2_end(&t);
    assert_int_equal(parse_bytes(t.b, t.n), 0);
    assert_string_equal(info.cmdline, "HGF");
    assert_int_equal(info.nmodules, 0);
    assert_int_equal(info.rsdp_bytes, 0);
    assert_true(warned(&warnings, "left out") && warned(&warnings, "tag 15 of 8 bytes"));
}

static void test_limits(void **state)
{
    static struct table t;
    struct phys_view view = phys_view(&mem);
    size_t fault;

    (void)state;
    magic = MULTIBOOT2_MAGIC;
    mb2_begin(&t);
    tag_mmap(&t);
    for (uint32_t i = 0; i < BOOT_MODULES_MAX + 3; i++)
        tag_module(&t, i << 12, (i + 1) << 12, "name=guest");
    mb2_end(&t);
    assert_int_equal(parse_bytes(t.b, t.n), 0);
    assert_int_equal(info.nmodules, BOOT_MODULES_MAX);
    assert_true(warned(&warnings, "more than 64 modules; 3 left out"));
    assert_true(warned(&warnings, "no room for all strings")); /* 64 * 11 > 512 */
    assert_string_equal(info.modules[10].string, "name=guest");
    assert_string_equal(info.modules[63].string, "");

    reset(sizeof(arena)); /* what fits of a map is used */
    map.capacity = 2;
    assert_int_equal(parse(), 0);
    assert_true(warned(&warnings, "memory map: no room for 1 changes"));
    assert_true(memmap_ram_bytes(&map, 0, UINT64_MAX) == 0x7ee0000);

    reset(0);
    assert_int_equal(parse(), 0);
    reset(4);
    assert_int_equal(parse(), 0);
    assert_string_equal(info.modules[0].string, "nam");
    reset(64);
    assert_int_equal(multiboot_parse(&info, &view, 0x1234, INFO_PA, &warnings, &fault), -22);
}

static struct table mb1, mb1_mmap, mb1_mods;

static void mb1_good(void)
{
    static const char cmdline[] = "numen32.elf maxcpus=2", module[] = "hello.elf vcpus=1";

    memset(&mem, 0, sizeof(mem));
    mb1.n = mb1_mmap.n = mb1_mods.n = 0;
    put_zeros(&mb1, 116);
    set_u32(&mb1, 0, 1u << 0 | 1u << 2 | 1u << 3 | 1u << 6 | 1u << 9 | 1u << 12);
    set_u32(&mb1, 4, 639);
    set_u32(&mb1, 8, 1024);
    set_u32(&mb1, 16, 0x20000);
    set_u32(&mb1, 20, 2);
    set_u32(&mb1, 24, 0x21000);
    set_u32(&mb1, 48, 0x22000);
    set_u32(&mb1, 64, 0x23000); /* not readable */
    set_u32(&mb1, 88, 0xb8000);
    mb1.b[109] = 2;
    for (uint32_t i = 0; i < 2; i++) {
        put(&mb1_mods, 0x300000 + (i << 16), 4);
        put(&mb1_mods, 0x301000 + (i << 16), 4);
        put(&mb1_mods, i ? 0 : 0x24000, 4);
        put(&mb1_mods, 0, 4);
    }
    put(&mb1_mmap, 20, 4);
    put(&mb1_mmap, 0, 8);
    put(&mb1_mmap, 0xa0000, 8);
    put(&mb1_mmap, 1, 4);
    put(&mb1_mmap, 28, 4); /* a larger entry is fine */
    put(&mb1_mmap, 0x100000, 8);
    put(&mb1_mmap, 0x8000000, 8);
    put(&mb1_mmap, 1, 4);
    put(&mb1_mmap, 0, 8);
    set_u32(&mb1, 44, (uint32_t)mb1_mmap.n);
    phys_add(&mem, INFO_PA, mb1.b, mb1.n);
    phys_add(&mem, 0x20000, cmdline, sizeof(cmdline));
    phys_add(&mem, 0x21000, mb1_mods.b, mb1_mods.n);
    phys_add(&mem, 0x22000, mb1_mmap.b, mb1_mmap.n);
    phys_add(&mem, 0x24000, module, sizeof(module));
}

static void test_mb1_good(void **state)
{
    (void)state;
    magic = MULTIBOOT1_MAGIC;
    mb1_good();
    reset(sizeof(arena));
    assert_int_equal(parse(), 0);
    assert_int_equal(info.protocol, 1);
    assert_string_equal(info.cmdline, "numen32.elf maxcpus=2");
    assert_string_equal(info.loader, "");
    assert_int_equal(info.nmodules, 2);
    assert_string_equal(info.modules[0].string, "hello.elf vcpus=1");
    assert_string_equal(info.modules[1].string, "");
    assert_int_equal(info.framebuffer.kind, FRAMEBUFFER_TEXT);
    assert_true(memmap_ram_bytes(&map, 0, UINT64_MAX) == 0xa0000 + 0x8000000);
}

static void test_mb1_damage(void **state)
{
    (void)state;
    magic = MULTIBOOT1_MAGIC;
    mb1_good(); /* the map's second entry has no size: it ends there */
    set_u32(&mb1_mmap, 24, 0);
    reset(sizeof(arena));
    assert_int_equal(parse(), 0);
    assert_true(warned(&warnings, "damaged from offset 24"));
    assert_true(memmap_ram_bytes(&map, 0, UINT64_MAX) == 0xa0000);

    mb1_good(); /* or one that is longer than the map */
    set_u32(&mb1_mmap, 24, 1000);
    reset(sizeof(arena));
    assert_int_equal(parse(), 0);
    assert_true(warned(&warnings, "damaged from offset 24"));

    mb1_good(); /* wild lengths and counts */
    set_u32(&mb1, 20, 0xffffffff);
    set_u32(&mb1, 44, 0xffffffff);
    reset(sizeof(arena));
    assert_int_equal(parse(), 0);
    assert_true(warned(&warnings, "module list") && warned(&warnings, "is cut"));

    mb1_good(); /* an unreadable map: the two sizes serve */
    set_u32(&mb1, 48, 0xdead0000);
    reset(sizeof(arena));
    assert_int_equal(parse(), 0);
    assert_true(memmap_ram_bytes(&map, 0, UINT64_MAX) == 636 * KIB + MIB); /* whole pages of 639 */

    memset(&mem, 0, sizeof(mem));
    reset(sizeof(arena));
    assert_int_equal(parse(), -22);
    phys_add(&mem, INFO_PA, mb1.b, 68); /* from before there were framebuffers */
    reset(sizeof(arena));
    assert_int_equal(parse(), 0);
    assert_int_equal(info.framebuffer.kind, FRAMEBUFFER_NONE);

    mb1_good();
    for (size_t at = 0; at < mb1.n; at++) {
        mb1.b[at] ^= 0xff;
        reset(sizeof(arena));
        (void)parse();
        mb1.b[at] ^= 0xff;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mb2_good),        cmocka_unit_test(test_mb2_maps),
        cmocka_unit_test(test_mb2_text_screen), cmocka_unit_test(test_mb2_damage),
        cmocka_unit_test(test_limits),          cmocka_unit_test(test_mb1_good),
        cmocka_unit_test(test_mb1_damage),      cmocka_unit_test(test_mb2_efi_tags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
