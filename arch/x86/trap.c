/*
 * Traps: the table of gates, interrupts, and exceptions that are nobody's fault but the host's.
 *
 * An exception at an instruction in the fix-up table continues at its fix-up. Any other one is a
 * bug: registers, a stack trace, stop. NMI, #MC and #DF run on stacks of their own and find their
 * CPU from the stack, because they may come while GS still holds a guest's base.
 *
 * Does not decide what interrupts mean: handlers set hazard bits or belong to a driver.
 * Source: SDM 3A 6.8-6.15, 15.10 (machine checks).
 */
#include "arch/x86/trap.h"

#include "arch/x86/apic.h"
#include "arch/x86/asm.h"
#include "arch/x86/backtrace.h"
#include "arch/x86/cpu_area.h"
#include "arch/x86/layout.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/msr.h"
#include "kernel/arch.h"
#include "kernel/panic.h"
#include "kernel/printk.h"

struct fixup {
    int32_t at; /* both relative to their own address */
    int32_t to;
};

extern const struct fixup fixup_start[], fixup_end[]; /* linker.ld */

static RO_AFTER_BOOT struct gate64 gates[VECTORS];
static void (*handlers[VECTORS])(void); /* [i] */

static const char *const exception_names[EXCEPTION_VECTORS] = {
    [VECTOR_DE] = "divide error",
    [VECTOR_DB] = "debug exception",
    [VECTOR_NMI] = "NMI",
    [VECTOR_BP] = "breakpoint",
    [VECTOR_OF] = "overflow",
    [VECTOR_BR] = "bound range exceeded",
    [VECTOR_UD] = "invalid opcode",
    [VECTOR_NM] = "no FPU",
    [VECTOR_DF] = "double fault",
    [VECTOR_TS] = "invalid TSS",
    [VECTOR_NP] = "segment not present",
    [VECTOR_SS] = "stack fault",
    [VECTOR_GP] = "general protection fault",
    [VECTOR_PF] = "page fault",
    [VECTOR_MF] = "x87 error",
    [VECTOR_AC] = "alignment check",
    [VECTOR_MC] = "machine check",
    [VECTOR_XM] = "SIMD error",
    [VECTOR_CP] = "control protection fault",
};

static struct gate64 gate_make(uint64_t offset, enum cpu_ist ist)
{
    return (struct gate64){
        .low = FIELD_PREP(GATE_OFFSET_LO, offset) |
               FIELD_PREP(GATE_SELECTOR, GDT_SELECTOR(GDT_CODE64)) | FIELD_PREP(GATE_IST, ist) |
               FIELD_PREP(GATE_TYPE, GATE_INTERRUPT) | GATE_PRESENT |
               FIELD_PREP(GATE_OFFSET_MID, offset >> 16),
        .high = offset >> 32,
    };
}

void trap_init(void)
{
    for (uint32_t v = 0; v < VECTORS; v++) {
        enum cpu_ist ist = v == VECTOR_NMI  ? IST_NMI
                           : v == VECTOR_MC ? IST_MC
                           : v == VECTOR_DF ? IST_DF
                                            : IST_NONE;

        gates[v] = gate_make(trap_entry[v], ist);
    }
}

void trap_load(void)
{
    struct table_pointer idt = {sizeof(gates) - 1, (uint64_t)gates};

    asm_lidt(&idt);
}

void trap_set_handler(uint8_t vector, void (*handler)(void))
{
    handlers[vector] = handler;
}

/* A few entries per image: a linear search is fine. */
static bool fixup_apply(struct trap_frame *frame)
{
    for (const struct fixup *f = fixup_start; f < fixup_end; f++) {
        if ((uint64_t)&f->at + (uint64_t)(int64_t)f->at != frame->rip)
            continue;
        frame->rip = (uint64_t)&f->to + (uint64_t)(int64_t)f->to;
        return true;
    }
    return false;
}

static void registers_print(const struct trap_frame *f)
{
    pr_err("rip %016lx  cs %02lx  rflags %06lx  rsp %016lx  ss %02lx", f->rip, f->cs, f->rflags,
           f->rsp, f->ss);
    pr_err("rax %016lx  rbx %016lx  rcx %016lx  rdx %016lx", f->rax, f->rbx, f->rcx, f->rdx);
    pr_err("rsi %016lx  rdi %016lx  rbp %016lx  r8  %016lx", f->rsi, f->rdi, f->rbp, f->r8);
    pr_err("r9  %016lx  r10 %016lx  r11 %016lx  r12 %016lx", f->r9, f->r10, f->r11, f->r12);
    pr_err("r13 %016lx  r14 %016lx  r15 %016lx  cr2 %016lx", f->r13, f->r14, f->r15,
           asm_read_cr2());
    pr_err("cr0 %016lx  cr3 %016lx  cr4 %016lx", asm_read_cr0(), asm_read_cr3(), asm_read_cr4());
}

/* After a jump to nowhere, what called is still the stack's last word. */
static void trace_print(const struct trap_frame *frame)
{
    uint64_t caller;

    if (!backtrace_is_code(frame->rip) && cpu_area_is_stack(frame->rsp, sizeof(caller)) &&
        !asm_read_safe((const uint64_t *)frame->rsp, &caller) && backtrace_is_code(caller))
        backtrace_print(caller, frame->rbp);
    else
        backtrace_print(frame->rip, frame->rbp);
}

static _Noreturn void exception_fatal(const struct trap_frame *frame)
{
    const char *name = exception_names[frame->vector];
    char place[80];

    panic_enter();
    backtrace_place(place, sizeof(place), frame->rip);
    pr_err("PANIC on CPU %u: %s (vector %lu, error %lx) at %s", cpu_this()->id,
           name ? name : "reserved exception", frame->vector, frame->error, place);
    registers_print(frame);
    trace_print(frame);
    panic_leave();
}

/* The machine-check banks' words, then the end: nothing is known to be sound any more. */
static _Noreturn void machine_check(const struct trap_frame *frame)
{
    uint64_t capabilities, status, address;

    panic_enter();
    pr_err("PANIC on CPU %u: machine check, status %lx", cpu_this()->id, asm_rdmsr(MSR_MCG_STATUS));
    capabilities = asm_rdmsr(MSR_MCG_CAP);
    for (uint32_t bank = 0; bank < FIELD_GET(MCG_CAP_COUNT, capabilities); bank++) {
        if (asm_rdmsr_safe(MSR_MC_STATUS(bank), &status) || !(status & MC_STATUS_VALID))
            continue;
        if (asm_rdmsr_safe(MSR_MC_ADDR(bank), &address))
            address = 0;
        pr_err("bank %u: status %016lx address %016lx", bank, status, address);
    }
    registers_print(frame);
    trace_print(frame);
    panic_leave();
}

/*
 * Counts; or halts, when another CPU wants all others stopped (arch_stop_others). Strays are late
 * shoot-downs or firmware's: never fatal.
 */
void trap_nmi(void)
{
    struct cpu *cpu = cpu_this();

    cpu->arch->nmis++;
    if (atomic_get(&cpu->hazard) & HAZARD_STOP)
        arch_halt();
}

/* NMI, #MC, #DF: with GS as the host's for as long as C runs, then as it was. */
static void trap_on_own_stack(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_area_of_ist((uint64_t)frame);
    uint64_t gs_base = asm_rdmsr(MSR_GS_BASE);

    if (gs_base != (uint64_t)cpu)
        asm_wrmsr(MSR_GS_BASE, (uint64_t)cpu);
    if (frame->vector == VECTOR_MC)
        machine_check(frame);
    if (frame->vector == VECTOR_DF)
        exception_fatal(frame);
    trap_nmi();
    if (gs_base != (uint64_t)cpu)
        asm_wrmsr(MSR_GS_BASE, gs_base);
}

void trap_interrupt(uint8_t vector)
{
    struct cpu *cpu = cpu_this();

    switch (vector) {
    case VECTOR_KICK: /* whoever sent it has set the hazard bit */
        break;
    case VECTOR_TIMER:
        cpu->arch->timer_deadline = NS_NEVER; /* one shot: it is off now */
        atomic_fetch_or(&cpu->hazard, HAZARD_TIMER);
        break;
    case VECTOR_ERROR:
        cpu->arch->apic_errors++;
        apic_error_clear();
        break;
    case VECTOR_SPURIOUS:
        return; /* not in service: no EOI */
    default:
        if (handlers[vector])
            handlers[vector]();
        else
            cpu->arch->stray_irqs++;
    }
    apic_eoi();
}

void trap_handle(struct trap_frame *frame)
{
    if (frame->vector >= EXCEPTION_VECTORS)
        trap_interrupt((uint8_t)frame->vector);
    else if (frame->vector == VECTOR_NMI || frame->vector == VECTOR_MC ||
             frame->vector == VECTOR_DF)
        trap_on_own_stack(frame);
    else if (!fixup_apply(frame))
        exception_fatal(frame);
}
