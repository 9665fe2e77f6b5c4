/*
 * Guest images: a multiboot-1 header with ELF32 or ELF64 program headers, or with its own address
 * fields.
 *
 * Decides which bytes of the image go where in guest memory and where the guest starts; copies
 * nothing. Invariants: every segment lies inside the image's bytes and inside the guest's memory;
 * mem_bytes >= file_bytes and > 0; the entry lies in a segment. An ELF entry is a virtual address:
 * where a segment's virtual and physical addresses differ, it is translated, as GRUB and QEMU do.
 * Source: multiboot 0.6.96 section 3.1; ELF-64 object file format 1.5.
 */
#include "boot/elf.h"

#include <errno.h>
#include <string.h>

#include "boot/bytes.h"
#include "hv/bits.h"

#define MB1_HEADER_MAGIC  0x1badb002u
#define MB1_SEARCH_BYTES  8192
#define MB1_HAS_ADDRESSES BIT(16)
#define MB1_MUST_KNOW     BITS(15, 0) /* a loader that does not know one of these must refuse */
#define MB1_KNOWN         (IMAGE_WANTS_PAGE_ALIGN | IMAGE_WANTS_MEMORY | IMAGE_WANTS_VIDEO)

enum {
    MB1_HEADER_BYTES = 12,
    MB1_ADDRESSES_BYTES = 32,
    ELF_CLASS = 4,
    ELF_DATA = 5,
    ELF_TYPE = 16,
    ELF_MACHINE = 18,
    ELF32_HEADER_BYTES = 52,
    ELF64_HEADER_BYTES = 64,
    ELF32_PH_BYTES = 32,
    ELF64_PH_BYTES = 56,
};

enum { ELF_CLASS_32 = 1, ELF_CLASS_64 = 2, ELF_LITTLE_ENDIAN = 1, ELF_EXECUTABLE = 2, PT_LOAD = 1 };
enum { ELF_MACHINE_386 = 3, ELF_MACHINE_X86_64 = 62 };

struct image_reader {
    const uint8_t *data;
    size_t bytes;
    uint64_t memory_bytes;
    struct image *image;
    size_t *fault;
};

struct elf_header {
    uint64_t entry;
    uint64_t ph_offset;
    uint32_t ph_bytes;
    uint32_t ph_count;
};

struct elf_segment {
    uint32_t type;
    uint64_t offset, vaddr, paddr, file_bytes, mem_bytes;
};

static int fail(const struct image_reader *r, size_t offset, int err)
{
    *r->fault = offset;
    return err;
}

static int add_segment(struct image_reader *r, const struct image_segment *s, size_t at)
{
    struct image *image = r->image;

    if (s->mem_bytes == 0)
        return 0;
    if (s->file_bytes > s->mem_bytes || s->file_offset > r->bytes ||
        s->file_bytes > r->bytes - s->file_offset)
        return fail(r, at, -EINVAL);
    if (s->base > r->memory_bytes || s->mem_bytes > r->memory_bytes - s->base)
        return fail(r, at, -E2BIG);
    if (image->nsegments == IMAGE_SEGMENTS_MAX)
        return fail(r, at, -ENOSPC);
    image->segment[image->nsegments++] = *s;
    image->end = MAX(image->end, s->base + s->mem_bytes);
    return 0;
}

static bool in_segment(const struct image *image, uint64_t pa)
{
    for (uint32_t i = 0; i < image->nsegments; i++) {
        const struct image_segment *s = &image->segment[i];

        if (pa >= s->base && pa - s->base < s->mem_bytes)
            return true;
    }
    return false;
}

static int set_entry(struct image_reader *r, uint64_t entry, size_t at)
{
    if (entry > UINT32_MAX || !in_segment(r->image, entry))
        return fail(r, at, -EINVAL);
    r->image->entry = (uint32_t)entry;
    return 0;
}

/* The offset of the multiboot header, or `bytes` when there is none. */
static size_t find_header(const uint8_t *data, size_t bytes)
{
    size_t end = MIN(bytes, (size_t)MB1_SEARCH_BYTES);

    for (size_t at = 0; at + MB1_HEADER_BYTES <= end; at += 4)
        if (read_le32(data + at) == MB1_HEADER_MAGIC &&
            read_le32(data + at) + read_le32(data + at + 4) + read_le32(data + at + 8) == 0)
            return at;
    return bytes;
}

/* The header's own address fields: one segment, and zeroes behind it. */
static int read_addresses(struct image_reader *r, size_t at)
{
    const uint8_t *h = r->data + at;
    uint32_t header_addr, load, load_end, bss_end;
    struct image_segment s = {0};
    int err;

    if (r->bytes - at < MB1_ADDRESSES_BYTES)
        return fail(r, at, -EINVAL);
    header_addr = read_le32(h + 12);
    load = read_le32(h + 16);
    load_end = read_le32(h + 20);
    bss_end = read_le32(h + 24);
    if (header_addr < load || header_addr - load > at)
        return fail(r, at + 12, -EINVAL);
    s.base = load;
    s.file_offset = at - (header_addr - load);
    if (load_end && load_end < load)
        return fail(r, at + 20, -EINVAL);
    s.file_bytes = load_end ? load_end - load : r->bytes - s.file_offset;
    s.mem_bytes = s.file_bytes;
    if (bss_end) {
        if (bss_end < load || bss_end - load < s.file_bytes)
            return fail(r, at + 24, -EINVAL);
        s.mem_bytes = bss_end - load;
    }
    err = add_segment(r, &s, at + 16);
    return err ? err : set_entry(r, read_le32(h + 28), at + 28);
}

static int read_elf_header(struct image_reader *r, struct elf_header *h)
{
    const uint8_t *d = r->data;
    uint16_t machine;

    if (r->bytes < ELF32_HEADER_BYTES || memcmp(d, "\177ELF", 4) != 0)
        return fail(r, 0, -ENOEXEC);
    machine = read_le16(d + ELF_MACHINE);
    if (d[ELF_DATA] != ELF_LITTLE_ENDIAN || read_le16(d + ELF_TYPE) != ELF_EXECUTABLE ||
        (machine != ELF_MACHINE_386 && machine != ELF_MACHINE_X86_64))
        return fail(r, ELF_DATA, -ENOEXEC);
    if (d[ELF_CLASS] == ELF_CLASS_32) {
        r->image->elf_bits = 32;
        *h = (struct elf_header){read_le32(d + 24), read_le32(d + 28), read_le16(d + 42),
                                 read_le16(d + 44)};
        return h->ph_bytes < ELF32_PH_BYTES ? fail(r, 42, -EINVAL) : 0;
    }
    if (d[ELF_CLASS] != ELF_CLASS_64 || r->bytes < ELF64_HEADER_BYTES)
        return fail(r, ELF_CLASS, -ENOEXEC);
    r->image->elf_bits = 64;
    *h = (struct elf_header){read_le64(d + 24), read_le64(d + 32), read_le16(d + 54),
                             read_le16(d + 56)};
    return h->ph_bytes < ELF64_PH_BYTES ? fail(r, 54, -EINVAL) : 0;
}

static struct elf_segment read_program_header(const uint8_t *p, uint32_t elf_bits)
{
    if (elf_bits == 32)
        return (struct elf_segment){
            .type = read_le32(p),
            .offset = read_le32(p + 4),
            .vaddr = read_le32(p + 8),
            .paddr = read_le32(p + 12),
            .file_bytes = read_le32(p + 16),
            .mem_bytes = read_le32(p + 20),
        };
    return (struct elf_segment){
        .type = read_le32(p),
        .offset = read_le64(p + 8),
        .vaddr = read_le64(p + 16),
        .paddr = read_le64(p + 24),
        .file_bytes = read_le64(p + 32),
        .mem_bytes = read_le64(p + 40),
    };
}

static int read_elf(struct image_reader *r)
{
    struct elf_header h;
    uint64_t entry;
    bool translated = false;
    int err = read_elf_header(r, &h);

    if (err)
        return err;
    if (h.ph_offset > r->bytes || (uint64_t)h.ph_count * h.ph_bytes > r->bytes - h.ph_offset)
        return fail(r, r->image->elf_bits == 32 ? 28 : 32, -EINVAL);
    entry = h.entry;
    for (uint32_t i = 0; i < h.ph_count; i++) {
        size_t at = h.ph_offset + (size_t)i * h.ph_bytes;
        struct elf_segment s = read_program_header(r->data + at, r->image->elf_bits);

        if (s.type != PT_LOAD)
            continue;
        err = add_segment(r,
                          &(struct image_segment){.file_offset = s.offset,
                                                  .file_bytes = s.file_bytes,
                                                  .base = s.paddr,
                                                  .mem_bytes = s.mem_bytes},
                          at);
        if (err)
            return err;
        if (!translated && h.entry >= s.vaddr && h.entry - s.vaddr < s.mem_bytes) {
            entry = h.entry - s.vaddr + s.paddr;
            translated = true;
        }
    }
    return set_entry(r, entry, 24);
}

int image_parse(const void *data, size_t bytes, uint64_t memory_bytes, struct image *image,
                size_t *fault)
{
    struct image_reader r = {data, bytes, memory_bytes, image, fault};
    size_t at = find_header(data, bytes);

    memset(image, 0, sizeof(*image));
    *fault = 0;
    if (at == bytes)
        return -ENOEXEC;
    image->flags = read_le32(r.data + at + 4);
    if (image->flags & MB1_MUST_KNOW & ~(uint64_t)MB1_KNOWN)
        return fail(&r, at + 4, -EINVAL);
    return image->flags & MB1_HAS_ADDRESSES ? read_addresses(&r, at) : read_elf(&r);
}
