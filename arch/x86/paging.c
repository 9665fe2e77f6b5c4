/*
 * The hypervisor's own page tables: built once, when the memory map is known.
 *
 * Decides: what is mapped with which rights. The image section by section, RAM in the direct map,
 * firmware tables read-only in it as they are asked for, device registers, stacks. Does not decide
 * the walk (pagetable.c).
 * Invariants: no page is writable and executable; nothing is mapped in the lower half, except the
 * trampoline's one page in its own table while APs start; entries are added, never changed, so no
 * TLB shoot-down of host mappings exists. Until the page allocator runs (kernel/mem.c), tables come
 * from the memory map, below 4 GiB where the early tables reach.
 */
#include "arch/x86/paging.h"

#include <string.h>

#include "arch/x86/asm.h"
#include "arch/x86/features.h"
#include "arch/x86/layout.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/paging.h"
#include "boot/memmap.h"
#include "hv/assert.h"
#include "kernel/arch.h"
#include "kernel/bringup.h"
#include "kernel/mem.h"
#include "kernel/printk.h"

#define EARLY_REACH      (4 * GIB)
#define ROOT_LEVEL       4u
#define UPPER_HALF       (PT_ENTRIES / 2)
#define LARGE_PAGE_BYTES (2 * MIB)

static struct pagetable host;       /* [i] after bring-up but for added entries */
static struct pagetable trampoline; /* lower half: the trampoline page; upper half: the host's */
static struct pt_format format;     /* [i] pt_format_host, without NX where the CPU has none */
static struct memmap *early_map;    /* where tables come from until the page allocator runs */
static uint64_t mmio_used;          /* bytes of the window given out */

void *phys_to_virt(paddr_t pa)
{
    return (void *)(DIRECT_MAP_BASE + pa);
}

paddr_t virt_to_phys(const void *va)
{
    uint64_t address = (uint64_t)va;

    if (address >= KERNEL_BASE)
        return address - KERNEL_BASE;
    ASSERT(address >= DIRECT_MAP_BASE && address < DIRECT_MAP_BASE + DIRECT_MAP_BYTES);
    return address - DIRECT_MAP_BASE;
}

static paddr_t table_alloc(void *context)
{
    paddr_t page = early_map ? memmap_take(early_map, PAGE_BYTES, PAGE_BYTES, MIB, EARLY_REACH,
                                           MEM_CLAIM_EARLY)
                             : mem_alloc_pages(0, context ? *(const uint32_t *)context : 0);

    if (page != PADDR_NONE)
        memset(phys_to_virt(page), 0, PAGE_BYTES);
    return page;
}

static void table_free(void *context, paddr_t page)
{
    (void)context;
    mem_free_pages(page, 0);
}

const struct pt_memory paging_table_memory = {table_alloc, table_free, phys_to_virt};

int paging_map(uint64_t va, paddr_t pa, uint64_t bytes, enum paging_use use)
{
    return pagetable_map(&host, va, pa, bytes, use);
}

static int map_image(void)
{
    const struct {
        const char *start, *end;
        enum paging_use use;
    } parts[] = {
        {text_start, text_end, PAGING_TEXT},
        {rodata_start, ro_after_boot_start, PAGING_RODATA},
        {ro_after_boot_start, data_start, PAGING_RODATA},
        {data_start, data_end, PAGING_DATA},
    };
    int error = 0;

    for (uint32_t i = 0; i < ARRAY_SIZE(parts) && !error; i++) {
        uint64_t va = (uint64_t)parts[i].start;

        error = paging_map(va, va - KERNEL_BASE, ALIGN_UP((uint64_t)parts[i].end, PAGE_BYTES) - va,
                           parts[i].use);
    }
    return error;
}

/* The ranges are copied as they are met: taking tables from the map changes it under the loop. */
static int map_ram(struct memmap *map)
{
    paddr_t at = 0;
    int error = 0;

    for (uint32_t i = 0; i < map->count && !error;) {
        struct mem_range range = map->ranges[i];
        paddr_t end = MIN(range.base + range.length, (paddr_t)DIRECT_MAP_BYTES);

        if (!mem_type_is_ram(range.type) || end <= at) {
            i++;
            continue;
        }
        at = MAX(at, range.base);
        /* Join what touches, so that claims do not break up large pages. */
        for (uint32_t j = i + 1; j < map->count; j++) {
            if (map->ranges[j].base != end || !mem_type_is_ram(map->ranges[j].type))
                break;
            end = MIN(end + map->ranges[j].length, (paddr_t)DIRECT_MAP_BYTES);
        }
        error = paging_map(DIRECT_MAP_BASE + at, at, end - at, PAGING_DATA);
        at = end;
        i = 0;
    }
    return error;
}

int arch_memory_init(struct memmap *map)
{
    int error;

    early_map = map;
    format = pt_format_host;
    if (!cpu_features.nx)
        format.rights[2].without = 0; /* PT_EXEC's place: the NX bit would be a reserved one */
    error =
        pagetable_init(&host, &format, &paging_table_memory, NULL, cpu_features.page_1gib ? 3 : 2);
    if (!error)
        error = map_image();
    if (!error)
        error = map_ram(map);
    if (!error)
        paging_load();
    return error;
}

void arch_memory_from_allocator(void)
{
    early_map = NULL;
}

void paging_load(void)
{
    asm_write_cr3(host.root);
}

const void *arch_map_firmware(void *context, paddr_t pa, size_t bytes)
{
    paddr_t end = ALIGN_UP(pa + bytes, PAGE_BYTES);

    (void)context;
    if (!bytes || pa + bytes < pa || end > DIRECT_MAP_BYTES || end < pa)
        return NULL;
    if (!host.root) /* the early tables */
        return end <= EARLY_REACH ? phys_to_virt(pa) : NULL;
    for (paddr_t page = ALIGN_DOWN(pa, PAGE_BYTES); page < end;) {
        uint64_t run;

        if (pagetable_lookup(&host, DIRECT_MAP_BASE + page, end - page, &run) != PADDR_NONE) {
            page += run;
            continue;
        }
        if (paging_map(DIRECT_MAP_BASE + page, page, PAGE_BYTES, PAGING_RODATA))
            return NULL;
        page += PAGE_BYTES;
    }
    return phys_to_virt(pa);
}

void *arch_map_mmio(paddr_t pa, size_t bytes)
{
    uint64_t offset = pa % PAGE_BYTES;
    uint64_t length = ALIGN_UP(offset + bytes, PAGE_BYTES);
    uint64_t va = MMIO_BASE + mmio_used;

    if (length > MMIO_BYTES - mmio_used || paging_map(va, pa - offset, length, PAGING_DEVICE))
        return NULL;
    mmio_used += length;
    return (void *)(va + offset);
}

/*
 * Placed like its physical address in 2 MiB, so that large pages serve it. The window is 1 GiB,
 * which no picture needs; wide addresses set reserved bits of an entry on smaller CPUs.
 */
void *arch_map_framebuffer(paddr_t pa, uint64_t bytes)
{
    uint64_t offset = pa % PAGE_BYTES, length = ALIGN_UP(offset + bytes, PAGE_BYTES);
    uint64_t skip = (pa - offset - mmio_used) % LARGE_PAGE_BYTES;
    uint64_t va = MMIO_BASE + mmio_used + skip;

    if (bytes > MMIO_BYTES || pa > cpu_features.physical_limit - bytes ||
        skip + length > MMIO_BYTES - mmio_used || paging_map(va, pa - offset, length, PAGING_VIDEO))
        return NULL;
    mmio_used += skip + length;
    return (void *)(va + offset);
}

/*
 * Root and three levels below it, in the image and so below 4 GiB: real mode loads CR3 by 32 bits.
 */
static char trampoline_tables[4][PAGE_BYTES] __attribute__((aligned(4096)));
static uint32_t trampoline_used;

static paddr_t trampoline_alloc(void *context)
{
    (void)context;
    if (trampoline_used == ARRAY_SIZE(trampoline_tables))
        return PADDR_NONE;
    return virt_to_phys(trampoline_tables[trampoline_used++]);
}

static void trampoline_free(void *context, paddr_t page)
{
    (void)context;
    (void)page;
}

paddr_t paging_trampoline_begin(paddr_t page)
{
    static const struct pt_memory memory = {trampoline_alloc, trampoline_free, phys_to_virt};
    uint64_t *root = (uint64_t *)trampoline_tables[0], *own = phys_to_virt(host.root);

    if (pagetable_init(&trampoline, &format, &memory, NULL, 1) ||
        pagetable_map(&trampoline, page, page, PAGE_BYTES, PT_READ | PT_EXEC))
        return PADDR_NONE;
    memcpy(root + UPPER_HALF, own + UPPER_HALF, UPPER_HALF * sizeof(*root));
    return trampoline.root;
}

void paging_trampoline_end(void)
{
    uint64_t *root = (uint64_t *)trampoline_tables[0];

    /* The upper half stays: a CPU that came too late parks in the image by this very table. */
    memset(root, 0, UPPER_HALF * sizeof(*root));
}
