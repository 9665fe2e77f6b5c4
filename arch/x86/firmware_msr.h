/* What firmware left in a CPU's MSRs, and what is made of it. See firmware_msr.c. */
#ifndef ARCH_X86_FIRMWARE_MSR_H
#define ARCH_X86_FIRMWARE_MSR_H

#include "hv/types.h"

/* One CPU's MSRs; 0 or -errno: the CPU has no such MSR, or refuses the value. */
struct msr_ops {
    int (*read)(uint32_t msr, uint64_t *value);
    int (*write)(uint32_t msr, uint64_t value);
};

/* ---- virtualization's switches: 0, or -ENODEV and *why names the switch ---- */

__attribute__((warn_unused_result)) int firmware_allows_vmx(const struct msr_ops *ops,
                                                            const char **why);
__attribute__((warn_unused_result)) int firmware_allows_svm(const struct msr_ops *ops,
                                                            const char **why);

/* ---- the local APIC's mode ---- */

/* For all CPUs, by the boot CPU: whether it says it has x2APIC, and IA32_APIC_BASE as found. */
bool firmware_wants_x2apic(bool offered, uint64_t base);

/* Into that mode, on one CPU. -EIO: firmware locked the other mode on. */
__attribute__((warn_unused_result)) int firmware_set_apic_mode(const struct msr_ops *ops,
                                                               bool x2apic);

/* ---- memory types ---- */

#define MTRR_FIXED    11u
#define MTRR_VARIABLE 16u /* pairs looked at; parts have 8 to 10 */

enum mtrr_difference {
    MTRR_DIFFERS_DEFAULT = 1u << 0, /* default type and enable bits, or which kinds there are */
    MTRR_DIFFERS_FIXED = 1u << 1,
    MTRR_DIFFERS_VARIABLE = 1u << 2,
};

/* All zero where the CPU has none. */
struct mtrr_state {
    uint64_t capabilities, default_type;
    uint64_t fixed[MTRR_FIXED];
    uint64_t base[MTRR_VARIABLE], mask[MTRR_VARIABLE];
};

void mtrr_capture(const struct msr_ops *ops, struct mtrr_state *state);
uint32_t mtrr_compare(const struct mtrr_state *a, const struct mtrr_state *b);

/* ---- TSC_ADJUST ---- */

/*
 * What a CPU's TSC_ADJUST is to be, from what it is and from what that of the first CPU of its
 * socket is to be; `first`: it is that CPU.
 */
int64_t tsc_adjust_wanted(bool boot_socket, bool first, int64_t own, int64_t first_wanted);

#endif
