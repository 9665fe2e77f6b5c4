/* The few FADT fields that Numen needs. See fadt.c. */
#ifndef BOOT_FADT_H
#define BOOT_FADT_H

#include "hv/firmware.h"

enum acpi_space { ACPI_SPACE_MEMORY = 0, ACPI_SPACE_IO = 1, ACPI_SPACE_PCI = 2 };

/* A register of ACPI; addr 0: there is none. */
struct acpi_register {
    paddr_t addr;
    uint32_t space; /* enum acpi_space, or another of ACPI's numbers */
    uint32_t bits;
};

struct fadt_info {
    struct acpi_register pm_timer;
    struct acpi_register pm1a_control;
    struct acpi_register pm1b_control;
    struct acpi_register reset;
    uint8_t reset_value;
    bool pm_timer_32bit;
    bool hardware_reduced;
    bool has_8042;        /* true unless the table says otherwise */
    uint32_t smi_command; /* port that switches ACPI mode on; 0: none */
    uint8_t acpi_enable;
    paddr_t dsdt;
};

__attribute__((warn_unused_result)) int fadt_parse(const void *data, size_t bytes,
                                                   struct fadt_info *info, struct fw_warnings *w,
                                                   size_t *fault);

#endif
