/* The few FADT fields that Numen needs. See fadt.c. */
#ifndef BOOT_FADT_H
#define BOOT_FADT_H

#include "hv/firmware.h"

enum acpi_space { ACPI_SPACE_MEMORY = 0, ACPI_SPACE_IO = 1 };

/* A register of ACPI; addr 0: there is none. */
struct acpi_register {
    paddr_t addr;
    uint32_t space; /* enum acpi_space, or another of ACPI's numbers */
};

struct fadt_info {
    struct acpi_register pm_timer;
    struct acpi_register reset;
    uint8_t reset_value;
    bool pm_timer_32bit;
    bool hardware_reduced;
};

__attribute__((warn_unused_result)) int fadt_parse(const void *data, size_t bytes,
                                                   struct fadt_info *info, struct fw_warnings *w,
                                                   size_t *fault);

#endif
