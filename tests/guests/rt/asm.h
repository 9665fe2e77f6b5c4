/*
 * The guests' inline assembly: ports, MSRs, CPUID, TSC, control registers, halts.
 *
 * Instructions that may fault have a `_safe` form: the carry flag is cleared before, and the trap
 * handler, finding the address in the .extable section, continues behind the instruction with the
 * carry flag set (cpu.c). None of the instructions used so touches the flags itself.
 */
#ifndef GUEST_RT_ASM_H
#define GUEST_RT_ASM_H

#include "hv/types.h"

#define EXTABLE(from, to)            \
    ".pushsection .extable, \"a\"\n" \
    ".long " from ", " to "\n"       \
    ".popsection\n"

struct cpuid_regs {
    uint32_t eax, ebx, ecx, edx;
};

static inline struct cpuid_regs asm_cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct cpuid_regs r;

    asm volatile("cpuid"
                 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
                 : "a"(leaf), "c"(subleaf));
    return r;
}

static inline uint64_t asm_rdtsc(void)
{
    uint32_t lo, hi;

    asm volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
    return (uint64_t)hi << 32 | lo;
}

static inline uint64_t asm_rdmsr(uint32_t msr)
{
    uint32_t lo, hi;

    asm volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr) : "memory");
    return (uint64_t)hi << 32 | lo;
}

static inline void asm_wrmsr(uint32_t msr, uint64_t value)
{
    asm volatile("wrmsr"
                 :
                 : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                 : "memory");
}

/* False when the read faulted; *value is then 0. */
static inline bool asm_rdmsr_safe(uint32_t msr, uint64_t *value)
{
    uint32_t lo = 0, hi = 0;
    uint8_t fault;

    asm volatile("clc\n1: rdmsr\n2: setc %2\n" EXTABLE("1b", "2b")
                 : "+a"(lo), "+d"(hi), "=qm"(fault)
                 : "c"(msr)
                 : "memory", "cc");
    *value = (uint64_t)hi << 32 | lo;
    return !fault;
}

static inline bool asm_wrmsr_safe(uint32_t msr, uint64_t value)
{
    uint8_t fault;

    asm volatile("clc\n1: wrmsr\n2: setc %0\n" EXTABLE("1b", "2b")
                 : "=qm"(fault)
                 : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                 : "memory", "cc");
    return !fault;
}

static inline void asm_out8(uint16_t port, uint8_t value)
{
    asm volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static inline uint8_t asm_in8(uint16_t port)
{
    uint8_t value;

    asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
    return value;
}

static inline bool asm_in8_safe(uint16_t port, uint8_t *value)
{
    uint8_t fault;

    asm volatile("clc\n1: inb %%dx, %%al\n2: setc %1\n" EXTABLE("1b", "2b")
                 : "=a"(*value), "=qm"(fault)
                 : "d"(port), "0"((uint8_t)0)
                 : "memory", "cc");
    return !fault;
}

static inline bool asm_in16_safe(uint16_t port, uint16_t *value)
{
    uint8_t fault;

    asm volatile("clc\n1: inw %%dx, %%ax\n2: setc %1\n" EXTABLE("1b", "2b")
                 : "=a"(*value), "=qm"(fault)
                 : "d"(port), "0"((uint16_t)0)
                 : "memory", "cc");
    return !fault;
}

static inline bool asm_in32_safe(uint16_t port, uint32_t *value)
{
    uint8_t fault;

    asm volatile("clc\n1: inl %%dx, %%eax\n2: setc %1\n" EXTABLE("1b", "2b")
                 : "=a"(*value), "=qm"(fault)
                 : "d"(port), "0"(0u)
                 : "memory", "cc");
    return !fault;
}

static inline void asm_pause(void)
{
    asm volatile("pause" : : : "memory");
}

static inline void asm_cli(void)
{
    asm volatile("cli" : : : "memory");
}

static inline void asm_sti(void)
{
    asm volatile("sti" : : : "memory");
}

/* Halts with interrupts as they are. */
static inline void asm_hlt(void)
{
    asm volatile("hlt" : : : "memory");
}

/* Opens interrupts and halts in one step: no interrupt falls between (the STI shadow). */
static inline void asm_sti_hlt(void)
{
    asm volatile("sti\n\thlt" : : : "memory");
}

static inline uint64_t asm_flags(void)
{
    uint64_t flags;

    asm volatile("pushfq\n\tpopq %0" : "=r"(flags) : : "memory");
    return flags;
}

/* Turns interrupts off and returns the flags of before, for asm_irq_restore. */
static inline uint64_t asm_irq_save(void)
{
    uint64_t flags = asm_flags();

    asm_cli();
    return flags;
}

static inline void asm_irq_restore(uint64_t flags)
{
    if (flags & 0x200)
        asm_sti();
}

static inline void asm_mfence(void)
{
    asm volatile("mfence" : : : "memory");
}

#define ASM_CONTROL(reg)                                               \
    static inline uint64_t asm_read_##reg(void)                        \
    {                                                                  \
        uint64_t value;                                                \
                                                                       \
        asm volatile("mov %%" #reg ", %0" : "=r"(value) : : "memory"); \
        return value;                                                  \
    }                                                                  \
    static inline void asm_write_##reg(uint64_t value)                 \
    {                                                                  \
        asm volatile("mov %0, %%" #reg : : "r"(value) : "memory");     \
    }

ASM_CONTROL(cr0)
ASM_CONTROL(cr2)
ASM_CONTROL(cr3)
ASM_CONTROL(cr4)
ASM_CONTROL(cr8)
ASM_CONTROL(dr0)
ASM_CONTROL(dr1)
ASM_CONTROL(dr2)
ASM_CONTROL(dr3)
ASM_CONTROL(dr6)
ASM_CONTROL(dr7)

#endif
