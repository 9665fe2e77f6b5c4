/*
 * From an RSDP to every table it leads to; the input is the memory from 64 KiB on, the RSDP first.
 */
#include "fuzz.h"

#include "boot/acpi.h"
#include "boot/fadt.h"
#include "boot/madt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct acpi_tables tables;
    static struct fw_warnings warnings;
    static struct madt_cpu cpus[64];
    static struct madt_info madt;
    static struct fadt_info fadt;
    struct fuzz_phys phys = {.base = 0x10000, .data = data, .bytes = bytes};
    struct phys_view view = {.map = fuzz_map, .ctx = &phys};
    struct acpi_rsdp rsdp;
    struct acpi_table table;

    warnings.count = warnings.dropped = 0;
    if (bytes < 36 || acpi_rsdp_read(data, bytes, &rsdp)) {
        /* A sum of eight bits is hard to guess: the pointers are tried without it as well. */
        if (bytes < 16)
            return 0;
        rsdp = (struct acpi_rsdp){.extended_ok = true};
        memcpy(&rsdp.xsdt, data, 8);
        memcpy(&rsdp.rsdt, data + 8, 8);
    }
    if (acpi_tables_list(&view, &rsdp, &tables, &warnings))
        return 0;
    FUZZ_CHECK(tables.count <= ACPI_TABLES_MAX);
    for (uint32_t i = 0; i < tables.count; i++)
        if (acpi_table_get(&view, &tables, tables.entry[i].signature, 0, &table) == 0)
            FUZZ_CHECK(table.data >= data && table.data + table.bytes <= data + bytes);
    madt.cpus = cpus;
    madt.cpu_capacity = ARRAY_SIZE(cpus);
    if (acpi_read_madt(&view, &tables, &madt, &warnings) == 0)
        FUZZ_CHECK(madt.ncpus <= ARRAY_SIZE(cpus));
    if (acpi_read_fadt(&view, &tables, &fadt, &warnings) == 0)
        FUZZ_CHECK(fadt.pm_timer.addr == 0 || !fadt.hardware_reduced);
    return 0;
}
