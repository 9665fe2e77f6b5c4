/*
 * SLIT: relative distances between proximity domains.
 *
 * Decides whether the matrix can be believed: 10 on the diagonal, nothing below 10, and not 10
 * throughout (then it says nothing). An asymmetric one is kept. Does not map domains to nodes
 * (mm/numa.c). Bytes behind the matrix are allowed; a matrix that runs over the table's end is not.
 * Source: ACPI 6.4 section 5.2.17.
 */
#include "boot/slit.h"

#include <errno.h>

#include "boot/acpi.h"
#include "boot/bytes.h"
#include "boot/warn.h"

enum {
    SLIT_COUNT = 36,
    SLIT_ROWS = 44,
};

#define SLIT_COUNT_MAX 4096 /* its square is the table limit */
#define DISTANCE_LOCAL 10

static bool matrix_is_usable(const uint8_t *rows, uint32_t n, struct fw_warnings *w)
{
    bool tells = n == 1;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            uint32_t d = rows[(size_t)i * n + j];

            if (i == j ? d != DISTANCE_LOCAL : d < DISTANCE_LOCAL) {
                boot_warn(w, "SLIT: distance %u from %u to %u is impossible; table ignored", d, i,
                          j);
                return false;
            }
            tells |= d != DISTANCE_LOCAL;
        }
    }
    if (!tells)
        boot_warn(w, "SLIT: all distances are 10; table ignored");
    return tells;
}

int slit_parse(const void *data, size_t bytes, struct slit_info *info, struct fw_warnings *w,
               size_t *fault)
{
    const uint8_t *p = data;
    uint64_t n;
    size_t length;
    int err;

    *info = (struct slit_info){0};
    err = acpi_header_check(data, bytes, ACPI_SIG_SLIT, SLIT_ROWS, &length, w, fault);
    if (err)
        return err;
    n = read_le64(p + SLIT_COUNT);
    if (n == 0 || n > SLIT_COUNT_MAX || n * n > length - SLIT_ROWS) {
        *fault = SLIT_COUNT;
        boot_warn(w, "SLIT: %lu localities in %zu bytes; table ignored", n, length);
        return -EINVAL;
    }
    info->n = (uint32_t)n;
    info->rows = p + SLIT_ROWS;
    info->usable = matrix_is_usable(info->rows, info->n, w);
    return 0;
}
