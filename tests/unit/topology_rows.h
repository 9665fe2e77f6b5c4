/*
 * The machines that test_topology.c tries, as data.
 */
#ifndef TESTS_UNIT_TOPOLOGY_ROWS_H
#define TESTS_UNIT_TOPOLOGY_ROWS_H

#include "hv/cpuid.h"

#define ROW_KINDS  2u
#define ROW_LEAVES 10u
#define ROW_RUNS   8u

/* APIC ids first, first + step, ..: CPU numbers go on from run to run. */
struct topology_id_run {
    uint32_t first, count, step;
    uint32_t kind; /* which set of leaves these CPUs have */
};

struct topology_row {
    const char *name;
    struct cpuid_entry leaves[ROW_KINDS][ROW_LEAVES]; /* a kind's unused entries are all zero */
    struct topology_id_run ids[ROW_RUNS];
    uint32_t sockets, cores, llcs, threads_max; /* expected */
    uint32_t notes;                             /* expected: BIT(enum topo_note_code) */
    bool hybrid;                                /* expected */
};

extern const struct topology_row topology_rows[];
extern const uint32_t topology_rows_count;

#endif
