/* Reset and power off: arch_reboot, arch_poweroff of kernel/arch.h. See reset.c. */
#ifndef ARCH_X86_RESET_H
#define ARCH_X86_RESET_H

#include "hv/firmware.h"

/* Remember what the tables say, for good, and map it; NULL: no FADT. */
void reset_init(const struct fadt_info *fadt, const struct acpi_s5 *s5);

#endif
