/* The one object of ACPI's machine language that Numen reads: \_S5. See aml.c. */
#ifndef BOOT_AML_H
#define BOOT_AML_H

#include "hv/firmware.h"

/*
 * Looks for \_S5 in one table of AML (DSDT or SSDT), header included: 0 and *s5; -ENOENT: not
 * there; -ENOTSUP: its value needs an interpreter; -EINVAL: damaged. *fault is the offset of what
 * could not be used.
 */
__attribute__((warn_unused_result)) int aml_find_s5(const uint8_t *table, size_t bytes,
                                                    struct acpi_s5 *s5, size_t *fault);

#endif
