/*
 * panic: the host has found a bug of its own or of the hardware.
 *
 * The first CPU to come reports: it takes the console over, stops the others by NMI and prints;
 * CPUs that come later just halt. Nothing here takes a lock or allocates.
 */
#include "kernel/panic.h"

#include "hv/assert.h"
#include "hv/atomic.h"
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"

static uint32_t panicking; /* [a] CPU number + 1 of the one that reports */

void panic_enter(void)
{
    uint32_t nobody = 0, me = cpu_this()->id + 1;

    if (!atomic_cas(&panicking, &nobody, me)) {
        /* The same CPU again: the report itself failed. What is out is out. */
        arch_halt();
    }
    console_panic();
    arch_stop_others();
}

void panic_leave(void)
{
    arch_panic_end();
}

void panic(const char *fmt, ...)
{
    char text[240];
    va_list args;

    panic_enter();
    va_start(args, fmt);
    vformat_text(text, sizeof(text), fmt, args);
    va_end(args);
    pr_err("PANIC on CPU %u: %s", cpu_this()->id, text);
    arch_stack_trace();
    panic_leave();
}

void assert_failed(const char *expr, const char *file, int line)
{
    panic("%s:%d: broken promise: %s", file, line, expr);
}
