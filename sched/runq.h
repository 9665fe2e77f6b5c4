/*
 * Inside the scheduler: runqueues, CPUs, and what the files of sched/ offer one another.
 *
 * A runqueue's CPUs are numbered locally, 0..63, best asym_prio first and then by CPU number, so
 * that every set of its CPUs is one word and "the preferred one of a set" is its lowest bit. Credit
 * is kept as a virtual time: `given` grows by CREDIT_INIT at a reset and a unit's credit is key +
 * given, so a reset touches no unit and the order in the tree never changes by itself.
 *
 * Locks: one per runqueue. A function that takes a struct runq expects its lock held unless its
 * comment says otherwise; of two runqueues the second is taken by spin_trylock, or both by
 * runq_lock_pair. Machine-wide hints (struct sched) are set under the lock of the runqueue they
 * speak of and read without it: a hint only says where to look.
 *
 * Each function's comment in sched/ names the state that it and what it calls read and write.
 * "Pure": none but its arguments. Left out are what is set once, what only leads there (rq, cpu_of,
 * bit, siblings, tree links), and what the host is told. For short:
 * - credit of a unit: key, given of its runqueue, credit_init_ns and carryover_ns
 * - the queue: queue, vms, nr_queued, reach, HINT_WAITING; below_*, last_bit, vm_cpus of its units
 * - members: members, nr_members, max_weight and max_recip
 * - the idle masks: idle, tickled, smt_idle, packed, crowded, cursor and their hints
 * - the slot: reserved of a CPU; target and preferred of the unit in it
 * - the pool: the fields of a struct cap
 */
#ifndef SCHED_RUNQ_H
#define SCHED_RUNQ_H

#include "hv/bits.h"
#include "hv/lock.h"
#include "sched/cap.h"
#include "sched/sched.h"
#include "sched/sched_host.h"

#define RUNQ_NONE      UINT32_MAX

#define DISTANCE_LOCAL 10u /* of a SLIT: a node to itself (ACPI 6.4, 5.2.17) */

RB_HEAD(unit_queue, unit);   /* by order, best first; equal orders first come first */
RB_HEAD(unit_weights, unit); /* by weight, heaviest first */
RB_HEAD(unit_vms, unit);     /* by VM, then by order, best first */

/* Tags: [R] lock, [a] also read without it, [i] set once, [Q] see struct sched. */
struct runq {
    struct spinlock lock;
    uint32_t id;             /* [i] */
    struct unit_queue queue; /* [R] */
    uint64_t given;          /* [R] credit handed out by all resets so far, wrapping */
    uint64_t idle;           /* [R, a] online CPUs that run nothing */
    uint64_t tickled;        /* [R, a] CPUs asked to pick that have not come yet */
    uint64_t smt_idle;   /* [R, a] CPUs of cores whose online siblings are all idle, untickled */
    uint64_t packed;     /* [R, a] CPUs of cores with two or more busy siblings */
    uint64_t crowded;    /* [R, a] CPUs of cores with three or more busy siblings */
    uint64_t online;     /* [R, a] */
    uint64_t reach;      /* [R, a] below_reach of the tree's root; 0 when it is empty */
    uint64_t untimed;    /* [R] busy CPUs whose last pick set no deadline */
    uint64_t saving;     /* [R] under sched-gran=core: CPUs that save, or run on though offline */
    uint64_t max_recip;  /* [R] ceil(2^63 / max_weight) */
    uint32_t max_weight; /* [R] heaviest member; 1 without members */
    uint32_t cores;      /* [R, a] with a CPU online */
    uint32_t cursor;     /* [R] where the next idle pick starts when asym is off */

    bool balance_due;            /* [R] since a reset */
    bool whole_cores;            /* [i] sched-gran=core */
    uint32_t nr_queued;          /* [R] */
    uint32_t nr_active;          /* [R, a] members that are active */
    uint32_t nr_members;         /* [R, a] */
    struct load load;            /* [R, a] of nr_active */
    struct unit_weights members; /* [R] every unit whose rq this is */
    ns_t next_balance;           /* [R] */
    uint64_t turns;              /* [R] how often a core of it closed */
    struct unit_vms vms;         /* [R] the queue's units, if whole_cores */

    uint64_t cpus;                  /* [Q] every CPU of the arrangement, online or not */
    uint32_t ncpus;                 /* [Q] */
    uint32_t node;                  /* [Q] of its first CPU */
    bool in_a_row;                  /* [Q] cpu_of ascends by one */
    uint64_t fold;                  /* [Q] its bit in a word for all; see runqs_fold in build.c */
    uint64_t near;                  /* [Q] those of the others on its node */
    uint16_t cpu_of[RUNQ_CPUS_MAX]; /* [Q] CPU number by local bit */
} __attribute__((aligned(64)));

/* What a core's CPUs have in common under sched-gran=core; see core.c. [R] as in sched_cpu. */
struct sched_core {
    const struct unit *wanted; /* [R] the core closes for this unit; compared, never followed */
    ns_t turn_at;              /* [R] since when its VM has it */
};

/* Tags: [R] lock of `rq`, [S, Q] see struct sched, [i] set once, [a] also read without a lock. */
struct sched_cpu {
    struct unit *cur;      /* [R] what the last pick returned */
    struct unit *reserved; /* [R] waits for this CPU's next pick; the CPU is tickled */
    struct runq *rq;       /* [Q] */
    uint64_t bit;          /* [Q] its local bit */
    uint64_t siblings;     /* [Q] local bits of its core or unit, itself included */
    uint32_t cpu;          /* [i] */
    int32_t asym_class;    /* [i] kind of core: decides over a warm cache, CPU numbers do not */
    bool online;           /* [R, S, a] */
    ns_t kept_until;       /* [R] for a unit that runs briefly and fell asleep here */
    const struct cpu_place *place; /* [i] */
    struct unit *saving;           /* [R] picked away from, not saved: under sched-gran=core only */
    struct sched_core core;        /* [R] of the core whose first sibling this is */
} __attribute__((aligned(64)));

/* Machine-wide sets of runqueue ids, a bit each. */
enum runq_hint {
    HINT_IDLE,    /* has an idle, untickled CPU: exact */
    HINT_CORE,    /* has a fully idle core: exact */
    HINT_PACKED,  /* has a core with two busy siblings: exact */
    HINT_WAITING, /* had a queued unit: set when one queues, cleared by whoever looks in vain */
    HINT_COUNT,
};

/*
 * Tags: [S] lock, [i] set once, [a] atomic, [Q] quiet: written only while no other CPU is inside
 * sched/ (sched_init, sched_rearrange), read without a lock.
 */
struct sched {
    struct sched_params params;             /* [Q] */
    ns_t least_ns;                          /* [Q] the larger of rate limit and shortest slice */
    bool whole_cores;                       /* [i] sched-gran=core */
    struct spinlock lock;                   /* rank LOCK_SCHED: CPUs coming and going, parameters */
    uint32_t ncpus, nnodes;                 /* [i] */
    uint32_t nrunqs;                        /* [Q] */
    struct sched_cpu *cpus;                 /* [i] by CPU number */
    struct runq *runqs;                     /* [i] by id; ids ascend by node, then by lowest CPU */
    uint64_t *hints[HINT_COUNT];            /* [a] */
    uint32_t hint_words;                    /* [Q] */
    uint32_t fold_width;                    /* [Q] neighbours that share a bit of runq.fold */
    uint64_t fold_lowest;                   /* [Q] the lowest bit of each such group in a word */
    uint32_t ncpus_online;                  /* [S] */
    uint32_t masks_at;                      /* [S, a] how often CPUs have come or gone */
    bool masks_again;                       /* [a] a unit moved with masks of before that */
    struct cpu_place *places;               /* [i] own copy */
    uint32_t *runq_of;                      /* [Q] scratch of build.c, by CPU */
    uint64_t *scratch;                      /* [Q] likewise, 2 * ncpus words */
    uint32_t node_runqs[NODES_MAX + 1];     /* [Q] first runqueue of each node */
    uint8_t near[NODES_MAX][NODES_MAX];     /* [i] each node's nodes, nearest first */
    uint8_t distance[NODES_MAX][NODES_MAX]; /* [i] SLIT */
};

/* arrange.c: the runqueue id of every CPU; returns how many. `scratch` holds 2 * ncpus words. */
uint32_t arrange_cpus(const struct cpu_place *places, uint32_t ncpus,
                      enum runq_arrangement arrangement, uint32_t max_cpus, uint32_t *runq_of,
                      uint64_t *scratch);

/* build.c: runqueues of the CPUs, without units */
void build_runqs(struct sched *s);

/* sched.c */
void params_apply(struct sched *s, const struct sched_params *p);

/* queue.c */
void queue_insert(struct sched *s, struct runq *rq, struct unit *u);
void queue_remove(struct runq *rq, struct unit *u);
struct unit *queue_find(struct unit *root, uint64_t cpu_bit);
struct unit *queue_best_reaching(const struct runq *rq, uint64_t fold);
struct unit *queue_best_warm(const struct runq *rq, uint64_t cpus);
struct unit *queue_next(struct unit *u);
void queue_refresh(struct runq *rq, struct unit *u);
uint64_t queue_last_order(const struct runq *rq, uint64_t key);

/* members.c: which units belong to a runqueue, and moving them */
void members_join(struct runq *rq, struct unit *u);
void members_leave(struct runq *rq, struct unit *u);
void members_move(struct sched *s, struct unit *u, struct runq *to, ns_t now);
void members_set_weight(struct runq *rq, struct unit *u, uint32_t weight);
struct unit *members_next(struct unit *u);
struct unit *members_first(const struct runq *rq);

/* affinity.c */
void affinity_local(const struct sched *s, const struct runq *rq, const struct unit *u,
                    uint64_t *hard, uint64_t *soft);
void affinity_refresh(const struct sched *s, struct unit *u);
bool affinity_allows(const struct unit *u, uint32_t cpu);
bool affinity_prefers(const struct unit *u, uint32_t cpu);

/* credit.c */
uint64_t weight_reciprocal(uint32_t weight);
int64_t credit_now(const struct sched *s, const struct runq *rq, const struct unit *u, ns_t now);
void credit_charge(const struct sched *s, struct runq *rq, struct unit *u, ns_t now);
void credit_reset(struct sched *s, struct runq *rq, struct unit *u);
ns_t credit_time(const struct runq *rq, const struct unit *u, int64_t credit_ns);

/* load.c */
void load_update(struct load *l, uint32_t nr, ns_t now, uint32_t window_shift);
#define LOAD_RECENT_SHIFT 27u /* 134 ms: the power of 2 next to a tenth of a second; see load.c */
uint64_t load_at(const struct load *l, uint32_t nr, ns_t now, uint32_t window_shift);
uint64_t load_recent(const struct load *l, uint32_t nr, ns_t now, uint32_t window_shift);
uint64_t load_of_runq(const struct sched *s, const struct runq *rq, ns_t now);
void load_set_active(const struct sched *s, struct unit *u, bool active, ns_t now);

/* idle.c */
void idle_enter(struct sched *s, struct sched_cpu *c);
void idle_leave(struct sched *s, struct sched_cpu *c);
void idle_tickle(struct sched *s, struct sched_cpu *c);
void idle_core_mend(struct sched *s, struct sched_cpu *c);
void idle_online(struct sched *s, struct sched_cpu *c, bool online);
uint64_t idle_for(const struct sched *s, const struct runq *rq, const struct unit *u,
                  uint64_t mask);
struct sched_cpu *idle_choose(const struct sched *s, struct runq *rq, const struct unit *u,
                              uint64_t mask);
struct sched_cpu *idle_choose_newcomer(const struct sched *s, struct runq *rq, const struct unit *u,
                                       uint64_t mask);
struct core_state {
    bool idle, packed, crowded; /* what the three masks say of a core's CPUs */
};
struct core_state idle_core_state(const struct runq *rq, const struct sched_cpu *c);

/* preempt.c */
ns_t preempt_due(const struct sched *s, const struct sched_cpu *c, int64_t ahead_ns, ns_t now);
struct sched_cpu *preempt_choose(const struct sched *s, const struct runq *rq, const struct unit *u,
                                 ns_t now, ns_t *when);

/* vm_queue.c: the waiting units of each VM, under sched-gran=core */
void vm_queue_insert(struct runq *rq, struct unit *u);
void vm_queue_remove(struct runq *rq, struct unit *u);
void vm_queue_refresh(struct unit *u);
struct unit *vm_queue_best(const struct runq *rq, uint32_t vm_id, uint64_t cpus);
struct unit *vm_queue_next(struct unit *u);

/* core.c: one VM to a core, under sched-gran=core */
#define CORE_FREE   UINT64_MAX
#define CORE_CLOSED (UINT64_MAX - 1)
uint64_t core_held(const struct sched *s, const struct sched_cpu *c);
bool core_allows(uint64_t held, const struct unit *u);
bool core_admits(const struct sched *s, const struct sched_cpu *c, const struct unit *u);
uint64_t core_open(const struct sched *s, const struct runq *rq, const struct unit *u,
                   uint64_t set);
uint64_t core_whole(const struct sched *s, const struct runq *rq, uint64_t mask);
struct unit *core_best(const struct sched_cpu *c, uint64_t held);
struct unit *core_head(const struct sched_cpu *c);
ns_t core_turn_due(const struct sched *s, const struct sched_cpu *c, const struct unit *u,
                   int64_t credit_ns, ns_t now);
ns_t core_turn_at(const struct sched *s, const struct sched_cpu *c, ns_t now);
uint64_t core_admitting(const struct sched *s, const struct runq *rq, const struct unit *u);
struct sched_cpu *core_turn_choose(const struct sched *s, const struct runq *rq,
                                   const struct unit *u, uint64_t admitting,
                                   struct sched_cpu *other, ns_t *when, ns_t now);
bool core_reopen(struct sched *s, struct sched_cpu *c, ns_t now);
bool core_is_closing(const struct sched *s, const struct sched_cpu *c);
void core_close(struct sched *s, struct sched_cpu *c);
void core_picked(struct sched *s, struct sched_cpu *c);
void core_switched_in(struct sched *s, struct sched_cpu *c, const struct unit *u, ns_t now);
void core_switched_out(struct sched_cpu *c, struct unit *u);
void core_saved(struct sched *s, struct unit *u);
void core_check(const struct sched *s, const struct sched_cpu *c);

/* place.c: where a unit that is runnable and nowhere goes */
void place_kick(struct sched *s, struct sched_cpu *c);
void place_reserve(struct sched *s, struct sched_cpu *c, struct unit *u);
void place_withdraw(struct sched *s, struct unit *u);
void place_beside(struct sched *s, struct unit *u, ns_t now);
ns_t place_overdue_at(const struct sched *s, const struct unit *u, ns_t now);
void place_unit(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY;
void place_again(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY;

/* cap.c: budgets of VMs */
bool cap_renew(struct unit *u, ns_t now);
bool cap_give_back(struct unit *u);
void cap_park(struct sched *s, struct unit *u, ns_t now);
void cap_unpark(struct unit *u, ns_t now);
void cap_serve(struct sched *s, struct cap *cap, ns_t now) NO_THREAD_SAFETY;

/* evacuate.c: a unit whose runqueue has no CPU left for it */
void evacuate_unit(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY;
struct runq *evacuate_choose(const struct sched *s, const struct unit *u, ns_t now);

/* neighbour.c: other runqueues, nearest first */
struct neighbours {
    const struct sched *s;
    const struct runq *home;
    const uint64_t *hint; /* NULL: all of them */
    uint64_t reach;       /* only runqueues with a bit of this; at first any */
    uint32_t level, next, end;
    uint32_t left;  /* at most so many are still to come */
    uint32_t tries; /* by neighbours_try */
    bool backwards; /* within a level the highest id, of lowest priority, first */
};
struct neighbours neighbours_of(const struct sched *s, const struct runq *home,
                                const uint64_t *hint);
struct runq *neighbours_next(struct neighbours *n);
uint64_t neighbour_fold_wide(const struct sched *s, const struct runq *home, enum runq_hint hint);
bool neighbour_take(struct sched *s, struct unit *u, enum runq_hint hint, uint64_t reach,
                    ns_t now) NO_THREAD_SAFETY;
bool neighbour_take_better(struct sched *s, struct unit *u, enum runq_hint hint, uint64_t reach,
                           ns_t now) NO_THREAD_SAFETY;
void neighbour_return(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY;
bool neighbour_is_worth(const struct sched *s, const struct unit *u, enum runq_hint hint,
                        uint64_t reach, ns_t now);

/* worth.c */
struct worth {
    const struct sched *s;
    const struct unit *u;
    uint64_t here, own; /* recent load of its runqueue, and of the unit while it is active */
    ns_t now;
};
struct worth worth_of(const struct sched *s, const struct unit *u, ns_t now);
bool worth_returning(const struct worth *w, const struct runq *to);
bool worth_waking(const struct sched *s, const struct unit *u, const struct runq *to);
bool worth_moving(const struct worth *w, const struct runq *to, bool core);

/* steal.c */
struct unit *steal_waiting(struct sched *s, struct sched_cpu *c, ns_t now) NO_THREAD_SAFETY;
bool steal_is_near(const struct sched *s, const struct runq *home);
void steal_push_overdue(struct sched *s, struct runq *rq, ns_t now) NO_THREAD_SAFETY;

/* spread.c */
ns_t spread_ask(struct sched *s, struct runq *rq, uint64_t among, const struct sched_cpu *c,
                ns_t least, ns_t now);
ns_t spread_pull(struct sched *s, struct sched_cpu *c, ns_t now) NO_THREAD_SAFETY;
bool spread_move(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY;

/* balance.c */
void balance_arm_for(struct sched *s, const struct unit *u, ns_t now);
void balance_pass(struct sched *s, struct runq *rq, ns_t now) NO_THREAD_SAFETY;

/* runq.c: locks, hints, folds */
void runq_lock_pair(struct runq *a, struct runq *b) NO_THREAD_SAFETY;
void runq_hint_change(struct sched *s, const struct runq *rq, enum runq_hint hint, bool on);

/* Pure: the runqueue's bit in its word of a hint, which is word id / 64. */
static inline uint64_t runq_hint_bit(const struct runq *rq)
{
    return 1ull << (rq->id % 64);
}

/* Pure: the CPU of a local bit. */
static inline struct sched_cpu *runq_cpu(const struct sched *s, const struct runq *rq, uint64_t bit)
{
    return &s->cpus[rq->cpu_of[__builtin_ctzll(bit)]];
}

#define runq_for_each_bit(bit, mask)                                               \
    for (uint64_t bit##_left = (mask), bit = bit##_left & -bit##_left; bit##_left; \
         bit##_left &= bit##_left - 1, bit = bit##_left & -bit##_left)

/* ---- the few steps that every yield and wake-up goes through ---- */

/*
 * A unit's runqueue is found by reading unit.rq without a lock, locking what it says and looking
 * again: rq changes only under the lock of the runqueue it leaves. A retry means that somebody
 * moved the unit, so the loop ends when the moving does. Reads rq of the unit; writes nothing but
 * the lock.
 */
static inline struct runq *runq_lock_unit(struct unit *u) NO_THREAD_SAFETY
{
    for (;;) {
        /* Relaxed: the second look, ordered by the lock's acquire, is the one that counts. */
        struct runq *rq = atomic_get(&u->rq);

        spin_lock(&rq->lock);
        if (rq == atomic_get(&u->rq))
            return rq;
        spin_unlock(&rq->lock);
    }
}

/*
 * The unit may have moved since it was locked: what it is in now is the caller's to unlock. Reads
 * rq of the unit; writes nothing but the lock.
 */
static inline void runq_unlock_unit(struct unit *u) NO_THREAD_SAFETY
{
    spin_unlock(&atomic_get(&u->rq)->lock);
}

/* Reads one hint; writes the runqueue's bit of it, if that changes. */
static inline void runq_hint_set(struct sched *s, const struct runq *rq, enum runq_hint hint,
                                 bool on)
{
    if (!!(atomic_get(&s->hints[hint][rq->id / 64]) & runq_hint_bit(rq)) != on)
        runq_hint_change(s, rq, hint, on);
}

/*
 * Which runqueues other than `home` have the hint, folded onto 64 bits. Reads that hint of all;
 * writes nothing.
 */
static inline uint64_t neighbour_fold(const struct sched *s, const struct runq *home,
                                      enum runq_hint hint)
{
    if (s->hint_words == 1)
        return atomic_get(&s->hints[hint][0]) & ~home->fold;
    return neighbour_fold_wide(s, home, hint);
}

/*
 * The best queued unit with one of these local CPUs in its hard affinity, or NULL. Reads the queue,
 * and run_cpus of its units; writes nothing.
 */
static inline struct unit *queue_best_for(const struct runq *rq, uint64_t cpu_bit)
{
    struct unit *root = RB_ROOT(&rq->queue);

    return root && (root->below_cpus & cpu_bit) ? queue_find(root, cpu_bit) : NULL;
}

/* The most credit that counts. Reads credit_init_ns and carryover_ns; writes nothing. */
static inline int64_t credit_ceiling(const struct sched *s)
{
    return (int64_t)(s->params.credit_init_ns + s->params.carryover_ns);
}

/* See credit.c for why clipping late is exact. Reads credit of the unit; writes nothing. */
static inline int64_t credit_of(const struct sched *s, const struct runq *rq, const struct unit *u)
{
    int64_t credit_ns = (int64_t)(u->key + rq->given);

    return MIN(credit_ns, credit_ceiling(s));
}

/*
 * Credit at which a queued or reserved unit competes: its place in the queue counts. Reads order
 * and credit of the unit; writes nothing.
 */
static inline int64_t credit_of_order(const struct sched *s, const struct runq *rq,
                                      const struct unit *u)
{
    int64_t by_order = (int64_t)(u->order + rq->given);
    int64_t credit_ns = credit_of(s, rq, u);

    return MIN(by_order, credit_ns);
}

/*
 * From a wake-up to its next sleep it runs for less than a move is worth: its caches count for more
 * than a core of its own. Reads stay_warm, migrate_resist_ns and burst_ns; writes nothing.
 */
static inline bool unit_runs_briefly(const struct sched *s, const struct unit *u)
{
    return s->params.stay_warm && u->burst_ns < s->params.migrate_resist_ns;
}

/* Reads given; writes key. */
static inline void credit_set(struct runq *rq, struct unit *u, int64_t credit_ns)
{
    u->key = (uint64_t)credit_ns - rq->given;
}

/*
 * May `u` follow what `c` runs, or would that first take a turn of the whole core? Reads run_cpus,
 * and what core_admits reads; writes nothing.
 */
static inline bool core_is_ours(const struct sched *s, const struct sched_cpu *c,
                                const struct unit *u)
{
    return !s->whole_cores || ((u->run_cpus & c->bit) && core_admits(s, c, u));
}

/*
 * A CPU that picks is tickled no more. Only an idle one's core mask depends on that. Reads idle and
 * tickled; writes tickled, and what idle_core_mend writes.
 */
static inline void idle_untickle(struct sched *s, struct sched_cpu *c)
{
    struct runq *rq = c->rq;

    if (!(rq->tickled & c->bit))
        return;
    atomic_set(&rq->tickled, rq->tickled & ~c->bit);
    if (rq->idle & c->bit)
        idle_core_mend(s, c);
}

/*
 * May the unit run? A look at its grant, or another one of its cap. Reads grant_ns; reads and
 * writes as cap_renew does, if that is used up.
 */
static inline bool cap_admits(struct unit *u, ns_t now)
{
    return u->grant_ns > 0 || cap_renew(u, now);
}

/*
 * Adds waiting or parked time up to `now`. A unit that is active and not running waits. Reads
 * active and state; reads and writes since; writes wait_ns or capped_ns.
 */
static inline void load_account_wait(struct unit *u, ns_t now)
{
    if (now <= u->since)
        return;
    if (u->active && u->state != UNIT_RUNNING)
        u->wait_ns += now - u->since;
    else if (u->state == UNIT_PARKED)
        u->capped_ns += now - u->since;
    u->since = now;
}

#endif
