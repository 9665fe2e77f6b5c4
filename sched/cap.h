/*
 * struct cap: how much CPU time a VM may use in each 10 ms, embedded by the caller in its VM.
 *
 * Units share a cap by sched_unit_set_cap (or unit_params.cap). The pool is handed out in grants;
 * what a unit runs beyond its grant is debt that later periods pay first. A unit for which nothing
 * is left is PARKED, in line, until the pool is refilled or another unit gives some back.
 *
 * The caller removes a unit (sched_unit_remove) only when sched_cap_refill of its cap neither runs
 * nor will, and after cap_wait_quiet.
 */
#ifndef SCHED_CAP_H
#define SCHED_CAP_H

#include <sys/queue.h>

#include "hv/lock.h"
#include "hv/types.h"

#define CAP_PERIOD_NS (10 * NS_PER_MS)

struct sched;
struct unit;

/* Tags: [C] lock, [a] also read without it. */
struct cap {
    struct spinlock lock;                /* rank LOCK_CAP: under a runqueue's */
    uint32_t serving;                    /* [C, a] calls that hold on to a parked unit */
    ns_t quota_ns;                       /* [C] added each period; never 0 while units share it */
    ns_t grant_ns;                       /* [C] most that one unit is given at once */
    ns_t period_end;                     /* [C] when the next quota is due */
    int64_t budget_ns;                   /* [C] at most a quota; negative: debt */
    bool armed;                          /* [C] the host has been asked for a refill */
    TAILQ_HEAD(cap_parked, unit) parked; /* [C] first come, first served */
};

/* Writes *cap: no quota, nobody parked. Before any unit shares it, and no refill may be pending. */
void cap_init(struct cap *cap);

/*
 * `percent` of one CPU, 1 or more, for up to `nunits` units. Units may share it already: a lower
 * cap holds at once, a higher one from the next period on, debts stay. Writes quota_ns, grant_ns,
 * budget_ns, period_end.
 */
void cap_set(struct cap *cap, uint32_t percent, uint32_t nunits, ns_t now);

/*
 * The unit shares `cap` from now on; NULL: it has none. What is left of its old grant goes back,
 * and it runs, waits or is parked as the new cap says. Writes the unit's cap, grant_ns and state.
 */
void sched_unit_set_cap(struct sched *s, struct unit *u, struct cap *cap, ns_t now);

/*
 * What sched_host_refill asked for; any CPU, no lock held. Reads and writes the pool, and places
 * parked units; asks for another refill while some are left.
 */
void sched_cap_refill(struct sched *s, struct cap *cap, ns_t now);

/* Returns when no call holds on to a unit that was parked here; new ones come only with new units
 * parked. Reads `serving`. */
void cap_wait_quiet(const struct cap *cap);

/* Time parked, right up to `now`; takes the runqueue's lock. Reads state, since, capped_ns. */
uint64_t unit_capped_ns(struct unit *u, ns_t now);

#endif
