/*
 * struct unit: what is scheduled, embedded by the caller in its vCPU.
 *
 * The caller reads `owner`, `cpu` and the glances below; everything else is the scheduler's. A unit
 * is in exactly one state, and only a QUEUED one stands in a runqueue's tree:
 *
 *     OFF       asleep or paused, on no CPU
 *     QUEUED    in the tree of its runqueue
 *     RESERVED  handed to one CPU that has been tickled; no other CPU sees it
 *     RUNNING   what a CPU's last pick returned
 *     PARKED    runnable, but its VM's cap has nothing left: in line in its cap (sched/cap.h)
 *     LEAVING   no longer picked, but its registers are still being saved (or it is between two
 *               runqueues); whoever moves it places it next, everybody else only sets its flags
 *
 * Invariants: `rq` changes only under the lock of the old and, if it has one, the new runqueue;
 * `on_cpu` holds from pick to sched_saved; a unit that is QUEUED or RESERVED is never on_cpu.
 */
#ifndef SCHED_UNIT_H
#define SCHED_UNIT_H

#include <bsd/sys/tree.h>
#include <sys/queue.h>

#include "hv/atomic.h"
#include "hv/cpumask.h"
#include "hv/types.h"

#define WEIGHT_DEFAULT 256u
#define WEIGHT_MIN     1u
#define WEIGHT_MAX     65535u

/* Of a unit without a cap: running for centuries does not use it up. */
#define GRANT_ENDLESS INT64_MAX

struct cap;
struct runq;
struct sched;

enum unit_state { UNIT_OFF, UNIT_QUEUED, UNIT_RESERVED, UNIT_RUNNING, UNIT_LEAVING, UNIT_PARKED };

/* Decaying averages, LOAD_FRAC_BITS of fraction. See load.c. */
struct load {
    uint64_t avg;    /* over the load window */
    uint64_t recent; /* over 2^LOAD_RECENT_SHIFT ns, or the window if that is shorter */
    ns_t at;         /* when they were last brought up to date */
};

/*
 * Tags: [R] lock of the unit's runqueue, [C] lock of its cap, [c] while it runs its CPU's, without
 * the lock, [a] atomic glance, [i] set once.
 */
struct unit {
    RB_ENTRY(unit) queue; /* [R] in runq.queue while QUEUED */
    uint64_t order;       /* [R] place in the queue: `key`, or lower after a yield */
    uint64_t key;         /* [R] credit less what the runqueue has given so far, wrapping */
    uint64_t run_cpus;    /* [R] runqueue-local bits of the CPUs hard affinity allows */
    uint64_t soft_cpus;   /* [R] those of them that soft affinity prefers; run_cpus when none */
    uint64_t reach;       /* [R] runq.fold of the runqueues it may move to, or-ed */
    uint64_t below_cpus;  /* [R] run_cpus of its whole subtree, or-ed */
    uint64_t below_reach; /* [R] reach of its whole subtree, or-ed */
    uint64_t last_bit;    /* [R] local bit of `cpu` if that is of its runqueue, while QUEUED */
    uint64_t below_last;  /* [R] last_bit of its whole subtree, or-ed */

    struct runq *rq; /* [R, a] read without the lock only to find that lock */
    uint32_t cpu;    /* [R, a] runs or last ran here */
    uint8_t state;   /* [R, a] enum unit_state */
    bool on_cpu;     /* [R, a] registers live on `cpu` */
    bool wants;      /* [R] runnable, as far as its owner is concerned */
    bool paused;     /* [R] never picked */
    bool active;     /* [R] counted in the load: wants, not paused nor parked; or still running */
    bool yielding;   /* [R, c] goes behind the others when it is queued next */
    bool preferred;  /* [R] RESERVED by a directed yield: picked whatever its credit */
    uint32_t target; /* [R] CPU it is reserved for, or asked to move to; else CPUMASK_NONE */

    uint32_t weight;       /* [R] */
    uint64_t weight_recip; /* [R] ceil(2^63 / weight) */
    uint64_t burn_rest;    /* [R] remainder of the last burn, below `weight` */
    uint64_t trace_id;     /* [i] vm_id in the high half, index in the low one */
    int64_t grant_ns;      /* [R] it may run this long; debt below 0; GRANT_ENDLESS: no cap */
    ns_t since;            /* [R] its time is accounted up to here */
    ns_t picked_at;        /* [R] start of this stay on a CPU */

    uint64_t run_ns;     /* [R] */
    uint64_t wait_ns;    /* [R] runnable but not running, parked time excepted */
    uint64_t capped_ns;  /* [R] parked */
    uint64_t wakes;      /* [R] */
    uint64_t migrations; /* [R] picks on another CPU than the last one */
    uint64_t woke_run;   /* [R] run_ns when it last fell asleep: what it woke with */
    uint64_t burst_ns;   /* [R] how long it usually runs from a wake-up to its next sleep */
    struct load load;    /* [R] share of time it was active */

    struct cap *cap;          /* [R] of its VM; NULL: none */
    TAILQ_ENTRY(unit) parked; /* [C] in cap.parked while PARKED */
    RB_ENTRY(unit) by_vm;     /* [R] in runq.vms while QUEUED, under sched-gran=core */
    uint64_t vm_cpus;         /* [R] run_cpus of its whole subtree there, or-ed */
    uint32_t wanted_by;       /* [R] CPU whose core closes for it, if its `wanted` says so, too */

    RB_ENTRY(unit) by_weight; /* [R] in runq.members */
    struct cpumask hard;      /* [R] words NULL: every CPU */
    struct cpumask soft;      /* [R] words NULL: no preference */
    bool hard_all;            /* [R] hard affinity excludes nothing (or nothing online is left) */
    bool soft_none;           /* [R] soft affinity prefers nothing within hard */
    uint32_t masks_at;        /* [R] sched.masks_at when its masks were worked out */
    ns_t moved_at;            /* [R] when it came to its runqueue */
    uint64_t soft_reach;      /* [R] runq.fold of those with a preferred CPU; 0: none */
    void *owner;              /* [i] the caller's */
    uint32_t vm_id, index;    /* [i] of the VM, and within it; for traces and listings */
};

struct unit_params {
    uint32_t weight;           /* WEIGHT_MIN..WEIGHT_MAX */
    struct cpumask hard, soft; /* words of the caller, kept for the unit's life; or NULL words */
    struct cap *cap;           /* shared by the VM's units; NULL: none */
    void *owner;
    uint32_t vm_id;
    uint32_t index;
};

void unit_init(struct unit *u, const struct unit_params *p);

/* Reads trace_id; writes nothing. NULL: nobody. */
static inline uint64_t unit_trace_id(const struct unit *u)
{
    return u ? u->trace_id : UINT64_MAX;
}

/*
 * A glance: true at some moment near now; whoever acts on it looks again under the lock. Reads
 * state; writes nothing.
 */
static inline bool unit_is_running(const struct unit *u)
{
    return atomic_get(&u->state) == UNIT_RUNNING;
}

/* Likewise, waiting. Reads state; writes nothing. */
static inline bool unit_is_ready(const struct unit *u)
{
    uint8_t state = atomic_get(&u->state);

    return state == UNIT_QUEUED || state == UNIT_RESERVED;
}

/* Likewise. Reads state; writes nothing. */
static inline bool unit_is_parked(const struct unit *u)
{
    return atomic_get(&u->state) == UNIT_PARKED;
}

/*
 * On this CPU, by its local bit, it is off those it prefers while some of them are online: somebody
 * has to look now and then whether it may go there. Reads soft_cpus and soft_reach; writes nothing.
 */
static inline bool unit_is_away(const struct unit *u, uint64_t cpu_bit)
{
    return !(u->soft_cpus & cpu_bit) && u->soft_reach;
}

/* Run and wait time right up to `now`; takes the runqueue's lock. */
void unit_times(struct unit *u, ns_t now, uint64_t *run_ns, uint64_t *wait_ns);

#endif
