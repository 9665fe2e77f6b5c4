/*
 * Multiboot 2 information: one block of tags, each with type and size, 8-byte aligned.
 *
 * Reads command line, loader name, modules, memory map, EFI memory map, RSDP copies, framebuffer
 * and the presence of EFI; other tags are skipped by size. Decides that the plain memory map counts
 * where there is one and the EFI map only where there is none (GRUB derives the first from the
 * second), and that an RSDP of ACPI 2 (tag 15) beats one of ACPI 1 (tag 14), whatever their order.
 * Invariants: as multiboot.c; a tag smaller than its header or running over the block's end ends
 * the walk with a warning, what came before stands. Source: multiboot 2.0 section 3.6.
 */
#include "boot/multiboot_impl.h"

#include <errno.h>
#include <string.h>

#include "boot/bytes.h"
#include "boot/memmap.h"
#include "boot/warn.h"

enum mb2_tag {
    TAG_END = 0,
    TAG_CMDLINE = 1,
    TAG_LOADER = 2,
    TAG_MODULE = 3,
    TAG_MEMORY = 4,
    TAG_MMAP = 6,
    TAG_FRAMEBUFFER = 8,
    TAG_EFI32 = 11,
    TAG_EFI64 = 12,
    TAG_RSDP_OLD = 14,
    TAG_RSDP_NEW = 15,
    TAG_EFI_MMAP = 17,
};

#define INFO_HEADER_BYTES    8
#define INFO_LIMIT           (1u << 20)
#define TAG_HEADER_BYTES     8
#define TAG_ALIGN            8

#define MMAP_ENTRY_BYTES     24
#define EFI_DESCRIPTOR_BYTES 40
#define EFI_PAGE_BYTES       4096

struct mb2_tags {
    const uint8_t *data; /* the whole block */
    paddr_t pa;
    size_t end;
};

/* The tags whose order must not matter are found first and read at the end. */
struct mb2_late {
    const uint8_t *mmap, *efi_mmap, *memory;
    uint32_t rsdp_tag;
};

/*
 * Body entries of a map tag: entry size at 8, entries from 16. Returns the entry size, 0: unusable.
 */
static uint32_t map_entry_bytes(struct mb_reader *r, const uint8_t *tag, uint32_t least)
{
    uint32_t size = read_le32(tag + 4), entry = read_le32(tag + 8);

    if (entry >= least && entry <= size)
        return entry;
    boot_warn(r->w, "multiboot: tag %u has entries of %u bytes; ignored", read_le32(tag), entry);
    return 0;
}

static void read_mmap(struct mb_reader *r, const uint8_t *tag)
{
    uint32_t size = read_le32(tag + 4), step = map_entry_bytes(r, tag, MMAP_ENTRY_BYTES);

    for (uint32_t at = 16; step && at + step <= size; at += step)
        memmap_add(r->info->map, read_le64(tag + at), read_le64(tag + at + 8),
                   memmap_type_of_e820(read_le32(tag + at + 16)));
}

static void read_efi_mmap(struct mb_reader *r, const uint8_t *tag)
{
    uint32_t size = read_le32(tag + 4), step = map_entry_bytes(r, tag, EFI_DESCRIPTOR_BYTES);

    for (uint32_t at = 16; step && at + step <= size; at += step) {
        uint64_t pages = read_le64(tag + at + 24);
        uint64_t bytes = pages > UINT64_MAX / EFI_PAGE_BYTES ? UINT64_MAX : pages * EFI_PAGE_BYTES;

        memmap_add(r->info->map, read_le64(tag + at + 8), bytes,
                   memmap_type_of_efi(read_le32(tag + at)));
    }
}

static void read_map(struct mb_reader *r, const struct mb2_late *late)
{
    struct memmap *map = r->info->map;

    if (late->mmap)
        read_mmap(r, late->mmap);
    if (map->count == 0 && late->efi_mmap)
        read_efi_mmap(r, late->efi_mmap);
    if (map->count == 0 && late->memory) {
        boot_warn(r->w, "multiboot: no memory map; only the loader's two sizes are used");
        memmap_add(map, 0, read_le32(late->memory + 8) * KIB, MEM_RAM);
        memmap_add(map, MIB, read_le32(late->memory + 12) * KIB, MEM_RAM);
    }
}

static void read_rsdp(struct boot_info *info, const uint8_t *tag, uint32_t size,
                      struct mb2_late *late)
{
    uint32_t type = read_le32(tag);

    if (late->rsdp_tag >= type)
        return;
    late->rsdp_tag = type;
    info->rsdp_bytes = MIN(size - TAG_HEADER_BYTES, (uint32_t)BOOT_RSDP_BYTES);
    memcpy(info->rsdp, tag + TAG_HEADER_BYTES, info->rsdp_bytes);
}

#define FRAMEBUFFER_BYTES     32
#define FRAMEBUFFER_RGB_BYTES 38

/* Bytes that a tag of this type needs before any of its fields is read. */
static uint32_t tag_bytes_needed(uint32_t type)
{
    switch (type) {
    case TAG_MODULE:
    case TAG_MEMORY:
    case TAG_MMAP:
    case TAG_EFI_MMAP:
        return 16;
    case TAG_FRAMEBUFFER:
        return FRAMEBUFFER_BYTES;
    case TAG_RSDP_OLD:
        return TAG_HEADER_BYTES + 20;
    case TAG_RSDP_NEW:
        return TAG_HEADER_BYTES + 36;
    default:
        return TAG_HEADER_BYTES;
    }
}

static void read_tag(struct mb_reader *r, const uint8_t *tag, paddr_t pa, struct mb2_late *late)
{
    struct boot_info *info = r->info;
    uint32_t type = read_le32(tag), size = read_le32(tag + 4);

    if (size < tag_bytes_needed(type)) {
        boot_warn(r->w, "multiboot: tag %u of %u bytes is too short; ignored", type, size);
        return;
    }
    switch (type) {
    case TAG_CMDLINE:
        info->cmdline = mb_string(r, pa + 8, size - 8);
        break;
    case TAG_LOADER:
        info->loader = mb_string(r, pa + 8, size - 8);
        break;
    case TAG_MODULE:
        mb_add_module(r, read_le32(tag + 8), read_le32(tag + 12), pa + 16, size - 16);
        break;
    case TAG_MEMORY:
        late->memory = tag;
        break;
    case TAG_MMAP:
        late->mmap = tag;
        break;
    case TAG_EFI_MMAP:
        late->efi_mmap = tag;
        info->efi = true;
        break;
    case TAG_EFI32:
    case TAG_EFI64:
        info->efi = true;
        break;
    case TAG_FRAMEBUFFER: /* a text screen has no colour fields */
        mb_set_framebuffer(&info->framebuffer, tag + 8,
                           size >= FRAMEBUFFER_RGB_BYTES ? tag + FRAMEBUFFER_BYTES : NULL);
        break;
    case TAG_RSDP_OLD:
    case TAG_RSDP_NEW:
        read_rsdp(info, tag, size, late);
        break;
    default:
        break;
    }
}

static void walk_tags(struct mb_reader *r, const struct mb2_tags *tags, struct mb2_late *late)
{
    size_t at = INFO_HEADER_BYTES;

    while (at + TAG_HEADER_BYTES <= tags->end) {
        const uint8_t *tag = tags->data + at;
        uint32_t type = read_le32(tag), size = read_le32(tag + 4);

        if (type == TAG_END)
            return;
        if (size < TAG_HEADER_BYTES || size > tags->end - at) {
            boot_warn(r->w, "multiboot: tag %u of %u bytes at offset %zu ends the information",
                      type, size, at);
            return;
        }
        read_tag(r, tag, tags->pa + at, late);
        at += ALIGN_UP((size_t)size, (size_t)TAG_ALIGN);
    }
    boot_warn(r->w, "multiboot: the information has no end tag");
}

int mb2_parse(struct mb_reader *r, paddr_t pa, size_t *fault)
{
    struct mb2_tags tags = {.pa = pa};
    struct mb2_late late = {0};
    uint8_t header[INFO_HEADER_BYTES];

    r->info->protocol = 2;
    *fault = 0;
    if (!mb_read(r, pa, header, sizeof(header)))
        return -EINVAL;
    tags.end = read_le32(header);
    if (tags.end < INFO_HEADER_BYTES || tags.end > INFO_LIMIT)
        return -EINVAL;
    tags.data = r->view->map(r->view->ctx, pa, tags.end);
    if (!tags.data)
        return -EINVAL;
    r->info->info_bytes = tags.end;
    walk_tags(r, &tags, &late);
    read_map(r, &late);
    return 0;
}
