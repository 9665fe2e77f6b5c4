/* Reset and power off: arch_reboot, arch_poweroff of kernel/arch.h. See reset.c. */
#ifndef ARCH_X86_RESET_H
#define ARCH_X86_RESET_H

struct fadt_info;

/* Remember the FADT's reset register; NULL: no table. */
void reset_init(const struct fadt_info *fadt);

#endif
