/* Off and reset, step by step, against registers that a test can fake. See way_out.c. */
#ifndef ARCH_X86_WAY_OUT_H
#define ARCH_X86_WAY_OUT_H

#include "hv/firmware.h"

/* What the steps act through. `bytes` is the width of one access: 1 or 2. */
struct way_out_ops {
    uint32_t (*read)(const struct acpi_register *r, uint32_t bytes);
    void (*write)(const struct acpi_register *r, uint32_t bytes, uint32_t value);
    void (*delay)(ns_t ns);
    void (*triple_fault)(void); /* may return: the machine is still there then */
};

/* Tries every way to reset; returns when none has worked. `fadt` may be NULL. */
void way_out_reset(const struct way_out_ops *ops, const struct fadt_info *fadt);

/*
 * Switches the machine off by \_S5; returns at once when the tables do not say how (`fadt` may be
 * NULL), and after a while when what they say has no effect.
 */
void way_out_off(const struct way_out_ops *ops, const struct fadt_info *fadt,
                 const struct acpi_s5 *s5);

#endif
