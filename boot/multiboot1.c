/*
 * Multiboot 1 information: a block of fields, each valid when its flag is set, with pointers to the
 * rest.
 *
 * Reads command line, loader name, modules, memory map (or the two sizes it grew from) and
 * framebuffer. There is no RSDP in it: the caller scans. Invariants: as multiboot.c; the memory
 * map's own entry sizes are bounded by its length, and a size too small ends it. Source: multiboot
 * 0.6.96 section 3.3.
 */
#include "boot/multiboot_impl.h"

#include <errno.h>

#include "boot/bytes.h"
#include "boot/memmap.h"
#include "boot/warn.h"

enum {
    MB1_MEM_LOWER = 4, /* KiB from 0 */
    MB1_MEM_UPPER = 8, /* KiB from 1 MiB */
    MB1_CMDLINE = 16,
    MB1_MODS_COUNT = 20,
    MB1_MODS_ADDR = 24,
    MB1_MMAP_LENGTH = 44,
    MB1_MMAP_ADDR = 48,
    MB1_LOADER = 64,
    MB1_BYTES = 68, /* up to here in every version */
    MB1_FRAMEBUFFER = 88,
    MB1_COLOURS = 110,
    MB1_BYTES_FRAMEBUFFER = 116,
};

#define MB1_HAS_MEMORY      BIT(0)
#define MB1_HAS_CMDLINE     BIT(2)
#define MB1_HAS_MODULES     BIT(3)
#define MB1_HAS_MMAP        BIT(6)
#define MB1_HAS_LOADER      BIT(9)
#define MB1_HAS_FRAMEBUFFER BIT(12)

#define MB1_MODULE_BYTES    16
#define MB1_MMAP_ENTRY      24 /* with its size field, which does not count itself */
#define MB1_MMAP_LIMIT      (64 * KIB)
#define MB1_STRING_LIMIT    (16 * KIB)

static void read_mmap(struct mb_reader *r, paddr_t pa, uint32_t length)
{
    uint32_t at = 0;
    uint8_t e[MB1_MMAP_ENTRY];

    if (length > MB1_MMAP_LIMIT) {
        boot_warn(r->w, "multiboot: memory map of %u bytes is cut", length);
        length = MB1_MMAP_LIMIT;
    }
    while (at + MB1_MMAP_ENTRY <= length) {
        uint32_t size;

        if (!mb_read(r, pa + at, e, sizeof(e)))
            break;
        size = read_le32(e);
        if (size < MB1_MMAP_ENTRY - 4 || size > length)
            break;
        memmap_add(r->info->map, read_le64(e + 4), read_le64(e + 12),
                   memmap_type_of_e820(read_le32(e + 20)));
        at += size + 4;
    }
    if (at < length)
        boot_warn(r->w, "multiboot: memory map is damaged from offset %u on", at);
}

static void read_modules(struct mb_reader *r, paddr_t pa, uint32_t count)
{
    uint8_t m[MB1_MODULE_BYTES];

    /* The bound keeps a wild count from costing four thousand million reads. */
    for (uint32_t i = 0; i < count && i < 2 * BOOT_MODULES_MAX; i++, pa += sizeof(m)) {
        if (!mb_read(r, pa, m, sizeof(m))) {
            boot_warn(r->w, "multiboot: module list at 0x%lx cannot be read", pa);
            return;
        }
        mb_add_module(r, read_le32(m), read_le32(m + 4), read_le32(m + 8), MB1_STRING_LIMIT);
    }
}

int mb1_parse(struct mb_reader *r, paddr_t pa, size_t *fault)
{
    struct boot_info *info = r->info;
    uint8_t b[MB1_BYTES_FRAMEBUFFER] = {0};
    uint32_t flags;

    info->protocol = 1;
    info->info_bytes = MB1_BYTES_FRAMEBUFFER;
    if (!mb_read(r, pa, b, MB1_BYTES)) {
        *fault = 0;
        return -EINVAL;
    }
    flags = read_le32(b);
    if (flags & MB1_HAS_CMDLINE)
        info->cmdline = mb_string(r, read_le32(b + MB1_CMDLINE), MB1_STRING_LIMIT);
    if (flags & MB1_HAS_LOADER)
        info->loader = mb_string(r, read_le32(b + MB1_LOADER), MB1_STRING_LIMIT);
    if (flags & MB1_HAS_MODULES)
        read_modules(r, read_le32(b + MB1_MODS_ADDR), read_le32(b + MB1_MODS_COUNT));
    if (flags & MB1_HAS_MMAP)
        read_mmap(r, read_le32(b + MB1_MMAP_ADDR), read_le32(b + MB1_MMAP_LENGTH));
    if (info->map->count == 0 && (flags & MB1_HAS_MEMORY)) {
        boot_warn(r->w, "multiboot: no memory map; only the loader's two sizes are used");
        memmap_add(info->map, 0, read_le32(b + MB1_MEM_LOWER) * KIB, MEM_RAM);
        memmap_add(info->map, MIB, read_le32(b + MB1_MEM_UPPER) * KIB, MEM_RAM);
    }
    if ((flags & MB1_HAS_FRAMEBUFFER) && mb_read(r, pa, b, sizeof(b)))
        mb_set_framebuffer(&info->framebuffer, b + MB1_FRAMEBUFFER, b + MB1_COLOURS);
    return 0;
}
