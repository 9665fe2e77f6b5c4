/*
 * One physical CPU as the kernel sees it, and its hazard word.
 *
 * Every CPU has one struct cpu, on its own node, found through GS (gs:0 holds its own address).
 * There is one kernel stack per CPU and interrupts are off in the kernel, so fields tagged [c] need
 * no lock: only the CPU itself touches them.
 *
 * The hazard word is the one thing looked at between an exit and the next entry. Any CPU, or an
 * interrupt handler, may set bits with cpu_hazard; only its owner clears them (kernel/loop.c).
 *
 * Tags: [i] set once at bring-up, [c] own CPU only, [a] atomic.
 */
#ifndef KERNEL_CPU_H
#define KERNEL_CPU_H

#include "hv/atomic.h"
#include "hv/cpu_place.h"
#include "hv/types.h"
#include "kernel/work.h"

struct arch_cpu;
struct timer_tree;
struct trace_ring;
struct vcpu;

enum cpu_hazard_bit {
    HAZARD_SCHED = 1u << 0,  /* call sched_pick: set by sched_host_kick, block, yield, slice end */
    HAZARD_TIMER = 1u << 1,  /* the CPU's timer fired: run what is due */
    HAZARD_WORK = 1u << 2,   /* a resumable work item waits for this CPU */
    HAZARD_STOP = 1u << 3,   /* halt for good: panic or power off elsewhere */
    HAZARD_INPUT = 1u << 4,  /* console input or output wants service */
    HAZARD_TLB = 1u << 5,    /* forget translations of guest memory before the next entry */
    HAZARD_GATHER = 1u << 6, /* wait in the loop while CPU 0 changes something (gather.c) */
};

struct cpu {
    struct cpu *self;          /* [i] gs:0 */
    uint32_t id;               /* [i] Numen's CPU number */
    uint32_t hazard;           /* [a] enum cpu_hazard_bit */
    struct vcpu *current;      /* [c] the vCPU whose state is loaded here; NULL when idle */
    bool online;               /* [a] up and in its loop */
    uint32_t gathered;         /* [a] number of the gate it last waited at (gather.c) */
    bool left_out;             /* [a] came up, but takes no part: halts for good */
    struct cpu_place place;    /* [i] */
    struct arch_cpu *arch;     /* [i] APIC, descriptor tables, virtualization areas */
    struct timer_tree *timers; /* [i] has its own lock */
    struct trace_ring *trace;  /* [a] NULL until the first `trace on` */
    struct work_list work;     /* see kernel/work.h */
    uint64_t kicks_sent;       /* [c] IPIs this CPU sent to make another reschedule or look */
    uint64_t switches;         /* [c] vCPU switches */
    struct timer slice;        /* when the scheduler wants to be asked again */
    ns_t idle_since;           /* [c] when it went idle; NS_NEVER while it runs a vCPU */
    ns_t idle_ns;              /* [c] time spent idle before idle_since */
};

static inline struct cpu *cpu_this(void)
{
    return *(struct cpu *volatile __seg_gs *)0;
}

extern struct cpu *cpus[CPUS_MAX]; /* [i] by CPU number; NULL beyond cpu_count or not brought up */
extern uint32_t cpu_count;         /* [i] CPUs in the numbering, online or not */

/* Set hazard bits of this CPU: its loop finds them before the next entry. */
static inline void cpu_hazard_self(uint32_t bits)
{
    atomic_fetch_or(&cpu_this()->hazard, bits);
}

/* Set hazard bits of any CPU and, if it is another one, interrupt it so that it looks. */
void cpu_hazard(struct cpu *cpu, uint32_t bits);

/* The loop every CPU ends its bring-up in; defined in kernel/loop.c. */
_Noreturn void cpu_loop(void);

#endif
