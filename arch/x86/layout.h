/*
 * The hypervisor's virtual address space. Everything is in the upper half, shared by all CPUs.
 *
 *   0xffff8000_00000000  direct map: RAM at its physical address (read-write), firmware tables
 *                        (read), never executable
 *   0xffffc000_00000000  device registers, uncached, given out from the bottom
 *   0xffffe000_00000000  stacks: one window per CPU, see struct cpu_area
 *   0xffffffff_80000000  the image (boot/entry.h)
 *
 * docs/memory-layout.md tells the same with the sizes.
 */
#ifndef ARCH_X86_LAYOUT_H
#define ARCH_X86_LAYOUT_H

#include "boot/entry.h"
#include "hv/types.h"

#define DIRECT_MAP_BASE  0xffff800000000000ull
#define DIRECT_MAP_BYTES (64 * 1024 * GIB) /* 46 bits: RAM above is left unused */
#define MMIO_BASE        0xffffc00000000000ull
#define MMIO_BYTES       (1 * GIB)
#define STACKS_BASE      0xffffe00000000000ull

/* linker.ld */
extern const char text_start[], text_end[];
extern const char rodata_start[];
extern const char ro_after_boot_start[], data_start[], data_end[];
extern const char image_start[], image_end[]; /* physical */
extern char boot_stack[], boot_stack_top[];

/* For tables written once while only the boot CPU runs, read-only from arch_memory_init on. */
#define RO_AFTER_BOOT __attribute__((section(".ro_after_boot")))

#endif
