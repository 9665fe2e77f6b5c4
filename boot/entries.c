/*
 * Walking the entries of a MADT or SRAT.
 *
 * Decides where a damaged table ends: at the first entry whose length is under its own header or
 * runs over the table's end. A zero length is such an entry, so the walk always moves on. Knows no
 * type.
 */
#include "boot/entries.h"

#include "boot/warn.h"

#define ENTRY_HEADER_BYTES 2

bool acpi_entry_next(struct acpi_cursor *cursor, const uint8_t **entry, size_t *length,
                     struct fw_warnings *w)
{
    const uint8_t *p = cursor->data + cursor->at;
    size_t left = cursor->end - cursor->at;

    if (left == 0)
        return false;
    if (left < ENTRY_HEADER_BYTES || p[1] < ENTRY_HEADER_BYTES || p[1] > left) {
        boot_warn(w, "%c%c%c%c: entry of type %u, length %u at offset %zu ends the table",
                  cursor->data[0], cursor->data[1], cursor->data[2], cursor->data[3], p[0],
                  left < ENTRY_HEADER_BYTES ? 0u : p[1], cursor->at);
        cursor->end = cursor->at;
        return false;
    }
    *entry = p;
    *length = p[1];
    cursor->at += p[1];
    return true;
}
