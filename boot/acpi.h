/* Finding ACPI tables: RSDP, RSDT, XSDT. See acpi.c. */
#ifndef BOOT_ACPI_H
#define BOOT_ACPI_H

#include "hv/firmware.h"

#define ACPI_HEADER_BYTES  36
#define ACPI_HEADER_LENGTH 4 /* offset of the table's length in its header */
#define ACPI_TABLES_MAX    256
#define ACPI_TABLE_LIMIT   (16u << 20) /* a longer table is taken for damage */

#define ACPI_SIG_MADT      "APIC"
#define ACPI_SIG_SRAT      "SRAT"
#define ACPI_SIG_SLIT      "SLIT"
#define ACPI_SIG_FADT      "FACP"
#define ACPI_SIG_HPET      "HPET"
#define ACPI_SIG_DSDT      "DSDT"
#define ACPI_SIG_SSDT      "SSDT"
#define ACPI_SIG_SPCR      "SPCR"
#define ACPI_SIG_DBG2      "DBG2"

/* A generic address structure: where a register is (ACPI 6.4 section 5.2.3.2). */
enum {
    GAS_SPACE = 0, /* enum acpi_space */
    GAS_BIT_WIDTH = 1,
    GAS_ACCESS = 3,
    GAS_ADDRESS = 4,
    GAS_BYTES = 12,
};

struct acpi_rsdp {
    uint32_t revision;
    paddr_t rsdt;     /* 0: none */
    paddr_t xsdt;     /* 0: none */
    bool extended_ok; /* false: the checksum of revision 2's part is wrong */
};

struct acpi_entry {
    char signature[5];
    paddr_t pa;
    uint32_t bytes;
};

/* Every readable table that RSDT and XSDT name, in their order. About 6 KiB: never on a stack. */
struct acpi_tables {
    uint32_t count;
    struct acpi_entry entry[ACPI_TABLES_MAX];
};

struct acpi_table {
    const uint8_t *data; /* header included */
    size_t bytes;        /* what the header says, all of it readable */
};

/* Reads an RSDP from `bytes` bytes at `data`: 0, or -EINVAL (signature, checksum or length). */
__attribute__((warn_unused_result)) int acpi_rsdp_read(const void *data, size_t bytes,
                                                       struct acpi_rsdp *rsdp);

/* Looks in the EBDA's first KiB, then in 0xE0000-0xFFFFF: 0 or -ENOENT. */
__attribute__((warn_unused_result)) int acpi_rsdp_scan(const struct phys_view *view,
                                                       struct acpi_rsdp *rsdp);

/*
 * Lists the tables. The XSDT is used where it is sound, else the RSDT; tables that only the RSDT
 * names are added with a warning. 0, or -ENOENT: neither can be used.
 */
__attribute__((warn_unused_result)) int acpi_tables_list(const struct phys_view *view,
                                                         const struct acpi_rsdp *rsdp,
                                                         struct acpi_tables *tables,
                                                         struct fw_warnings *w);

/* The nth (from 0) table of that signature: 0; -ENOENT: no such; -EFAULT: it cannot be read. */
__attribute__((warn_unused_result)) int acpi_table_get(const struct phys_view *view,
                                                       const struct acpi_tables *tables,
                                                       const char *signature, uint32_t nth,
                                                       struct acpi_table *table);

/*
 * The first sound table of its kind is read into *info, as by madt_parse and the like; further ones
 * are named in a warning. 0 or -ENOENT.
 */
struct madt_info;
struct srat_info;
struct slit_info;
struct fadt_info;
struct spcr_info;
struct dbg2_info;
__attribute__((warn_unused_result)) int acpi_read_madt(const struct phys_view *view,
                                                       const struct acpi_tables *tables,
                                                       struct madt_info *info,
                                                       struct fw_warnings *w);
__attribute__((warn_unused_result)) int acpi_read_srat(const struct phys_view *view,
                                                       const struct acpi_tables *tables,
                                                       struct srat_info *info,
                                                       struct fw_warnings *w);
__attribute__((warn_unused_result)) int acpi_read_slit(const struct phys_view *view,
                                                       const struct acpi_tables *tables,
                                                       struct slit_info *info,
                                                       struct fw_warnings *w);
__attribute__((warn_unused_result)) int acpi_read_fadt(const struct phys_view *view,
                                                       const struct acpi_tables *tables,
                                                       struct fadt_info *info,
                                                       struct fw_warnings *w);
__attribute__((warn_unused_result)) int acpi_read_spcr(const struct phys_view *view,
                                                       const struct acpi_tables *tables,
                                                       struct spcr_info *info,
                                                       struct fw_warnings *w);
__attribute__((warn_unused_result)) int acpi_read_dbg2(const struct phys_view *view,
                                                       const struct acpi_tables *tables,
                                                       struct dbg2_info *info,
                                                       struct fw_warnings *w);

/*
 * \_S5 from the DSDT that the FADT names, else from the SSDTs. What stands in the way of power off
 * is one warning, and s5->known is false.
 */
void acpi_read_s5(const struct phys_view *view, const struct acpi_tables *tables,
                  const struct fadt_info *fadt, struct acpi_s5 *s5, struct fw_warnings *w);

/*
 * The check every table reader starts with: signature, length under the header or beyond `bytes`
 * (-EINVAL, *fault at the field); a wrong checksum is only a warning. *length is what to read.
 */
__attribute__((warn_unused_result)) int acpi_header_check(const void *data, size_t bytes,
                                                          const char *signature, size_t least,
                                                          size_t *length, struct fw_warnings *w,
                                                          size_t *fault);

#endif
