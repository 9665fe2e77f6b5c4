/*
 * What firmware and boot loader said, as plain data: the results of the parsers in boot/, and the
 * input of mm/numa.c, the page allocator's set-up and the listings.
 *
 * Holds no decision: entries stand in table order and are kept as read, disabled ones included.
 * What is wrong but survivable is a line in struct fw_warnings; the caller prints it. Arrays whose
 * size depends on the machine are the caller's (pointer and capacity); what does not fit is
 * counted, never written. Source: ACPI 6.4 sections 5.2.9 (FADT), 5.2.12 (MADT), 5.2.16
 * (SRAT), 5.2.17 (SLIT), 15 (memory types).
 */
#ifndef HV_FIRMWARE_H
#define HV_FIRMWARE_H

#include "hv/bits.h"
#include "hv/types.h"

/* ---- warnings ---- */

#define FW_WARNINGS_MAX  48
#define FW_WARNING_CHARS 120

/* About 6 KiB: never on a stack. Filled through fw_vwarn (hv/text.h). */
struct fw_warnings {
    uint32_t count;   /* lines in text[] */
    uint32_t dropped; /* lines that found no room */
    char text[FW_WARNINGS_MAX][FW_WARNING_CHARS];
};

/* ---- physical memory as a parser may see it ---- */

/*
 * `map` gives a pointer to `bytes` bytes at `pa` that stays valid as long as the view does, or NULL
 * when any of them cannot be read. Tests and fuzzers feed bytes through it.
 */
struct phys_view {
    const void *(*map)(void *ctx, paddr_t pa, size_t bytes);
    void *ctx;
};

/* ---- memory map ---- */

/*
 * Ascending severity: where two firmware ranges overlap, the higher number keeps the bytes. The
 * claims are RAM that is in use (they count in a node's ram_bytes).
 */
enum mem_type {
    MEM_RAM,
    MEM_CLAIM_IMAGE,    /* Numen itself */
    MEM_CLAIM_MODULE,   /* boot modules */
    MEM_CLAIM_BOOTINFO, /* the loader's information */
    MEM_CLAIM_EARLY,    /* carved out before the page allocator runs */
    MEM_PERSISTENT,     /* non-volatile: never handed out */
    MEM_ACPI,           /* tables; never reused */
    MEM_RESERVED,
    MEM_NVS,
    MEM_BAD,
    MEM_TYPES
};

struct mem_range {
    paddr_t base;
    uint64_t length; /* bytes, never 0; base + length < 2^64 */
    uint32_t type;   /* enum mem_type */
};

/* Sorted by base, without overlap; neighbours of one type are merged. */
struct memmap {
    struct mem_range *ranges; /* [i] caller's array */
    uint32_t capacity;        /* [i] */
    uint32_t count;
    uint32_t dropped; /* changes that found no room: the map lacks RAM then, never claims */
};

static inline bool mem_type_is_ram(uint32_t type)
{
    return type <= MEM_CLAIM_EARLY;
}

/* ---- MADT ---- */

enum fw_cpu_kind { FW_CPU_LAPIC, FW_CPU_X2APIC };

#define MADT_CPU_ENABLED        BIT(0)
#define MADT_CPU_ONLINE_CAPABLE BIT(1)

/* Entries a machine's tables may hold: each CPU as a local APIC and again as an x2APIC. */
#define FW_CPU_ENTRIES_MAX (2 * CPUS_MAX)
#define FW_APIC_ID_NONE    UINT32_MAX

struct madt_cpu {
    uint32_t uid;
    uint32_t apic_id;
    uint32_t flags; /* MADT_CPU_* */
    uint32_t kind;  /* enum fw_cpu_kind */
};

#define MADT_IOAPICS_MAX   64
#define MADT_OVERRIDES_MAX 32

struct madt_ioapic {
    paddr_t addr;
    uint32_t id;
    uint32_t gsi_base;
};

struct madt_override {
    uint32_t source; /* ISA interrupt */
    uint32_t gsi;
    uint32_t flags; /* bits 1:0 polarity, 3:2 trigger mode (MPS INTI) */
};

/* About 1.5 KiB: never on a stack. */
struct madt_info {
    struct madt_cpu *cpus; /* [i] caller's array; table order */
    uint32_t cpu_capacity; /* [i] */
    uint32_t ncpus;
    uint32_t cpus_dropped;
    paddr_t lapic_addr; /* type 5 overrides the header's */
    bool pcat_compat;   /* 8259s present: mask them */
    bool foreign;       /* holds another architecture's CPUs and none of ours */
    uint32_t nioapics;
    uint32_t noverrides;
    struct madt_ioapic ioapics[MADT_IOAPICS_MAX];
    struct madt_override overrides[MADT_OVERRIDES_MAX];
};

/* ---- SRAT ---- */

#define SRAT_ENABLED         BIT(0)
#define SRAT_MEM_HOTPLUG     BIT(1)
#define SRAT_MEM_NONVOLATILE BIT(2)

struct srat_cpu {
    uint32_t apic_id;
    uint32_t pxm;
    uint32_t flags; /* SRAT_ENABLED */
    uint32_t kind;  /* enum fw_cpu_kind */
};

struct srat_mem {
    paddr_t base;
    uint64_t length;
    uint32_t pxm;
    uint32_t flags; /* SRAT_ENABLED | SRAT_MEM_* */
};

struct srat_info {
    struct srat_cpu *cpus; /* [i] caller's array; table order */
    struct srat_mem *mem;  /* [i] caller's array; table order */
    uint32_t cpu_capacity; /* [i] */
    uint32_t mem_capacity; /* [i] */
    uint32_t ncpus;
    uint32_t nmem;
    uint32_t dropped; /* entries that found no room */
};

/* ---- SLIT ---- */

struct slit_info {
    const uint8_t *rows; /* n * n bytes inside the table, indexed by PXM; NULL when n is 0 */
    uint32_t n;
    bool usable; /* diagonal 10, nothing below 10, not all 10 */
};

/* ---- FADT, DSDT ---- */

enum acpi_space { ACPI_SPACE_MEMORY = 0, ACPI_SPACE_IO = 1 };

/* A register of ACPI; addr 0: there is none. */
struct acpi_register {
    paddr_t addr;
    uint32_t space; /* enum acpi_space, or another of ACPI's numbers */
};

struct fadt_info {
    struct acpi_register pm_timer;
    struct acpi_register reset;
    struct acpi_register pm1_event[2], pm1_control[2]; /* blocks a and b */
    struct acpi_register sleep_control, sleep_status;  /* of hardware-reduced machines */
    paddr_t dsdt;                                      /* 0: none */
    uint16_t smi_command;                              /* port; 0: ACPI mode is always on */
    uint8_t acpi_enable;                               /* what to write there */
    uint8_t reset_value;
    bool pm_timer_32bit;
    bool hardware_reduced;
};

/* What \_S5 says is written into SLP_TYP to switch the machine off. */
struct acpi_s5 {
    bool known;
    uint8_t typ_a, typ_b; /* of PM1 blocks a and b, each below 8 */
};

#endif
