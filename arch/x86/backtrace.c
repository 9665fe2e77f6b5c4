/*
 * Stack traces.
 *
 * Every function keeps a frame pointer (-fno-omit-frame-pointer): [rbp] is the caller's, [rbp + 8]
 * where it goes on. Each frame is checked to lie on a stack, above the one before, and read with a
 * fix-up: a damaged stack shortens the trace and does no more harm. The names are in a table that
 * tools/gen_symbols.py makes from the linked image.
 */
#include "arch/x86/backtrace.h"

#include "arch/x86/asm.h"
#include "arch/x86/cpu_area.h"
#include "arch/x86/layout.h"
#include "kernel/arch.h"
#include "kernel/printk.h"

#define FRAMES_MAX 32

extern const uint32_t ksyms_count;
extern const uint64_t ksyms_addr[]; /* ascending */
extern const uint32_t ksyms_name_off[];
extern const char ksyms_names[];

bool backtrace_is_code(uint64_t address)
{
    return address >= (uint64_t)text_start && address < (uint64_t)text_end;
}

static const char *symbol_of(uint64_t address, uint64_t *offset)
{
    uint32_t lo = 0, hi = ksyms_count;

    if (!backtrace_is_code(address))
        return NULL;
    while (lo < hi) { /* the first symbol above the address is hi */
        uint32_t middle = lo + (hi - lo) / 2;

        if (ksyms_addr[middle] <= address)
            lo = middle + 1;
        else
            hi = middle;
    }
    if (!hi)
        return NULL;
    *offset = address - ksyms_addr[hi - 1];
    return ksyms_names + ksyms_name_off[hi - 1];
}

int backtrace_place(char *text, size_t bytes, uint64_t rip)
{
    uint64_t offset;
    const char *name = symbol_of(rip, &offset);

    return name ? format_text(text, bytes, "%s+0x%lx", name, offset)
                : format_text(text, bytes, "0x%lx", rip);
}

void backtrace_print(uint64_t rip, uint64_t rbp)
{
    uint64_t caller_rbp, caller_rip;
    char place[80];

    for (uint32_t i = 0; i < FRAMES_MAX; i++) {
        backtrace_place(place, sizeof(place), rip);
        pr_err("  %016lx %s", rip, place);
        if (!IS_ALIGNED(rbp, 8) || !cpu_area_is_stack(rbp, 16))
            return;
        if (asm_read_safe((const uint64_t *)rbp, &caller_rbp) ||
            asm_read_safe((const uint64_t *)rbp + 1, &caller_rip) || !caller_rip)
            return;
        /*
         * A frame further out is higher, or on another stack (from an IST stack to the kernel's).
         */
        if (caller_rbp && caller_rbp <= rbp && caller_rbp + CPU_STACK_WINDOW > rbp)
            return;
        rip = caller_rip;
        rbp = caller_rbp;
    }
}

void arch_stack_trace(void)
{
    const uint64_t *frame = __builtin_frame_address(0); /* the caller's frame, where it goes on */

    backtrace_print(frame[1], frame[0]);
}
