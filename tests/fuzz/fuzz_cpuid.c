/*
 * CPUID topology: two CPUs' leaves as the input has them, any APIC ids, and the machine of both.
 *
 * Input: flags, CPUs, bits of an APIC id that vary, entries of the first kind of CPU, four bytes
 * that ids and kinds come from; then entries of 18 bytes: which leaf, subleaf, EAX to EDX.
 */
#include "fuzz.h"

#include "arch/x86/topology.h"

#define CPUS        512u
#define ENTRIES     64u
#define HEAD_BYTES  8u
#define ENTRY_BYTES 18u
#define LARGE       BIT(1) /* of the flags: twice the CPUs */

static const uint32_t leaves[] = {0,          1,          4,          0xb,
                                  0x1a,       0x1f,       0x80000001, 0x80000006,
                                  0x80000008, 0x8000001d, 0x8000001e, 0x80000026};

static struct topo_ids ids[CPUS];
static struct cpu_place places[CPUS];
static uint64_t scratch[TOPO_SCRATCH_WORDS(CPUS)];

static uint32_t entries_read(struct cpuid_entry entries[], const uint8_t *data, size_t bytes)
{
    uint32_t n = 0;

    for (; n < ENTRIES && bytes >= ENTRY_BYTES; n++) {
        entries[n].leaf = leaves[data[0] % ARRAY_SIZE(leaves)];
        entries[n].subleaf = data[1] % 16;
        memcpy(&entries[n].regs, data + 2, sizeof(entries[n].regs));
        data += ENTRY_BYTES;
        bytes -= ENTRY_BYTES;
    }
    return n;
}

static void check_ids(const struct topo_ids *id)
{
    FUZZ_CHECK(id->core_shift <= id->llc_shift && id->llc_shift <= id->socket_shift);
    FUZZ_CHECK(id->core_shift <= id->unit_shift && id->unit_shift <= id->socket_shift);
    FUZZ_CHECK(id->socket_shift <= TOPO_SHIFT_ALL && id->core_threads >= 1);
    FUZZ_CHECK(id->llc_level <= 3 && id->llc_part < 8);
    FUZZ_CHECK(!(id->notes >> TOPO_NOTES));
}

/* Numbers are dense: each below `count` is some CPU's. */
static void check_dense(uint32_t n, uint32_t count, size_t member)
{
    static uint8_t used[CPUS];

    FUZZ_CHECK(count >= 1 && count <= n);
    memset(used, 0, sizeof(used));
    for (uint32_t cpu = 0; cpu < n; cpu++) {
        uint32_t number = *(const uint32_t *)((const char *)&places[cpu] + member);

        FUZZ_CHECK(number < count);
        used[number] = 1;
    }
    FUZZ_CHECK(!memchr(used, 0, count));
}

/* Threads count up within a core; a core lies in one unit and LLC, an LLC in one socket. */
static void check_nesting(uint32_t n, const struct topo_result *result, bool units)
{
    static uint32_t first_of_core[CPUS], first_of_llc[CPUS], threads[CPUS], sum[CPUS];

    memset(first_of_llc, 0xff, sizeof(first_of_llc));
    memset(threads, 0, sizeof(threads));
    memset(sum, 0, sizeof(sum));
    for (uint32_t cpu = 0; cpu < n; cpu++) {
        const struct cpu_place *p = &places[cpu], *core, *llc;

        if (!threads[p->core]++)
            first_of_core[p->core] = cpu;
        if (first_of_llc[p->llc] == UINT32_MAX)
            first_of_llc[p->llc] = cpu;
        core = &places[first_of_core[p->core]];
        llc = &places[first_of_llc[p->llc]];
        sum[p->core] += p->thread;
        FUZZ_CHECK(p->cpu == cpu && p->asym_prio > 0 && (units || !p->unit));
        FUZZ_CHECK(core->llc == p->llc && core->unit == p->unit && llc->socket == p->socket);
        FUZZ_CHECK(cpu_place_siblings(core, p));
    }
    for (uint32_t core = 0; core < result->cores; core++) {
        FUZZ_CHECK(threads[core] <= result->threads_per_core_max);
        FUZZ_CHECK(sum[core] == threads[core] * (threads[core] - 1) / 2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct cpuid_entry entries[ENTRIES];
    struct topo_result result;
    uint32_t n, count, first_kind, seed, mask;

    if (bytes < HEAD_BYTES)
        return 0;
    n = (1 + data[1]) << !!(data[0] & LARGE);
    mask = data[2] >= 32 ? UINT32_MAX : (uint32_t)BIT(data[2]) - 1;
    memcpy(&seed, data + 4, sizeof(seed));
    count = entries_read(entries, data + HEAD_BYTES, bytes - HEAD_BYTES);
    first_kind = MIN(data[3], count);
    for (uint32_t cpu = 0; cpu < n; cpu++) {
        struct cpuid_dump dump = {entries, first_kind};

        seed = seed * 1664525u + 1013904223u;
        if (seed & BIT(31))
            dump = (struct cpuid_dump){entries + first_kind, count - first_kind};
        ids[cpu] = topology_decode(data[2] ? (seed >> 3) & mask : cpu, dump);
        check_ids(&ids[cpu]);
    }
    topology_build(ids, n, data[0] & TOPO_UNITS_ARE_SIBLINGS, scratch, places, &result);
    FUZZ_CHECK(result.threads == n);
    check_dense(n, result.sockets, offsetof(struct cpu_place, socket));
    check_dense(n, result.llcs, offsetof(struct cpu_place, llc));
    check_dense(n, result.cores, offsetof(struct cpu_place, core));
    check_nesting(n, &result, data[0] & TOPO_UNITS_ARE_SIBLINGS);
    return 0;
}
