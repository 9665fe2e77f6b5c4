/*
 * ACPI tables out of files: binary tables as firmware gave them, and the text of acpidump.
 *
 * Each table is given an address of its own, far from the others, so that the image's readers can
 * reach it through a phys_view as they reach physical memory. A table is never judged here; one
 * whose length field says more than the file holds is simply not readable beyond its end.
 * Text format (ACPICA's acpidump): "NAME @ 0xADDRESS", then lines of an indented offset, a colon,
 * up to 16 bytes in hex and the same as characters. Empty lines may stand anywhere, and what a mail
 * or an editor puts before lines ("> ", a byte order mark) is passed over.
 */
#include "tools/numen-topo/topo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "boot/warn.h"

#define TABLE_SPACING  (4 * GIB)
#define BYTES_PER_LINE 16

static paddr_t table_address(uint32_t index)
{
    return (index + 1) * TABLE_SPACING;
}

void inputs_add_table(struct inputs *in, const char *signature, struct file_bytes data)
{
    uint32_t index = in->tables.count;
    struct acpi_entry *entry = &in->tables.entry[index];

    if (index == ACPI_TABLES_MAX) {
        boot_warn(&in->warnings, "more than %u tables; the rest is left out", ACPI_TABLES_MAX);
        free(data.data);
        return;
    }
    /* A copy of the exact size: behind a table there is nothing, not even a NUL. */
    data.data = grow_array(data.data, data.bytes, 1);
    in->bytes[index] = data;
    *entry = (struct acpi_entry){.pa = table_address(index),
                                 .bytes = (uint32_t)MIN(data.bytes, (size_t)UINT32_MAX)};
    memcpy(entry->signature, signature, 4);
    in->tables.count++;
}

static const void *map_table(void *ctx, paddr_t pa, size_t bytes)
{
    struct inputs *in = ctx;

    for (uint32_t i = 0; i < in->tables.count; i++) {
        size_t offset = pa - table_address(i);

        if (pa >= table_address(i) && offset <= in->bytes[i].bytes &&
            bytes <= in->bytes[i].bytes - offset)
            return in->bytes[i].data + offset;
    }
    return NULL;
}

struct phys_view inputs_view(struct inputs *in)
{
    return (struct phys_view){map_table, in};
}

static const char *skip_margin(const char *line)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";

    if (strncmp(line, byte_order_mark, 3) == 0)
        line += 3;
    return line + strspn(line, " \t>");
}

/* "APIC @ 0x...": where the name of a table that is wanted begins, or NULL. */
static const char *table_heading(const char *line)
{
    static const char *const wanted[] = {ACPI_SIG_MADT, ACPI_SIG_SRAT, ACPI_SIG_SLIT};
    const char *name = skip_margin(line);

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (strncmp(name, wanted[i], 4) == 0 && strncmp(name + 4, " @ 0x", 5) == 0)
            return name;
    return NULL;
}

static bool hex_byte(const char *at, uint8_t *byte)
{
    char digits[3] = {at[0], at[0] ? at[1] : 0, 0};

    if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]) ||
        (at[2] && !isspace((unsigned char)at[2])))
        return false;
    *byte = (uint8_t)strtoul(digits, NULL, 16);
    return true;
}

/* Appends a line of bytes, or passes over an empty one. False: not the table's next line. */
static bool add_hex_line(struct file_bytes *table, const char *line)
{
    unsigned long offset;
    char *end;

    line = skip_margin(line);
    if (!*line)
        return true;
    offset = strtoul(line, &end, 16);
    if (end == line || *end != ':' || offset != table->bytes || table->bytes > ACPI_TABLE_LIMIT)
        return false;
    table->data = grow_array(table->data, table->bytes + BYTES_PER_LINE, 1);
    end += 1 + (end[1] == ' ');
    for (int i = 0; i < BYTES_PER_LINE && hex_byte(end, &table->data[table->bytes]); i++) {
        table->bytes++;
        end += 2 + (end[2] != 0);
    }
    return true;
}

void inputs_add_acpidump(struct inputs *in, struct file_bytes text)
{
    char *at = (char *)text.data, *line = line_next(&at);
    uint32_t found = 0;

    while (line) {
        const char *heading = table_heading(line);
        struct file_bytes table = {0};

        line = line_next(&at);
        if (!heading)
            continue;
        while (line && add_hex_line(&table, line))
            line = line_next(&at);
        inputs_add_table(in, heading, table);
        found++;
    }
    if (!found)
        boot_warn(&in->warnings, "acpidump: no text of an APIC, SRAT or SLIT table");
    free(text.data);
}
