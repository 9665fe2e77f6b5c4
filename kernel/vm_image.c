/*
 * A multiboot-1 guest into its memory: program, module, command line, memory map.
 *
 * Decides where the boot information lies: the top of conventional memory,
 * which the guest's memory map shows as reserved. The program's own addresses
 * decide the rest; boot/elf.c has checked them against the size of memory.
 * Source: Multiboot Specification 0.6.96, sections 3.2 and 3.3.
 */
#include <errno.h>
#include <string.h>

#include "boot/elf.h"
#include "hv/assert.h"
#include "kernel/printk.h"
#include "kernel/vm_build.h"

#define MULTIBOOT_MAGIC  0x2badb002u

#define INFO_GPA         0x9f000u
#define INFO_BYTES       0xc00u
#define HIGH_START       0x100000u

#define INFO_HAS_MEM     BIT(0)
#define INFO_HAS_CMDLINE BIT(2)
#define INFO_HAS_MODULES BIT(3)
#define INFO_HAS_MMAP    BIT(6)
#define INFO_HAS_LOADER  BIT(9)

struct mb_info {
    uint32_t flags;
    uint32_t mem_lower_kib;
    uint32_t mem_upper_kib;
    uint32_t boot_device;
    uint32_t cmdline;
    uint32_t mods_count;
    uint32_t mods_addr;
    uint32_t syms[4];
    uint32_t mmap_length;
    uint32_t mmap_addr;
    uint32_t drives_length;
    uint32_t drives_addr;
    uint32_t config_table;
    uint32_t loader_name;
};
_Static_assert(offsetof(struct mb_info, loader_name) == 64, "Multiboot 3.3");

struct mb_module {
    uint32_t start, end, string, reserved;
};

struct mb_mmap {
    uint32_t size; /* of the rest */
    uint64_t base, length;
    uint32_t type;
} __attribute__((packed));
_Static_assert(sizeof(struct mb_mmap) == 24, "Multiboot 3.3");

enum mb_mmap_type { MB_RAM = 1, MB_RESERVED = 2 };

/* Everything the information holds, in one piece at INFO_GPA. */
struct mb_block {
    struct mb_info info;
    struct mb_module module;
    struct mb_mmap mmap[4];
    char loader[8];
    char module_name[GUEST_NAME_CHARS];
    char cmdline[GUEST_CMDLINE_CHARS + GUEST_NAME_CHARS];
};
_Static_assert(sizeof(struct mb_block) <= INFO_BYTES, "fits below the EBDA");

#define MB_ADDR(member) ((uint32_t)(INFO_GPA + offsetof(struct mb_block, member)))

static uint32_t mb_fill_mmap(const struct vm *vm, struct mb_mmap mmap[4])
{
    uint64_t low_end = vm->slot[0].bytes;
    uint32_t n = 0;

    mmap[n++] = (struct mb_mmap){20, 0, INFO_GPA, MB_RAM};
    mmap[n++] = (struct mb_mmap){20, INFO_GPA, HIGH_START - INFO_GPA, MB_RESERVED};
    if (low_end > HIGH_START)
        mmap[n++] = (struct mb_mmap){20, HIGH_START, low_end - HIGH_START, MB_RAM};
    if (vm->slot_count == 2)
        mmap[n++] = (struct mb_mmap){20, vm->slot[1].gpa, vm->slot[1].bytes, MB_RAM};
    return n;
}

static void mb_fill(const struct vm *vm, struct mb_block *b, uint32_t module_start)
{
    uint32_t entries = mb_fill_mmap(vm, b->mmap);

    format_text(b->loader, sizeof(b->loader), "Numen");
    format_text(b->cmdline, sizeof(b->cmdline), "%s %s", vm->config.name, vm->config.cmdline);
    b->info = (struct mb_info){
        .flags = INFO_HAS_MEM | INFO_HAS_CMDLINE | INFO_HAS_MMAP | INFO_HAS_LOADER,
        .mem_lower_kib = INFO_GPA / KIB,
        .mem_upper_kib = (uint32_t)((vm->slot[0].bytes - HIGH_START) / KIB),
        .cmdline = MB_ADDR(cmdline),
        .mmap_length = entries * (uint32_t)sizeof(struct mb_mmap),
        .mmap_addr = MB_ADDR(mmap),
        .loader_name = MB_ADDR(loader),
    };
    if (!vm->initrd)
        return;
    format_text(b->module_name, sizeof(b->module_name), "%s", vm->config.initrd);
    b->module = (struct mb_module){.start = module_start,
                                   .end = module_start + (uint32_t)vm->initrd_bytes,
                                   .string = MB_ADDR(module_name)};
    b->info.flags |= INFO_HAS_MODULES;
    b->info.mods_count = 1;
    b->info.mods_addr = MB_ADDR(module);
}

static int image_copy(struct vm *vm, const struct image *image)
{
    for (uint32_t i = 0; i < image->nsegments; i++) {
        const struct image_segment *s = &image->segment[i];
        const uint8_t *from = (const uint8_t *)vm->image + s->file_offset;
        int err = vm_write(vm, s->base, from, s->file_bytes); /* the rest is zero already */

        if (err < 0)
            return err;
    }
    return 0;
}

/* The module goes behind the program, on a page of its own. */
static int initrd_copy(struct vm *vm, const struct image *image, uint32_t *start)
{
    uint64_t at = ALIGN_UP(MAX(image->end, (gpa_t)HIGH_START), PAGE_BYTES);

    *start = (uint32_t)at;
    if (!vm->initrd)
        return 0;
    if (at + vm->initrd_bytes > vm->slot[0].bytes)
        return -E2BIG;
    return vm_write(vm, at, vm->initrd, vm->initrd_bytes);
}

static const char *image_reason(int err)
{
    switch (err) {
    case -ENOEXEC:
        return "no multiboot-1 header in its first 8 KiB, or no ELF behind one";
    case -E2BIG:
        return "its memory is too small for it";
    case -ENOSPC:
        return "it has too many segments";
    default:
        return "it is damaged";
    }
}

static void vcpu_start_multiboot(struct vcpu *v, uint32_t entry)
{
    virt->start_state(v, VIRT_START_MULTIBOOT, entry);
    v->regs[VCPU_RAX] = MULTIBOOT_MAGIC;
    v->regs[VCPU_RBX] = INFO_GPA;
    v->run_state = VCPU_RUNNING;
    atomic_fetch_and(&v->pending, ~(uint32_t)PENDING_SLEEP);
}

int vm_image_load(struct vm *vm)
{
    struct mb_block *block = vm_memory(vm, INFO_GPA, sizeof(*block)); /* not running yet */
    struct image image;
    size_t fault = 0;
    uint32_t module_start = 0;
    int err;

    err = vm->slot[0].bytes < 2 * MIB
              ? -E2BIG
              : image_parse(vm->image, vm->image_bytes, vm->slot[0].bytes, &image, &fault);
    if (err == 0)
        err = image_copy(vm, &image);
    if (err == 0)
        err = initrd_copy(vm, &image, &module_start);
    if (err < 0) {
        pr_err("VM %s: its image cannot be loaded: %s (at offset %#llx)", vm->config.name,
               image_reason(err), (unsigned long long)fault);
        return err;
    }
    ASSERT(block);
    mb_fill(vm, block, module_start);
    vcpu_start_multiboot(vm->vcpus[0], image.entry);
    return 0;
}
