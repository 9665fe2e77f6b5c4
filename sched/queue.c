/*
 * The queue of a runqueue: a red-black tree of waiting units, best first.
 *
 * Each node also holds the or of its subtree's run_cpus, reach and last_bit. With them the best
 * unit that one CPU may run, that another runqueue may take, or that last ran on a core, is found
 * in O(log n), however many better ones are pinned elsewhere: a unit that may not run here never
 * ends nor lengthens the search. (reach is folded onto 64 bits; above 64 runqueues a match may be
 * false, and the caller looks at the unit itself.)
 *
 * Invariants: below_* is right in every node; equal orders stay first come, first served;
 * runq.reach is the root's below_reach.
 */
#include "sched/runq.h"
#include "sched/tree.h"

/*
 * The tree's macro calls this for nodes whose children changed; ancestors are refresh_upwards'.
 * Reads run_cpus, reach and last_bit of `u`, and below_* of its children; writes below_* of `u`.
 */
static void augment(struct unit *u)
{
    const struct unit *left = RB_LEFT(u, queue);
    const struct unit *right = RB_RIGHT(u, queue);
    uint64_t cpus = u->run_cpus;
    uint64_t reach = u->reach;
    uint64_t last = u->last_bit;

    if (left) {
        cpus |= left->below_cpus;
        reach |= left->below_reach;
        last |= left->below_last;
    }
    if (right) {
        cpus |= right->below_cpus;
        reach |= right->below_reach;
        last |= right->below_last;
    }
    u->below_cpus = cpus;
    u->below_reach = reach;
    u->below_last = last;
}

/*
 * Orders wrap; those of one queue lie within a few resets of each other. A newcomer goes last.
 * Reads order; writes nothing.
 */
static int order_compare(const struct unit *a, const struct unit *b)
{
    return (int64_t)(a->order - b->order) > 0 ? -1 : 1;
}

#undef RB_AUGMENT
#define RB_AUGMENT(u) augment(u)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
RB_PROTOTYPE_INTERNAL(unit_queue, unit, queue, order_compare, static)
RB_GENERATE_INTERNAL(unit_queue, unit, queue, order_compare, static)
#pragma GCC diagnostic pop

/*
 * Brings below_* of `u` and everything above it up to date, after its children changed. Reads
 * run_cpus, reach and last_bit of those units; writes their below_*, and reach of the runqueue.
 */
static void refresh_upwards(struct runq *rq, struct unit *u)
{
    for (; u; u = RB_PARENT(u, queue))
        augment(u);
    u = RB_ROOT(&rq->queue);
    atomic_set(&rq->reach, u ? u->below_reach : 0);
}

/*
 * After a change of the masks of a queued unit. Reads its run_cpus, reach and last_bit, and
 * whole_cores; writes below_* and vm_cpus of it and what is above it, and reach of the runqueue.
 */
void queue_refresh(struct runq *rq, struct unit *u)
{
    refresh_upwards(rq, u);
    if (rq->whole_cores)
        vm_queue_refresh(u);
}

/*
 * An empty queue, and one of a single unit, are what two that take turns on a CPU always meet.
 * Reads run_cpus, reach and last_bit of the unit; writes queue, its below_*, and reach of the
 * runqueue.
 */
static void insert_alone(struct runq *rq, struct unit *u)
{
    RB_SET(u, NULL, queue);
    RB_COLOR(u, queue) = RB_BLACK;
    RB_ROOT(&rq->queue) = u;
    u->below_cpus = u->run_cpus;
    u->below_reach = u->reach;
    u->below_last = u->last_bit;
    atomic_set(&rq->reach, u->reach);
}

/*
 * Reads cpu, order, run_cpus and reach of the unit; writes its last_bit and state, and the queue,
 * HINT_WAITING set.
 */
void queue_insert(struct sched *s, struct runq *rq, struct unit *u)
{
    u->last_bit = s->cpus[u->cpu].rq == rq ? s->cpus[u->cpu].bit : 0;
    if (RB_EMPTY(&rq->queue)) {
        insert_alone(rq, u);
    } else {
        unit_queue_RB_INSERT(&rq->queue, u);
        refresh_upwards(rq, u);
    }
    atomic_set(&u->state, UNIT_QUEUED);
    rq->nr_queued++;
    if (rq->whole_cores)
        vm_queue_insert(rq, u);
    runq_hint_set(s, rq, HINT_WAITING, true);
}

/*
 * Reads run_cpus, reach and last_bit of what is left; writes the queue but HINT_WAITING. State is
 * the caller's.
 */
void queue_remove(struct runq *rq, struct unit *u)
{
    struct unit *start;

    if (rq->whole_cores)
        vm_queue_remove(rq, u);
    if (--rq->nr_queued == 0) {
        RB_INIT(&rq->queue);
        atomic_set(&rq->reach, 0);
        return;
    }
    start = TREE_REMOVAL_START(u, queue);
    unit_queue_RB_REMOVE(&rq->queue, u);
    refresh_upwards(rq, start);
}

/* What a search goes by: a word of each unit, and the or of its subtree's. */
enum trait { TRAIT_CPUS, TRAIT_REACH, TRAIT_LAST };

/* Reads run_cpus, reach or last_bit; writes nothing. */
static inline uint64_t trait_own(const struct unit *u, enum trait trait)
{
    switch (trait) {
    case TRAIT_CPUS:
        return u->run_cpus;
    case TRAIT_REACH:
        return u->reach;
    default:
        return u->last_bit;
    }
}

/* Reads one of below_*; writes nothing. */
static inline uint64_t trait_below(const struct unit *u, enum trait trait)
{
    switch (trait) {
    case TRAIT_CPUS:
        return u->below_cpus;
    case TRAIT_REACH:
        return u->below_reach;
    default:
        return u->below_last;
    }
}

/*
 * The best unit from `u` down with one of these bits; that there is one, below_* of `u` says.
 * `trait` is constant where this is called, so each search is a loop of its own. Reads what
 * trait_own and trait_below read; writes nothing.
 */
static inline __attribute__((always_inline)) struct unit *descend(struct unit *u, enum trait trait,
                                                                  uint64_t bits)
{
    for (;;) {
        struct unit *left = RB_LEFT(u, queue);

        if (left && (trait_below(left, trait) & bits))
            u = left;
        else if (trait_own(u, trait) & bits)
            return u;
        else
            u = RB_RIGHT(u, queue);
    }
}

/*
 * The best unit below `root` that may run on one of these CPUs; the root says that there is one.
 * Reads below_cpus and run_cpus; writes nothing.
 */
struct unit *queue_find(struct unit *root, uint64_t cpu_bit)
{
    return descend(root, TRAIT_CPUS, cpu_bit);
}

/*
 * The best queued unit that may go to a runqueue of this fold, or NULL. Reads below_reach and reach
 * of units; writes nothing.
 */
struct unit *queue_best_reaching(const struct runq *rq, uint64_t fold)
{
    struct unit *root = RB_ROOT(&rq->queue);

    return root && (root->below_reach & fold) ? descend(root, TRAIT_REACH, fold) : NULL;
}

/*
 * The best queued unit that last ran on one of these CPUs, or NULL. Reads below_last and last_bit
 * of units; writes nothing.
 */
struct unit *queue_best_warm(const struct runq *rq, uint64_t cpus)
{
    struct unit *root = RB_ROOT(&rq->queue);

    return root && (root->below_last & cpus) ? descend(root, TRAIT_LAST, cpus) : NULL;
}

/* The next one in order, or NULL. Reads the queue; writes nothing. */
struct unit *queue_next(struct unit *u)
{
    return unit_queue_RB_NEXT(u);
}

/*
 * The order of a unit that goes behind all that wait now: its key, or just under the last one.
 * Reads the queue, and order of its last unit; writes nothing.
 */
uint64_t queue_last_order(const struct runq *rq, uint64_t key)
{
    const struct unit *u = RB_ROOT(&rq->queue);

    if (!u)
        return key;
    while (RB_RIGHT(u, queue))
        u = RB_RIGHT(u, queue);
    return (int64_t)(u->order - key) > 0 ? key : u->order - 1;
}
