/*
 * Counting and printing of checks, and the watched second vCPU.
 */
#include "tests/guests/pv/check.h"

uint32_t checks_passed, checks_failed;

static uint32_t stage; /* [a] */

bool check(bool ok, const char *name, const char *why, ...)
{
    char text[200];
    va_list list;

    if (ok) {
        checks_passed++;
        rt_printf("ok %s\n", name);
        return true;
    }
    checks_failed++;
    va_start(list, why);
    rt_vsnprintf(text, sizeof(text), why, list);
    va_end(list);
    rt_printf("FAIL %s: %s\n", name, text);
    return false;
}

void check_skip(const char *name, const char *why)
{
    rt_printf("skip %s: %s\n", name, why);
}

uint32_t irqs_of(uint32_t index, uint32_t vector)
{
    return __atomic_load_n(&smp_cpus[index]->irqs[vector], __ATOMIC_ACQUIRE);
}

bool irqs_wait(uint32_t index, uint32_t vector, uint32_t count)
{
    uint64_t deadline = time_from_us(PATIENCE_US);

    while (irqs_of(index, vector) < count) {
        if (time_passed(deadline))
            return false;
        asm_pause();
    }
    return true;
}

void other_start(void (*task)(void *arg), void *arg)
{
    other_stage(0);
    smp_run(1, task, arg);
}

void other_stage(uint32_t value)
{
    __atomic_store_n(&stage, value, __ATOMIC_SEQ_CST);
}

uint32_t other_stage_now(void)
{
    return __atomic_load_n(&stage, __ATOMIC_SEQ_CST);
}

bool other_wait_stage(uint32_t value)
{
    uint64_t deadline = time_from_us(PATIENCE_US);

    while (other_stage_now() < value) {
        if (time_passed(deadline))
            return false;
        asm_pause();
    }
    return true;
}

static bool other_is_done_within(uint64_t us)
{
    uint64_t deadline = time_from_us(us);

    while (!smp_is_done(1)) {
        if (time_passed(deadline))
            return false;
        asm_pause();
    }
    return true;
}

bool other_end(void)
{
    if (other_is_done_within(PATIENCE_US))
        return true;
    for (uint32_t i = 0; i < 4; i++) { /* a task may halt several times */
        apic_send(smp_cpus[1]->apic_id, ICR_NMI | ICR_ASSERT);
        if (other_is_done_within(SETTLE_US * 5))
            return false;
    }
    if (!smp_restart(1))
        rt_fail("vCPU 1 is lost");
    return false;
}

void check_wrmsr_faults(const char *name, uint32_t msr, uint64_t value)
{
    check(!asm_wrmsr_safe(msr, value), name, "no #GP at writing %#lx to MSR %#x", value, msr);
}

void check_rdmsr_faults(const char *name, uint32_t msr)
{
    uint64_t value;
    bool answered = asm_rdmsr_safe(msr, &value);

    check(!answered, name, "no #GP at reading MSR %#x, but %#lx", msr, value);
}
