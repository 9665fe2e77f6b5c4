/*
 * What the boot order (kernel/main.c) asks of the machine, in the order in which it asks.
 *
 * kernel/ owns this interface, arch/x86 implements it. All on the boot CPU, before anything else
 * runs.
 */
#ifndef KERNEL_BRINGUP_H
#define KERNEL_BRINGUP_H

#include "hv/firmware.h"

struct cpu;
struct cpu_place;
struct fadt_info;
struct madt_info;
struct topology_counts;

/* Control registers, exceptions, a struct cpu for cpu_this(). */
void arch_early_init(void);

/* Where the image lies in memory. */
void arch_image_range(paddr_t *start, paddr_t *end);

/* struct phys_view's map: readable for ever once asked for; NULL when it cannot be. */
const void *arch_map_firmware(void *context, paddr_t pa, size_t bytes);

/* The final page tables, made of pages claimed from `map`. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int arch_memory_init(struct memmap *map);

/*
 * Video memory, write-combining, for ever. Asked for after arch_memory_init. NULL: no CPU can
 * address it, or no room is left.
 */
void *arch_map_framebuffer(paddr_t pa, uint64_t bytes);

/* RAM from here up is out of the direct map's reach. */
paddr_t arch_ram_limit(void);

/* From here on page tables come from kernel/mem.c, and the map is not touched any more. */
void arch_memory_from_allocator(void);

uint32_t arch_boot_apic_id(void);

/* Topology of n CPUs with these APIC ids into places[]; offline ones by the boot CPU's leaves. */
void arch_topology(struct cpu_place *places, uint32_t n, bool unit_siblings, uint64_t *scratch,
                   struct topology_counts *counts, struct fw_warnings *w);

/* Words of scratch for arch_topology. */
size_t arch_topology_scratch_words(uint32_t n);

/* PIC, local APIC, I/O APICs, clock. The tables may be NULL. */
void arch_platform_init(const struct madt_info *madt, const struct fadt_info *fadt, paddr_t hpet);

/* Area and stacks of a CPU on `node`; cpus[id] is set. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int arch_cpu_make(uint32_t id, uint32_t apic_id, uint32_t node);

/* Leave the first stack and area for those made for CPU 0. */
_Noreturn void arch_boot_cpu_enter(void (*fn)(void));

/* Start every CPU that has an area; cpus[id] of those that fail becomes NULL. Returns CPUs up. */
uint32_t arch_start_cpus(void);

/* "family:model:stepping, microcode", and a hybrid part's kind of core, for the boot lines. */
void arch_cpu_describe(const struct cpu *cpu, char *text, size_t bytes);

/* Where every other CPU arrives, on its own stack, interrupts off; defined in kernel/main.c. */
_Noreturn void cpu_main(struct cpu *cpu);

#endif
