/* Shared by multiboot.c, multiboot1.c and multiboot2.c only. */
#ifndef BOOT_MULTIBOOT_IMPL_H
#define BOOT_MULTIBOOT_IMPL_H

#include "boot/multiboot.h"

struct mb_reader {
    struct boot_info *info;
    const struct phys_view *view;
    struct fw_warnings *w;
    bool arena_full; /* told once */
};

/* Copies `bytes` bytes at `pa`; false when they cannot be read. */
bool mb_read(const struct mb_reader *r, paddr_t pa, void *to, size_t bytes);

/* A copy in the arena of the string at `pa`, at most `limit` bytes long; "" when there is none. */
const char *mb_string(struct mb_reader *r, paddr_t pa, size_t limit);

void mb_add_module(struct mb_reader *r, paddr_t start, paddr_t end, paddr_t string, size_t limit);

/* Fills framebuffer fields that both protocols lay out alike: type byte and colour bytes. */
/* `colours` is NULL where the loader gives none: then only a text screen counts. */
void mb_set_framebuffer(struct boot_framebuffer *fb, const uint8_t *fields, const uint8_t *colours);

int mb1_parse(struct mb_reader *r, paddr_t pa, size_t *fault);
int mb2_parse(struct mb_reader *r, paddr_t pa, size_t *fault);

#endif
