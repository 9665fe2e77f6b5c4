/*
 * Interrupts and exceptions of the host.
 *
 * They come from ring 0 only. Interrupts are taken where the kernel opens a window for them
 * (arch_irq_take, arch_idle) and do little: a handler sets hazard bits of its own CPU.
 */
#ifndef ARCH_X86_TRAP_H
#define ARCH_X86_TRAP_H

#include "hv/types.h"

/* Higher vectors have higher priority in the APIC (class = vector >> 4). */
enum irq_vector {
    VECTOR_UART = 0x30, /* and the next ones, by slot (kernel/uart.h) */
    VECTOR_KICK = 0xe0,
    VECTOR_TIMER = 0xef,
    VECTOR_ERROR = 0xfe,
    VECTOR_SPURIOUS = 0xff, /* low four bits set, as the oldest APICs demand */
    VECTORS = 256
};

/* As trap.S pushes it, low address first. */
struct trap_frame {
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
    uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
    uint64_t vector;
    uint64_t error;
    uint64_t rip, cs, rflags, rsp, ss; /* by the CPU */
};

_Static_assert(offsetof(struct trap_frame, vector) == 120, "trap.S");
_Static_assert(offsetof(struct trap_frame, rip) == 136, "trap.S");

/* Fills the table of gates; once, on the boot CPU, before anything may fault. */
void trap_init(void);

/* Points this CPU at the table of gates. */
void trap_load(void);

/* The function to call for a device's interrupt, before EOI. Set before the interrupt is let in. */
void trap_set_handler(uint8_t vector, void (*handler)(void));

/*
 * Handle an interrupt as if it had come through its gate: for VM exits that have taken it from the
 * APIC (acknowledge interrupt on exit). Interrupts off.
 */
void trap_interrupt(uint8_t vector);

/* The same for an NMI that ended a guest's run. */
void trap_nmi(void);

/* From trap.S. */
void trap_handle(struct trap_frame *frame);

extern const uint64_t trap_entry[VECTORS]; /* trap.S */

#endif
