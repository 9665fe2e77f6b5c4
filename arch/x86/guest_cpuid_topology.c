/*
 * The topology and caches that a guest sees: made up from its configuration, on both vendors.
 *
 * APIC ids have the widths of leaf 0xB: threads, cores and sockets in fields of their own, each
 * rounded up to a power of two. Caches are the same on every host: 32 KiB L1s and a 512 KiB L2 for
 * each core, and with l3-cache=on an L3 of 16 MiB for each socket. Sharing is told in APIC ids on
 * both vendors (AMD counts CPUs), so that it is right for counts that are no power of two as well.
 *
 * Source: docs/guest-abi.md; SDM 2A leaves 4 and 0xB; AMD APM 3 E.4.5, E.4.6, E.4.14, E.4.15.
 */
#include "arch/x86/guest_cpuid.h"
#include "arch/x86/guest_cpuid_parts.h"

#define CACHE_LINE_BYTES    64u
#define CACHE_DATA          1u
#define CACHE_INSTRUCTION   2u
#define CACHE_UNIFIED       3u

#define CACHE_EAX_TYPE      BITS(4, 0)
#define CACHE_EAX_LEVEL     BITS(7, 5)
#define CACHE_EAX_SELF_INIT BIT(8)
#define CACHE_EAX_SHARING   BITS(25, 14)
#define CACHE_EAX_CORES     BITS(31, 26) /* Intel only */
#define CACHE_EBX_WAYS      BITS(31, 22)
#define CACHE_EBX_LINE      BITS(11, 0)

#define LEVEL_TYPE          BITS(15, 8)
#define LEVEL_SMT           1u
#define LEVEL_CORE          2u

#define AMD_UNIT_THREADS    BITS(15, 8)

/* 0x80000005 and 0x80000006 */
#define AMD_L1_KIB        BITS(31, 24)
#define AMD_L1_WAYS       BITS(23, 16)
#define AMD_L2_KIB        BITS(31, 16)
#define AMD_L3_HALF_MIB   BITS(31, 18)
#define AMD_WAYS_CODE     BITS(15, 12)
#define AMD_LINES_PER_TAG BITS(11, 8)
#define AMD_LINE_BYTES    BITS(7, 0)
#define AMD_WAYS_8        6u
#define AMD_WAYS_16       8u

struct cache {
    uint32_t level;
    uint32_t type;
    uint32_t kib;
    uint32_t ways;
    bool per_socket;
};

enum { CACHE_L1D, CACHE_L1I, CACHE_L2, CACHE_L3, CACHES };

static const struct cache caches[CACHES] = {
    [CACHE_L1D] = {1, CACHE_DATA, 32, 8, false},
    [CACHE_L1I] = {1, CACHE_INSTRUCTION, 32, 8, false},
    [CACHE_L2] = {2, CACHE_UNIFIED, 512, 8, false},
    [CACHE_L3] = {3, CACHE_UNIFIED, 16 * 1024, 16, true},
};

uint32_t guest_topology_core_shift(const struct guest_topology *t)
{
    return bits_log2_ceil(t->threads);
}

uint32_t guest_topology_socket_shift(const struct guest_topology *t)
{
    return bits_log2_ceil(t->threads) + bits_log2_ceil(t->cores);
}

uint32_t guest_topology_apic_id(const struct guest_topology *t, uint32_t vcpu)
{
    uint32_t thread = vcpu % t->threads;
    uint32_t core = vcpu / t->threads % t->cores;
    uint32_t socket = vcpu / t->threads / t->cores;

    return socket << guest_topology_socket_shift(t) | core << guest_topology_core_shift(t) | thread;
}

static struct cpuid_regs cache_regs(const struct cache *cache, const struct guest_topology *t,
                                    bool amd)
{
    uint32_t core_shift = guest_topology_core_shift(t);
    uint32_t socket_shift = guest_topology_socket_shift(t);
    uint32_t sharing = 1u << (cache->per_socket ? socket_shift : core_shift);
    uint32_t core_ids = MIN(1u << (socket_shift - core_shift), 64u);
    uint32_t sets = cache->kib * 1024 / cache->ways / CACHE_LINE_BYTES;
    struct cpuid_regs r = {
        .eax = (uint32_t)(FIELD_PREP(CACHE_EAX_TYPE, cache->type) |
                          FIELD_PREP(CACHE_EAX_LEVEL, cache->level) | CACHE_EAX_SELF_INIT |
                          FIELD_PREP(CACHE_EAX_SHARING, sharing - 1)),
        .ebx = (uint32_t)(FIELD_PREP(CACHE_EBX_WAYS, cache->ways - 1) |
                          FIELD_PREP(CACHE_EBX_LINE, CACHE_LINE_BYTES - 1)),
        .ecx = sets - 1,
    };

    if (!amd)
        r.eax |= (uint32_t)FIELD_PREP(CACHE_EAX_CORES, core_ids - 1);
    return r;
}

/* The old form: L1 in 0x80000005 (AMD only), L2 and L3 in 0x80000006. */
static void caches_add_old(struct guest_cpuid_table *table, bool l3, bool amd)
{
    uint32_t line =
        (uint32_t)(FIELD_PREP(AMD_LINES_PER_TAG, 1) | FIELD_PREP(AMD_LINE_BYTES, CACHE_LINE_BYTES));
    uint32_t l1 = (uint32_t)(FIELD_PREP(AMD_L1_KIB, caches[CACHE_L1D].kib) |
                             FIELD_PREP(AMD_L1_WAYS, caches[CACHE_L1D].ways));
    struct cpuid_regs level1 = {.ecx = l1 | line, .edx = l1 | line};
    struct cpuid_regs level23 = {
        .ecx = (uint32_t)(FIELD_PREP(AMD_L2_KIB, caches[CACHE_L2].kib) |
                          FIELD_PREP(AMD_WAYS_CODE, AMD_WAYS_8)) |
               line,
    };

    if (l3)
        level23.edx = (uint32_t)(FIELD_PREP(AMD_L3_HALF_MIB, caches[CACHE_L3].kib / 512) |
                                 FIELD_PREP(AMD_WAYS_CODE, AMD_WAYS_16)) |
                      line;
    if (amd)
        guest_cpuid_add(table, 0x80000005, 0, FIX_NONE, level1);
    guest_cpuid_add(table, 0x80000006, 0, FIX_NONE, level23);
}

void guest_cpuid_add_topology(struct guest_cpuid_table *table,
                              const struct guest_cpuid_config *config, bool amd)
{
    const struct guest_topology *t = &config->topology;
    uint32_t ncaches = config->l3_cache ? CACHES : CACHE_L3;
    struct cpuid_regs smt = {guest_topology_core_shift(t), t->threads,
                             (uint32_t)FIELD_PREP(LEVEL_TYPE, LEVEL_SMT), 0};
    struct cpuid_regs core = {guest_topology_socket_shift(t), t->threads * t->cores,
                              (uint32_t)FIELD_PREP(LEVEL_TYPE, LEVEL_CORE) | 1, 0};
    struct cpuid_regs unit = {.ebx = (uint32_t)FIELD_PREP(AMD_UNIT_THREADS, t->threads - 1)};

    for (uint32_t i = 0; i < ncaches; i++)
        guest_cpuid_add(table, amd ? 0x8000001d : 4, i, FIXUP_BY_ECX,
                        cache_regs(&caches[i], t, amd));
    caches_add_old(table, config->l3_cache, amd);
    guest_cpuid_add(table, 0xb, 0, FIX_LEAF_B | FIXUP_BY_ECX, smt);
    guest_cpuid_add(table, 0xb, 1, FIX_LEAF_B | FIXUP_BY_ECX, core);
    if (amd)
        guest_cpuid_add(table, 0x8000001e, 0, FIX_AMD_UNIT, unit);
}
