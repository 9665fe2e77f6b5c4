/*
 * The guest's CPUID: what is offered on which host, what is hidden on all of them, and that the
 * topology shown is the one configured, as read back by the host's own decoder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/x86/guest_cpuid.h"
#include "arch/x86/topology.h"
#include "hv/bits.h"

#define VCPUS_MAX 256u

/* Hosts that have every feature bit there is: the strongest trial of what must stay hidden. */
#define ALL_BITS           \
    {                      \
        ~0u, ~0u, ~0u, ~0u \
    }

static const struct cpuid_entry all_intel[] = {
    {0, 0, {0x20, 0x756e6547, 0x6c65746e, 0x49656e69}},
    {1, 0, {0x50654, ~0u, ~0u, ~0u}},
    {2, 0, ALL_BITS},
    {4, 0, ALL_BITS},
    {5, 0, ALL_BITS},
    {6, 0, ALL_BITS},
    {7, 0, ALL_BITS},
    {7, 1, ALL_BITS},
    {0xa, 0, ALL_BITS},
    {0xd, 0, {0x2ff, 2696, 2696, 0}},
    {0xd, 1, {0x1f, 2696, 0x100, 0}},
    {0xd, 2, {256, 576, 0, 0}},
    {0xd, 5, {64, 1088, 0, 0}},
    {0xd, 9, {8, 2688, 0, 0}},
    {0x80000000, 0, {0x80000008, 0, 0, 0}},
    {0x80000001, 0, ALL_BITS},
    {0x80000002, 0, {1, 2, 3, 4}},
    {0x80000003, 0, {5, 6, 7, 8}},
    {0x80000004, 0, {9, 10, 11, 12}},
    {0x80000007, 0, {0, 0, 0, 0x100}},
    {0x80000008, 0, {0x39 << 8 | 46, ~0u, ~0u, ~0u}},
};

static const struct cpuid_entry all_amd[] = {
    {0, 0, {0x10, 0x68747541, 0x444d4163, 0x69746e65}},
    {1, 0, {0xa10f11, ~0u, ~0u, ~0u}},
    {7, 0, ALL_BITS},
    {7, 1, ALL_BITS},
    {0xd, 0, {0x207, 2440, 2440, 0}},
    {0xd, 1, {0xf, 0, 0, 0}},
    {0xd, 2, {256, 576, 0, 0}},
    {0xd, 9, {8, 2432, 2, 0}}, /* aligned when compacted, to try that too */
    {0x80000000, 0, {0x80000028, 0x68747541, 0x444d4163, 0x69746e65}},
    {0x80000001, 0, {0xa10f11, ~0u, ~0u, ~0u}},
    {0x80000002, 0, {1, 2, 3, 4}},
    {0x80000008, 0, {0x3034, ~0u, ~0u, ~0u}},
};

/* QEMU's qemu64 in the main: no XSAVE, no leaf 7. */
static const struct cpuid_entry poor_amd[] = {
    {0, 0, {0xd, 0x68747541, 0x444d4163, 0x69746e65}},
    {1, 0, {0x60fb1, 0x800, 0x80802001, 0x078bfbff}},
    {0x80000000, 0, {0x8000000a, 0x68747541, 0x444d4163, 0x69746e65}},
    {0x80000001, 0, {0x60fb1, 0, 0x65, 0x2191abfd}},
    {0x80000008, 0, {0x3028, 0, 0, 0}},
};

static struct guest_cpuid_config config_of(const struct cpuid_entry *host, uint32_t count,
                                           enum guest_backend backend)
{
    return (struct guest_cpuid_config){
        .host = {host, count},
        .backend = backend,
        .runs = GUEST_RUNS_RDTSCP | GUEST_RUNS_INVPCID,
        .topology = {1, 2, 2},
        .l3_cache = true,
        .tsc_stable = true,
        .xcr0 = GUEST_XCR0_ALL,
        .pv = 0x01002aab,
        .numen = GUEST_NUMEN_YIELD,
    };
}

#define INTEL config_of(all_intel, ARRAY_SIZE(all_intel), GUEST_ON_VMX)
#define AMD   config_of(all_amd, ARRAY_SIZE(all_amd), GUEST_ON_SVM)
#define POOR  config_of(poor_amd, ARRAY_SIZE(poor_amd), GUEST_ON_SVM)

static const struct guest_cpuid_state running = {
    .apic_id = 3,
    .apic_enabled = true,
    .osxsave = true,
    .pke = true,
    .xcr0 = XCR0_X87 | XCR0_SSE | XCR0_AVX,
};

static struct cpuid_regs ask(const struct guest_cpuid_config *config, uint32_t leaf,
                             uint32_t subleaf, const struct guest_cpuid_state *state)
{
    static struct guest_cpuid_table table;

    guest_cpuid_build(&table, config);
    return guest_cpuid_lookup(&table, leaf, subleaf, state);
}

static void assert_regs(struct cpuid_regs r, uint32_t eax, uint32_t ebx, uint32_t ecx, uint32_t edx)
{
    assert_int_equal(r.eax, eax);
    assert_int_equal(r.ebx, ebx);
    assert_int_equal(r.ecx, ecx);
    assert_int_equal(r.edx, edx);
}

static void signatures_are_the_abis(void **state)
{
    struct guest_cpuid_config intel = INTEL, amd = AMD;

    (void)state;
    assert_regs(ask(&intel, 0x40000000, 0, &running), 0x40000001, 0x4b4d564b, 0x564b4d56, 0x4d);
    assert_regs(ask(&amd, 0x40000001, 7, &running), 0x01002aab, 0, 0, 0);
    assert_regs(ask(&amd, 0x40000100, 0, &running), 0x40000101, 0x656d754e, 0x6d754e6e, 0x754e6e65);
    assert_regs(ask(&intel, 0x40000101, 0, &running), 1, 0, 0, 0);
    assert_regs(ask(&intel, 0, 0, &running), 0xd, 0x756e6547, 0x6c65746e, 0x49656e69);
    assert_regs(ask(&amd, 0, 0, &running), 0xd, 0x68747541, 0x444d4163, 0x69746e65);
    assert_regs(ask(&amd, 0x80000000, 0, &running), 0x8000001e, 0x68747541, 0x444d4163, 0x69746e65);
    assert_regs(ask(&amd, 0x80000002, 0, &running), 1, 2, 3, 4);
    assert_regs(ask(&intel, 0x80000004, 0, &running), 9, 10, 11, 12);
}

/* A host of the other vendor (emulators): the guest must still pick the right hypercall. */
static void vendor_follows_the_backend(void **state)
{
    struct guest_cpuid_config svm = INTEL, vmx = AMD;

    (void)state;
    svm.backend = GUEST_ON_SVM;
    vmx.backend = GUEST_ON_VMX;
    assert_regs(ask(&svm, 0, 0, &running), 0xd, 0x68747541, 0x444d4163, 0x69746e65);
    assert_regs(ask(&vmx, 0, 0, &running), 0xd, 0x756e6547, 0x6c65746e, 0x49656e69);
    assert_int_equal(ask(&svm, 1, 0, &running).eax >> 8 & 0xf, 0xf);
    assert_int_equal(ask(&svm, 0x80000001, 0, &running).eax, ask(&svm, 1, 0, &running).eax);
    assert_int_equal(ask(&vmx, 1, 0, &running).eax >> 8 & 0xf, 6);
    vmx = INTEL;
    assert_int_equal(ask(&vmx, 1, 0, &running).eax, 0x50654);
}

struct bit_row {
    const char *what;
    uint32_t leaf, subleaf;
    char reg; /* a, b, c, d */
    uint32_t mask;
};

/* Hidden although the host has it (docs/guest-abi.md). */
static const struct bit_row hidden[] = {
    {"DTES64 MONITOR DS-CPL VMX SMX EIST TM2", 1, 0, 'c', BITS(8, 2)},
    {"CNXT-ID SDBG", 1, 0, 'c', BITS(11, 10)},
    {"xTPR PDCM", 1, 0, 'c', BITS(15, 14)},
    {"DCA", 1, 0, 'c', BIT(18)},
    {"MCE", 1, 0, 'd', BIT(7)},
    {"MTRR", 1, 0, 'd', BIT(12)},
    {"MCA", 1, 0, 'd', BIT(14)},
    {"DS ACPI", 1, 0, 'd', BITS(22, 21)},
    {"TM PBE", 1, 0, 'd', BIT(29) | BIT(31)},
    {"TSC_ADJUST SGX HLE RTM PQM MPX PQE", 7, 0, 'b', BIT(1) | BIT(2) | BIT(4) | BITS(12, 11)},
    {"AVX-512 and PT", 7, 0, 'b', BITS(17, 16) | BITS(28, 25) | BITS(31, 30)},
    {"WAITPKG", 7, 0, 'c', BIT(5)},
    {"LA57", 7, 0, 'c', BIT(16)},
    {"SPEC_CTRL STIBP FLUSH_L1D ARCH_CAPABILITIES", 7, 0, 'd', BITS(31, 26)},
    {"HYBRID PCONFIG LBR AMX", 7, 0, 'd', BIT(15) | BIT(18) | BIT(19) | BITS(25, 20)},
    {"MONITOR leaf", 5, 0, 'a', ~0u},
    {"PMU leaf", 0xa, 0, 'a', ~0u},
    {"XSAVES", 0xd, 1, 'a', BIT(3) | BIT(4)},
    {"AVX-512 state", 0xd, 0, 'a', BITS(7, 3)},
    {"AVX-512 state leaf", 0xd, 5, 'a', ~0u},
    {"SVM", 0x80000001, 0, 'c', BIT(2)},
    {"OSVW IBS SKINIT WDT LWP", 0x80000001, 0, 'c', BITS(10, 9) | BITS(13, 12) | BIT(15)},
    {"PERFCTR MONITORX", 0x80000001, 0, 'c', BITS(28, 23) | BIT(29)},
    {"FFXSR", 0x80000001, 0, 'd', BIT(25)},
    {"RDPRU and the speculation MSRs", 0x80000008, 0, 'b', ~(uint32_t)(BIT(0) | BIT(2))},
    {"SVM leaf", 0x8000000a, 0, 'a', ~0u},
    {"leaf 1F", 0x1f, 0, 'b', ~0u},
    {"MTRR of AMD", 0x80000001, 0, 'd', BIT(7) | BIT(12) | BIT(14)},
};

/* Offered on a host that has it. */
static const struct bit_row offered[] = {
    {"SSE3 PCLMUL", 1, 0, 'c', BITS(1, 0)},
    {"x2APIC, TSC deadline, hypervisor", 1, 0, 'c', BIT(21) | BIT(24) | BIT(31)},
    {"XSAVE OSXSAVE AVX", 1, 0, 'c', BITS(28, 26)},
    {"APIC HTT", 1, 0, 'd', BIT(9) | BIT(28)},
    {"SMEP ERMS INVPCID AVX2 SMAP", 7, 0, 'b', BIT(5) | BIT(7) | BIT(9) | BIT(10) | BIT(20)},
    {"UMIP PKU OSPKE RDPID", 7, 0, 'c', BITS(4, 2) | BIT(22)},
    {"ARAT", 6, 0, 'a', BIT(2)},
    {"SYSCALL NX 1G RDTSCP LM", 0x80000001, 0, 'd',
     BIT(11) | BIT(20) | BIT(26) | BIT(27) | BIT(29)},
    {"invariant TSC", 0x80000007, 0, 'd', BIT(8)},
    {"L3 of 16 MiB in the old form", 0x80000006, 0, 'd', BIT(23)},
};

static uint32_t bits_of(const struct guest_cpuid_config *config, const struct bit_row *row)
{
    struct cpuid_regs r = ask(config, row->leaf, row->subleaf, &running);
    uint32_t value = row->reg == 'a'   ? r.eax
                     : row->reg == 'b' ? r.ebx
                     : row->reg == 'c' ? r.ecx
                                       : r.edx;

    return value & row->mask;
}

static void hidden_features_stay_hidden(void **state)
{
    struct guest_cpuid_config hosts[] = {INTEL, AMD};

    (void)state;
    for (size_t h = 0; h < ARRAY_SIZE(hosts); h++)
        for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
            if (bits_of(&hosts[h], &hidden[i]))
                fail_msg("host %zu shows %s", h, hidden[i].what);
}

static void useful_features_are_offered(void **state)
{
    struct guest_cpuid_config hosts[] = {INTEL, AMD};

    (void)state;
    for (size_t h = 0; h < ARRAY_SIZE(hosts); h++)
        for (size_t i = 0; i < ARRAY_SIZE(offered); i++)
            if (bits_of(&hosts[h], &offered[i]) != (uint32_t)offered[i].mask)
                fail_msg("host %zu lacks %s", h, offered[i].what);
}

static void poor_host_still_has_the_vlapics_own(void **state)
{
    struct guest_cpuid_config poor = POOR;
    struct cpuid_regs r = ask(&poor, 1, 0, &running);

    (void)state;
    assert_int_equal(r.ecx & (BIT(21) | BIT(24) | BIT(31)), BIT(21) | BIT(24) | BIT(31));
    assert_int_equal(r.ecx & (BIT(26) | BIT(28)), 0);
    assert_regs(ask(&poor, 0xd, 0, &running), 0, 0, 0, 0);
    assert_int_equal(ask(&poor, 0xb, 1, &running).ebx, 4);
    assert_int_equal(ask(&poor, 0x80000008, 0, &running).eax, 0x3028);
    assert_int_equal(ask(&poor, 0x80000001, 0, &running).edx & BIT(27), 0); /* no RDTSCP there */
}

static void instructions_follow_the_vmcs(void **state)
{
    struct guest_cpuid_config vmx = INTEL, svm = AMD;

    (void)state;
    vmx.runs = svm.runs = 0;
    assert_int_equal(ask(&vmx, 0x80000001, 0, &running).edx & BIT(27), 0);
    assert_int_equal(ask(&vmx, 7, 0, &running).ecx & BIT(22), 0);
    assert_int_equal(ask(&vmx, 7, 0, &running).ebx & BIT(10), 0);
    assert_int_not_equal(ask(&svm, 0x80000001, 0, &running).edx & BIT(27), 0);
    assert_int_not_equal(ask(&svm, 7, 0, &running).ebx & BIT(10), 0);
}

static void avx_and_pku_rest_on_xcr0(void **state)
{
    struct guest_cpuid_config c = AMD;

    (void)state;
    c.xcr0 = XCR0_X87 | XCR0_SSE;
    assert_int_equal(ask(&c, 1, 0, &running).ecx & (BIT(12) | BIT(28) | BIT(29)), 0);
    assert_int_not_equal(ask(&c, 1, 0, &running).ecx & BIT(26), 0);
    assert_int_equal(ask(&c, 7, 0, &running).ebx & BIT(5), 0);
    assert_int_equal(ask(&c, 7, 0, &running).ecx & (BIT(3) | BIT(9) | BIT(10)), 0);
    assert_int_equal(ask(&c, 7, 1, &running).eax & BIT(4), 0);
    assert_int_equal(ask(&c, 0x80000001, 0, &running).ecx & (BIT(11) | BIT(16)), 0);
    assert_regs(ask(&c, 0xd, 0, &running), 3, 576, 576, 0);
    c.xcr0 = 0;
    assert_int_equal(ask(&c, 1, 0, &running).ecx & BIT(26), 0);
}

static void bits_follow_the_vcpu(void **state)
{
    struct guest_cpuid_config c = AMD;
    struct guest_cpuid_state reset = {.apic_id = 0x1ff, .xcr0 = XCR0_X87};

    (void)state;
    assert_int_equal(ask(&c, 1, 0, &reset).ecx & BIT(27), 0);
    assert_int_equal(ask(&c, 1, 0, &reset).edx & BIT(9), 0);
    assert_int_equal(ask(&c, 0x80000001, 0, &reset).edx & BIT(9), 0);
    assert_int_not_equal(ask(&c, 0x80000001, 0, &running).edx & BIT(9), 0);
    assert_int_equal(ask(&c, 1, 0, &reset).ebx >> 24, 0xff);
    assert_int_equal(ask(&c, 7, 0, &reset).ecx & BIT(4), 0);
    assert_int_equal(ask(&c, 0xb, 0, &reset).edx, 0x1ff);
    assert_int_equal(ask(&c, 1, 0, &running).ebx >> 24, 3);
    assert_int_equal(ask(&c, 0x8000001e, 0, &running).eax, 3);
}

static void xsave_sizes_follow_xcr0(void **state)
{
    struct guest_cpuid_config c = AMD;
    struct guest_cpuid_state s = running;

    (void)state;
    s.xcr0 = XCR0_X87;
    assert_regs(ask(&c, 0xd, 0, &s), 0x207, 576, 2440, 0);
    s.xcr0 = XCR0_X87 | XCR0_SSE | XCR0_AVX;
    assert_regs(ask(&c, 0xd, 0, &s), 0x207, 832, 2440, 0);
    s.xcr0 |= XCR0_PKRU;
    assert_regs(ask(&c, 0xd, 0, &s), 0x207, 2440, 2440, 0);
    assert_regs(ask(&c, 0xd, 1, &s), 7, 832 + 8, 0, 0);
    s.xcr0 &= ~XCR0_AVX;
    assert_regs(ask(&c, 0xd, 1, &s), 7, 576 + 8, 0, 0);
    assert_regs(ask(&c, 0xd, 2, &s), 256, 576, 0, 0);
    assert_regs(ask(&c, 0xd, 9, &s), 8, 2432, 2, 0);
    assert_regs(ask(&c, 0xd, 5, &s), 0, 0, 0, 0);
}

static void xcr0_values_are_checked(void **state)
{
    static struct guest_cpuid_table table;
    struct guest_cpuid_config c = INTEL;

    (void)state;
    guest_cpuid_build(&table, &c);
    assert_true(guest_cpuid_xcr0_valid(&table, 1));
    assert_true(guest_cpuid_xcr0_valid(&table, 7));
    assert_true(guest_cpuid_xcr0_valid(&table, 0x207));
    assert_false(guest_cpuid_xcr0_valid(&table, 0));
    assert_false(guest_cpuid_xcr0_valid(&table, 6));    /* no x87 */
    assert_false(guest_cpuid_xcr0_valid(&table, 5));    /* AVX without SSE */
    assert_false(guest_cpuid_xcr0_valid(&table, 0xe7)); /* not offered */
    assert_false(guest_cpuid_xcr0_valid(&table, 1ull << 62 | 7));
}

static void unknown_leaves_are_zero(void **state)
{
    static const uint32_t leaves[] = {3,          0x10,       0x1f,       0x20,
                                      0x3fffffff, 0x40000002, 0x400000ff, 0x40000102,
                                      0x7fffffff, 0x8000001f, 0x80000020, 0xffffffff};
    struct guest_cpuid_config hosts[] = {INTEL, AMD};

    (void)state;
    for (size_t h = 0; h < ARRAY_SIZE(hosts); h++) {
        for (size_t i = 0; i < ARRAY_SIZE(leaves); i++)
            assert_regs(ask(&hosts[h], leaves[i], 0, &running), 0, 0, 0, 0);
        assert_regs(ask(&hosts[h], 7, 2, &running), 0, 0, 0, 0);
        assert_regs(ask(&hosts[h], 0xb, 0x105, &running), 0, 0, 5, 3);
        assert_regs(ask(&hosts[h], 0x80000007, 99, &running), 0, 0, 0, 0x100);
    }
    hosts[0].tsc_stable = false;
    assert_regs(ask(&hosts[0], 0x80000007, 0, &running), 0, 0, 0, 0);
}

/* One vCPU's answers as a dump, for the host's decoder. */
static uint32_t dump_fill(struct cpuid_entry dump[], const struct guest_cpuid_table *table,
                          uint32_t apic_id)
{
    struct guest_cpuid_state s = running;

    s.apic_id = apic_id;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct cpuid_entry *e = &table->entries[i];

        dump[i] = (struct cpuid_entry){e->leaf, e->subleaf,
                                       guest_cpuid_lookup(table, e->leaf, e->subleaf, &s)};
    }
    return table->count;
}

/* Hide a leaf, so that the decoder has to take the next one. */
static void dump_drop(struct cpuid_entry dump[], uint32_t count, uint32_t leaf)
{
    for (uint32_t i = 0; i < count; i++)
        if (dump[i].leaf == leaf)
            dump[i].regs = (struct cpuid_regs){0, 0, 0, 0};
}

static void topology_read_back(const struct guest_cpuid_config *config, bool without_leaf_b)
{
    static struct guest_cpuid_table table;
    static struct topo_ids ids[VCPUS_MAX];
    static struct cpu_place places[VCPUS_MAX];
    static uint64_t scratch[TOPO_SCRATCH_WORDS(VCPUS_MAX)];
    static struct cpuid_entry dump[GUEST_CPUID_ENTRIES];
    const struct guest_topology *t = &config->topology;
    uint32_t cores = t->sockets * t->cores, n = cores * t->threads;
    struct topo_result result;

    guest_cpuid_build(&table, config);
    for (uint32_t vcpu = 0; vcpu < n; vcpu++) {
        uint32_t apic_id = guest_topology_apic_id(t, vcpu);
        uint32_t count = dump_fill(dump, &table, apic_id);

        if (without_leaf_b)
            dump_drop(dump, count, 0xb);
        ids[vcpu] = topology_decode(apic_id, (struct cpuid_dump){dump, count});
    }
    topology_build(ids, n, 0, scratch, places, &result);
    assert_int_equal(result.sockets, t->sockets);
    assert_int_equal(result.cores, cores);
    assert_int_equal(result.llcs, config->l3_cache ? t->sockets : cores);
    for (uint32_t vcpu = 0; vcpu < n; vcpu++) {
        assert_int_equal(places[vcpu].thread, vcpu % t->threads);
        assert_int_equal(places[vcpu].core, vcpu / t->threads);
        assert_int_equal(places[vcpu].socket, vcpu / t->threads / t->cores);
    }
}

static void topology_reads_back_as_configured(void **state)
{
    (void)state;
    for (uint32_t sockets = 1; sockets <= 4; sockets++)
        for (uint32_t cores = 1; cores <= 12; cores++)
            for (uint32_t threads = 1; threads <= 3; threads++)
                for (uint32_t l3 = 0; l3 < 2; l3++) {
                    struct guest_cpuid_config intel = INTEL, amd = AMD;

                    intel.topology = amd.topology =
                        (struct guest_topology){sockets, cores, threads};
                    intel.l3_cache = amd.l3_cache = l3;
                    topology_read_back(&intel, false);
                    topology_read_back(&amd, false);
                    if (threads <= 2) { /* AMD's other leaves know no more threads than two */
                        topology_read_back(&amd, true);
                        topology_read_back(&intel, cores * threads != 3);
                    }
                }
}

static void l3_off_shows_no_l3(void **state)
{
    struct guest_cpuid_config intel = INTEL, amd = AMD;

    (void)state;
    assert_int_equal(ask(&intel, 4, 3, &running).eax & 0xff, 3 << 5 | 3);
    assert_int_equal(ask(&intel, 4, 3, &running).ecx, 16383); /* 16 MiB: 16 ways of 64 bytes */
    assert_int_equal(ask(&intel, 4, 3, &running).ebx, 15u << 22 | 63);
    assert_regs(ask(&amd, 4, 0, &running), 0, 0, 0, 0);
    assert_regs(ask(&intel, 0x8000001d, 0, &running), 0, 0, 0, 0);
    intel.l3_cache = amd.l3_cache = false;
    assert_regs(ask(&intel, 4, 3, &running), 0, 0, 0, 0);
    assert_regs(ask(&amd, 0x8000001d, 3, &running), 0, 0, 0, 0);
    assert_int_equal(ask(&amd, 0x80000006, 0, &running).edx, 0);
    assert_int_not_equal(ask(&amd, 0x80000006, 0, &running).ecx, 0);
}

static void apic_ids_have_the_widths_of_leaf_b(void **state)
{
    static const struct guest_topology t = {2, 3, 2};
    static const uint32_t ids[] = {0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13};

    (void)state;
    for (uint32_t vcpu = 0; vcpu < ARRAY_SIZE(ids); vcpu++)
        assert_int_equal(guest_topology_apic_id(&t, vcpu), ids[vcpu]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_are_the_abis),
        cmocka_unit_test(vendor_follows_the_backend),
        cmocka_unit_test(hidden_features_stay_hidden),
        cmocka_unit_test(useful_features_are_offered),
        cmocka_unit_test(poor_host_still_has_the_vlapics_own),
        cmocka_unit_test(instructions_follow_the_vmcs),
        cmocka_unit_test(avx_and_pku_rest_on_xcr0),
        cmocka_unit_test(bits_follow_the_vcpu),
        cmocka_unit_test(xsave_sizes_follow_xcr0),
        cmocka_unit_test(xcr0_values_are_checked),
        cmocka_unit_test(unknown_leaves_are_zero),
        cmocka_unit_test(topology_reads_back_as_configured),
        cmocka_unit_test(l3_off_shows_no_l3),
        cmocka_unit_test(apic_ids_have_the_widths_of_leaf_b),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
