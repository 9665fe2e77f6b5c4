/*
 * From the list of tables to one read table of each kind.
 *
 * Decides which table is used when a machine carries several of one name: the first that its reader
 * accepts. Does not judge contents; the readers (madt.c, srat.c, slit.c, fadt.c) do.
 */
#include "boot/acpi.h"

#include <errno.h>

#include "boot/fadt.h"
#include "boot/madt.h"
#include "boot/slit.h"
#include "boot/srat.h"
#include "boot/warn.h"

/* One of the readers, its result's type set aside. */
typedef int table_reader(const struct acpi_table *table, void *info, struct fw_warnings *w);

static int read_first_sound(const struct phys_view *view, const struct acpi_tables *tables,
                            const char *signature, table_reader *reader, void *info,
                            struct fw_warnings *w)
{
    struct acpi_table table;
    uint32_t nth = 0, used = UINT32_MAX;
    int err;

    for (; (err = acpi_table_get(view, tables, signature, nth, &table)) != -ENOENT; nth++) {
        if (used != UINT32_MAX)
            continue;
        if (err)
            boot_warn(w, "%s number %u cannot be read; ignored", signature, nth + 1);
        else if (reader(&table, info, w) == 0)
            used = nth;
    }
    if (used == UINT32_MAX)
        return -ENOENT;
    if (nth > 1)
        boot_warn(w, "%u tables named %s; number %u is used", nth, signature, used + 1);
    return 0;
}

static int read_madt(const struct acpi_table *table, void *info, struct fw_warnings *w)
{
    size_t fault;

    return madt_parse(table->data, table->bytes, info, w, &fault);
}

static int read_srat(const struct acpi_table *table, void *info, struct fw_warnings *w)
{
    size_t fault;

    return srat_parse(table->data, table->bytes, info, w, &fault);
}

static int read_slit(const struct acpi_table *table, void *info, struct fw_warnings *w)
{
    size_t fault;

    return slit_parse(table->data, table->bytes, info, w, &fault);
}

static int read_fadt(const struct acpi_table *table, void *info, struct fw_warnings *w)
{
    size_t fault;

    return fadt_parse(table->data, table->bytes, info, w, &fault);
}

int acpi_read_madt(const struct phys_view *view, const struct acpi_tables *tables,
                   struct madt_info *info, struct fw_warnings *w)
{
    return read_first_sound(view, tables, ACPI_SIG_MADT, read_madt, info, w);
}

int acpi_read_srat(const struct phys_view *view, const struct acpi_tables *tables,
                   struct srat_info *info, struct fw_warnings *w)
{
    return read_first_sound(view, tables, ACPI_SIG_SRAT, read_srat, info, w);
}

int acpi_read_slit(const struct phys_view *view, const struct acpi_tables *tables,
                   struct slit_info *info, struct fw_warnings *w)
{
    return read_first_sound(view, tables, ACPI_SIG_SLIT, read_slit, info, w);
}

int acpi_read_fadt(const struct phys_view *view, const struct acpi_tables *tables,
                   struct fadt_info *info, struct fw_warnings *w)
{
    return read_first_sound(view, tables, ACPI_SIG_FADT, read_fadt, info, w);
}
