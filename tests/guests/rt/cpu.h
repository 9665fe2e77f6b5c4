/*
 * One guest CPU: its descriptors, stacks, interrupt counts and the data other parts hang on it.
 *
 * The current CPU is found from the stack: every stack is RT_STACK_BYTES large and aligned, and its
 * first word points at the CPU's structure. So no test loses it by changing the segment bases, and
 * NMI and double fault find it on their own stacks too.
 */
#ifndef GUEST_RT_CPU_H
#define GUEST_RT_CPU_H

#include "hv/types.h"

#define RT_STACK_BYTES 8192ul
#define RT_CPUS_MAX    256u

enum vector {
    VEC_UD = 6,
    VEC_NMI = 2,
    VEC_DF = 8,
    VEC_GP = 13,
    VEC_PF = 14,
    VEC_USER_EXIT = 0x80, /* int $0x80 leaves ring 3 */
    VEC_WORK = 0xf0,      /* "look for work": high, so that a test's TPR does not mask it */
    VEC_SPURIOUS = 0xff,
};

struct trap_frame {
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax;
    uint64_t vector, error;
    uint64_t rip, cs, rflags, rsp, ss;
};

/* Intel SDM 3A 8.7. Packed: rsp0 lies at offset 4. */
struct __attribute__((packed)) tss {
    uint32_t reserved0;
    uint64_t rsp[3];
    uint64_t reserved1;
    uint64_t ist[7];
    uint64_t reserved2;
    uint16_t reserved3;
    uint16_t iomap;
};
_Static_assert(sizeof(struct tss) == 104, "TSS");

/* KVM's per-vCPU structures (docs/guest-abi.md); versions are odd while the host writes. */
struct pv_clock {
    uint32_t version;
    uint32_t pad0;
    uint64_t tsc_stamp;
    uint64_t system_ns;
    uint32_t mul;
    int8_t shift;
    uint8_t flags;
    uint8_t pad1[2];
} __attribute__((aligned(64)));

struct pv_steal {
    uint64_t steal_ns;
    uint32_t version;
    uint32_t flags;
    uint8_t preempted;
    uint8_t pad[47];
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct pv_steal) == 64, "steal time");

struct pv_lock;

struct cpu {
    struct pv_clock clock; /* written by the hypervisor */
    struct pv_steal steal; /* written by the hypervisor */

    uint32_t index;   /* [i] dense, 0 is the boot CPU */
    uint32_t apic_id; /* [i] */
    uint32_t state;   /* [a] enum smp_state */
    uint32_t faults;  /* own CPU only: exceptions that a fix-up took */

    void (*fn)(void *arg); /* [a] work; cleared by the CPU when done */
    void *arg;             /* written before fn is published */

    struct pv_lock *wait_lock; /* [a] the lock this CPU is halted for, or NULL */
    uint32_t wait_ticket;      /* written before wait_lock is published */
    uint64_t halts, kicks;     /* own CPU only: slow-path statistics */

    uint32_t irqs[256]; /* own CPU only: traps and interrupts taken, by vector */

    uint64_t gdt[7];
    struct tss tss;
};

/* Sets up `cpu`, whose stacks follow it in memory, before it is started. */
void cpu_prepare(struct cpu *cpu, uint32_t index, uint32_t apic_id, void *stacks);

/* Loads GDT, TSS and IDT on the CPU that runs. */
void cpu_load(struct cpu *cpu);

/* The IDT, shared by all CPUs; once, before the first cpu_load. */
void cpu_build_idt(void);

/*
 * Handlers of interrupts and exceptions, for all CPUs. An interrupt's handler does its own EOI. An
 * interrupt without handler is counted and ended; an exception without handler goes to the fix-ups,
 * then ends the guest with exit code 125.
 */
typedef void trap_fn(struct trap_frame *frame);
void trap_set_handler(uint32_t vector, trap_fn *fn);

extern uint8_t boot_stack[];
uint64_t user_run(void (*rip)(void), uint64_t rsp, uint64_t *rsp0, uint64_t flags, uint64_t arg);

#define CPU_STACKS 3 /* main, NMI, double fault */

static inline struct cpu *cpu_this(void)
{
    uint64_t rsp;

    asm("mov %%rsp, %0" : "=r"(rsp));
    return *(struct cpu **)(rsp & ~(RT_STACK_BYTES - 1));
}

#endif
