/*
 * What came out: the same numbers for every VM, and those of its workload, over all seeds.
 */
#ifndef NUMEN_SIM_RESULTS_H
#define NUMEN_SIM_RESULTS_H

#include <stdio.h>

#include "tools/numen-sim/workload.h"

struct sim;

/* One metric of one VM: a value a seed. */
struct series {
    char vm[48], name[32], unit[16];
    bool higher; /* is better; of no meaning for the common ones */
    uint32_t count;
    double *values;
    uint32_t *seeds; /* whose each value is: a VM without an end in one has one in another */
};

struct results {
    uint32_t nseries, capacity;
    struct series *series;
    uint32_t first_seed, seeds;
    uint32_t done; /* seeds that have been added */
    uint32_t next; /* series that is most likely asked for next */
    uint64_t events;
    double seconds; /* of the host's time */
};

void results_init(struct results *r, uint32_t first_seed, uint32_t seeds);
void results_free(struct results *r);

/* The figures of a run that is over. */
void results_add(struct results *r, const struct sim *sim);

/* Middle value, and the quartiles around it. Sorts the values. */
struct spread {
    double low, median, high;
};
struct spread series_spread(struct series *s);

void results_print(struct results *r, FILE *out);
void results_json(struct results *r, const char *scenario, FILE *out);

/* Before the other two, which sort the values: a line says whose seed it is. */
void results_csv(const struct results *r, FILE *out);

#endif
