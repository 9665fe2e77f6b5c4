/*
 * The loader's information, whichever multiboot protocol it came by.
 *
 * Decides what is kept (strings are copied, so that the loader's memory can be reused) and what of
 * the memory map is in use from the start: image, modules, the information itself. The two
 * protocols are read in multiboot1.c and multiboot2.c. Invariants: nothing is read that the view
 * did not give; every string ends in NUL, inside the arena; module ends are not below their starts.
 * Source: multiboot 0.6.96 section 3.3, multiboot 2.0 section 3.6.
 */
#include "boot/multiboot.h"

#include <errno.h>
#include <string.h>

#include "boot/bytes.h"
#include "boot/memmap.h"
#include "boot/multiboot_impl.h"
#include "boot/warn.h"

enum { FB_TYPE_RGB = 1, FB_TYPE_TEXT = 2 };

bool mb_read(const struct mb_reader *r, paddr_t pa, void *to, size_t bytes)
{
    const void *from = r->view->map(r->view->ctx, pa, bytes);

    if (from)
        memcpy(to, from, bytes);
    return from != NULL;
}

const char *mb_string(struct mb_reader *r, paddr_t pa, size_t limit)
{
    struct boot_info *info = r->info;
    char *start = info->arena + info->arena_used, *at = start;
    size_t room = info->arena_capacity - info->arena_used;
    bool readable = true;

    if (!pa || !room)
        limit = 0;
    for (; limit > 0; limit--, pa++) {
        readable = mb_read(r, pa, at, 1);
        if (!readable || !*at || (size_t)(at - start) + 1 == room)
            break;
        at++;
    }
    if (!room || (limit > 0 && readable && *at)) {
        if (!r->arena_full)
            boot_warn(r->w, "multiboot: no room for all strings; they are cut");
        r->arena_full = true;
    }
    if (!room)
        return "";
    *at++ = 0;
    info->arena_used += (size_t)(at - start);
    return start;
}

void mb_add_module(struct mb_reader *r, paddr_t start, paddr_t end, paddr_t string, size_t limit)
{
    struct boot_info *info = r->info;
    struct boot_module *m = &info->modules[info->nmodules];

    if (end < start) {
        boot_warn(r->w, "multiboot: module at 0x%lx ends at 0x%lx; left out", start, end);
        return;
    }
    if (info->nmodules == BOOT_MODULES_MAX) {
        info->modules_dropped++;
        return;
    }
    *m = (struct boot_module){.start = start, .end = end, .string = mb_string(r, string, limit)};
    info->nmodules++;
}

void mb_set_framebuffer(struct boot_framebuffer *fb, const uint8_t *fields, const uint8_t *colours)
{
    uint8_t type = fields[21];

    if (type != FB_TYPE_TEXT && !(type == FB_TYPE_RGB && colours))
        return;
    *fb = (struct boot_framebuffer){
        .addr = read_le64(fields),
        .kind = type == FB_TYPE_RGB ? FRAMEBUFFER_RGB : FRAMEBUFFER_TEXT,
        .pitch_bytes = read_le32(fields + 8),
        .width = read_le32(fields + 12),
        .height = read_le32(fields + 16),
        .bits_per_pixel = fields[20],
    };
    if (type == FB_TYPE_RGB) {
        fb->red_pos = colours[0];
        fb->red_bits = colours[1];
        fb->green_pos = colours[2];
        fb->green_bits = colours[3];
        fb->blue_pos = colours[4];
        fb->blue_bits = colours[5];
    }
}

int multiboot_parse(struct boot_info *info, const struct phys_view *view, uint32_t magic,
                    paddr_t pa, struct fw_warnings *w, size_t *fault)
{
    struct mb_reader r = {.info = info, .view = view, .w = w};
    struct memmap *map = info->map;
    char *arena = info->arena;
    size_t arena_capacity = info->arena_capacity;
    int err;

    *fault = 0;
    memset(info, 0, sizeof(*info));
    info->map = map;
    info->arena = arena;
    info->arena_capacity = arena_capacity;
    info->info_base = pa;
    info->cmdline = info->loader = "";
    if (magic == MULTIBOOT1_MAGIC)
        err = mb1_parse(&r, pa, fault);
    else if (magic == MULTIBOOT2_MAGIC)
        err = mb2_parse(&r, pa, fault);
    else
        err = -EINVAL;
    if (err)
        return err;
    if (info->modules_dropped)
        boot_warn(w, "multiboot: more than %u modules; %u left out", BOOT_MODULES_MAX,
                  info->modules_dropped);
    memmap_trim(map);
    if (map->dropped)
        boot_warn(w, "memory map: no room for %u changes; some RAM is not used", map->dropped);
    return memmap_ram_bytes(map, 0, UINT64_MAX) ? 0 : -ENOENT;
}

void boot_claim_all(struct boot_info *info, paddr_t image_start, paddr_t image_end)
{
    memmap_claim(info->map, image_start, image_end - image_start, MEM_CLAIM_IMAGE);
    for (uint32_t i = 0; i < info->nmodules; i++) {
        const struct boot_module *m = &info->modules[i];

        memmap_claim(info->map, m->start, m->end - m->start, MEM_CLAIM_MODULE);
    }
    memmap_claim(info->map, info->info_base, info->info_bytes, MEM_CLAIM_BOOTINFO);
}
