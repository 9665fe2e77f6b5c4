/* See firmware_machine.h. */
#include "firmware_machine.h"

#include "fixture_phys.h"

#include "boot/acpi.h"
#include "boot/madt.h"
#include "boot/slit.h"
#include "boot/srat.h"

#define MADT_PA(i) (0x10000ull * (1 + (i)))
#define SRAT_PA(i) (0x10000ull * (11 + (i)))
#define SLIT_PA    (0x10000ull * 21)
#define ROOT_PA    (0x10000ull * 31)

struct firmware_input fw;
struct firmware_result got;

static struct table root;

void begin(void)
{
    memset(&fw, 0, sizeof(fw));
    fw.map = (struct memmap){.ranges = fw.ram, .capacity = ARRAY_SIZE(fw.ram)};
    fw.mode = NUMA_ON;
    for (uint32_t i = 0; i < 2; i++) {
        madt_begin(&fw.madt[i]);
        srat_begin(&fw.srat[i], 3);
    }
}

void add_ram(paddr_t base, uint64_t length)
{
    fw.ram[fw.map.count++] = (struct mem_range){base, length, MEM_RAM};
}

void begin_two_nodes(void)
{
    begin();
    fw.nmadts = fw.nsrats = 1;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t apic_id = i / 2 * 4 + i % 2;

        madt_lapic(&fw.madt[0], i, apic_id, ON);
        srat_lapic(&fw.srat[0], apic_id, i / 2, ON);
    }
    srat_memory(&fw.srat[0], 0, 0, GIB, ON);
    srat_memory(&fw.srat[0], 1, GIB, GIB, ON);
    add_ram(0, 2 * GIB);
}

void use_slit(uint64_t n, const uint8_t *rows, size_t bytes)
{
    slit_build(&fw.slit, n, rows, bytes);
    fw.has_slit = true;
}

void close_tables(void)
{
    for (uint32_t i = 0; i < fw.nmadts; i++)
        table_end(&fw.madt[i]);
    for (uint32_t i = 0; i < fw.nsrats; i++)
        table_end(&fw.srat[i]);
}

static void place(struct phys *mem, const struct table *t, paddr_t pa)
{
    phys_add(mem, pa, t->b, t->n);
    put(&root, pa, 8);
}

static void put_in_memory(struct phys *mem)
{
    memset(mem, 0, sizeof(*mem));
    table_begin(&root, "XSDT", 1);
    for (uint32_t i = 0; i < fw.nmadts; i++)
        place(mem, &fw.madt[i], MADT_PA(i));
    for (uint32_t i = 0; i < fw.nsrats; i++)
        place(mem, &fw.srat[i], SRAT_PA(i));
    if (fw.has_slit)
        place(mem, &fw.slit, SLIT_PA);
    table_end(&root);
    phys_add(mem, ROOT_PA, root.b, root.n);
}

void run_as_they_are(void)
{
    static struct acpi_tables tables;
    static struct madt_cpu madt_cpus[CPUS];
    static struct madt_info madt;
    static struct srat_cpu srat_cpus[CPUS];
    static struct srat_mem srat_mem[CPUS];
    static struct srat_info srat;
    static struct slit_info slit;
    static uint64_t scratch[3 * CPUS];
    static struct phys mem;
    struct phys_view view = phys_view(&mem);
    struct acpi_rsdp rsdp = {.revision = 2, .xsdt = ROOT_PA, .extended_ok = true};
    uint32_t sockets[CPUS];
    struct numa_input in = {
        .apic_ids = got.ids, .sockets = sockets, .mode = fw.mode, .fake = fw.fake};
    bool has_madt;

    memset(&got, 0, sizeof(got));
    put_in_memory(&mem);
    assert_int_equal(acpi_tables_list(&view, &rsdp, &tables, &got.warnings), 0);
    madt = (struct madt_info){.cpus = madt_cpus, .cpu_capacity = CPUS};
    srat = (struct srat_info){
        .cpus = srat_cpus, .mem = srat_mem, .cpu_capacity = CPUS, .mem_capacity = CPUS};
    has_madt = acpi_read_madt(&view, &tables, &madt, &got.warnings) == 0;
    if (acpi_read_srat(&view, &tables, &srat, &got.warnings) == 0)
        in.srat = &srat;
    if (acpi_read_slit(&view, &tables, &slit, &got.warnings) == 0)
        in.slit = &slit;
    got.srat_entries = srat.ncpus + srat.nmem;
    got.ncpus = madt_cpu_list(has_madt ? &madt : NULL, fw.boot_apic_id, got.ids, CPUS, scratch,
                              &got.warnings);
    for (uint32_t i = 0; i < got.ncpus; i++)
        sockets[i] = got.ids[i] / 4;
    in.ncpus = got.ncpus;
    in.map = fw.map.count ? &fw.map : NULL;
    numa_build(&got.numa, &in, got.node_of_cpu, scratch, &got.warnings);
}

void run(void)
{
    close_tables();
    run_as_they_are();
}

void expect_ids(const uint32_t *want)
{
    for (uint32_t i = 0; i < got.ncpus; i++)
        if (got.ids[i] != want[i])
            fail_msg("CPU %u has APIC id 0x%x, not 0x%x", i, got.ids[i], want[i]);
    assert_int_equal(want[got.ncpus], FW_APIC_ID_NONE);
}

void expect_quiet(void)
{
    if (got.warnings.count)
        fail_msg("warned: %s", got.warnings.text[0]);
}

void expect_warning(const char *part)
{
    if (!warned(&got.warnings, part))
        fail_msg("no warning of: %s; but %s", part,
                 got.warnings.count ? got.warnings.text[0] : "none");
}
