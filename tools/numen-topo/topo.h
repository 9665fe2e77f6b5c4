/*
 * Parts of numen-topo, the host program that shows what Numen makes of a machine.
 *
 * inputs_*.c turn files into what the image would have found (struct inputs), machine.c calls the
 * image's own pure code in the image's order (struct machine_view), and print_*.c write the result.
 * None of the parts decides anything about the machine: that is boot/, arch/x86/topology*.c and
 * mm/numa*.c. Warnings of the tool's own readers go into the same list as the parsers'.
 */
#ifndef NUMEN_TOPO_TOPO_H
#define NUMEN_TOPO_TOPO_H

#include <stdio.h>

#include "arch/x86/topology.h"
#include "boot/acpi.h"
#include "hv/firmware.h"
#include "hv/options.h"
#include "mm/numa.h"

enum exit_status { EXIT_GOOD = 0, EXIT_NOTHING_USABLE = 1, EXIT_USAGE = 2 };

#define MAP_RANGES_MAX 1024u /* as in the image */

struct file_bytes {
    uint8_t *data;
    size_t bytes;
};

/* One CPU's CPUID leaves. */
struct dump_cpu {
    uint32_t apic_id;
    bool has_id; /* its leaves are its own, and so the APIC id they tell */
    struct cpuid_entry *entries;
    uint32_t count;
    uint32_t capacity;
};

/* All CPUs of a machine, in the order of the dump. */
struct cpu_dumps {
    struct dump_cpu *cpus;
    uint32_t count;
};

struct inputs {
    struct acpi_tables tables;                /* entry i lies at table_address(i) */
    struct file_bytes bytes[ACPI_TABLES_MAX]; /* of tables.entry[i] */
    struct cpu_dumps dumps;
    struct memmap map; /* ranges NULL: none was given */
    struct options options;
    uint32_t boot_apic_id; /* FW_APIC_ID_NONE: not known */
    struct fw_warnings warnings;
};

/* ---- files.c ---- */

/* Ends the program when there is no memory. */
void *grow_array(void *array, size_t count, size_t element_bytes);

/* The whole file, "-" for standard input; followed by a NUL that is not counted. 0 or -errno. */
__attribute__((warn_unused_result)) int file_read(const char *path, struct file_bytes *out);

/* The next line without its end, or NULL; *at moves on and starts at the file's data. */
char *line_next(char **at);

/* ---- inputs_acpi.c ---- */

/* Adds one table under the name it was given as, whatever its bytes say; takes over `data`. */
void inputs_add_table(struct inputs *in, const char *signature, struct file_bytes data);

/* The tables that acpidump's text holds; of those only MADT, SRAT and SLIT are kept. */
void inputs_add_acpidump(struct inputs *in, struct file_bytes text);

/* The tables as the image would see them; valid as long as `in` is. */
struct phys_view inputs_view(struct inputs *in);

/* ---- inputs_cpuid.c, inputs_memmap.c: text; nothing is added when there is no line of use ---- */

void inputs_add_cpuid(struct inputs *in, struct file_bytes text);
void inputs_add_memmap(struct inputs *in, struct file_bytes text);
void dump_add(struct dump_cpu *cpu, uint32_t leaf, uint32_t subleaf, struct cpuid_regs regs);

/* An array for the map, if it has none yet. */
void inputs_begin_memmap(struct inputs *in);

/* ---- dump_ids.c ---- */

/* APIC id by the CPU's own leaves: 0x1F, 0xB, 0x80000026, 0x8000001E, 1. */
uint32_t dump_apic_id(const struct dump_cpu *cpu);

/* After all leaves of all CPUs are there: apic_id of each, no two the same. */
void dumps_give_ids(struct inputs *in);

/* ---- inputs_this_machine.c ---- */

void inputs_add_this_machine(struct inputs *in);

/* ---- machine.c ---- */

struct machine_view {
    bool has_madt, has_srat, has_slit;
    struct madt_info madt;
    struct srat_info srat;
    struct slit_info slit;
    uint32_t ncpus;
    struct cpu_place *places;
    bool *online; /* by CPU: maxcpus= and smt= leave it on */
    struct topo_result topology;
    struct numa numa;
    const struct fw_warnings *warnings;
};

/* Reads and places everything; warnings are added to `in`. */
void machine_build(struct machine_view *m, struct inputs *in);

/* Whether any input told something about the machine. */
bool machine_is_known(const struct machine_view *m, const struct inputs *in);

/* CPUs by socket, LLC, core and thread: groups of each kind stand together. ncpus elements. */
uint32_t *machine_cpu_order(const struct machine_view *m);

enum group { GROUP_SOCKET, GROUP_LLC, GROUP_CORE, GROUP_CPU };

/* Where in order[from..to) the group of that kind which order[from] is in ends. */
uint32_t machine_group_end(const struct machine_view *m, const uint32_t *order, uint32_t from,
                           uint32_t to, enum group kind);

/* ---- print_json.c, print_tree.c, print_svg.c ---- */

void print_json(const struct machine_view *m, FILE *out);
void print_tree(const struct machine_view *m, FILE *out);
void print_svg(const struct machine_view *m, FILE *out);

/* "31.9 GiB"; `text` has room for TEXT_BYTES. */
#define TEXT_BYTES 32
const char *format_bytes(char text[TEXT_BYTES], uint64_t bytes);

#endif
