/*
 * The machine the tool runs on, as Linux shows it.
 *
 * ACPI tables from /sys/firmware/acpi/tables (root may read them), the firmware's memory map from
 * /sys/firmware/memmap, and CPUID by moving to each CPU and asking. Linux's CPU 0 is the boot CPU.
 * What cannot be read is a warning, and the rest is shown without it. Which subleaves are asked for
 * follows arch/x86/cpuid_capture.c, topology and cache leaves only.
 */
#include "tools/numen-topo/topo.h"

#include <cpuid.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot/memmap.h"
#include "boot/warn.h"

#define PATH_CHARS      96
#define SAME_NAME_MAX   8 /* tables of one signature */
#define SUBLEAVES_MAX   8u
#define BASIC           0u
#define EXTENDED        0x80000000u
#define EXTENDED_BEYOND 0x80000100u
#define TYPE_OF_CACHE   BITS(4, 0)  /* EAX of 4, 0x8000001D; 0: no more */
#define TYPE_OF_LEVEL   BITS(15, 8) /* ECX of 0xB, 0x1F, 0x80000026; 0: no more */

/* Linux calls a second table of one name APIC2, and the first then APIC1. */
static void add_tables(struct inputs *in, const char *signature)
{
    uint32_t before = in->tables.count;
    int worst = 0;

    for (int nth = 0; nth <= SAME_NAME_MAX; nth++) {
        char path[PATH_CHARS], number[4] = {nth ? (char)('0' + nth) : 0};
        struct file_bytes data;
        int err;

        snprintf(path, sizeof(path), "/sys/firmware/acpi/tables/%s%s", signature, number);
        err = file_read(path, &data);
        if (!err)
            inputs_add_table(in, signature, data);
        else if (err != -ENOENT)
            worst = err;
    }
    if (worst)
        boot_warn(&in->warnings, "%s cannot be read (%s)", signature, strerror(-worst));
    else if (in->tables.count == before)
        boot_warn(&in->warnings, "this machine has no %s, or does not show it", signature);
}

/* One file of an entry of /sys/firmware/memmap, its NUL-ended text in *text. */
static bool read_map_file(int entry, const char *name, struct file_bytes *text)
{
    char path[PATH_CHARS];

    snprintf(path, sizeof(path), "/sys/firmware/memmap/%d/%s", entry, name);
    return file_read(path, text) == 0;
}

/* The lines "BASE-LAST TYPE" that inputs_add_memmap reads. */
static struct file_bytes map_as_text(void)
{
    struct file_bytes all = {grow_array(NULL, 1, 1), 0};
    struct file_bytes start, last, type;

    for (int i = 0; read_map_file(i, "start", &start); i++) {
        if (!read_map_file(i, "end", &last)) {
            free(start.data);
            break;
        }
        if (read_map_file(i, "type", &type)) {
            size_t room = start.bytes + last.bytes + type.bytes + 4;

            all.data = grow_array(all.data, all.bytes + room, 1);
            all.bytes += (size_t)snprintf((char *)all.data + all.bytes, room, "%.*s-%.*s %.*s\n",
                                          (int)strcspn((char *)start.data, "\n"), start.data,
                                          (int)strcspn((char *)last.data, "\n"), last.data,
                                          (int)strcspn((char *)type.data, "\n"), type.data);
            free(type.data);
        }
        free(start.data);
        free(last.data);
    }
    all.data[all.bytes] = 0;
    return all;
}

/* Leaf by leaf on the CPU the caller runs on. */
static void capture_leaf(struct dump_cpu *cpu, uint32_t leaf)
{
    bool caches = leaf == 4 || leaf == 0x8000001d;
    bool levels = leaf == 0xb || leaf == 0x1f || leaf == 0x80000026;
    uint32_t count = caches || levels ? SUBLEAVES_MAX : 1;

    for (uint32_t sub = 0; sub < count; sub++) {
        struct cpuid_regs r;

        __cpuid_count(leaf, sub, r.eax, r.ebx, r.ecx, r.edx);
        dump_add(cpu, leaf, sub, r);
        if (caches ? !(r.eax & TYPE_OF_CACHE) : !(r.ecx & TYPE_OF_LEVEL))
            return;
    }
}

static void capture(struct dump_cpu *cpu)
{
    uint32_t basic = __get_cpuid_max(BASIC, NULL), extended = __get_cpuid_max(EXTENDED, NULL);

    for (uint32_t leaf = BASIC; leaf <= MIN(basic, 0x1fu); leaf++)
        capture_leaf(cpu, leaf);
    for (uint32_t leaf = EXTENDED; extended < EXTENDED_BEYOND && leaf <= MIN(extended, 0x80000026u);
         leaf++)
        capture_leaf(cpu, leaf);
    cpu->has_id = true;
}

static bool move_to(uint32_t cpu)
{
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    bool moved;

    if (!set)
        return false;
    CPU_ZERO_S(CPU_ALLOC_SIZE(CPUS_MAX), set);
    CPU_SET_S(cpu, CPU_ALLOC_SIZE(CPUS_MAX), set);
    moved = sched_setaffinity(0, CPU_ALLOC_SIZE(CPUS_MAX), set) == 0;
    CPU_FREE(set);
    return moved;
}

static void add_cpus(struct inputs *in)
{
    uint32_t configured = (uint32_t)MAX(sysconf(_SC_NPROCESSORS_CONF), 1l), refused = 0;

    in->dumps.cpus = grow_array(NULL, CPUS_MAX, sizeof(*in->dumps.cpus));
    for (uint32_t cpu = 0; cpu < MIN(configured, CPUS_MAX); cpu++) {
        struct dump_cpu *dump = &in->dumps.cpus[in->dumps.count];

        if (!move_to(cpu)) {
            refused++;
            continue;
        }
        *dump = (struct dump_cpu){0};
        capture(dump);
        in->dumps.count++;
        if (cpu == 0)
            in->boot_apic_id = dump_apic_id(dump);
    }
    if (refused)
        boot_warn(&in->warnings, "%u CPUs are offline or not allowed to this process", refused);
    dumps_give_ids(in);
}

void inputs_add_this_machine(struct inputs *in)
{
    struct file_bytes map = map_as_text();

    add_tables(in, ACPI_SIG_MADT);
    add_tables(in, ACPI_SIG_SRAT);
    add_tables(in, ACPI_SIG_SLIT);
    if (map.bytes) {
        inputs_add_memmap(in, map);
    } else {
        boot_warn(&in->warnings, "the firmware's memory map cannot be read");
        free(map.data);
    }
    add_cpus(in);
}
