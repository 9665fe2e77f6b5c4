/*
 * Finding ACPI's tables.
 *
 * Decides which root table is believed (the XSDT where it is sound, else the RSDT) and whether a
 * header is good enough for its table to be read. Does not read any table's body. Invariants:
 * nothing is read that the view did not give; a pointer list is bounded by its table's length and
 * ACPI_TABLES_MAX; a table is listed once however often it is named. A wrong checksum is a warning,
 * except in an RSDP, where it is what tells one from chance bytes. Source: ACPI 6.4 sections 5.2.5
 * (RSDP), 5.2.6 (header), 5.2.7 (RSDT), 5.2.8 (XSDT).
 */
#include "boot/acpi.h"

#include <errno.h>
#include <string.h>

#include "boot/bytes.h"
#include "boot/warn.h"

enum {
    /* RSDP */
    RSDP_REVISION = 15,
    RSDP_RSDT = 16,
    RSDP_BYTES_REV0 = 20,
    RSDP_LENGTH = 20,
    RSDP_XSDT = 24,
    RSDP_BYTES_REV2 = 36,
};

#define BDA_EBDA_SEGMENT 0x40e /* real-mode segment of the extended BIOS data area */
#define EBDA_SCAN_BYTES  1024
#define BIOS_AREA        0xe0000
#define BIOS_AREA_BYTES  0x20000
#define LOW_MEMORY_END   0xa0000

static bool sums_to_zero(const uint8_t *data, size_t bytes)
{
    uint8_t sum = 0;

    for (size_t i = 0; i < bytes; i++)
        sum = (uint8_t)(sum + data[i]);
    return sum == 0;
}

int acpi_rsdp_read(const void *data, size_t bytes, struct acpi_rsdp *rsdp)
{
    const uint8_t *p = data;

    if (bytes < RSDP_BYTES_REV0 || memcmp(p, "RSD PTR ", 8) != 0 ||
        !sums_to_zero(p, RSDP_BYTES_REV0))
        return -EINVAL;
    *rsdp = (struct acpi_rsdp){
        .revision = p[RSDP_REVISION],
        .rsdt = read_le32(p + RSDP_RSDT),
        .extended_ok = true,
    };
    if (rsdp->revision >= 2 && bytes >= RSDP_BYTES_REV2) {
        uint32_t length = read_le32(p + RSDP_LENGTH);

        rsdp->xsdt = read_le64(p + RSDP_XSDT);
        /* The XSDT proves itself by its own signature and checksum, so this one only warns. */
        rsdp->extended_ok =
            length >= RSDP_BYTES_REV2 && (length > bytes || sums_to_zero(p, length));
    }
    return 0;
}

static int scan_area(const struct phys_view *view, paddr_t base, size_t bytes,
                     struct acpi_rsdp *rsdp)
{
    const uint8_t *area = view->map(view->ctx, base, bytes);

    for (size_t at = 0; area && at < bytes; at += 16)
        if (acpi_rsdp_read(area + at, bytes - at, rsdp) == 0)
            return 0;
    return -ENOENT;
}

int acpi_rsdp_scan(const struct phys_view *view, struct acpi_rsdp *rsdp)
{
    const void *segment = view->map(view->ctx, BDA_EBDA_SEGMENT, 2);
    paddr_t ebda = segment ? (paddr_t)read_le16(segment) * 16 : 0;

    if (ebda >= PAGE_BYTES && ebda + EBDA_SCAN_BYTES <= LOW_MEMORY_END &&
        scan_area(view, ebda, EBDA_SCAN_BYTES, rsdp) == 0)
        return 0;
    return scan_area(view, BIOS_AREA, BIOS_AREA_BYTES, rsdp);
}

int acpi_header_check(const void *data, size_t bytes, const char *signature, size_t least,
                      size_t *length, struct fw_warnings *w, size_t *fault)
{
    const uint8_t *p = data;

    *fault = 0;
    if (bytes < ACPI_HEADER_BYTES || memcmp(p, signature, 4) != 0) {
        boot_warn(w, "%s: no header of that name; ignored", signature);
        return -EINVAL;
    }
    *length = read_le32(p + ACPI_HEADER_LENGTH);
    if (*length < least || *length > bytes) {
        *fault = ACPI_HEADER_LENGTH;
        boot_warn(w, "%s: length %zu, but at least %zu are needed and %zu readable; ignored",
                  signature, *length, least, bytes);
        return -EINVAL;
    }
    if (!sums_to_zero(p, *length))
        boot_warn(w, "%s: wrong checksum; used all the same", signature);
    return 0;
}

/* What was wrong with the pointers of one root table, told in one line at its end. */
struct root_faults {
    uint32_t null, unreadable, no_room, remainder;
};

static bool is_listed(const struct acpi_tables *tables, paddr_t pa)
{
    for (uint32_t i = 0; i < tables->count; i++)
        if (tables->entry[i].pa == pa)
            return true;
    return false;
}

static bool has_signature(const struct acpi_tables *tables, uint32_t count, const char *signature)
{
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(tables->entry[i].signature, signature, 4) == 0)
            return true;
    return false;
}

static void list_table(const struct phys_view *view, struct acpi_tables *tables, paddr_t pa,
                       struct root_faults *faults)
{
    const uint8_t *header;
    struct acpi_entry *e;
    uint32_t length;

    if (!pa) {
        faults->null++;
        return;
    }
    if (is_listed(tables, pa))
        return;
    header = view->map(view->ctx, pa, ACPI_HEADER_BYTES);
    length = header ? read_le32(header + ACPI_HEADER_LENGTH) : 0;
    if (length < ACPI_HEADER_BYTES || length > ACPI_TABLE_LIMIT) {
        faults->unreadable++;
        return;
    }
    if (tables->count == ACPI_TABLES_MAX) {
        faults->no_room++;
        return;
    }
    e = &tables->entry[tables->count++];
    *e = (struct acpi_entry){.pa = pa, .bytes = length};
    memcpy(e->signature, header, 4);
}

/* Lists what the root table at `pa` names. -EINVAL when it cannot be used. */
static int list_root(const struct phys_view *view, paddr_t pa, const char *signature,
                     struct acpi_tables *tables, struct fw_warnings *w)
{
    size_t pointer_bytes = signature[0] == 'X' ? 8 : 4;
    struct root_faults faults = {0};
    struct acpi_entry root = {.pa = pa};
    const uint8_t *header = view->map(view->ctx, pa, ACPI_HEADER_BYTES);
    const uint8_t *data = NULL;
    size_t length = 0, fault;

    if (header)
        root.bytes = read_le32(header + ACPI_HEADER_LENGTH);
    if (root.bytes >= ACPI_HEADER_BYTES && root.bytes <= ACPI_TABLE_LIMIT)
        data = view->map(view->ctx, pa, root.bytes);
    if (!data) {
        boot_warn(w, "%s at 0x%lx cannot be read", signature, pa);
        return -EINVAL;
    }
    if (acpi_header_check(data, root.bytes, signature, ACPI_HEADER_BYTES, &length, w, &fault))
        return -EINVAL;
    for (size_t at = ACPI_HEADER_BYTES; at + pointer_bytes <= length; at += pointer_bytes)
        list_table(view, tables, pointer_bytes == 8 ? read_le64(data + at) : read_le32(data + at),
                   &faults);
    faults.remainder = (uint32_t)((length - ACPI_HEADER_BYTES) % pointer_bytes);
    if (faults.null || faults.unreadable || faults.no_room || faults.remainder)
        boot_warn(w, "%s: %u null and %u unusable pointers, %u beyond the limit, %u odd bytes",
                  signature, faults.null, faults.unreadable, faults.no_room, faults.remainder);
    return 0;
}

/* Takes from `tables` what the RSDT named (from `first` on) under a name that the XSDT has too. */
static void drop_rivals(struct acpi_tables *tables, uint32_t first, struct fw_warnings *w)
{
    uint32_t kept = first, rivals = 0;

    for (uint32_t i = first; i < tables->count; i++) {
        if (has_signature(tables, first, tables->entry[i].signature)) {
            rivals++;
            continue;
        }
        boot_warn(w, "%s is named by the RSDT only; used", tables->entry[i].signature);
        tables->entry[kept++] = tables->entry[i];
    }
    tables->count = kept;
    if (rivals)
        boot_warn(w, "RSDT and XSDT disagree about %u tables; the XSDT's are used", rivals);
}

int acpi_tables_list(const struct phys_view *view, const struct acpi_rsdp *rsdp,
                     struct acpi_tables *tables, struct fw_warnings *w)
{
    uint32_t from_xsdt;
    bool xsdt_ok, rsdt_ok;

    tables->count = 0;
    if (!rsdp->extended_ok)
        boot_warn(w, "RSDP: wrong extended checksum; used all the same");
    xsdt_ok = rsdp->xsdt && list_root(view, rsdp->xsdt, "XSDT", tables, w) == 0;
    from_xsdt = tables->count;
    rsdt_ok = rsdp->rsdt && list_root(view, rsdp->rsdt, "RSDT", tables, w) == 0;
    if (from_xsdt)
        drop_rivals(tables, from_xsdt, w);
    if (xsdt_ok || rsdt_ok)
        return 0;
    boot_warn(w, "neither XSDT nor RSDT can be used: no ACPI tables");
    return -ENOENT;
}

int acpi_table_get(const struct phys_view *view, const struct acpi_tables *tables,
                   const char *signature, uint32_t nth, struct acpi_table *table)
{
    for (uint32_t i = 0; i < tables->count; i++) {
        const struct acpi_entry *e = &tables->entry[i];

        if (memcmp(e->signature, signature, 4) != 0 || nth-- > 0)
            continue;
        table->bytes = e->bytes;
        table->data = view->map(view->ctx, e->pa, e->bytes);
        return table->data ? 0 : -EFAULT;
    }
    return -ENOENT;
}
