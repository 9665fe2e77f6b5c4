/*
 * The trace: the last events of each CPU (include/hv/trace_events.h), for `trace dump`.
 *
 * Off, an event costs a load and a branch. Each CPU writes a ring of its own, without a lock; the
 * rings are made by the first `trace on`, on the CPU's own node. They are read while the trace is
 * off.
 */
#ifndef KERNEL_TRACE_H
#define KERNEL_TRACE_H

#include "hv/atomic.h"
#include "hv/trace_events.h"
#include "hv/types.h"

#define TRACE_RING_EVENTS 2048u /* 64 KiB a CPU */

struct trace_record {
    ns_t time;
    uint32_t event; /* enum trace_event */
    uint32_t cpu;   /* the CPU the event is about */
    uint64_t a, b;  /* see the event's row */
};

struct trace_ring {
    uint64_t head; /* [c] events ever written */
    struct trace_record records[TRACE_RING_EVENTS];
};

extern bool trace_is_on; /* [a] */

void trace_write(uint32_t cpu, uint32_t event, uint64_t a, uint64_t b);

/* Record an event on the calling CPU's ring, if the trace is on. */
static inline void trace(uint32_t cpu, uint32_t event, uint64_t a, uint64_t b)
{
    if (__builtin_expect(atomic_get(&trace_is_on), 0))
        trace_write(cpu, event, a, b);
}

/* ---- for the command, on CPU 0 ---- */

/* Make the ring of one CPU, if it is online and has none; 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int trace_make_ring(uint32_t cpu);

/* Events held in all rings. */
uint64_t trace_count(void);

/*
 * Read in order of time. trace_rewind sets the cursor, which holds a place in each ring, to the
 * oldest events; trace_next gives the next one, or false at the end. There is one cursor.
 */
void trace_rewind(void);
bool trace_next(struct trace_record *record);

const char *trace_event_name(uint32_t event);
const char *trace_arg_name(uint32_t event, uint32_t arg); /* arg 0 or 1 */

#endif
