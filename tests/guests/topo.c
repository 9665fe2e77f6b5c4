/*
 * topo: the topology and the last-level cache that each vCPU reads from its own CPUID.
 *
 * Thread, core and socket come from leaf 0xB where it is filled in; else, on AMD, from 0x8000001E
 * and 0x80000008; else from leaves 1 and 4. The L3 comes from leaf 4 or 0x8000001D. One line for a
 * reader per vCPU, and one JSON line `TOPO {...}`. Built as ELF32 (topo.elf) and as ELF64
 * (topo64.elf). Options: json=off leaves the JSON out, for readers.
 */
#include "tests/guests/rt/rt.h"

enum { CACHE_LEAVES_MAX = 8, CACHE_L3 = 3 };

struct place {
    uint32_t apic_id;
    uint32_t smt_shift, package_shift; /* of the APIC id */
    uint32_t thread, core, socket;     /* core within its socket */
    const char *source;
    uint64_t l3_bytes; /* 0: none */
    uint32_t l3_shared, l3_ways;
};

static struct place places[RT_CPUS_MAX];

static bool place_from_leaf_b(struct place *p)
{
    struct cpuid_regs r;

    if (asm_cpuid(0, 0).eax < 0xb)
        return false;
    r = asm_cpuid(0xb, 0);
    if (!(r.ebx & 0xffff))
        return false;
    p->apic_id = r.edx;
    for (uint32_t i = 0; i < 8; i++) {
        r = asm_cpuid(0xb, i);
        if (!(r.ecx >> 8 & 0xff))
            break;
        if ((r.ecx >> 8 & 0xff) == 1)
            p->smt_shift = r.eax & 0x1f;
        p->package_shift = r.eax & 0x1f;
    }
    p->source = "0xb";
    return true;
}

static bool place_from_amd(struct place *p)
{
    struct cpuid_regs r;
    uint32_t threads = 1, width;

    if (!pv.amd || asm_cpuid(0x80000000, 0).eax < 0x80000008)
        return false;
    r = asm_cpuid(0x80000008, 0);
    width = r.ecx >> 12 & 0xf;
    p->package_shift = width ? width : bits_log2_ceil((r.ecx & 0xff) + 1);
    if (asm_cpuid(0x80000001, 0).ecx & 1u << 22) /* TOPOEXT */
        threads = (asm_cpuid(0x8000001e, 0).ebx >> 8 & 0xff) + 1;
    p->smt_shift = bits_log2_ceil(threads);
    p->source = "0x80000008";
    return true;
}

static void place_from_leaf_1(struct place *p)
{
    struct cpuid_regs r = asm_cpuid(1, 0);
    uint32_t logical = r.edx & 1u << 28 ? r.ebx >> 16 & 0xff : 1;
    uint32_t cores = asm_cpuid(0, 0).eax >= 4 ? (asm_cpuid(4, 0).eax >> 26) + 1 : 1;

    p->package_shift = bits_log2_ceil(MAX(logical, 1));
    p->smt_shift = p->package_shift - MIN(p->package_shift, bits_log2_ceil(cores));
    p->source = "1/4";
}

static void place_read_l3(struct place *p)
{
    uint32_t leaf = 4;

    if (pv.amd) {
        leaf = 0x8000001d;
        if (asm_cpuid(0x80000000, 0).eax < leaf)
            return;
    } else if (asm_cpuid(0, 0).eax < leaf) {
        return;
    }
    for (uint32_t i = 0; i < CACHE_LEAVES_MAX; i++) {
        struct cpuid_regs r = asm_cpuid(leaf, i);

        if (!(r.eax & 0x1f))
            break;
        if ((r.eax >> 5 & 7) != CACHE_L3)
            continue;
        p->l3_ways = (r.ebx >> 22) + 1;
        p->l3_bytes = (uint64_t)p->l3_ways * ((r.ebx >> 12 & 0x3ff) + 1) * ((r.ebx & 0xfff) + 1) *
                      ((uint64_t)r.ecx + 1);
        p->l3_shared = (r.eax >> 14 & 0xfff) + 1;
    }
}

static void topo_read(void *arg)
{
    struct place *p = &places[cpu_this()->index];

    (void)arg;
    p->apic_id = asm_cpuid(1, 0).ebx >> 24;
    if (!place_from_leaf_b(p) && !place_from_amd(p))
        place_from_leaf_1(p);
    p->thread = p->apic_id & ((1u << p->smt_shift) - 1);
    p->core = (p->apic_id & ((1u << p->package_shift) - 1)) >> p->smt_shift;
    p->socket = p->apic_id >> p->package_shift;
    place_read_l3(p);
}

static void topo_print(uint32_t i)
{
    const struct place *p = &places[i];

    rt_printf("topo: vCPU %u, APIC id %u: socket %u, core %u, thread %u (leaf %s)", i, p->apic_id,
              p->socket, p->core, p->thread, p->source);
    if (p->l3_bytes)
        rt_printf("; L3 %lu KiB, %u ways, %u ids\n", p->l3_bytes / 1024, p->l3_ways, p->l3_shared);
    else
        rt_printf("; no L3\n");
}

/* How many different values of (apic id >> shift) there are. */
static uint32_t topo_count(bool sockets)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < smp_count; i++) {
        uint32_t shift = sockets ? places[i].package_shift : places[i].smt_shift;
        uint32_t j = 0;

        while (j < i && places[j].apic_id >> shift != places[i].apic_id >> shift)
            j++;
        n += j == i;
    }
    return n;
}

static void topo_print_json(void)
{
    rt_printf("TOPO {\"vcpus\":[");
    for (uint32_t i = 0; i < smp_count; i++)
        rt_printf("%s{\"vcpu\":%u,\"apic_id\":%u,\"thread\":%u,\"core\":%u,\"socket\":%u}",
                  i ? "," : "", i, places[i].apic_id, places[i].thread, places[i].core,
                  places[i].socket);
    rt_printf("],\"sockets\":%u,\"cores\":%u,\"threads\":%u,\"l3_bytes\":%lu,\"l3_shared\":%u,"
              "\"source\":\"%s\"}\n",
              topo_count(true), topo_count(false), smp_count, places[0].l3_bytes,
              places[0].l3_shared, places[0].source);
}

int guest_main(void)
{
    int code = 0;

    smp_run_first(smp_count, topo_read, NULL);
    for (uint32_t i = 0; i < smp_count; i++) {
        topo_print(i);
        if (places[i].apic_id != smp_cpus[i]->apic_id) {
            rt_printf("FAIL: vCPU %u answers to another APIC id than CPUID says\n", i);
            code = 1;
        }
    }
    if (!opt_is("json", "off"))
        topo_print_json();
    return code;
}
