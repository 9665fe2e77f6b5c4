/*
 * Per-CPU areas: made by the boot CPU, loaded by each CPU for itself.
 *
 * Decides where stacks lie and what is in a GDT. Does not decide the node (kernel/main.c) nor what
 * gates there are (trap.c). Invariants: every stack has an unmapped page below and above it; a
 * stack's last word is its CPU; the area never moves once its CPU runs on it.
 */
#include "arch/x86/cpu_area.h"

#include <string.h>

#include "arch/x86/asm.h"
#include "arch/x86/layout.h"
#include "arch/x86/paging.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/trap.h"
#include "kernel/arch.h"
#include "kernel/bringup.h"
#include "kernel/mem.h"

_Static_assert(ENTRY_CS64 == GDT_SELECTOR(GDT_CODE64), "boot/entry.h");
_Static_assert(ENTRY_DS == GDT_SELECTOR(GDT_DATA), "boot/entry.h");
_Static_assert(ENTRY_CS32 == GDT_SELECTOR(GDT_CODE32), "boot/entry.h");

/* Offsets of the stacks: in the block, and in the window. */
#define BLOCK_IST(ist)  (CPU_STACK_BYTES + ((ist)-1) * CPU_IST_BYTES)
#define BLOCK_AREA      (CPU_STACK_BYTES + IST_STACKS * CPU_IST_BYTES)
#define WINDOW_IST(ist) (CPU_IST_BYTES + ((ist)-1) * 2 * CPU_IST_BYTES)
#define WINDOW_STACK    (4 * CPU_STACK_BYTES)

_Static_assert(BLOCK_AREA + sizeof(struct cpu_area) <= PAGE_BYTES << CPU_BLOCK_ORDER, "block");
_Static_assert(WINDOW_IST(IST_STACKS) + 2 * CPU_IST_BYTES <= WINDOW_STACK, "guard below the stack");
_Static_assert(WINDOW_STACK + 2 * CPU_STACK_BYTES <= CPU_STACK_WINDOW, "guard above the stack");

static struct cpu_area early_area;
static char early_ist[IST_STACKS][CPU_IST_BYTES] __attribute__((aligned(8192)));

static void area_fill(struct cpu_area *area, uint32_t id, uint32_t apic_id)
{
    struct cpu *cpu = &area->cpu;

    cpu->self = cpu;
    cpu->id = id;
    cpu->place.cpu = id;
    cpu->place.apic_id = apic_id;
    cpu->arch = &area->arch;
    cpu->idle_since = NS_NEVER;
    area->arch.timer_deadline = NS_NEVER;
}

/* The last word of the stack gets the CPU's pointer. `end`: where the stack is seen to end. */
static uint64_t stack_prepare(void *memory_end, uint64_t end, struct cpu *cpu)
{
    ((struct cpu **)memory_end)[-1] = cpu;
    return end - CPU_STACK_TOP_BYTES;
}

static void tables_fill(struct arch_cpu *arch)
{
    uint64_t tss = (uint64_t)&arch->tss;

    arch->gdt[GDT_CODE64] = SEGMENT_CODE64;
    arch->gdt[GDT_DATA] = SEGMENT_DATA;
    arch->gdt[GDT_CODE32] = SEGMENT_CODE32;
    arch->gdt[GDT_TSS] = FIELD_PREP(SEGMENT_LIMIT, sizeof(arch->tss) - 1) |
                         FIELD_PREP(SEGMENT_BASE_LO, tss) |
                         FIELD_PREP(SEGMENT_TYPE, SEGMENT_TSS64) | SEGMENT_PRESENT |
                         FIELD_PREP(SEGMENT_BASE_HI, tss >> 24);
    arch->gdt[GDT_TSS_HIGH] = tss >> 32;
    for (uint32_t i = 0; i < IST_STACKS; i++)
        memcpy(&arch->tss.ist[2 * i], &arch->ist_top[i], sizeof(arch->ist_top[i]));
    arch->tss.iomap = sizeof(arch->tss); /* none */
}

void cpu_area_early(void)
{
    struct arch_cpu *arch = &early_area.arch;

    area_fill(&early_area, 0, 0);
    for (uint32_t i = 0; i < IST_STACKS; i++) {
        char *end = early_ist[i] + CPU_IST_BYTES;

        arch->ist_top[i] = stack_prepare(end, (uint64_t)end, &early_area.cpu);
    }
    tables_fill(arch);
    cpu_area_load(&early_area.cpu);
}

int arch_cpu_make(uint32_t id, uint32_t apic_id, uint32_t node)
{
    paddr_t block = mem_alloc_pages(CPU_BLOCK_ORDER, node);
    uint64_t window = STACKS_BASE + id * CPU_STACK_WINDOW;
    struct cpu_area *area;
    char *memory;
    int error;

    if (block == PADDR_NONE)
        return -ENOMEM;
    memory = phys_to_virt(block);
    area = (struct cpu_area *)(memory + BLOCK_AREA);
    memset(area, 0, sizeof(*area));
    area_fill(area, id, apic_id);

    error = paging_map(window + WINDOW_STACK, block, CPU_STACK_BYTES, PAGING_DATA);
    area->arch.stack_top = stack_prepare(memory + CPU_STACK_BYTES,
                                         window + WINDOW_STACK + CPU_STACK_BYTES, &area->cpu);
    for (uint32_t ist = IST_NMI; ist <= IST_STACKS && !error; ist++) {
        error = paging_map(window + WINDOW_IST(ist), block + BLOCK_IST(ist), CPU_IST_BYTES,
                           PAGING_DATA);
        area->arch.ist_top[ist - 1] =
            stack_prepare(memory + BLOCK_IST(ist) + CPU_IST_BYTES,
                          window + WINDOW_IST(ist) + CPU_IST_BYTES, &area->cpu);
    }
    if (error)
        return error;
    tables_fill(&area->arch);
    cpus[id] = &area->cpu;
    return 0;
}

void cpu_area_load(struct cpu *cpu)
{
    struct table_pointer gdt = {sizeof(cpu->arch->gdt) - 1, (uint64_t)cpu->arch->gdt};

    /* Busy from an earlier load (the CPU was offline between): LTR would fault. */
    cpu->arch->gdt[GDT_TSS] &= ~FIELD_PREP(SEGMENT_TYPE, 0x02);
    asm_lgdt(&gdt);
    asm_load_segments(GDT_SELECTOR(GDT_CODE64), GDT_SELECTOR(GDT_DATA));
    asm_wrmsr(MSR_GS_BASE, (uint64_t)cpu);
    asm_ltr(GDT_SELECTOR(GDT_TSS));
    trap_load();
}

struct cpu *cpu_area_of_ist(uint64_t sp)
{
    return *(struct cpu **)(ALIGN_DOWN(sp, CPU_IST_BYTES) + CPU_IST_BYTES - sizeof(struct cpu *));
}

bool cpu_area_is_stack(uint64_t sp, uint64_t bytes)
{
    uint64_t windows = STACKS_BASE + CPUS_MAX * CPU_STACK_WINDOW;

    if (sp >= STACKS_BASE && sp + bytes <= windows)
        return true;
    /* The boot CPU's first ones. */
    return sp >= (uint64_t)data_start && sp + bytes <= (uint64_t)data_end;
}
