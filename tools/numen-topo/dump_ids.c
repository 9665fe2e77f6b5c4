/*
 * Which APIC id each CPU of a dump has.
 *
 * A CPU tells its id in up to five places; the widest that it fills is its word. Dumps are not
 * always that good: all CPUs recorded on one, a hypervisor that gives all CPUs one x2APIC id, a CPU
 * announced but not recorded. When two CPUs would have one id, the first place whose ids are all
 * different is believed for all of them; when there is none, the CPUs after the first get the
 * lowest ids that fill cores without holes. Decides nothing about shifts: those are
 * arch/x86/topology*.c's.
 */
#include <stdlib.h>

#include "arch/x86/regs/cpuid.h"
#include "boot/warn.h"
#include "hv/sort.h"
#include "tools/numen-topo/topo.h"

enum id_place { ID_LEAF_1F, ID_LEAF_B, ID_AMD_26, ID_AMD_1E, ID_LEAF_1, ID_PLACES };

#define CORE_SHIFT_MAX 16u /* a greater one is damage */

static const char *const place_names[ID_PLACES] = {"leaf 0x1F", "leaf 0xB", "leaf 0x80000026",
                                                   "leaf 0x8000001E", "leaf 1"};

static struct cpuid_dump dump_leaves(const struct dump_cpu *cpu)
{
    return (struct cpuid_dump){cpu->entries, cpu->count};
}

/* False: the CPU does not fill that place. */
static bool id_at(const struct dump_cpu *cpu, enum id_place place, uint32_t *id)
{
    struct cpuid_dump dump = dump_leaves(cpu);
    struct cpuid_regs levels;

    switch (place) {
    case ID_LEAF_1F:
        levels = cpuid_dump_lookup(dump, CPUID_TOPOLOGY_V2, 0);
        break;
    case ID_LEAF_B:
        levels = cpuid_dump_lookup(dump, CPUID_TOPOLOGY, 0);
        break;
    case ID_AMD_26:
        levels = cpuid_dump_lookup(dump, CPUID_AMD_TOPOLOGY_V2, 0);
        break;
    case ID_AMD_1E:
        *id = cpuid_dump_lookup(dump, CPUID_AMD_TOPOLOGY, 0).eax;
        return *id != 0; /* absent, or the first CPU, whose leaf 1 says the same */
    default:
        *id =
            (uint32_t)FIELD_GET(CPUID_1_EBX_APIC_ID, cpuid_dump_lookup(dump, CPUID_VERSION, 0).ebx);
        return true;
    }
    *id = levels.edx;
    return levels.ebx != 0;
}

uint32_t dump_apic_id(const struct dump_cpu *cpu)
{
    uint32_t id = 0;

    for (enum id_place place = 0; place < ID_PLACES && !id_at(cpu, place, &id); place++)
        ;
    return id;
}

/* Whether no two of the CPUs that have an id have the same. `keys` holds dumps->count words. */
static bool ids_differ(const struct cpu_dumps *dumps, uint64_t keys[])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < dumps->count; i++)
        if (dumps->cpus[i].has_id)
            keys[n++] = dumps->cpus[i].apic_id;
    sort_u64(keys, n);
    for (uint32_t i = 1; i < n; i++)
        if (keys[i] == keys[i - 1])
            return false;
    return true;
}

static bool ids_by_place(const struct cpu_dumps *dumps, enum id_place place, uint64_t keys[])
{
    for (uint32_t i = 0; i < dumps->count; i++)
        if (dumps->cpus[i].has_id && !id_at(&dumps->cpus[i], place, &dumps->cpus[i].apic_id))
            return false;
    return ids_differ(dumps, keys);
}

/* By one of the first n CPUs. */
static bool id_is_taken(const struct cpu_dumps *dumps, uint32_t n, uint32_t id)
{
    for (uint32_t i = 0; i < n; i++)
        if (dumps->cpus[i].has_id && dumps->cpus[i].apic_id == id)
            return true;
    return false;
}

/* Each CPU's own word, or the place where all differ; of equal ids the first CPU keeps it. */
static void ids_read(struct cpu_dumps *dumps, struct fw_warnings *w)
{
    uint64_t *keys = grow_array(NULL, dumps->count, sizeof(*keys));
    enum id_place place = 0;

    for (uint32_t i = 0; i < dumps->count; i++)
        dumps->cpus[i].apic_id = dump_apic_id(&dumps->cpus[i]);
    if (!ids_differ(dumps, keys)) {
        while (place < ID_PLACES && !ids_by_place(dumps, place, keys))
            place++;
        if (place < ID_PLACES)
            boot_warn(w, "CPUID: CPUs share an APIC id; those of %s differ and are used",
                      place_names[place]);
    }
    for (uint32_t i = 0; place == ID_PLACES && i < dumps->count; i++) {
        struct dump_cpu *cpu = &dumps->cpus[i];

        cpu->apic_id = dump_apic_id(cpu);
        cpu->has_id = cpu->has_id && !id_is_taken(dumps, i, cpu->apic_id);
    }
    free(keys);
}

/* For CPUs without an id the lowest that are free: cores of equal size, without holes. */
static uint32_t ids_make_up(struct cpu_dumps *dumps)
{
    struct topo_ids shape = topology_decode(0, dump_leaves(&dumps->cpus[0]));
    uint32_t shift = shape.core_shift <= CORE_SHIFT_MAX ? shape.core_shift : 0;
    uint32_t threads = MIN((uint32_t)shape.core_threads, 1u << shift), made = 0, next = 0;

    for (uint32_t i = 0; i < dumps->count; i++) {
        struct dump_cpu *cpu = &dumps->cpus[i];

        if (cpu->has_id)
            continue;
        do {
            cpu->apic_id = (next / threads) << shift | next % threads;
            next++;
        } while (id_is_taken(dumps, dumps->count, cpu->apic_id));
        cpu->has_id = true;
        made++;
    }
    return made;
}

void dumps_give_ids(struct inputs *in)
{
    uint32_t made;

    ids_read(&in->dumps, &in->warnings);
    made = ids_make_up(&in->dumps);
    if (made)
        boot_warn(&in->warnings,
                  "CPUID: %u CPUs have no APIC id of their own; the lowest free used", made);
}
