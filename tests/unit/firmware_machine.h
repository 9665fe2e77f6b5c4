/*
 * A machine made of MADT, SRAT, SLIT and a memory map, taken through the same calls as
 * kernel/machine.c makes: from the tables' bytes to CPUs, nodes and distances. For the tests that
 * hold one rule each. Sockets are four APIC ids wide.
 */
#ifndef TESTS_UNIT_FIRMWARE_MACHINE_H
#define TESTS_UNIT_FIRMWARE_MACHINE_H

#include "fixture_acpi.h"

#include "mm/numa.h"

#define CPUS    80
#define ON      1u
#define HOTPLUG 3u
#define NVDIMM  5u

/* What goes in; a test fills it after begin(). */
struct firmware_input {
    struct table madt[2], srat[2], slit;
    uint32_t nmadts, nsrats; /* 0: the machine has none */
    bool has_slit;
    struct mem_range ram[8];
    struct memmap map;     /* of `ram`; count 0: none, as in the host tool */
    uint32_t boot_apic_id; /* FW_APIC_ID_NONE: not known */
    enum option_numa mode;
    uint32_t fake;
};

/* What came of it. */
struct firmware_result {
    struct fw_warnings warnings;
    uint32_t ncpus;
    uint32_t ids[CPUS], node_of_cpu[CPUS];
    uint32_t srat_entries;
    struct numa numa;
};

extern struct firmware_input fw;
extern struct firmware_result got;

void begin(void);

/* Two sockets of two CPUs (ids 0 1 4 5) and a node each of 1 GiB, domains 0 and 1. */
void begin_two_nodes(void);
void add_ram(paddr_t base, uint64_t length);
void use_slit(uint64_t n, const uint8_t *rows, size_t bytes);

/* Lengths and checksums of all tables; run_as_they_are() works from what stands there. */
void close_tables(void);
void run_as_they_are(void);
void run(void);

void expect_ids(const uint32_t *want);
#define EXPECT_IDS(...) expect_ids((const uint32_t[]){__VA_ARGS__, FW_APIC_ID_NONE})
void expect_quiet(void);
void expect_warning(const char *part);

#endif
