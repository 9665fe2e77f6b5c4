/*
 * AMD's own topology leaves: 0x80000008 (CPUs in the package), 0x8000001E (threads, compute units).
 *
 * Before family 17h every "core" is a core; family 15h pairs them in compute units, which are kept
 * as a shift of their own and count as cores only by the user's wish. Opterons of socket G34 are
 * two dies with an L3 each, numbered on through one APIC id space without a bit of their own.
 *
 * Source: AMD APM 3 E.4.7, E.4.15; BKDG of families 10h and 15h; Bochs 2.7's ryzen as measured.
 */
#include "arch/x86/topology_parts.h"

#define AMD_SIZE_ECX_CPUS   BITS(7, 0)   /* less one */
#define AMD_SIZE_ECX_BITS   BITS(15, 12) /* of the APIC id inside the package; 0: not told */
#define AMD_UNIT_EBX_PER    BITS(15, 8)  /* threads a core, or cores a unit in 15h; less one */
#define AMD_UNIT_ECX_DIES   BITS(10, 8)  /* less one */
#define AMD_PKG_TYPE        BITS(31, 28) /* 0x80000001 EBX */
#define AMD_PKG_TYPE_G34    3u

#define FAMILY_K10          0x10u
#define FAMILY_BULLDOZER    0x15u
#define FAMILY_ZEN          0x17u
#define THREADS_PER_ZEN_MAX 2u

/* Threads a core by 0x8000001E. */
static uint32_t zen_threads(struct cpuid_dump dump)
{
    uint32_t ebx = cpuid_dump_lookup(dump, CPUID_AMD_TOPOLOGY, 0).ebx;

    return (uint32_t)FIELD_GET(AMD_UNIT_EBX_PER, ebx) + 1;
}

/*
 * Emulators that do not tell the bits of the APIC id may count cores in the place of threads: then
 * more than two, or an APIC id that is not the CPU's own, gives it away.
 */
static uint32_t zen_threads_doubted(struct cpuid_dump dump)
{
    struct cpuid_regs unit = cpuid_dump_lookup(dump, CPUID_AMD_TOPOLOGY, 0);
    uint32_t own_id = (uint32_t)FIELD_GET(CPUID_1_EBX_APIC_ID, cpuid_dump_lookup(dump, 1, 0).ebx);
    uint32_t threads = zen_threads(dump);
    bool sound = threads <= THREADS_PER_ZEN_MAX && (unit.eax & 0xff) == own_id;

    return sound ? threads : 1;
}

/*
 * Bochs's ryzen counts cores where the manual says CPUs, and cores again as the threads a core.
 * Leaf 1 counts CPUs. Only asked when the APIC id's bits are not told, which no Zen part omits.
 */
static void zen_shifts_by_count(struct topo_ids *ids, struct cpuid_dump dump, uint32_t count)
{
    uint32_t logical = topo_leaf1_logical(dump), told = zen_threads(dump);
    bool counts_cores = logical > count && logical % count == 0;
    uint32_t threads = counts_cores ? logical / count : zen_threads_doubted(dump);
    uint32_t cores = counts_cores ? count : (count + threads - 1) / threads;

    ids->core_threads = (uint8_t)threads;
    ids->core_shift = (uint8_t)bits_log2_ceil(threads);
    ids->socket_shift = (uint8_t)(ids->core_shift + bits_log2_ceil(cores));
    if (told != threads)
        topo_note_add(ids, TOPO_NOTE_AMD_THREADS, told, threads);
}

/* The ids' bits are told: threads are credible if they, and a whole number of them, fit. */
static void zen_shifts_by_bits(struct topo_ids *ids, struct cpuid_dump dump, uint32_t count,
                               uint32_t bits)
{
    uint32_t told = zen_threads(dump);
    uint32_t threads = bits_log2_ceil(told) <= bits && count % told == 0 ? told : 1;

    ids->core_threads = (uint8_t)MIN(threads, 255u);
    ids->core_shift = (uint8_t)bits_log2_ceil(threads);
    ids->socket_shift = (uint8_t)bits;
    if (told != threads)
        topo_note_add(ids, TOPO_NOTE_AMD_THREADS, told, threads);
}

bool topo_amd_shifts(struct topo_ids *ids, struct cpuid_dump dump)
{
    struct cpuid_regs sizes = cpuid_dump_lookup(dump, CPUID_SIZES, 0);
    uint32_t count = (uint32_t)FIELD_GET(AMD_SIZE_ECX_CPUS, sizes.ecx) + 1;
    uint32_t bits = (uint32_t)FIELD_GET(AMD_SIZE_ECX_BITS, sizes.ecx);
    bool zen = topo_family(dump) >= FAMILY_ZEN;

    if (!topo_is_amd(dump) || !sizes.eax)
        return false;
    if (zen && bits) {
        zen_shifts_by_bits(ids, dump, count, bits);
    } else if (zen) {
        zen_shifts_by_count(ids, dump, count);
    } else {
        ids->core_threads = 1;
        ids->core_shift = 0;
        ids->socket_shift = (uint8_t)(bits ? bits : bits_log2_ceil(count));
    }
    return true;
}

uint32_t topo_amd_dies(struct cpuid_dump dump)
{
    uint32_t family = topo_family(dump);
    uint32_t pkg = cpuid_dump_lookup(dump, 0x80000001, 0).ebx;
    uint32_t unit_ecx = cpuid_dump_lookup(dump, CPUID_AMD_TOPOLOGY, 0).ecx;

    if (!topo_is_amd(dump))
        return 0;
    if (family == FAMILY_BULLDOZER)
        return (uint32_t)FIELD_GET(AMD_UNIT_ECX_DIES, unit_ecx) + 1;
    if (family == FAMILY_K10)
        return FIELD_GET(AMD_PKG_TYPE, pkg) == AMD_PKG_TYPE_G34 ? 2 : 1;
    return 0;
}

void topo_amd_units(struct topo_ids *ids, struct cpuid_dump dump)
{
    uint32_t dies = topo_amd_dies(dump);
    uint32_t unit_ebx = cpuid_dump_lookup(dump, CPUID_AMD_TOPOLOGY, 0).ebx;
    uint32_t size_ecx = cpuid_dump_lookup(dump, CPUID_SIZES, 0).ecx;
    uint32_t cpus = (uint32_t)FIELD_GET(AMD_SIZE_ECX_CPUS, size_ecx) + 1;

    if (topo_is_amd(dump) && topo_family(dump) == FAMILY_BULLDOZER) {
        uint32_t bits = bits_log2_ceil((uint32_t)FIELD_GET(AMD_UNIT_EBX_PER, unit_ebx) + 1);

        bits = MIN(bits, (uint32_t)ids->socket_shift);
        ids->unit_shift = (uint8_t)MAX(bits, (uint32_t)ids->core_shift);
    }
    if (dies > 1 && ids->socket_shift < TOPO_SHIFT_ALL) {
        uint32_t per_die = (cpus + dies - 1) / dies;
        uint32_t at = ids->apic_id & (uint32_t)(BIT(ids->socket_shift) - 1);

        ids->llc_part = (uint8_t)MIN(at / per_die, dies - 1);
    }
}
