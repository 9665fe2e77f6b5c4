/* Multiboot-1 guest images: which bytes go where. See elf.c. */
#ifndef BOOT_ELF_H
#define BOOT_ELF_H

#include "hv/types.h"

#define IMAGE_SEGMENTS_MAX 16

struct image_segment {
    uint64_t file_offset;
    uint64_t file_bytes; /* <= mem_bytes; the rest is zero */
    gpa_t base;
    uint64_t mem_bytes;
};

struct image {
    uint32_t entry; /* guest physical, 32-bit protected mode */
    uint32_t flags; /* multiboot header: IMAGE_WANTS_* */
    uint32_t nsegments;
    uint32_t elf_bits; /* 32, 64, or 0 for the address fields of the header */
    gpa_t end;         /* first byte above every segment */
    struct image_segment segment[IMAGE_SEGMENTS_MAX];
};

#define IMAGE_WANTS_PAGE_ALIGN 0x1u /* modules at page boundaries */
#define IMAGE_WANTS_MEMORY     0x2u
#define IMAGE_WANTS_VIDEO      0x4u

/*
 * 0; -ENOEXEC: no multiboot-1 header, or no ELF where one is needed; -EINVAL: damaged (*fault:
 * offset in the image); -E2BIG: a segment ends above `memory_bytes`; -ENOSPC: too many segments.
 */
__attribute__((warn_unused_result)) int image_parse(const void *data, size_t bytes,
                                                    uint64_t memory_bytes, struct image *image,
                                                    size_t *fault);

#endif
