/*
 * What firmware left in the CPUs' MSRs, compared over all CPUs.
 *
 * Each CPU reads its own, on its way up; the boot CPU compares, and prints a line for each kind of
 * difference, however many CPUs have it. What is a difference, and what TSC_ADJUST is to be, is
 * firmware_msr.c's. Invariant: memory types are only told of, never changed.
 */
#include "arch/x86/firmware_check.h"

#include "arch/x86/cpu_area.h"
#include "arch/x86/features.h"
#include "arch/x86/firmware_msr.h"
#include "arch/x86/regs/msr.h"
#include "kernel/machine.h"
#include "kernel/printk.h"

static struct mtrr_state boot_mtrrs; /* [i] */

static int64_t read_tsc_adjust(void)
{
    uint64_t value;

    return cpu_features.tsc_adjust && !cpu_msrs.read(MSR_TSC_ADJUST, &value) ? (int64_t)value : 0;
}

void firmware_check_boot_cpu(void)
{
    int64_t adjust = read_tsc_adjust();

    mtrr_capture(&cpu_msrs, &boot_mtrrs);
    if (adjust && !cpu_msrs.write(MSR_TSC_ADJUST, 0))
        pr_warn("firmware moved the boot CPU's TSC by %ld ticks (TSC_ADJUST); undone", adjust);
}

void firmware_check_read(struct cpu *cpu)
{
    struct mtrr_state mtrrs;

    mtrr_capture(&cpu_msrs, &mtrrs);
    cpu->arch->mtrr_differences = mtrr_compare(&mtrrs, &boot_mtrrs);
    cpu->arch->tsc_adjust = read_tsc_adjust();
}

/* Looked for backwards: the CPU before is of the same socket as a rule. */
static const struct cpu *neighbour_before(const struct cpu *cpu)
{
    const struct cpu_place *places = machine.places;

    for (uint32_t i = cpu->id; i-- > 0;)
        if (cpus[i] && places[i].socket == places[cpu->id].socket)
            return cpus[i];
    return NULL;
}

void firmware_check_decide(struct cpu *cpu)
{
    const struct cpu *before = neighbour_before(cpu);
    bool boot_socket = machine.places[cpu->id].socket == machine.places[0].socket;

    cpu->arch->tsc_adjust_wanted = tsc_adjust_wanted(boot_socket, !before, cpu->arch->tsc_adjust,
                                                     before ? before->arch->tsc_adjust_wanted : 0);
}

void firmware_check_mend(struct cpu *cpu)
{
    if (cpu->arch->tsc_adjust != cpu->arch->tsc_adjust_wanted)
        (void)cpu_msrs.write(MSR_TSC_ADJUST, (uint64_t)cpu->arch->tsc_adjust_wanted);
}

static void print_mtrrs(void)
{
    uint32_t n = 0, first = 0, kinds = 0;

    for (uint32_t i = cpu_count; i-- > 1;) {
        if (!cpus[i] || !cpus[i]->arch->mtrr_differences)
            continue;
        kinds |= cpus[i]->arch->mtrr_differences;
        first = i;
        n++;
    }
    if (n)
        pr_warn("MTRRs of %u CPUs (CPU %u first) differ from the boot CPU's:%s%s%s; left so", n,
                first, kinds & MTRR_DIFFERS_DEFAULT ? " default type" : "",
                kinds & MTRR_DIFFERS_FIXED ? " fixed ranges" : "",
                kinds & MTRR_DIFFERS_VARIABLE ? " variable ranges" : "");
}

void firmware_check_print(void)
{
    uint32_t n = 0, first = 0;

    print_mtrrs();
    for (uint32_t i = cpu_count; i-- > 1;) {
        if (!cpus[i] || cpus[i]->arch->tsc_adjust == cpus[i]->arch->tsc_adjust_wanted)
            continue;
        first = i;
        n++;
    }
    if (n)
        pr_warn("firmware moved the TSC of %u CPUs (CPU %u by %ld ticks) against their socket's; "
                "undone",
                n, first, cpus[first]->arch->tsc_adjust);
}
