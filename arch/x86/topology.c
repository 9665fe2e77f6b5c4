/*
 * One CPU's leaves to shifts: where in its APIC id the core and the socket begin.
 *
 * The leaves are asked in the order of how much they know: 0x1F, 0xB, AMD's 0x80000026, AMD's
 * 0x80000008 with 0x8000001E, last the old pair of leaf 1 and leaf 4. The first that says anything
 * decides; later ones only add caches and core types. An APIC id is trusted as given (from the
 * MADT), never taken from the leaves, so that one dump can speak for other CPUs.
 *
 * Invariant: core_shift <= llc_shift <= socket_shift, and core_shift <= unit_shift.
 * Source: SDM 3A 9.9.3-9.9.5; AMD APM 3 E.5; Bochs 2.7's wrong shift as measured.
 */
#include "arch/x86/topology.h"
#include "arch/x86/cpu_model.h"
#include "arch/x86/topology_parts.h"

#define LEVEL_SHIFT            BITS(4, 0)  /* EAX */
#define LEVEL_COUNT            BITS(15, 0) /* EBX: CPUs at this level and below */
#define LEVEL_TYPE             BITS(15, 8) /* ECX: 0 ends the list */
#define LEVEL_TYPE_SMT         1u          /* the same number for "core" in 0x80000026 */
#define LEVELS_MAX             8u

#define CACHE_EAX_TYPE         BITS(4, 0)
#define CACHE_EAX_LEVEL        BITS(7, 5)
#define CACHE_EAX_SHARING      BITS(25, 14) /* less one */
#define CACHE_EAX_CORES        BITS(31, 26) /* less one */
#define CORE_THREADS_MAX       4u           /* Xeon Phi */
#define AMD_26_EAX_HETERO      BIT(30)
#define AMD_26_EBX_CORE_TYPE   BITS(31, 28)
#define AMD_26_TYPE_EFFICIENCY 1u

bool topo_is_amd(struct cpuid_dump dump)
{
    uint32_t ebx = cpuid_dump_lookup(dump, 0, 0).ebx;

    return ebx == CPUID_VENDOR_EBX_AMD || ebx == CPUID_VENDOR_EBX_HYGON;
}

uint32_t topo_family(struct cpuid_dump dump)
{
    uint32_t family, model, stepping;

    cpu_model_decode(cpuid_dump_lookup(dump, CPUID_VERSION, 0).eax, &family, &model, &stepping);
    return family;
}

uint32_t topo_leaf1_logical(struct cpuid_dump dump)
{
    struct cpuid_regs r = cpuid_dump_lookup(dump, 1, 0);
    uint32_t logical = (uint32_t)FIELD_GET(LEAF1_EBX_LOGICAL, r.ebx);

    return (r.edx & LEAF1_EDX_HTT) && logical ? logical : 1;
}

void topo_note_add(struct topo_ids *ids, enum topo_note_code code, uint32_t told, uint32_t used)
{
    ids->notes |= (uint32_t)BIT(code);
    ids->told[code] = (uint8_t)MIN(told, 255u);
    ids->used[code] = (uint8_t)MIN(used, 255u);
}

/*
 * A socket shift must leave room for the CPUs that its own leaf counts. Bochs 2.7 gives log2(cores)
 * without the SMT bits, and counts cores too: leaf 1 then shows that the count lacks the threads.
 * The counts say how many bits there must be. Leaf 1 alone is no reason to mend: hypervisors hand
 * on the real package's count to guests whose sockets are smaller.
 */
static void mend_socket_shift(struct topo_ids *ids, uint32_t count, uint32_t logical)
{
    uint32_t threads = ids->core_threads, told = ids->socket_shift;
    bool counts_cores = threads > 1 && logical == threads * count;
    uint32_t cpus = counts_cores ? logical : count;
    uint32_t need = ids->core_shift + bits_log2_ceil((cpus + threads - 1) / threads);

    if (cpus <= 1u << told && told >= ids->core_shift)
        return;
    ids->socket_shift = (uint8_t)MIN(need, (uint32_t)TOPO_SHIFT_ALL);
    topo_note_add(ids, TOPO_NOTE_SOCKET_SHIFT, told, ids->socket_shift);
}

/*
 * Leaves 0xB, 0x1F and 0x80000026 have one form. False, and nothing changed: the leaf is absent,
 * empty, or cut short before the level that would tell the socket.
 */
static bool shifts_from_levels(struct topo_ids *ids, struct cpuid_dump dump, uint32_t leaf)
{
    uint32_t count = 0, logical = topo_leaf1_logical(dump);
    struct topo_ids read = *ids;
    bool past_threads = false;

    for (uint32_t level = 0; level < LEVELS_MAX; level++) {
        struct cpuid_regs r = cpuid_dump_lookup(dump, leaf, level);
        uint32_t type = (uint32_t)FIELD_GET(LEVEL_TYPE, r.ecx);

        if (!type || !FIELD_GET(LEVEL_COUNT, r.ebx))
            break;
        count = (uint32_t)FIELD_GET(LEVEL_COUNT, r.ebx);
        read.socket_shift = (uint8_t)FIELD_GET(LEVEL_SHIFT, r.eax);
        past_threads |= type != LEVEL_TYPE_SMT;
        if (type == LEVEL_TYPE_SMT) {
            read.core_shift = read.socket_shift;
            read.core_threads = (uint8_t)MIN(count, 255u);
        }
    }
    if (!count || (!past_threads && logical > count))
        return false;
    mend_socket_shift(&read, count, logical);
    *ids = read;
    return true;
}

/* APIC ids that share the first-level cache; 0: not told. */
static uint32_t l1_sharing(struct cpuid_regs cache)
{
    bool told = FIELD_GET(CACHE_EAX_TYPE, cache.eax) && FIELD_GET(CACHE_EAX_LEVEL, cache.eax) == 1;

    return told ? (uint32_t)FIELD_GET(CACHE_EAX_SHARING, cache.eax) + 1 : 0;
}

/*
 * Leaf 1 counts the APIC ids of the package, leaf 4 those of its cores. Both are rounded up to a
 * power of two by hardware, and exact under QEMU. Only Intel's Pentium 4 has threads and no leaf 4.
 * A quotient that no core can hold means that a field was too narrow for its count.
 */
static bool shifts_from_leaf_4(struct topo_ids *ids, struct cpuid_dump dump)
{
    uint32_t logical = topo_leaf1_logical(dump);
    struct cpuid_regs cache = cpuid_dump_lookup(dump, CPUID_CACHES, 0);
    bool intel = cpuid_dump_lookup(dump, 0, 0).ebx == CPUID_VENDOR_EBX_INTEL;
    uint32_t cores =
        intel || cache.eax ? (uint32_t)FIELD_GET(CACHE_EAX_CORES, cache.eax) + 1 : logical;
    uint32_t core_bits = bits_log2_ceil(cores), all_bits = bits_log2_ceil(logical);
    uint32_t sharing = l1_sharing(cache);

    if (!cpuid_dump_lookup(dump, 1, 0).eax)
        return false;
    ids->core_threads = (uint8_t)MAX(logical / cores, 1u);
    if (ids->core_threads > CORE_THREADS_MAX && sharing && sharing <= CORE_THREADS_MAX)
        ids->core_shift = (uint8_t)bits_log2_ceil(sharing);
    else if (logical % cores == 0)
        ids->core_shift = (uint8_t)bits_log2_ceil(logical / cores);
    else
        ids->core_shift = (uint8_t)(all_bits > core_bits ? all_bits - core_bits : 0);
    ids->socket_shift = (uint8_t)MAX(all_bits, ids->core_shift + core_bits);
    return true;
}

static enum topo_source shifts_decode(struct topo_ids *ids, struct cpuid_dump dump)
{
    struct cpuid_regs leaf0 = cpuid_dump_lookup(dump, 0, 0);

    if (shifts_from_levels(ids, dump, CPUID_TOPOLOGY_V2))
        return TOPO_FROM_LEAF_1F;
    if (shifts_from_levels(ids, dump, CPUID_TOPOLOGY))
        return TOPO_FROM_LEAF_B;
    /* AMD's older parts leave 0xB empty by design; on Intel's it is worth a word. */
    if (leaf0.ebx == CPUID_VENDOR_EBX_INTEL && leaf0.eax >= CPUID_TOPOLOGY)
        topo_note_add(ids, TOPO_NOTE_EMPTY_LEAF_B, 0, 0);
    if (shifts_from_levels(ids, dump, CPUID_AMD_TOPOLOGY_V2))
        return TOPO_FROM_AMD_26;
    if (topo_amd_shifts(ids, dump))
        return TOPO_FROM_AMD;
    if (shifts_from_leaf_4(ids, dump))
        return TOPO_FROM_LEAF_4;
    topo_note_add(ids, TOPO_NOTE_NO_LEAVES, 0, 0);
    ids->socket_shift = TOPO_SHIFT_ALL;
    return TOPO_FROM_NOTHING;
}

/* A small core outside the L3 is one of the low-power island (Meteor Lake, Arrow Lake H). */
static enum topo_core_rank rank_decode(const struct topo_ids *ids, struct cpuid_dump dump)
{
    struct cpuid_regs amd = cpuid_dump_lookup(dump, CPUID_AMD_TOPOLOGY_V2, 0);
    uint32_t intel = cpuid_dump_lookup(dump, CPUID_CORE_TYPE, 0).eax;

    if (FIELD_GET(CPUID_CORE_TYPE_EAX_KIND, intel) == CPUID_CORE_KIND_ATOM)
        return ids->llc_level == 3 ? TOPO_CORE_SMALL : TOPO_CORE_LOW_POWER;
    if ((amd.eax & AMD_26_EAX_HETERO) &&
        FIELD_GET(AMD_26_EBX_CORE_TYPE, amd.ebx) == AMD_26_TYPE_EFFICIENCY)
        return TOPO_CORE_SMALL;
    return TOPO_CORE_BIG;
}

struct topo_ids topology_decode(uint32_t apic_id, struct cpuid_dump dump)
{
    struct topo_ids ids = {.apic_id = apic_id, .core_threads = 1};

    ids.source = shifts_decode(&ids, dump);
    ids.unit_shift = ids.core_shift;
    topo_amd_units(&ids, dump);
    topo_llc_decode(&ids, dump);
    ids.rank = rank_decode(&ids, dump);
    return ids;
}
