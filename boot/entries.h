/* The entries (type, length, body) that MADT and SRAT are made of. See entries.c. */
#ifndef BOOT_ENTRIES_H
#define BOOT_ENTRIES_H

#include "hv/firmware.h"

struct acpi_cursor {
    const uint8_t *data; /* [i] the table */
    size_t end;          /* [i] its length */
    size_t at;           /* the next entry */
};

/*
 * The next entry and its length, wholly inside the table; false at the end. An entry of impossible
 * length ends the walk with a warning; cursor->at is then its offset.
 */
bool acpi_entry_next(struct acpi_cursor *cursor, const uint8_t **entry, size_t *length,
                     struct fw_warnings *w);

/* True when an entry of a known type has the bytes it needs; counts those that have not. */
static inline bool acpi_entry_has(size_t length, size_t needed, uint32_t *short_entries)
{
    if (length >= needed)
        return true;
    ++*short_entries;
    return false;
}

#endif
