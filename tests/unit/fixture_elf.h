/*
 * Builders of guest images: a multiboot-1 header behind ELF32 or ELF64 headers, or alone.
 */
#ifndef TESTS_UNIT_FIXTURE_ELF_H
#define TESTS_UNIT_FIXTURE_ELF_H

#include "fixture_acpi.h"

struct elf_load {
    uint64_t offset, vaddr, paddr, file_bytes, mem_bytes;
};

static inline void put_mb1_header(struct table *t, uint32_t flags)
{
    put(t, 0x1badb002, 4);
    put(t, flags, 4);
    put(t, (uint32_t) - (0x1badb002 + flags), 4);
}

static inline void put_ident(struct table *t, uint8_t class)
{
    t->n = 0;
    put(t, 0x464c457f, 4);
    put(t, class, 1);
    put(t, 0x0101, 2);
    put_zeros(t, 9);
    put(t, 2, 2);
    put(t, class == 1 ? 3 : 62, 2);
    put(t, 1, 4);
}

static inline void elf32_build(struct table *t, uint32_t entry, const struct elf_load *loads,
                               uint32_t n, uint32_t flags)
{
    put_ident(t, 1);
    put(t, entry, 4);
    put(t, 52, 4);
    put_zeros(t, 8);
    put(t, 52, 2);
    put(t, 32, 2);
    put(t, n, 2);
    put_zeros(t, 6);
    for (uint32_t i = 0; i < n; i++) {
        put(t, 1, 4);
        put(t, loads[i].offset, 4);
        put(t, loads[i].vaddr, 4);
        put(t, loads[i].paddr, 4);
        put(t, loads[i].file_bytes, 4);
        put(t, loads[i].mem_bytes, 4);
        put(t, 0, 8);
    }
    put_mb1_header(t, flags);
    put_zeros(t, 0x1000 - t->n);
}

static inline void elf64_build(struct table *t, uint64_t entry, const struct elf_load *loads,
                               uint32_t n, uint32_t flags)
{
    put_ident(t, 2);
    put(t, entry, 8);
    put(t, 64, 8);
    put_zeros(t, 12);
    put(t, 64, 2);
    put(t, 56, 2);
    put(t, n, 2);
    put_zeros(t, 6);
    for (uint32_t i = 0; i < n; i++) {
        put(t, 1, 8);
        put(t, loads[i].offset, 8);
        put(t, loads[i].vaddr, 8);
        put(t, loads[i].paddr, 8);
        put(t, loads[i].file_bytes, 8);
        put(t, loads[i].mem_bytes, 8);
        put(t, 0, 8);
    }
    put_mb1_header(t, flags);
    put_zeros(t, 0x1000 - t->n);
}

#endif
