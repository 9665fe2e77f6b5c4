/*
 * From CPUID leaves to the machine's shape: threads, cores, last-level caches, sockets.
 *
 * Two steps. topology_decode reads one CPU's leaves into shifts and ids; the boot CPU's leaves may
 * stand in for another CPU by giving that one's APIC id. topology_build numbers all of them
 * densely; see hv/cpu_place.h. What is wrong in the leaves is mended where that can be done, and
 * noted: a note is a code and two numbers, which the caller turns into a warning with
 * topology_note_text.
 *
 * Does not decide which CPUs exist or how they are numbered (the MADT does), nor their nodes.
 * Source: Intel SDM 3A 9.9 and CPUID leaves 4, 0xB, 0x1A, 0x1F; AMD APM 3 appendix E.
 */
#ifndef ARCH_X86_TOPOLOGY_H
#define ARCH_X86_TOPOLOGY_H

#include "hv/bits.h"
#include "hv/cpu_place.h"
#include "hv/cpuid.h"

enum topo_source {
    TOPO_FROM_NOTHING, /* no leaves: one socket of one-thread cores */
    TOPO_FROM_LEAF_1F,
    TOPO_FROM_LEAF_B,
    TOPO_FROM_AMD_26, /* 0x80000026 */
    TOPO_FROM_AMD,    /* 0x80000008 and 0x8000001E */
    TOPO_FROM_LEAF_4, /* leaves 1 and 4 */
};

enum topo_note_code {
    TOPO_NOTE_SOCKET_SHIFT, /* told: shift the leaf gives; used: shift its own counts need */
    TOPO_NOTE_EMPTY_LEAF_B, /* offered, but does not tell the socket; other leaves serve */
    TOPO_NOTE_AMD_THREADS,  /* told: threads a core by 0x8000001E; used: by the counts */
    TOPO_NOTE_LLC_SPAN,     /* told: shift of a cache wider than the socket; used: the socket's */
    TOPO_NOTE_NO_LEAVES,    /* no topology leaf at all */
    TOPO_NOTE_MIXED_SHIFTS, /* told: a CPU's socket shift; used: the greatest of all CPUs' */
    TOPO_NOTE_SAME_APIC_ID, /* told: an APIC id that two CPUs carry */
    TOPO_NOTES
};

#define TOPO_SHIFT_ALL 32 /* a socket shift under which every CPU is in one socket */

/* How strong a core is within a hybrid machine; all are TOPO_CORE_BIG where cores do not differ. */
enum topo_core_rank { TOPO_CORE_LOW_POWER, TOPO_CORE_SMALL, TOPO_CORE_BIG };

/* One CPU, decoded. Its core is apic_id >> core_shift, its socket by the greatest socket_shift. */
struct topo_ids {
    uint32_t apic_id;
    uint32_t notes;           /* BIT(enum topo_note_code) */
    uint8_t told[TOPO_NOTES]; /* valid where the bit in notes is set */
    uint8_t used[TOPO_NOTES]; /* the same */
    uint8_t core_threads;     /* 1.. by the leaves; fewer may be there */
    uint8_t core_shift;       /* bits of the id that number a core's threads */
    uint8_t unit_shift;       /* AMD family 15h: bits within a compute unit; else core_shift */
    uint8_t socket_shift;     /* 0..TOPO_SHIFT_ALL */
    uint8_t llc_shift;        /* core_shift..socket_shift */
    uint8_t llc_level;        /* 3, 2, 1: the core; 0: no cache leaves, the socket stands in */
    uint8_t llc_part;         /* AMD family 15h: die within the package */
    enum topo_source source;  /* of the socket shift */
    enum topo_core_rank rank;
};

struct topo_note {
    uint32_t cpus; /* how many CPUs; 0: nothing to tell */
    uint32_t cpu;  /* the first of them */
    uint32_t told;
    uint32_t used;
};

struct topo_result {
    uint32_t sockets, llcs, cores, threads;
    uint32_t threads_per_core_max;
    bool hybrid; /* cores of more than one rank */
    struct topo_note notes[TOPO_NOTES];
};

enum {
    TOPO_UNITS_ARE_SIBLINGS = 1 << 0, /* smt=compute-unit: name family 15h's units in the places */
};

/* Words of scratch that topology_build needs for `ncpus`. */
#define TOPO_SCRATCH_WORDS(ncpus) (2 * (size_t)(ncpus))

/* Decode the CPU with this APIC id from the leaves of itself or of a CPU of the same make. */
struct topo_ids topology_decode(uint32_t apic_id, struct cpuid_dump dump);

/*
 * Number cores, LLCs, sockets and threads of ids[0..n), which stand in CPU number order.
 *
 * All of places[i] but .node is written. Sockets, cores and LLCs count up by their lowest APIC id,
 * threads by APIC id within the core; .unit is 0 without TOPO_UNITS_ARE_SIBLINGS, the only flag.
 * O(n log n), n <= CPUS_MAX.
 */
void topology_build(const struct topo_ids ids[], uint32_t n, uint32_t flags, uint64_t scratch[],
                    struct cpu_place places[], struct topo_result *out);

/* A line for people, without the numbers; never NULL for a code below TOPO_NOTES. */
const char *topology_note_text(enum topo_note_code code);

#endif
