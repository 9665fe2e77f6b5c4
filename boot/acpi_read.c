/*
 * From the list of tables to one read table of each kind.
 *
 * Decides which table is used when a machine carries several of one name: the first that its reader
 * accepts. Does not judge contents; the readers (madt.c, srat.c and so on) do.
 */
#include "boot/acpi.h"

#include <errno.h>

#include "boot/aml.h"
#include "boot/bytes.h"
#include "boot/dbg2.h"
#include "boot/fadt.h"
#include "boot/madt.h"
#include "boot/slit.h"
#include "boot/spcr.h"
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

/* One that cannot be believed gives way to the next; as the last it stays in `info`, as read. */
static int read_slit(const struct acpi_table *table, void *info, struct fw_warnings *w)
{
    size_t fault;
    int err = slit_parse(table->data, table->bytes, info, w, &fault);

    return !err && !((struct slit_info *)info)->usable ? -EINVAL : err;
}

static int read_fadt(const struct acpi_table *table, void *info, struct fw_warnings *w)
{
    size_t fault;

    return fadt_parse(table->data, table->bytes, info, w, &fault);
}

static int read_spcr(const struct acpi_table *table, void *info, struct fw_warnings *w)
{
    size_t fault;

    return spcr_parse(table->data, table->bytes, info, w, &fault);
}

static int read_dbg2(const struct acpi_table *table, void *info, struct fw_warnings *w)
{
    size_t fault;

    return dbg2_parse(table->data, table->bytes, info, w, &fault);
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

int acpi_read_spcr(const struct phys_view *view, const struct acpi_tables *tables,
                   struct spcr_info *info, struct fw_warnings *w)
{
    return read_first_sound(view, tables, ACPI_SIG_SPCR, read_spcr, info, w);
}

int acpi_read_dbg2(const struct phys_view *view, const struct acpi_tables *tables,
                   struct dbg2_info *info, struct fw_warnings *w)
{
    return read_first_sound(view, tables, ACPI_SIG_DBG2, read_dbg2, info, w);
}

/* The FADT alone names the DSDT, so it is in no list. */
static int get_dsdt(const struct phys_view *view, paddr_t pa, struct acpi_table *table)
{
    const uint8_t *header = pa ? view->map(view->ctx, pa, ACPI_HEADER_BYTES) : NULL;

    if (!header)
        return -ENOENT;
    table->bytes = read_le32(header + ACPI_HEADER_LENGTH);
    if (table->bytes < ACPI_HEADER_BYTES || table->bytes > ACPI_TABLE_LIMIT)
        return -EINVAL;
    table->data = view->map(view->ctx, pa, table->bytes);
    return table->data ? 0 : -EFAULT;
}

static int find_s5_in(const struct acpi_table *table, const char *name, struct acpi_s5 *s5,
                      struct fw_warnings *w)
{
    size_t fault;
    int err = aml_find_s5(table->data, table->bytes, s5, &fault);

    if (err && err != -ENOENT)
        boot_warn(w, "%s: \\_S5 %s (offset %zu): no power off by ACPI", name,
                  err == -ENOTSUP ? "is not a package of constants" : "is damaged", fault);
    return err;
}

void acpi_read_s5(const struct phys_view *view, const struct acpi_tables *tables,
                  const struct fadt_info *fadt, struct acpi_s5 *s5, struct fw_warnings *w)
{
    struct acpi_table table;
    int err = get_dsdt(view, fadt->dsdt, &table);

    *s5 = (struct acpi_s5){.known = false};
    if (err)
        boot_warn(w, "DSDT at 0x%lx cannot be read", fadt->dsdt);
    else if (find_s5_in(&table, ACPI_SIG_DSDT, s5, w) != -ENOENT)
        return;
    for (uint32_t n = 0; (err = acpi_table_get(view, tables, ACPI_SIG_SSDT, n, &table)) != -ENOENT;
         n++) {
        if (!err && find_s5_in(&table, ACPI_SIG_SSDT, s5, w) != -ENOENT)
            return;
    }
    boot_warn(w, "no \\_S5 in DSDT and SSDTs: no power off by ACPI");
}
