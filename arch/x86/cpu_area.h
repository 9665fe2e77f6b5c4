/*
 * What the hardware needs for one CPU: its stacks, its descriptor tables, its captured CPUID
 * leaves.
 *
 * One block of 64 KiB on the CPU's own node holds the lot. The stacks are used through a window of
 * their own in the virtual address space, where unmapped pages lie between them, so that an
 * overflow faults instead of writing over a neighbour; the rest is used through the direct map.
 *
 *   block   0 kernel stack (16 KiB) | 16 NMI | 24 #MC | 32 #DF | 40 struct cpu_area .. 64 KiB
 *   window  guard | NMI | guard | #MC | guard | #DF | guard | kernel stack | guard
 *
 * A stack's last word points to its struct cpu: NMI, #MC and #DF may come while GS is a guest's.
 */
#ifndef ARCH_X86_CPU_AREA_H
#define ARCH_X86_CPU_AREA_H

#include "arch/x86/regs/segment.h"
#include "hv/cpuid.h"
#include "kernel/cpu.h"

#define CPU_BLOCK_ORDER     4u /* 64 KiB */
#define CPU_STACK_BYTES     (16 * KIB)
#define CPU_IST_BYTES       (8 * KIB)
#define CPU_STACK_WINDOW    (128 * KIB)
#define CPU_STACK_TOP_BYTES 16 /* the struct cpu pointer, and a pad to keep the stack aligned */
#define CPU_CPUID_ENTRIES   128u

enum cpu_ist { IST_NONE, IST_NMI, IST_MC, IST_DF, IST_STACKS = IST_DF };

enum gdt_slot { GDT_NULL, GDT_CODE64, GDT_DATA, GDT_CODE32, GDT_TSS, GDT_TSS_HIGH, GDT_SLOTS };

#define GDT_SELECTOR(slot) ((uint16_t)((slot)*8))

struct virt_cpu; /* arch/x86/virt_state.c */

/* Tags as in kernel/cpu.h. */
struct arch_cpu {
    uint64_t gdt[GDT_SLOTS];                     /* [c] the CPU sets the TSS's busy bit */
    struct tss64 tss;                            /* [i] */
    uint64_t stack_top;                          /* [i] kernel stack, where bring-up enters C */
    uint64_t ist_top[IST_STACKS];                /* [i] by enum cpu_ist - 1 */
    uint32_t microcode;                          /* [i] revision, 0 unknown */
    uint32_t cpuid_count;                        /* [i] */
    uint32_t mtrr_differences;                   /* [i] enum mtrr_difference, to the boot CPU */
    int64_t tsc_adjust, tsc_adjust_wanted;       /* [i] as found, and what was made of it */
    struct cpuid_entry cpuid[CPU_CPUID_ENTRIES]; /* [i] as the CPU itself answers */
    ns_t timer_deadline;                         /* [c] what the timer is set to */
    uint64_t nmis;                               /* [c] */
    uint64_t stray_irqs;                         /* [c] vectors nobody asked for */
    uint64_t apic_errors;                        /* [c] */
    int64_t tsc_offset;    /* [i] added to the counter where it is not synchronous */
    struct virt_cpu *virt; /* [i] virtualization's own area */
};

struct cpu_area {
    struct cpu cpu;
    struct arch_cpu arch;
};

/* The boot CPU's first area, used until it has one on its own node. */
void cpu_area_early(void);

/* On the CPU itself: load its descriptor tables, GS and task register. */
void cpu_area_load(struct cpu *cpu);

/* The CPU whose NMI, #MC or #DF stack `sp` lies on. */
struct cpu *cpu_area_of_ist(uint64_t sp);

/* Whether [sp, sp + bytes) is on some stack, for stack traces. */
bool cpu_area_is_stack(uint64_t sp, uint64_t bytes);

#endif
