/* The physical memory map: sorted, without overlap, severest type wins. See memmap.c. */
#ifndef BOOT_MEMMAP_H
#define BOOT_MEMMAP_H

#include "hv/firmware.h"

void memmap_init(struct memmap *map, struct mem_range *ranges, uint32_t capacity);

/* A firmware range; overlaps keep the severer type. Length 0 is ignored, a wrapping end is cut. */
void memmap_add(struct memmap *map, paddr_t base, uint64_t length, uint32_t type);

enum mem_type memmap_type_of_e820(uint32_t e820_type);
enum mem_type memmap_type_of_efi(uint32_t efi_type);

/* RAM shrinks inward to whole pages; claims grow outward over RAM. Call when all ranges are in. */
void memmap_trim(struct memmap *map);

/* Marks the RAM inside the page-rounded range as in use; what is not RAM stays as it is. */
void memmap_claim(struct memmap *map, paddr_t base, uint64_t length, enum mem_type claim);

/*
 * Claims `length` bytes (rounded up to pages) of free RAM inside [min, max), highest place first.
 * `align` is a power of two >= PAGE_BYTES. PADDR_NONE when there is no such place.
 */
paddr_t memmap_take(struct memmap *map, uint64_t length, uint64_t align, paddr_t min, paddr_t max,
                    enum mem_type claim);

/* The range that holds `pa`, or NULL. */
const struct mem_range *memmap_find(const struct memmap *map, paddr_t pa);

/* Bytes of RAM, claims included, in [base, base + length). */
uint64_t memmap_ram_bytes(const struct memmap *map, paddr_t base, uint64_t length);

#endif
