/*
 * The machine as found at boot: what listings print, and what set-up passes from step to step.
 *
 * Written by the boot CPU alone, before the others leave bring-up; read-only afterwards, except for
 * options that the console may set. Arrays by CPU number hold cpu_count entries.
 */
#ifndef KERNEL_MACHINE_H
#define KERNEL_MACHINE_H

#include "boot/acpi.h"
#include "boot/dbg2.h"
#include "boot/fadt.h"
#include "boot/spcr.h"
#include "hv/boot_info.h"
#include "hv/cpu_place.h"
#include "hv/firmware.h"
#include "hv/options.h"
#include "mm/numa.h"

struct topology_counts {
    uint32_t sockets, llcs, cores, threads; /* of all CPUs in the numbering */
    uint32_t threads_per_core_max;
    bool hybrid;
};

struct machine {
    struct boot_info boot; /* command line, modules, framebuffer */
    struct memmap map;
    struct options options;
    struct fw_warnings warnings;

    struct acpi_tables tables; /* count 0: no ACPI */
    struct madt_info madt;     /* ncpus 0: none */
    struct srat_info srat;
    struct slit_info slit;
    struct fadt_info fadt;
    struct acpi_s5 s5;
    struct spcr_info spcr; /* empty where there is none, as the next */
    struct dbg2_info dbg2;
    bool has_madt, has_srat, has_slit, has_fadt;
    paddr_t hpet;    /* registers; 0: none */
    paddr_t ap_page; /* below 640 KiB, for starting CPUs in real mode; PADDR_NONE: there is none */

    struct cpu_place *places; /* by CPU number, offline ones too */
    struct topology_counts topology;
    struct numa numa;
};

extern struct machine machine;

/* ---- the steps, in their order; see machine.c ---- */

void machine_read_loader(uint32_t magic, paddr_t info); /* options, memory map, modules */
void machine_read_firmware(void);                       /* ACPI tables */
void machine_number_cpus(void);                         /* cpu_count, places[].apic_id */
void machine_place_cpus(bool all_up); /* by CPUID: the boot CPU's, then each CPU's own */
void machine_build_nodes(void);       /* numa, places[].node */
void machine_print_loader(void);
void machine_print_warnings(void); /* those that came since the last call */
void machine_print_topology(void);

#endif
