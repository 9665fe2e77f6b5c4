/*
 * The physical memory map.
 *
 * Decides who keeps the bytes where firmware ranges overlap (the severer type), what of the RAM is
 * whole pages, and what is already in use (claims). Does not decide where anything is placed but
 * for memmap_take, which takes the highest fitting place. Invariants: ranges are sorted by base, do
 * not overlap, are not empty, end at or below PADDR_LIMIT, and neighbours of one type are merged.
 * With the array full, free RAM is given up before any other type; once a range of another type
 * found no room, no RAM is taken in any more: bytes that are handed out are always bytes that
 * firmware called RAM and nothing else. Source: ACPI 6.4 section 15 (address range types), UEFI 2.9
 * section 7.2 (memory descriptors).
 */
#include "boot/memmap.h"

#include <string.h>

#define PADDR_LIMIT BIT(52) /* architectural limit of a physical address (SDM vol. 3, 4.1.4) */

/* One change splits a range in two at most and puts a third between. */
#define ROOM_FOR_CHANGE 2

void memmap_init(struct memmap *map, struct mem_range *ranges, uint32_t capacity)
{
    *map = (struct memmap){.ranges = ranges, .capacity = capacity};
}

enum mem_type memmap_type_of_e820(uint32_t e820_type)
{
    switch (e820_type) {
    case 1:
        return MEM_RAM;
    case 3:
        return MEM_ACPI;
    case 4:
        return MEM_NVS;
    case 5:
        return MEM_BAD;
    case 7:  /* persistent */
    case 12: /* its number before ACPI 6 */
        return MEM_PERSISTENT;
    default:
        return MEM_RESERVED;
    }
}

enum mem_type memmap_type_of_efi(uint32_t efi_type)
{
    switch (efi_type) {
    case 1: /* loader code and data, boot services code and data: free after ExitBootServices */
    case 2:
    case 3:
    case 4:
    case 7: /* conventional */
        return MEM_RAM;
    case 8:
        return MEM_BAD;
    case 9:
        return MEM_ACPI;
    case 10:
        return MEM_NVS;
    case 14:
        return MEM_PERSISTENT;
    default:
        return MEM_RESERVED;
    }
}

static paddr_t range_end(const struct mem_range *r)
{
    return r->base + r->length;
}

/* The first range that ends above `pa`, or count. */
static uint32_t find_from(const struct memmap *map, paddr_t pa)
{
    uint32_t low = 0, high = map->count;

    while (low < high) {
        uint32_t mid = (low + high) / 2;

        if (range_end(&map->ranges[mid]) > pa)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static void remove_at(struct memmap *map, uint32_t i, uint32_t n)
{
    memmove(&map->ranges[i], &map->ranges[i + n], (map->count - i - n) * sizeof(map->ranges[0]));
    map->count -= n;
}

static void insert_at(struct memmap *map, uint32_t i, paddr_t base, paddr_t end, uint32_t type)
{
    memmove(&map->ranges[i + 1], &map->ranges[i], (map->count - i) * sizeof(map->ranges[0]));
    map->ranges[i] = (struct mem_range){.base = base, .length = end - base, .type = type};
    map->count++;
}

/* Room for one change, at the cost of the smallest free RAM. False: there is none to give up. */
static bool make_room(struct memmap *map)
{
    while (map->count + ROOM_FOR_CHANGE > map->capacity) {
        uint32_t least = map->count;

        for (uint32_t i = 0; i < map->count; i++) {
            if (map->ranges[i].type == MEM_RAM &&
                (least == map->count || map->ranges[i].length < map->ranges[least].length))
                least = i;
        }
        map->dropped++;
        if (least == map->count)
            return false;
        remove_at(map, least, 1);
    }
    return true;
}

static void merge_with_next(struct memmap *map, uint32_t i)
{
    struct mem_range *r = &map->ranges[i];

    if (i + 1 >= map->count || r[1].type != r->type || r[1].base != range_end(r))
        return;
    r->length += r[1].length;
    remove_at(map, i + 1, 1);
}

/* [base, end) becomes `type` whatever it was. There is room for the change. */
static void overwrite(struct memmap *map, paddr_t base, paddr_t end, uint32_t type)
{
    uint32_t i = find_from(map, base);
    uint32_t gone = 0;

    if (i < map->count && map->ranges[i].base < base) {
        struct mem_range *r = &map->ranges[i];
        paddr_t old_end = range_end(r);

        r->length = base - r->base;
        i++;
        if (old_end > end)
            insert_at(map, i, end, old_end, r->type);
    }
    while (i + gone < map->count && range_end(&map->ranges[i + gone]) <= end)
        gone++;
    remove_at(map, i, gone);
    if (i < map->count && map->ranges[i].base < end) {
        map->ranges[i].length = range_end(&map->ranges[i]) - end;
        map->ranges[i].base = end;
    }
    insert_at(map, i, base, end, type);
    merge_with_next(map, i);
    if (i > 0)
        merge_with_next(map, i - 1);
}

static paddr_t end_of(paddr_t base, uint64_t length)
{
    return length > PADDR_LIMIT || base + length > PADDR_LIMIT ? PADDR_LIMIT : base + length;
}

void memmap_add(struct memmap *map, paddr_t base, uint64_t length, uint32_t type)
{
    paddr_t end, stop;

    if (base >= PADDR_LIMIT || length == 0)
        return;
    if (type == MEM_RAM && map->count + ROOM_FOR_CHANGE > map->capacity)
        map->dropped++;
    if (type == MEM_RAM && map->dropped)
        return;
    end = end_of(base, length);
    for (; base < end; base = stop) {
        const struct mem_range *r;
        uint32_t i;

        if (!make_room(map))
            return;
        i = find_from(map, base);
        r = &map->ranges[i];
        if (i == map->count || r->base >= end) {
            overwrite(map, base, end, type);
            return;
        }
        if (r->base > base)
            overwrite(map, base, stop = r->base, type);
        else if (stop = MIN(end, range_end(r)), r->type < type)
            overwrite(map, base, stop, type);
    }
}

void memmap_trim(struct memmap *map)
{
    for (uint32_t i = map->count; i-- > 0;) {
        struct mem_range *r = &map->ranges[i];
        paddr_t base = ALIGN_UP(r->base, PAGE_BYTES), end = ALIGN_DOWN(range_end(r), PAGE_BYTES);

        if (r->type != MEM_RAM)
            continue;
        if (base >= end) {
            remove_at(map, i, 1);
            continue;
        }
        r->base = base;
        r->length = end - base;
    }
}

void memmap_claim(struct memmap *map, paddr_t base, uint64_t length, enum mem_type claim)
{
    paddr_t end, stop;

    if (base >= PADDR_LIMIT || length == 0)
        return;
    end = ALIGN_UP(end_of(base, length), PAGE_BYTES);
    for (base = ALIGN_DOWN(base, PAGE_BYTES); base < end; base = stop) {
        const struct mem_range *r;
        uint32_t i;

        if (!make_room(map))
            return;
        i = find_from(map, base);
        r = &map->ranges[i];
        if (i == map->count || r->base >= end)
            return;
        base = MAX(base, r->base);
        stop = MIN(end, range_end(r));
        if (mem_type_is_ram(r->type) && r->type < (uint32_t)claim)
            overwrite(map, base, stop, claim);
    }
}

paddr_t memmap_take(struct memmap *map, uint64_t length, uint64_t align, paddr_t min, paddr_t max,
                    enum mem_type claim)
{
    if (length == 0 || length > PADDR_LIMIT)
        return PADDR_NONE;
    length = ALIGN_UP(length, PAGE_BYTES);
    for (uint32_t i = map->count; i-- > 0;) {
        const struct mem_range *r = &map->ranges[i];
        paddr_t low = MAX(r->base, min), high = MIN(range_end(r), max), place;

        if (r->type != MEM_RAM || high < low || high - low < length)
            continue;
        place = ALIGN_DOWN(high - length, align);
        if (place < low)
            continue;
        memmap_claim(map, place, length, claim);
        return place;
    }
    return PADDR_NONE;
}

const struct mem_range *memmap_find(const struct memmap *map, paddr_t pa)
{
    uint32_t i = find_from(map, pa);

    return i < map->count && map->ranges[i].base <= pa ? &map->ranges[i] : NULL;
}

uint64_t memmap_ram_bytes(const struct memmap *map, paddr_t base, uint64_t length)
{
    paddr_t end = base + length < base ? UINT64_MAX : base + length;
    uint64_t sum = 0;

    for (uint32_t i = find_from(map, base); i < map->count && map->ranges[i].base < end; i++) {
        const struct mem_range *r = &map->ranges[i];

        if (mem_type_is_ram(r->type))
            sum += MIN(range_end(r), end) - MAX(r->base, base);
    }
    return sum;
}
