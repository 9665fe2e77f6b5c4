/*
 * Multiboot-1 information, options and a simple allocator over the memory map.
 *
 * Taken memory (image, modules, allocations) is a short list of ranges; an allocation is the first
 * fit above RT_LOW (1 MiB) that meets none of them. Nothing is ever given back.
 * Source: Multiboot specification 0.6.96, section 3.3.
 */
#include "tests/guests/rt/boot.h"
#include "tests/guests/rt/rt.h"
#include "hv/bits.h"

enum {
    MB_MAGIC = 0x2badb002,
    MB_HAS_MEM = 1 << 0,
    MB_HAS_CMDLINE = 1 << 2,
    MB_HAS_MODULES = 1 << 3,
    MB_HAS_MMAP = 1 << 6,
    RAM = 1,
    TAKEN_MAX = 64,
};

struct mb_info {
    uint32_t flags;
    uint32_t mem_lower_kib, mem_upper_kib;
    uint32_t boot_device;
    uint32_t cmdline;
    uint32_t mods_count, mods_addr;
    uint32_t syms[4];
    uint32_t mmap_bytes, mmap_addr;
};

struct mb_module {
    uint32_t start, end, string, reserved;
};

struct __attribute__((packed)) mb_mmap {
    uint32_t bytes; /* of the entry, this field not counted */
    uint64_t base, length;
    uint32_t type;
};

struct boot_info boot_info;

extern uint8_t rt_image_start[], rt_image_end[];

static struct {
    uint64_t start, end;
} taken[TAKEN_MAX];
static uint32_t ntaken;

static void text_copy(char *dst, size_t bytes, const char *src)
{
    size_t i = 0;

    for (; i + 1 < bytes && src[i]; i++)
        dst[i] = src[i];
    dst[i] = 0;
}

static void mem_take(uint64_t start, uint64_t end)
{
    if (ntaken && taken[ntaken - 1].end == start)
        taken[ntaken - 1].end = end; /* allocations in a row are one range */
    else if (ntaken < TAKEN_MAX)
        taken[ntaken++] = (typeof(taken[0])){start, end};
}

static void range_add(uint64_t base, uint64_t bytes, uint32_t type)
{
    if (boot_info.nranges < BOOT_RANGES_MAX)
        boot_info.ranges[boot_info.nranges++] = (struct mem_range){base, bytes, type};
}

static void boot_read_ranges(const struct mb_info *mb)
{
    if (mb->flags & MB_HAS_MMAP) {
        for (uint32_t at = 0; at + sizeof(struct mb_mmap) <= mb->mmap_bytes;) {
            const struct mb_mmap *e = (const void *)(uint64_t)(mb->mmap_addr + at);

            range_add(e->base, e->length, e->type);
            at += e->bytes + sizeof(e->bytes);
        }
    } else if (mb->flags & MB_HAS_MEM) {
        range_add(0, mb->mem_lower_kib * KIB, RAM);
        range_add(MIB, mb->mem_upper_kib * KIB, RAM);
    }
}

static void boot_read_modules(const struct mb_info *mb)
{
    const struct mb_module *mods = (const void *)(uint64_t)mb->mods_addr;

    for (uint32_t i = 0; i < MIN(mb->mods_count, BOOT_MODULES_MAX); i++) {
        struct module *m = &boot_info.modules[boot_info.nmodules++];

        m->start = mods[i].start;
        m->end = mods[i].end;
        if (mods[i].string)
            text_copy(m->text, sizeof(m->text), (const char *)(uint64_t)mods[i].string);
        mem_take(m->start, m->end);
    }
}

void boot_read(uint32_t magic, uint32_t info)
{
    const struct mb_info *mb = (const void *)(uint64_t)info;

    mem_take((uint64_t)rt_image_start, (uint64_t)rt_image_end);
    if (magic != MB_MAGIC)
        return;
    boot_info.valid = true;
    if (mb->flags & MB_HAS_CMDLINE)
        text_copy(boot_info.cmdline, sizeof(boot_info.cmdline),
                  (const char *)(uint64_t)mb->cmdline);
    boot_read_ranges(mb);
    if (mb->flags & MB_HAS_MODULES)
        boot_read_modules(mb);
}

/* The first address >= at, aligned, where `bytes` meet nothing taken. */
static uint64_t mem_skip_taken(uint64_t at, uint64_t bytes, uint64_t align)
{
    for (uint32_t i = 0; i < ntaken;) {
        at = ALIGN_UP(at, align);
        if (at < taken[i].end && taken[i].start < at + bytes) {
            at = taken[i].end;
            i = 0;
        } else {
            i++;
        }
    }
    return ALIGN_UP(at, align);
}

void *mem_alloc_within(uint64_t low, uint64_t high, uint64_t bytes, uint64_t align)
{
    low = MAX(low, MIB);
    high = MIN(high, 4 * GIB);
    for (uint32_t i = 0; i < boot_info.nranges; i++) {
        const struct mem_range *r = &boot_info.ranges[i];
        uint64_t at;

        if (r->type != RAM)
            continue;
        at = mem_skip_taken(MAX(low, r->base), bytes, align);
        if (at + bytes > MIN(high, r->base + r->bytes))
            continue;
        mem_take(at, at + bytes);
        return (void *)at;
    }
    return NULL;
}

void *mem_alloc(uint64_t bytes, uint64_t align)
{
    return mem_alloc_within(0, 4 * GIB, bytes, align);
}

uint64_t mem_top(void)
{
    uint64_t top = 0;

    for (uint32_t i = 0; i < boot_info.nranges; i++) {
        const struct mem_range *r = &boot_info.ranges[i];

        if (r->type == RAM && r->base < 4 * GIB)
            top = MAX(top, MIN(r->base + r->bytes, 4 * GIB));
    }
    return top;
}

/* What follows `name` in the last word that is the name or begins with `name=`; NULL if none. */
static const char *opt_find(const char *name)
{
    size_t len = strlen(name);
    const char *found = NULL;

    for (const char *p = boot_info.cmdline; *p;) {
        while (*p == ' ')
            p++;
        if (!strncmp(p, name, len) && (p[len] == 0 || p[len] == ' ' || p[len] == '='))
            found = p + len;
        while (*p && *p != ' ')
            p++;
    }
    return found;
}

bool opt_flag(const char *name)
{
    return opt_find(name);
}

bool opt_is(const char *name, const char *value)
{
    const char *p = opt_find(name);
    size_t len = strlen(value);

    return p && *p == '=' && !strncmp(p + 1, value, len) && (!p[1 + len] || p[1 + len] == ' ');
}

static int digit_value(char c, uint32_t base)
{
    int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;

    return v < (int)base ? v : -1;
}

uint64_t opt_u64(const char *name, uint64_t otherwise)
{
    const char *p = opt_find(name);
    uint32_t base = 10;
    uint64_t value = 0;

    if (!p || *p != '=')
        return otherwise;
    p++;
    if (p[0] == '0' && p[1] == 'x') {
        base = 16;
        p += 2;
    }
    if (digit_value(*p, base) < 0)
        return otherwise;
    for (; digit_value(*p, base) >= 0; p++)
        value = value * base + (uint32_t)digit_value(*p, base);
    if (*p == 'K' || *p == 'M' || *p == 'G')
        value *= *p == 'K' ? KIB : *p == 'M' ? MIB : GIB;
    else if (*p && *p != ' ')
        return otherwise;
    return value;
}
