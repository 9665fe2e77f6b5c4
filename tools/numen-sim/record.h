/*
 * What happened, kept for the trace, the timeline and the last words of a check.
 *
 * Scheduler events (hv/trace_events.h) go into a ring of the last ones, and into a file as they
 * come when one is given. Who ran where goes into spans, of which the timeline is drawn.
 */
#ifndef NUMEN_SIM_RECORD_H
#define NUMEN_SIM_RECORD_H

#include <stdio.h>

#include "hv/types.h"

#define RECORD_LAST      50u
#define RECORD_SPANS_MAX 200000u /* a picture of more would be of no use */

struct sim;
struct sim_cpu;
struct vcpu;

struct record_event {
    ns_t at;
    uint32_t cpu, event;
    uint64_t a, b;
};

struct record_span {
    const struct vcpu *v;
    uint32_t cpu;
    ns_t from, to; /* NS_NEVER: still running */
};

struct record {
    struct record_event last[RECORD_LAST];
    uint64_t count;
    FILE *trace;               /* NULL: none */
    struct record_span *spans; /* NULL: none are kept */
    uint32_t nspans, dropped;
    uint32_t *open; /* by CPU: 1 + span that is not over */
};

struct record *record_new(const struct sim *sim, FILE *trace, bool spans);
void record_free(struct record *r);
void record_add(struct record *r, ns_t at, uint32_t cpu, uint32_t event, uint64_t a, uint64_t b);
void record_switch(struct record *r, ns_t at, const struct sim_cpu *c);

/* The last RECORD_LAST events, for a run that ends badly. */
void record_print_last(const struct record *r, FILE *out);

#endif
