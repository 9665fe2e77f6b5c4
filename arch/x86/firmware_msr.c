/*
 * What firmware left in a CPU's MSRs.
 *
 * Decides: whether it allows VT-x and AMD-V, and which of its switches to name when it does not;
 * the local APIC's mode (x2APIC wherever the CPU offers it, or is in it already: leaving it faults
 * where it is locked); whether two CPUs agree about memory types (told, never mended: what firmware
 * meant is not known); the value of TSC_ADJUST. Sockets may come out of reset one after the other,
 * so one that firmware moved ahead keeps its value, but all its CPUs get the same; the boot CPU's
 * socket gets 0, and nobody stays behind. Invariant: an MSR is written only when its value changes,
 * and never one that is locked. Source: SDM 3A 10.12 (APIC modes), 11.11 (MTRRs), 3B 17.17.3
 * (TSC_ADJUST), 3C 23.7 (IA32_FEATURE_CONTROL); APM 2 15.30.1 (VM_CR).
 */
#include "arch/x86/firmware_msr.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/regs/msr.h"
#include "arch/x86/regs/svm.h"

static int refuse(const char **why, const char *reason)
{
    *why = reason;
    return -ENODEV;
}

int firmware_allows_vmx(const struct msr_ops *ops, const char **why)
{
    const uint64_t on = FEATURE_CONTROL_LOCK | FEATURE_CONTROL_VMX;
    uint64_t value;

    if (ops->read(MSR_FEATURE_CONTROL, &value))
        return refuse(why, "VT-x: IA32_FEATURE_CONTROL cannot be read");
    if (!(value & FEATURE_CONTROL_LOCK)) {
        if (ops->write(MSR_FEATURE_CONTROL, value | on))
            return refuse(why, "VT-x: IA32_FEATURE_CONTROL cannot be written");
        /* A hypervisor below may take the write and forget it. */
        if (ops->read(MSR_FEATURE_CONTROL, &value) || (value & on) != on)
            return refuse(why, "VT-x: IA32_FEATURE_CONTROL does not keep what is written");
    }
    if (value & FEATURE_CONTROL_VMX)
        return 0;
    if (value & FEATURE_CONTROL_SMX)
        return refuse(why, "VT-x: firmware allows it under Intel TXT only; turn TXT off in setup");
    return refuse(
        why, "VT-x: switched off by firmware; enable Intel Virtualization Technology in setup");
}

/* Asked before EFER.SVME is tried, which would fault. Without the MSR there is no switch. */
int firmware_allows_svm(const struct msr_ops *ops, const char **why)
{
    uint64_t value;

    if (ops->read(MSR_VM_CR, &value) || !(value & VM_CR_SVMDIS))
        return 0;
    if (value & VM_CR_LOCK)
        return refuse(why, "AMD-V: locked off by firmware; enable SVM Mode in setup");
    return refuse(why, "AMD-V: switched off (VM_CR.SVMDIS); enable SVM Mode in setup");
}

bool firmware_wants_x2apic(bool offered, uint64_t base)
{
    return offered || (base & APIC_BASE_X2APIC);
}

int firmware_set_apic_mode(const struct msr_ops *ops, bool x2apic)
{
    uint64_t base;

    if (ops->read(MSR_APIC_BASE, &base))
        return -EIO;
    if (!x2apic && (base & APIC_BASE_X2APIC))
        return -EIO; /* the way back leads through off, and faults where it is locked */
    /* From off to x2APIC is two steps: SDM 3A 10.12.5. */
    if (!(base & APIC_BASE_ENABLE) && ops->write(MSR_APIC_BASE, base | APIC_BASE_ENABLE))
        return -EIO;
    base |= APIC_BASE_ENABLE;
    if (x2apic && !(base & APIC_BASE_X2APIC))
        return ops->write(MSR_APIC_BASE, base | APIC_BASE_X2APIC);
    return 0;
}

void mtrr_capture(const struct msr_ops *ops, struct mtrr_state *state)
{
    static const uint32_t fixed[MTRR_FIXED] = {0x250, 0x258, 0x259, 0x268, 0x269, 0x26a,
                                               0x26b, 0x26c, 0x26d, 0x26e, 0x26f};
    uint64_t pairs;

    memset(state, 0, sizeof(*state));
    if (ops->read(MSR_MTRR_CAP, &state->capabilities) ||
        ops->read(MSR_MTRR_DEFAULT, &state->default_type))
        return;
    for (uint32_t i = 0; i < MTRR_FIXED && (state->capabilities & MTRR_CAP_FIXED); i++)
        if (ops->read(fixed[i], &state->fixed[i]))
            state->fixed[i] = 0;
    pairs = MIN(FIELD_GET(MTRR_CAP_VARIABLE, state->capabilities), MTRR_VARIABLE);
    for (uint32_t i = 0; i < pairs; i++) {
        if (ops->read(MSR_MTRR_BASE(i), &state->base[i]) ||
            ops->read(MSR_MTRR_MASK(i), &state->mask[i]))
            state->base[i] = state->mask[i] = 0;
        if (!(state->mask[i] & MTRR_MASK_VALID))
            state->base[i] = state->mask[i] = 0; /* what is not in use may be anything */
    }
}

uint32_t mtrr_compare(const struct mtrr_state *a, const struct mtrr_state *b)
{
    uint32_t differences = 0;

    if (a->capabilities != b->capabilities || a->default_type != b->default_type)
        differences |= MTRR_DIFFERS_DEFAULT;
    if (memcmp(a->fixed, b->fixed, sizeof(a->fixed)) != 0)
        differences |= MTRR_DIFFERS_FIXED;
    if (memcmp(a->base, b->base, sizeof(a->base)) != 0 ||
        memcmp(a->mask, b->mask, sizeof(a->mask)) != 0)
        differences |= MTRR_DIFFERS_VARIABLE;
    return differences;
}

int64_t tsc_adjust_wanted(bool boot_socket, bool first, int64_t own, int64_t first_wanted)
{
    if (boot_socket)
        return 0;
    if (first)
        return own < 0 ? 0 : own;
    return first_wanted;
}
