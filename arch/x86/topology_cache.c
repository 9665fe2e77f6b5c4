/*
 * The last-level cache domain of a CPU: who shares its L3.
 *
 * The L3 group; without L3 the largest cache that more than one core shares; without that the core;
 * without any cache leaf the socket. A group is a shift of the APIC id, and on AMD's
 * two-die Opterons a die within the socket besides. A cache is never wider than its socket: models
 * of real parts in an emulator claim so, and are cut.
 *
 * Source: SDM 2A CPUID leaf 4; AMD APM 3 E.4.6, E.4.14.
 */
#include "arch/x86/topology_parts.h"

#define CACHE_TYPE     BITS(4, 0)
#define CACHE_LEVEL    BITS(7, 5)
#define CACHE_SHARING  BITS(25, 14) /* less one: APIC ids on Intel, CPUs on AMD */
#define CACHES_MAX     16u
#define AMD_L3_SIZE    BITS(31, 18) /* 0x80000006 EDX */
#define LLC_LEVEL_CORE 1u           /* no cache is shared between cores */

/* AMD counts CPUs, not APIC ids: the shift of the cores among them goes on top of the threads'. */
static uint32_t sharing_shift(const struct topo_ids *ids, bool amd_leaf, uint32_t sharing)
{
    uint32_t threads = ids->core_threads;

    if (amd_leaf && sharing % threads == 0)
        return ids->core_shift + bits_log2_ceil(sharing / threads);
    return bits_log2_ceil(sharing);
}

/* The widest wanted cache of leaf 4 or 0x8000001D. False: the leaf lists none at all. */
static bool llc_from_leaf(struct topo_ids *ids, struct cpuid_dump dump, uint32_t leaf)
{
    uint32_t best_level = LLC_LEVEL_CORE, best_shift = ids->core_shift;
    uint32_t i;

    for (i = 0; i < CACHES_MAX; i++) {
        struct cpuid_regs r = cpuid_dump_lookup(dump, leaf, i);
        uint32_t level = (uint32_t)FIELD_GET(CACHE_LEVEL, r.eax);
        uint32_t sharing = (uint32_t)FIELD_GET(CACHE_SHARING, r.eax) + 1;
        uint32_t shift = sharing_shift(ids, leaf == CPUID_AMD_CACHES, sharing);

        if (!FIELD_GET(CACHE_TYPE, r.eax))
            break;
        /* An L3 counts even when one core has it alone; levels above 3 are memory-side. */
        if (level > 3 || level < best_level || (level < 3 && shift <= ids->core_shift))
            continue;
        best_level = level;
        best_shift = shift;
    }
    if (!i)
        return false;
    ids->llc_level = (uint8_t)best_level;
    ids->llc_shift = (uint8_t)MAX(best_shift, (uint32_t)ids->core_shift);
    return true;
}

/* AMD parts older than 0x8000001D: an L3 serves the die, other caches one core each. */
static bool llc_from_old_amd(struct topo_ids *ids, struct cpuid_dump dump)
{
    struct cpuid_regs r = cpuid_dump_lookup(dump, 0x80000006, 0);
    bool l3 = FIELD_GET(AMD_L3_SIZE, r.edx) != 0;

    if (!topo_is_amd(dump) || !r.ecx)
        return false;
    ids->llc_level = l3 ? 3 : LLC_LEVEL_CORE;
    ids->llc_shift = l3 ? ids->socket_shift : ids->core_shift;
    return true;
}

void topo_llc_decode(struct topo_ids *ids, struct cpuid_dump dump)
{
    bool found = (topo_is_amd(dump) && llc_from_leaf(ids, dump, CPUID_AMD_CACHES)) ||
                 llc_from_leaf(ids, dump, CPUID_CACHES) || llc_from_old_amd(ids, dump);

    if (!found) {
        ids->llc_shift = ids->socket_shift;
        ids->llc_part = 0;
        return;
    }
    /* Some of these parts report too few sharers. llc_part tells the dies of a package apart. */
    if (ids->llc_level == 3 && topo_amd_dies(dump))
        ids->llc_shift = ids->socket_shift;
    else
        ids->llc_part = 0;
    if (ids->llc_shift > ids->socket_shift) {
        topo_note_add(ids, TOPO_NOTE_LLC_SPAN, ids->llc_shift, ids->socket_shift);
        ids->llc_shift = ids->socket_shift;
    }
}
