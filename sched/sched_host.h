/*
 * What the scheduler asks of whoever runs it: the image or a test.
 *
 * All are called with a runqueue's lock held, or a cap's, so they only set a word, send an IPI, arm
 * a timer or append to a ring; they never call back into sched/ and take no lock ranked at or below
 * LOCK_CAP.
 */
#ifndef SCHED_SCHED_HOST_H
#define SCHED_SCHED_HOST_H

#include "hv/trace_events.h"
#include "hv/types.h"

struct cap;

/* Make `cpu` call sched_pick soon. May be the calling CPU. */
void sched_host_kick(uint32_t cpu);

/* Make `cpu` call sched_pick no later than `deadline`; an earlier deadline it has stays. */
void sched_host_arm(uint32_t cpu, ns_t deadline);

/*
 * Call sched_cap_refill(s, cap, now) at that time or a little later, once, from any CPU with no
 * lock held. Asked for one cap again only after that call has begun.
 */
void sched_host_refill(struct cap *cap, ns_t at);

/* `event` is an enum trace_event; `cpu` the CPU it is about. */
void sched_host_trace(uint32_t cpu, uint32_t event, uint64_t a, uint64_t b);

#endif
