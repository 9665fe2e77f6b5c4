/*
 * What happens next: a heap of events by time.
 *
 * An event is embedded in whatever it is about and stands in the heap at most once; setting it
 * again moves it. Events of one moment come in the order they were set, so a run depends on nothing
 * but the scenario and the seed. All operations are O(log n); nothing is allocated after
 * events_init.
 */
#ifndef NUMEN_SIM_EVENTS_H
#define NUMEN_SIM_EVENTS_H

#include "hv/types.h"

enum event_kind { EVENT_CPU, EVENT_TIMER, EVENT_TICK, EVENT_REFILL, EVENT_ACTION };

struct event {
    ns_t at;
    uint64_t order; /* among events of one moment */
    uint32_t slot;  /* 1 + index in the heap; 0: not in it */
    enum event_kind kind;
};

struct events {
    struct event **heap;
    uint32_t count, capacity;
    uint64_t set; /* how many were ever set: the next one's order */
};

/* Room for `capacity` events; ends the program when there is no memory. */
void events_init(struct events *q, uint32_t capacity);
void events_free(struct events *q);

/* NS_NEVER takes the event out. Setting an event to the time it has keeps its place. */
void event_set(struct events *q, struct event *e, ns_t at);

/* The earliest event, out of the heap; NULL when there is none. */
struct event *events_pop(struct events *q);

#endif
