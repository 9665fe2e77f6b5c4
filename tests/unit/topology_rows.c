/*
 * A row for each kind of machine, real, emulated or broken.
 *
 * Written from the facts of the machines (shifts, counts, APIC ids), not copied dumps. Most have
 * one set of leaves for all CPUs; a hybrid part has one for each kind of core. QEMU's and Bochs's
 * rows are what version 7.2 and 2.7 answer.
 */
#include "tests/unit/topology_rows.h"

#include "arch/x86/topology.h"

/* clang-format off */
#define INTEL(max)     {0, 0, {max, 0x756e6547, 0x6c65746e, 0x49656e69}}
#define AMD(max)       {0, 0, {max, 0x68747541, 0x444d4163, 0x69746e65}}
#define VIA(max)       {0, 0, {max, 0x746e6543, 0x736c7561, 0x48727561}}
#define P_CORE         {0x1a, 0, {0x40u << 24, 0, 0, 0}}
#define E_CORE         {0x1a, 0, {0x20u << 24, 0, 0, 0}}
#define G34            {0x80000001, 0, {0, 0x30000000, 0, 0}}
#define OLD_L2         {0x80000006, 0, {0, 0, 0x2008140, 0}}
#define OLD_L3         {0x80000006, 0, {0, 0, 0x2008140, 0x50d140}}

/* Leaf 1: signature, logical CPUs in the package (0: no HTT), the CPU's own APIC id. */
#define ONE_OF(eax, logical, id) \
    {1, 0, {eax, (uint32_t)(id) << 24 | (uint32_t)(logical) << 16, 0, (logical) ? 1u << 28 : 0}}
#define ONE(eax, logical) ONE_OF(eax, logical, 0)

/* Leaves 0xB, 0x1F, 0x80000026: type 1 SMT, 2 core or complex, 3 module or die, 4 socket, 5 die. */
#define LEVEL(leaf, sub, type, shift, count) {leaf, sub, {shift, count, (type) << 8 | (sub), 0}}

/* Unified caches. Leaf 4: ids that share, core ids in the package. 0x8000001D: CPUs that share. */
#define CACHE(sub, level, share, cores) \
    {4, sub, {((cores) - 1u) << 26 | ((share) - 1u) << 14 | (level) << 5 | 3, 0, 0, 0}}
#define CACHE_AMD(sub, level, share) {0x8000001d, sub, {((share) - 1u) << 14 | (level) << 5 | 3, 0, 0, 0}}

#define SIZE(cpus, bits)     {0x80000008, 0, {0x3030, 0, (bits) << 12 | ((cpus) - 1), 0}}
/* 0x8000001E: own id, threads a core (family 15h: cores a unit), dies in the package. */
#define UNIT(id, per, dies)  {0x8000001e, 0, {id, ((per) - 1) << 8, ((dies) - 1) << 8, 0}}

#define BOCHS_RYZEN(logical, cores, id) \
    AMD(0xd), ONE_OF(0x800f11, logical, id), SIZE(cores, 0), UNIT(0, cores, 1), \
    CACHE_AMD(0, 2, 2), CACHE_AMD(1, 3, 8)

#define NOTE(name) (uint32_t)BIT(TOPO_NOTE_##name)

const struct topology_row topology_rows[] = {
    {"QEMU EPYC, 2 sockets 2 cores 2 threads",
     {{AMD(0xd), ONE(0x800f12, 4), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 2, 4), UNIT(0, 2, 1),
       CACHE_AMD(0, 1, 2), CACHE_AMD(1, 3, 4)}},
     {{0, 8, 1, 0}}, 2, 4, 2, 2, 0, false},

    {"QEMU EPYC, 2 sockets 5 cores 3 threads: counts that are no powers of two",
     {{AMD(0xd), ONE(0x800f12, 15), LEVEL(0xb, 0, 1, 2, 3), LEVEL(0xb, 1, 2, 5, 15),
       CACHE_AMD(0, 3, 15)}},
     {{0, 3, 1, 0}, {4, 3, 1, 0}, {8, 3, 1, 0}, {12, 3, 1, 0}, {16, 3, 1, 0}, {32, 3, 1, 0}},
     2, 6, 2, 3, 0, false},

    {"QEMU Skylake, 2 sockets 2 dies 2 cores: leaf 1F, an L3 for each die",
     {{INTEL(0x1f), ONE(0x506e3, 4), LEVEL(0xb, 0, 1, 0, 1), LEVEL(0xb, 1, 2, 2, 4),
       LEVEL(0x1f, 0, 1, 0, 1), LEVEL(0x1f, 1, 2, 1, 2), LEVEL(0x1f, 2, 5, 2, 4),
       CACHE(0, 2, 1, 2), CACHE(1, 3, 2, 2)}},
     {{0, 8, 1, 0}}, 2, 8, 4, 1, 0, false},

    {"QEMU qemu64, one CPU", {{AMD(0xd), ONE(0x60fb1, 0), OLD_L3, SIZE(1, 0)}},
     {{0, 1, 1, 0}}, 1, 1, 1, 1, 0, false},

    {"QEMU core2duo, 3 cores 2 threads: leaves 1 and 4",
     {{INTEL(0xa), ONE(0x6fb, 6), CACHE(0, 1, 2, 3), CACHE(1, 3, 8, 3)}},
     {{0, 6, 1, 0}}, 1, 3, 1, 2, 0, false},

    {"Bochs Skylake, 2 sockets 2 cores 2 threads: wrong shift, the real part's caches",
     {{INTEL(0x16), ONE(0x50654, 4), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 1, 2),
       CACHE(0, 1, 2, 8), CACHE(1, 3, 16, 8)}},
     {{0, 8, 1, 0}}, 2, 4, 2, 2, NOTE(SOCKET_SHIFT) | NOTE(LLC_SPAN), false},

    {"Bochs Skylake, one CPU: leaf B empty", {{INTEL(0x16), ONE(0x50654, 0), CACHE(0, 3, 1, 8)}},
     {{0, 1, 1, 0}}, 1, 1, 1, 1, NOTE(EMPTY_LEAF_B), false},

    {"Bochs ryzen, 2 sockets 2 cores 2 threads", {{BOCHS_RYZEN(4, 2, 0)}},
     {{0, 8, 1, 0}}, 2, 4, 2, 2, NOTE(LLC_SPAN), false},

    {"Bochs ryzen, 3 cores 2 threads: 1E counts cores as threads", {{BOCHS_RYZEN(6, 3, 0)}},
     {{0, 6, 1, 0}}, 1, 3, 1, 2, NOTE(AMD_THREADS), false},

    {"Bochs ryzen, 4 cores of one thread", {{BOCHS_RYZEN(4, 4, 0)}},
     {{0, 4, 1, 0}}, 1, 4, 1, 1, NOTE(AMD_THREADS) | NOTE(LLC_SPAN), false},

    {"Bochs ryzen, 2 cores of one thread: only the second CPU's 1E is seen to be wrong",
     {{BOCHS_RYZEN(2, 2, 0)}, {BOCHS_RYZEN(2, 2, 1)}},
     {{0, 1, 1, 0}, {1, 1, 1, 1}}, 1, 2, 1, 1, NOTE(AMD_THREADS) | NOTE(LLC_SPAN), false},

    {"Core 2 Quad pair: an L2 for two cores and no L3",
     {{INTEL(0xa), ONE(0x6f7, 4), CACHE(0, 1, 1, 4), CACHE(1, 2, 2, 4)}},
     {{0, 8, 1, 0}}, 2, 8, 4, 1, 0, false},

    {"Pentium 4 Tulsa pair: lowest id not 0", {{INTEL(6), ONE(0xf66, 4), CACHE(0, 1, 2, 2)}},
     {{8, 8, 1, 0}}, 2, 4, 4, 2, 0, false},

    {"Pentium 4 without leaf 4: the socket stands for the cache", {{INTEL(2), ONE(0xf29, 2)}},
     {{0, 2, 1, 0}, {6, 2, 1, 0}}, 2, 2, 2, 2, 0, false},

    {"Xeon E5 v2, 8 sockets, ids up to 447",
     {{INTEL(0xd), ONE(0x306e4, 32), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 5, 16),
       CACHE(0, 2, 2, 16), CACHE(1, 3, 32, 16)}},
     {{0, 16, 1, 0}, {32, 16, 1, 0}, {64, 16, 1, 0}, {96, 16, 1, 0}, {320, 128, 1, 0}},
     8, 96, 8, 2, 0, false},

    {"Xeon, SMT off while leaf B keeps its bit",
     {{INTEL(0x16), ONE(0x50654, 16), LEVEL(0xb, 0, 1, 1, 1), LEVEL(0xb, 1, 2, 4, 6),
       CACHE(0, 2, 2, 8), CACHE(1, 3, 16, 8)}},
     {{0, 6, 2, 0}, {16, 6, 2, 0}}, 2, 12, 2, 1, 0, false},

    {"Xeon, SMT off while leaf B still counts two threads",
     {{INTEL(0xb), ONE(0x306f2, 16), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 4, 16),
       CACHE(0, 3, 16, 8)}},
     {{0, 8, 2, 0}}, 1, 8, 1, 1, 0, false},

    {"Xeon Phi: 4 threads, no L3, an L2 for two cores, leaf 1 full",
     {{INTEL(0xd), ONE(0x50671, 255), LEVEL(0xb, 0, 1, 2, 4), LEVEL(0xb, 1, 2, 9, 256),
       CACHE(0, 1, 4, 64), CACHE(1, 2, 8, 64)}},
     {{8, 8, 1, 0}, {24, 240, 1, 0}}, 1, 62, 31, 4, 0, false},

    {"a package of 256 CPUs whose leaf 1 says 255",
     {{INTEL(0x1f), ONE(0xa06d1, 255), LEVEL(0x1f, 0, 1, 1, 2), LEVEL(0x1f, 1, 2, 8, 256),
       CACHE(0, 3, 256, 64)}},
     {{0, 512, 1, 0}}, 2, 256, 2, 2, 0, false},

    {"Raptor Lake: SMT on some cores, one L3",
     {{INTEL(0x20), ONE(0xb06a2, 128), LEVEL(0x1f, 0, 1, 1, 2), LEVEL(0x1f, 1, 2, 7, 20),
       CACHE(0, 2, 8, 64), CACHE(1, 3, 128, 64), P_CORE},
      {INTEL(0x20), ONE(0xb06a2, 128), LEVEL(0x1f, 0, 1, 1, 2), LEVEL(0x1f, 1, 2, 7, 20),
       CACHE(0, 2, 8, 64), CACHE(1, 3, 128, 64), E_CORE}},
     {{0, 2, 1, 0}, {8, 2, 1, 0}, {16, 2, 1, 0}, {24, 2, 1, 0}, {48, 8, 2, 1}},
     1, 12, 1, 2, 0, true},

    {"Meteor Lake: two cores outside the L3",
     {{INTEL(0x23), ONE(0xa06a4, 128), LEVEL(0x1f, 0, 1, 1, 2), LEVEL(0x1f, 1, 2, 3, 2),
       LEVEL(0x1f, 2, 3, 7, 22), CACHE(0, 2, 8, 64), CACHE(1, 3, 64, 64), P_CORE},
      {INTEL(0x23), ONE(0xa06a4, 128), LEVEL(0x1f, 0, 1, 1, 1), LEVEL(0x1f, 1, 2, 3, 2),
       LEVEL(0x1f, 2, 3, 7, 22), CACHE(0, 2, 8, 64), E_CORE}},
     {{16, 2, 1, 0}, {24, 2, 1, 0}, {64, 2, 2, 1}}, 1, 4, 2, 2, 0, true},

    {"an L3 whose owners have ids below and above another group's",
     {{INTEL(0x20), ONE(0xb06a2, 128), LEVEL(0x1f, 0, 1, 1, 2), LEVEL(0x1f, 1, 2, 7, 8),
       CACHE(0, 2, 2, 64), CACHE(1, 3, 128, 64), P_CORE},
      {INTEL(0x20), ONE(0xb06a2, 128), LEVEL(0x1f, 0, 1, 1, 1), LEVEL(0x1f, 1, 2, 7, 8),
       CACHE(0, 2, 8, 64), E_CORE}},
     {{0, 2, 1, 0}, {16, 2, 2, 1}, {32, 2, 1, 0}}, 1, 4, 2, 2, 0, true},

    {"cores outside the L3 whose L2 spans the very ids of the L3",
     {{INTEL(0x20), ONE(0xb06a2, 8), LEVEL(0x1f, 0, 1, 1, 2), LEVEL(0x1f, 1, 2, 3, 6),
       CACHE(0, 2, 2, 64), CACHE(1, 3, 8, 64), P_CORE},
      {INTEL(0x20), ONE(0xb06a2, 8), LEVEL(0x1f, 0, 1, 1, 1), LEVEL(0x1f, 1, 2, 3, 6),
       CACHE(0, 2, 8, 64), E_CORE}},
     {{0, 4, 1, 0}, {4, 2, 2, 1}}, 1, 4, 2, 2, 0, true},

    {"Zhaoxin KH-40000 pair: dies, an L3 for four cores, gaps in the ids",
     {{VIA(0x1f), ONE(0x507bb, 64), LEVEL(0x1f, 0, 1, 0, 1), LEVEL(0x1f, 1, 2, 4, 16),
       LEVEL(0x1f, 2, 5, 6, 32), CACHE(0, 2, 1, 64), CACHE(1, 3, 4, 64)}},
     {{0, 32, 1, 0}, {64, 32, 1, 0}}, 2, 64, 16, 1, 0, false},

    {"K8 dual-core pair: private caches", {{AMD(1), ONE(0x40f12, 2), OLD_L2, SIZE(2, 0)}},
     {{0, 4, 1, 0}}, 2, 4, 4, 1, 0, false},

    {"Istanbul pair: six cores in eight ids", {{AMD(5), ONE(0x100f80, 6), OLD_L3, SIZE(6, 3)}},
     {{0, 6, 1, 0}, {8, 6, 1, 0}}, 2, 12, 2, 1, 0, false},

    {"Magny-Cours pair: two dies a package, no bit for them",
     {{AMD(5), ONE(0x100f91, 12), G34, OLD_L3, SIZE(12, 4)}},
     {{0, 12, 1, 0}, {16, 12, 1, 0}}, 2, 24, 4, 1, 0, false},

    {"Interlagos pair: ids from 0x20, six cores share an L3",
     {{AMD(0xd), ONE(0x600f12, 12), SIZE(12, 5), UNIT(0x20, 2, 2), CACHE_AMD(0, 2, 2),
       CACHE_AMD(1, 3, 6)}},
     {{32, 12, 1, 0}, {64, 12, 1, 0}}, 2, 24, 4, 1, 0, false},

    {"Bulldozer: the leaf gives the L3 to two of four cores",
     {{AMD(0xd), ONE(0x600f12, 4), SIZE(4, 4), UNIT(0x10, 2, 1), CACHE_AMD(0, 2, 2),
       CACHE_AMD(1, 3, 2)}},
     {{16, 4, 1, 0}}, 1, 4, 1, 1, 0, false},

    {"Threadripper 1950X: no leaf B, an L3 for four cores",
     {{AMD(0xd), ONE(0x800f11, 32), SIZE(32, 5), UNIT(0, 2, 1), CACHE_AMD(0, 2, 2),
       CACHE_AMD(1, 3, 8)}},
     {{0, 32, 1, 0}}, 1, 16, 4, 2, 0, false},

    {"Milan pair, SMT off: ids without a thread bit",
     {{AMD(0x10), ONE(0xa00f11, 64), SIZE(64, 6), UNIT(0, 1, 1), CACHE_AMD(0, 2, 1),
       CACHE_AMD(1, 3, 8)}},
     {{0, 128, 1, 0}}, 2, 128, 16, 1, 0, false},

    {"Genoa by 0x80000026 alone: 8 cores a chiplet, gaps",
     {{AMD(0x10), ONE(0xa10f11, 192), LEVEL(0x80000026, 0, 1, 1, 2), LEVEL(0x80000026, 1, 2, 4, 16),
       LEVEL(0x80000026, 2, 3, 4, 16), LEVEL(0x80000026, 3, 4, 8, 192), CACHE_AMD(0, 3, 16)}},
     {{0, 192, 1, 0}, {256, 192, 1, 0}}, 2, 192, 24, 2, 0, false},

    {"Knights Corner: 61 cores of 4 threads in 8 and 6 bits, the boot CPU's id last",
     {{INTEL(4), ONE(0xb11, 244), CACHE(0, 1, 4, 64), CACHE(1, 2, 4, 64)}},
     {{243, 1, 1, 0}, {0, 243, 1, 0}}, 1, 61, 61, 4, 0, false},

    {"leaf 4 without a count of cores: the first cache tells the threads",
     {{INTEL(4), ONE(0xb11, 244), CACHE(0, 1, 4, 1), CACHE(1, 2, 4, 1)}},
     {{0, 244, 1, 0}}, 1, 61, 61, 4, 0, false},

    {"Pentium D: two cores, no threads", {{INTEL(5), ONE(0xf44, 2), CACHE(0, 1, 1, 2)}},
     {{0, 2, 1, 0}}, 1, 2, 2, 1, 0, false},

    {"Pentium Extreme 965: two cores of two threads", {{INTEL(6), ONE(0xf64, 4), CACHE(0, 1, 2, 2)}},
     {{0, 4, 1, 0}}, 1, 2, 2, 2, 0, false},

    {"Pentium III pair: nothing but leaf 1", {{INTEL(2), ONE(0x683, 0)}},
     {{0, 2, 1, 0}}, 2, 2, 2, 1, 0, false},

    {"486 with CPUID", {{INTEL(1), ONE(0x480, 0)}}, {{0, 1, 1, 0}}, 1, 1, 1, 1, 0, false},

    {"VIA without leaf 4: what leaf 1 counts are cores", {{VIA(0xa), ONE(0x6fd, 4)}},
     {{0, 4, 1, 0}}, 1, 4, 1, 1, 0, false},

    {"Athlon MP pair: before 0x80000008", {{AMD(1), ONE(0x680, 0), OLD_L2}},
     {{0, 2, 1, 0}}, 2, 2, 2, 1, 0, false},

    {"Dunnington: leaf B on a six-core without threads, an L3 over three L2",
     {{INTEL(0xb), ONE(0x106d1, 8), LEVEL(0xb, 0, 1, 0, 1), LEVEL(0xb, 1, 2, 3, 6),
       CACHE(0, 1, 1, 8), CACHE(1, 2, 2, 8), CACHE(2, 3, 8, 8)}},
     {{0, 6, 1, 0}, {8, 6, 1, 0}, {16, 6, 1, 0}, {24, 6, 1, 0}}, 4, 24, 4, 1, 0, false},

    {"Silvermont: a thread bit without threads, an L2 for two cores",
     {{INTEL(0xb), ONE(0x30673, 16), LEVEL(0xb, 0, 1, 1, 1), LEVEL(0xb, 1, 2, 4, 4),
       CACHE(0, 1, 1, 8), CACHE(1, 2, 4, 8)}},
     {{0, 4, 2, 0}}, 1, 4, 2, 1, 0, false},

    {"Broadwell with eDRAM: the fourth level is no LLC",
     {{INTEL(0xd), ONE(0x40671, 16), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 4, 8),
       CACHE(0, 2, 2, 8), CACHE(1, 3, 2, 8), CACHE(2, 4, 16, 8)}},
     {{0, 8, 1, 0}}, 1, 4, 4, 2, 0, false},

    {"Skylake-SP pair: gaps amid the cores",
     {{INTEL(0x16), ONE(0x50654, 64), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 6, 36),
       CACHE(0, 2, 2, 32), CACHE(1, 3, 64, 32)}},
     {{0, 10, 1, 0}, {16, 10, 1, 0}, {32, 16, 1, 0}, {64, 10, 1, 0}, {80, 10, 1, 0}, {96, 16, 1, 0}},
     2, 36, 2, 2, 0, false},

    {"Cascade Lake-AP: two dies a package, an L3 each",
     {{INTEL(0x1f), ONE(0x50657, 128), LEVEL(0x1f, 0, 1, 1, 2), LEVEL(0x1f, 1, 2, 6, 48),
       LEVEL(0x1f, 2, 5, 7, 96), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 7, 96),
       CACHE(1, 2, 2, 32), CACHE(0, 3, 64, 32)}},
     {{0, 48, 1, 0}, {64, 48, 1, 0}, {128, 48, 1, 0}, {192, 48, 1, 0}}, 2, 96, 4, 2, 0, false},

    {"Sierra Forest pair: modules of four, one L3",
     {{INTEL(0x20), ONE(0xa06f3, 255), LEVEL(0x1f, 0, 1, 0, 1), LEVEL(0x1f, 1, 2, 2, 4),
       LEVEL(0x1f, 2, 3, 9, 144), CACHE(0, 1, 1, 64), CACHE(1, 2, 4, 64), CACHE(2, 3, 512, 64)}},
     {{0, 144, 1, 0}, {512, 144, 1, 0}}, 2, 288, 2, 1, 0, false},

    {"Snow Ridge: modules of four without an L3",
     {{INTEL(0x1f), ONE(0x80665, 64), LEVEL(0x1f, 0, 1, 0, 1), LEVEL(0x1f, 1, 2, 2, 4),
       LEVEL(0x1f, 2, 3, 6, 24), CACHE(0, 1, 1, 32), CACHE(1, 2, 4, 32)}},
     {{0, 24, 1, 0}}, 1, 24, 6, 1, 0, false},

    {"Lunar Lake: no threads, the small cores without an L3",
     {{INTEL(0x23), ONE(0xb06d1, 128), LEVEL(0x1f, 0, 1, 1, 1), LEVEL(0x1f, 1, 2, 3, 1),
       LEVEL(0x1f, 2, 3, 7, 8), CACHE(0, 2, 8, 64), CACHE(1, 3, 64, 64), P_CORE},
      {INTEL(0x23), ONE(0xb06d1, 128), LEVEL(0x1f, 0, 1, 1, 1), LEVEL(0x1f, 1, 2, 3, 4),
       LEVEL(0x1f, 2, 3, 7, 8), CACHE(0, 2, 8, 64), E_CORE}},
     {{0, 4, 8, 0}, {64, 4, 2, 1}}, 1, 8, 2, 1, 0, true},

    {"a hybrid part whose kinds of core tell two socket shifts",
     {{INTEL(0x20), ONE(0xb06a2, 128), LEVEL(0x1f, 0, 1, 1, 2), LEVEL(0x1f, 1, 2, 7, 6),
       CACHE(0, 2, 8, 64), CACHE(1, 3, 128, 64), P_CORE},
      {INTEL(0x20), ONE(0xb06a2, 128), LEVEL(0x1f, 0, 1, 1, 1), LEVEL(0x1f, 1, 2, 4, 6),
       CACHE(0, 2, 8, 64), E_CORE}},
     {{0, 2, 1, 0}, {8, 2, 1, 0}, {16, 2, 2, 1}}, 1, 4, 2, 2, NOTE(MIXED_SHIFTS), true},

    {"a CPU without leaves amid others",
     {{INTEL(0xb), ONE(0x306f2, 16), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 4, 16),
       CACHE(0, 3, 16, 8)}, {{0, 0, {0, 0, 0, 0}}}},
     {{0, 8, 1, 0}, {16, 8, 1, 0}, {12, 1, 1, 1}}, 2, 9, 3, 2, NOTE(NO_LEAVES), false},

    {"VMware guest of one-core sockets with the host's leaf 1 and caches",
     {{INTEL(0x16), ONE(0x50654, 64), LEVEL(0xb, 0, 1, 0, 1), LEVEL(0xb, 1, 2, 0, 1),
       CACHE(0, 2, 2, 32), CACHE(1, 3, 64, 32)}},
     {{0, 4, 1, 0}}, 4, 4, 4, 1, NOTE(LLC_SPAN), false},

    {"Xen guest: even ids, counts doubled, leaf B empty",
     {{INTEL(0xd), ONE(0x306f2, 8), CACHE(0, 1, 2, 4), CACHE(1, 3, 8, 4)}},
     {{0, 4, 2, 0}}, 1, 4, 1, 1, NOTE(EMPTY_LEAF_B), false},

    {"leaf 1F cut short, leaf B whole",
     {{INTEL(0x1f), ONE(0x50657, 16), LEVEL(0x1f, 0, 1, 1, 2), LEVEL(0xb, 0, 1, 1, 2),
       LEVEL(0xb, 1, 2, 4, 16), CACHE(0, 3, 16, 8)}},
     {{0, 16, 1, 0}, {16, 16, 1, 0}}, 2, 16, 2, 2, 0, false},

    {"leaf B cut short after the threads",
     {{INTEL(0xb), ONE(0x306c3, 16), LEVEL(0xb, 0, 1, 1, 2), CACHE(0, 1, 2, 8), CACHE(1, 3, 16, 8)}},
     {{0, 8, 1, 0}}, 1, 4, 1, 2, NOTE(EMPTY_LEAF_B), false},

    {"Bochs Skylake, 2 sockets of one core: leaf B ends with the threads",
     {{INTEL(0x16), ONE(0x50654, 2), LEVEL(0xb, 0, 1, 1, 2), CACHE(0, 3, 16, 8)}},
     {{0, 4, 1, 0}}, 2, 2, 2, 2, NOTE(LLC_SPAN), false},

    {"a leaf that counts more CPUs than its shift holds",
     {{INTEL(0xb), ONE(0x306f2, 0), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 2, 12)}},
     {{0, 12, 1, 0}}, 1, 6, 1, 2, NOTE(SOCKET_SHIFT), false},

    {"Llano: K10 cores in a package of its own kind", {{AMD(6), ONE(0x300f10, 4), OLD_L2, SIZE(4, 2)}},
     {{0, 4, 1, 0}}, 1, 4, 4, 1, 0, false},

    {"Jaguar: an L2 for four cores",
     {{AMD(0xd), ONE(0x700f01, 4), SIZE(4, 3), UNIT(0, 1, 1), CACHE_AMD(0, 1, 1), CACHE_AMD(1, 2, 4)}},
     {{0, 4, 1, 0}}, 1, 4, 1, 1, 0, false},

    {"Kaveri: an L2 for a unit and no L3",
     {{AMD(0xd), ONE(0x630f01, 4), SIZE(4, 4), UNIT(0x10, 2, 1), CACHE_AMD(0, 1, 1),
       CACHE_AMD(1, 2, 2)}},
     {{16, 4, 1, 0}}, 1, 4, 2, 1, 0, false},

    {"Interlagos with 16 cores, 4 sockets",
     {{AMD(0xd), ONE(0x600f12, 16), SIZE(16, 5), UNIT(0x20, 2, 2), CACHE_AMD(0, 2, 2),
       CACHE_AMD(1, 3, 8)}},
     {{32, 16, 1, 0}, {64, 16, 1, 0}, {96, 16, 1, 0}, {128, 16, 1, 0}}, 4, 64, 8, 1, 0, false},

    {"Naples with 24 cores: three of a complex's four",
     {{AMD(0xd), ONE(0x800f12, 48), SIZE(48, 6), UNIT(0, 2, 4), CACHE_AMD(0, 2, 2),
       CACHE_AMD(1, 3, 6)}},
     {{0, 6, 1, 0}, {8, 6, 1, 0}, {16, 6, 1, 0}, {24, 6, 1, 0}, {32, 6, 1, 0}, {40, 6, 1, 0},
      {48, 6, 1, 0}, {56, 6, 1, 0}}, 1, 24, 8, 2, 0, false},

    {"Zen whose 1E was read on another CPU", {{AMD(0xd), ONE_OF(0x800f82, 8, 7), SIZE(8, 3),
       UNIT(0, 2, 1), CACHE_AMD(0, 2, 2), CACHE_AMD(1, 3, 8)}},
     {{0, 8, 1, 0}}, 1, 4, 1, 2, 0, false},

    {"Zen guest without 1E: threads pass for cores",
     {{AMD(0xd), ONE(0x800f12, 4), SIZE(4, 2), CACHE_AMD(0, 3, 4)}},
     {{0, 4, 1, 0}}, 1, 4, 1, 1, 0, false},

    {"Zen guest whose 1E has more threads than divide its CPUs",
     {{AMD(0xd), ONE(0x800f12, 6), SIZE(6, 3), UNIT(0, 4, 1), CACHE_AMD(0, 3, 6)}},
     {{0, 6, 1, 0}}, 1, 6, 1, 1, NOTE(AMD_THREADS), false},

    {"Rome, two cores a complex",
     {{AMD(0x10), ONE(0x830f10, 64), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 7, 64),
       CACHE_AMD(0, 2, 2), CACHE_AMD(1, 3, 4)}},
     {{0, 4, 1, 0}, {8, 4, 1, 0}, {16, 4, 1, 0}, {128, 4, 1, 0}}, 2, 8, 4, 2, 0, false},

    {"Rome, SMT off but the bit kept: an L3 counts CPUs, not ids",
     {{AMD(0x10), ONE(0x830f10, 32), LEVEL(0xb, 0, 1, 1, 1), LEVEL(0xb, 1, 2, 7, 32),
       CACHE_AMD(0, 2, 1), CACHE_AMD(1, 3, 4)}},
     {{0, 32, 2, 0}}, 1, 32, 8, 1, 0, false},

    {"Bergamo: two complexes a die",
     {{AMD(0x10), ONE(0xaa0f01, 255), LEVEL(0x80000026, 0, 1, 1, 2), LEVEL(0x80000026, 1, 2, 4, 16),
       LEVEL(0x80000026, 2, 3, 5, 32), LEVEL(0x80000026, 3, 4, 8, 256), CACHE_AMD(0, 2, 2),
       CACHE_AMD(1, 3, 16)}},
     {{0, 256, 1, 0}, {256, 256, 1, 0}}, 2, 256, 32, 2, 0, false},

    {"Strix Point: two complexes, cores of two kinds",
     {{AMD(0x10), ONE(0xb20f40, 24), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 5, 24),
       {0x80000026, 0, {BIT(30) | 1, 2, 0x100, 0}}, CACHE_AMD(0, 2, 2), CACHE_AMD(1, 3, 8)},
      {AMD(0x10), ONE(0xb20f40, 24), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 5, 24),
       {0x80000026, 0, {BIT(30) | 1, 1u << 28 | 2, 0x100, 0}}, CACHE_AMD(0, 2, 2),
       CACHE_AMD(1, 3, 16)}},
     {{0, 8, 1, 0}, {16, 16, 1, 1}}, 1, 12, 2, 2, 0, true},

    {"Turin Dense pair: ids of ten bits",
     {{AMD(0x10), ONE(0xb10f10, 255), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 9, 384),
       CACHE_AMD(0, 2, 2), CACHE_AMD(1, 3, 32)}},
     {{0, 384, 1, 0}, {512, 384, 1, 0}}, 2, 384, 24, 2, 0, false},

    {"ids beyond 255 and far apart",
     {{INTEL(0xb), ONE(0x306f2, 32), LEVEL(0xb, 0, 1, 1, 2), LEVEL(0xb, 1, 2, 5, 28),
       CACHE(0, 3, 32, 16)}},
     {{0xfffffffc, 2, 1, 0}, {447, 1, 1, 0}, {0, 2, 1, 0}}, 3, 3, 3, 2, 0, false},

    {"no leaves at all: one socket", {{{0, 0, {0, 0, 0, 0}}}},
     {{0, 4, 16, 0}, {0x10000, 1, 1, 0}}, 1, 5, 1, 1, NOTE(NO_LEAVES), false},
};
/* clang-format on */

const uint32_t topology_rows_count = ARRAY_SIZE(topology_rows);
