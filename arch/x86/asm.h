/*
 * Every privileged instruction of the host, one inline function each.
 *
 * The _safe forms survive a fault: the address of the instruction is in the fix-up table, and the
 * trap handler continues behind it with the error still set (trap.c). Nothing here decides.
 */
#ifndef ARCH_X86_ASM_H
#define ARCH_X86_ASM_H

#include <errno.h>

#include "hv/cpuid.h"
#include "hv/types.h"
#include "arch/x86/regs/segment.h"

/* A fault at label `at` continues at label `to`; both relative, so that an entry takes 8 bytes. */
#define FIXUP(at, to)                      \
    "    .pushsection .fixup, \"a\"\n"     \
    "    .long " #at " - ., " #to " - .\n" \
    "    .popsection\n"

static inline uint64_t asm_rdmsr(uint32_t msr)
{
    uint32_t lo, hi;

    __asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr) : "memory");
    return (uint64_t)hi << 32 | lo;
}

static inline void asm_wrmsr(uint32_t msr, uint64_t value)
{
    __asm__ volatile("wrmsr"
                     :
                     : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                     : "memory");
}

/* 0 or -EFAULT: the CPU has no such MSR. */
static inline int asm_rdmsr_safe(uint32_t msr, uint64_t *value)
{
    uint32_t lo = 0, hi = 0;
    int error = -EFAULT;

    __asm__ volatile("1:  rdmsr\n"
                     "    xorl %[error], %[error]\n"
                     "2:\n" FIXUP(1b, 2b)
                     : [error] "+r"(error), "+a"(lo), "+d"(hi)
                     : "c"(msr)
                     : "memory", "cc");
    *value = (uint64_t)hi << 32 | lo;
    return error;
}

static inline int asm_wrmsr_safe(uint32_t msr, uint64_t value)
{
    int error = -EFAULT;

    __asm__ volatile("1:  wrmsr\n"
                     "    xorl %[error], %[error]\n"
                     "2:\n" FIXUP(1b, 2b)
                     : [error] "+r"(error)
                     : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
                     : "memory", "cc");
    return error;
}

/* Reads memory that may not be mapped: 0 or -EFAULT. */
static inline int asm_read_safe(const uint64_t *from, uint64_t *value)
{
    int error = -EFAULT;
    uint64_t word = 0;

    __asm__ volatile("1:  movq %[from], %[word]\n"
                     "    xorl %[error], %[error]\n"
                     "2:\n" FIXUP(1b, 2b)
                     : [error] "+r"(error), [word] "+r"(word)
                     : [from] "m"(*from)
                     : "cc");
    *value = word;
    return error;
}

static inline struct cpuid_regs asm_cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct cpuid_regs r;

    __asm__ volatile("cpuid"
                     : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
                     : "a"(leaf), "c"(subleaf));
    return r;
}

#define ASM_CR(name)                                                 \
    static inline uint64_t asm_read_##name(void)                     \
    {                                                                \
        uint64_t value;                                              \
                                                                     \
        __asm__ volatile("mov %%" #name ", %0" : "=r"(value));       \
        return value;                                                \
    }                                                                \
    static inline void asm_write_##name(uint64_t value)              \
    {                                                                \
        __asm__ volatile("mov %0, %%" #name::"r"(value) : "memory"); \
    }

ASM_CR(cr0)
ASM_CR(cr2)
ASM_CR(cr3)
ASM_CR(cr4)
ASM_CR(cr8)
ASM_CR(dr0)
ASM_CR(dr1)
ASM_CR(dr2)
ASM_CR(dr3)
ASM_CR(dr6)
ASM_CR(dr7)

static inline uint64_t asm_xgetbv(uint32_t index)
{
    uint32_t lo, hi;

    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(index));
    return (uint64_t)hi << 32 | lo;
}

static inline void asm_xsetbv(uint32_t index, uint64_t value)
{
    __asm__ volatile("xsetbv" : : "c"(index), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

/* Not ordered against earlier loads; callers that compare clocks of CPUs use asm_rdtsc_ordered. */
static inline uint64_t asm_rdtsc(void)
{
    uint32_t lo, hi;

    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
}

/*
 * LFENCE waits for earlier loads (SDM 2B RDTSC; a weaker wait on AMD without serializing LFENCE).
 */
static inline uint64_t asm_rdtsc_ordered(void)
{
    __asm__ volatile("lfence" ::: "memory");
    return asm_rdtsc();
}

static inline void asm_mfence(void)
{
    __asm__ volatile("mfence" ::: "memory");
}

static inline void asm_cli(void)
{
    __asm__ volatile("cli" ::: "memory");
}

/* Lets what is pending in: STI takes effect behind the instruction that follows it. */
static inline void asm_irq_window(void)
{
    __asm__ volatile("sti; nop; cli" ::: "memory");
}

/* STI's shadow covers HLT, so an interrupt that comes in between still ends the HLT. */
static inline void asm_sti_hlt_cli(void)
{
    __asm__ volatile("sti; hlt; cli" ::: "memory");
}

static inline void asm_hlt(void)
{
    __asm__ volatile("hlt" ::: "memory");
}

static inline void asm_breakpoint(void)
{
    __asm__ volatile("int3" ::: "memory");
}

static inline void asm_pause(void)
{
    __builtin_ia32_pause();
}

#define ASM_PORT(suffix, type)                                                \
    static inline type asm_in##suffix(uint16_t port)                          \
    {                                                                         \
        type value;                                                           \
                                                                              \
        __asm__ volatile("in" #suffix " %1, %0" : "=a"(value) : "Nd"(port));  \
        return value;                                                         \
    }                                                                         \
    static inline void asm_out##suffix(uint16_t port, type value)             \
    {                                                                         \
        __asm__ volatile("out" #suffix " %0, %1" : : "a"(value), "Nd"(port)); \
    }

ASM_PORT(b, uint8_t)
ASM_PORT(w, uint16_t)
ASM_PORT(l, uint32_t)

static inline void asm_lgdt(const struct table_pointer *table)
{
    __asm__ volatile("lgdt %0" : : "m"(*table) : "memory");
}

static inline void asm_lidt(const struct table_pointer *table)
{
    __asm__ volatile("lidt %0" : : "m"(*table) : "memory");
}

static inline void asm_sidt(struct table_pointer *table)
{
    __asm__ volatile("sidt %0" : "=m"(*table));
}

static inline void asm_ltr(uint16_t selector)
{
    __asm__ volatile("ltr %0" : : "r"(selector) : "memory");
}

/* CS by a far return, the data segments by moves, FS and GS to null (their bases become 0). */
static inline void asm_load_segments(uint16_t code, uint16_t data)
{
    __asm__ volatile("pushq %q0\n"
                     "    leaq 1f(%%rip), %%rax\n"
                     "    pushq %%rax\n"
                     "    lretq\n"
                     "1:  movl %1, %%ds\n"
                     "    movl %1, %%es\n"
                     "    movl %1, %%ss\n"
                     "    movl %2, %%fs\n"
                     "    movl %2, %%gs\n"
                     :
                     : "r"((uint64_t)code), "r"((uint32_t)data), "r"(0)
                     : "rax", "memory");
}

/* Leave the present stack for good. The frame pointer of 0 ends stack traces. */
static inline _Noreturn void asm_switch_stack(uint64_t top, void (*fn)(void))
{
    __asm__ volatile("movq %0, %%rsp\n"
                     "    xorl %%ebp, %%ebp\n"
                     "    call *%1\n"
                     :
                     : "r"(top), "r"(fn)
                     : "memory");
    __builtin_unreachable();
}

/* x / d of a 128-bit x = hi:lo; the quotient must fit, that is hi < d. */
static inline uint64_t asm_div128(uint64_t hi, uint64_t lo, uint64_t d)
{
    uint64_t quotient, remainder;

    __asm__("divq %4" : "=a"(quotient), "=d"(remainder) : "0"(lo), "1"(hi), "rm"(d) : "cc");
    return quotient;
}

#endif
