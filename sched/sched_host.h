/*
 * What the scheduler asks of whoever runs it: the image or a test.
 *
 * All three are called with a runqueue's lock held, so they only set a word, send an IPI or append
 * to a ring; they never call back into sched/ and take no lock ranked at or below LOCK_RUNQ.
 */
#ifndef SCHED_SCHED_HOST_H
#define SCHED_SCHED_HOST_H

#include "hv/trace_events.h"
#include "hv/types.h"

/* Make `cpu` call sched_pick soon. May be the calling CPU. */
void sched_host_kick(uint32_t cpu);

/* Make `cpu` call sched_pick no later than `deadline`; an earlier deadline it has stays. */
void sched_host_arm(uint32_t cpu, ns_t deadline);

/* `event` is an enum trace_event; `cpu` the CPU it is about. */
void sched_host_trace(uint32_t cpu, uint32_t event, uint64_t a, uint64_t b);

#endif
