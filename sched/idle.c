/*
 * Which idle CPU: the masks of idle, tickled, fully idle and packed, and the choice among them.
 *
 * A core is fully idle only when every online sibling of this runqueue is idle and untickled (and,
 * under sched-gran=core, has saved what it ran); packed when two or more siblings are busy, crowded
 * when three or more are. The masks are mended at every change of idle, tickled or online, for the
 * one core concerned; sched_check compares them with recomputed ones.
 *
 * Without a fully idle core the one with the fewest busy threads is taken, which matters where
 * cores have more than two.
 *
 * A tickled CPU is never chosen again before it has picked: that is what keeps two wake-ups in a
 * row from landing on one CPU.
 *
 * Source: credit2's SMT-aware tickling; packing by priority after the POWER7 asym packing.
 */
#include "sched/runq.h"

/* Reads online, idle, tickled and saving; writes nothing. */
struct core_state idle_core_state(const struct runq *rq, const struct sched_cpu *c)
{
    uint64_t siblings = c->siblings & rq->online;
    uint64_t busy = siblings & ~rq->idle;
    uint64_t second = busy & (busy - 1); /* without the lowest of them */

    return (struct core_state){
        .idle = siblings && (rq->idle & ~rq->tickled & siblings) == siblings &&
                !(rq->saving & c->siblings),
        .packed = second,
        .crowded = second & (second - 1),
    };
}

/*
 * Reads what idle_core_state reads; writes smt_idle, packed and crowded of one core, and three
 * hints.
 */
void idle_core_mend(struct sched *s, struct sched_cpu *c)
{
    struct runq *rq = c->rq;
    uint64_t siblings = c->siblings & rq->online;
    struct core_state core = idle_core_state(rq, c);

    atomic_set(&rq->smt_idle, (rq->smt_idle & ~c->siblings) | (core.idle ? siblings : 0));
    atomic_set(&rq->packed, (rq->packed & ~c->siblings) | (core.packed ? siblings : 0));
    atomic_set(&rq->crowded, (rq->crowded & ~c->siblings) | (core.crowded ? siblings : 0));
    runq_hint_set(s, rq, HINT_CORE, rq->smt_idle != 0);
    runq_hint_set(s, rq, HINT_PACKED, rq->packed != 0);
    runq_hint_set(s, rq, HINT_IDLE, (rq->idle & ~rq->tickled) != 0);
}

/* Reads and writes idle, and as idle_core_mend does. */
void idle_enter(struct sched *s, struct sched_cpu *c)
{
    atomic_set(&c->rq->idle, c->rq->idle | c->bit);
    idle_core_mend(s, c);
}

/* Reads and writes idle, and as idle_core_mend does. */
void idle_leave(struct sched *s, struct sched_cpu *c)
{
    atomic_set(&c->rq->idle, c->rq->idle & ~c->bit);
    idle_core_mend(s, c);
}

/*
 * A busy CPU's tickle changes no core mask, but it is remembered all the same. Reads idle; writes
 * tickled, and what idle_core_mend writes.
 */
void idle_tickle(struct sched *s, struct sched_cpu *c)
{
    atomic_set(&c->rq->tickled, c->rq->tickled | c->bit);
    if (c->rq->idle & c->bit)
        idle_core_mend(s, c);
}

/* Reads online; writes nothing. */
static uint32_t cores_count(const struct sched *s, const struct runq *rq)
{
    uint32_t cores = 0;

    runq_for_each_bit (bit, rq->online) {
        uint64_t siblings = runq_cpu(s, rq, bit)->siblings & rq->online;

        cores += (siblings & -siblings) == bit;
    }
    return cores;
}

/*
 * Reads cur and saving of the CPU, and whole_cores; writes its online, and online, cores, saving
 * and the idle masks of the runqueue.
 */
void idle_online(struct sched *s, struct sched_cpu *c, bool online)
{
    struct runq *rq = c->rq;

    atomic_set(&c->online, online);
    atomic_set(&rq->online, online ? rq->online | c->bit : rq->online & ~c->bit);
    atomic_set(&rq->cores, cores_count(s, rq));
    if (online && !c->cur)
        atomic_set(&rq->idle, rq->idle | c->bit);
    else
        atomic_set(&rq->idle, rq->idle & ~c->bit);
    atomic_set(&rq->tickled, rq->tickled & ~c->bit);
    rq->saving &= ~c->bit;
    if (c->saving || (rq->whole_cores && c->cur && !online))
        rq->saving |= c->bit;
    idle_core_mend(s, c);
}

/*
 * One bit of a non-empty set: the highest priority, or the next in turn when priorities are off.
 * Reads asym; reads and writes cursor.
 */
static uint64_t choose_one(const struct sched *s, struct runq *rq, uint64_t set)
{
    uint64_t ahead;

    if (s->params.asym)
        return set & -set;
    ahead = set & (~0ull << rq->cursor);
    set = ahead ? ahead : set;
    set &= -set;
    rq->cursor = ((uint32_t)__builtin_ctzll(set) + 1) % RUNQ_CPUS_MAX;
    return set;
}

/*
 * The last CPU keeps its warm cache unless a better kind of core is free. With asym, the preferred
 * one of its core's idle threads is taken where there are more than two: such cores go faster when
 * their later threads are off (POWER7). Two threads are alike, and the move would cost a TLB. Reads
 * and writes as choose_one does.
 */
static uint64_t choose_warm(const struct sched *s, struct runq *rq, uint64_t set, uint32_t last)
{
    const struct sched_cpu *warm = &s->cpus[last];

    if (warm->rq != rq || !(set & warm->bit))
        return choose_one(s, rq, set);
    if (s->params.asym && runq_cpu(s, rq, set & -set)->asym_class > warm->asym_class)
        return choose_one(s, rq, set);
    if (!s->params.asym || bits_count(warm->siblings) <= 2)
        return warm->bit;
    set &= warm->siblings;
    return set & -set;
}

/*
 * The idle, untickled CPUs within `mask` that `u` may be given; under sched-gran=core by VM, too.
 * Reads idle, tickled, and what core_open reads; writes nothing.
 */
uint64_t idle_for(const struct sched *s, const struct runq *rq, const struct unit *u, uint64_t mask)
{
    uint64_t set = rq->idle & ~rq->tickled & mask;

    return s->whole_cores ? core_open(s, rq, u, set) : set;
}

/*
 * Threads of the core of `c` that are busy or will be at once. Reads online, idle and tickled;
 * writes nothing.
 */
static uint32_t busy_beside(const struct runq *rq, const struct sched_cpu *c)
{
    return bits_count(c->siblings & rq->online & (~rq->idle | rq->tickled));
}

/*
 * Of the idle CPUs `set`, none in a fully idle core, those whose cores have the fewest busy
 * threads. Looks at each core once; where cores have two threads all are alike. Reads what
 * busy_beside reads; writes nothing.
 */
static uint64_t choose_roomy(const struct sched *s, const struct runq *rq, uint64_t set)
{
    uint64_t roomy = 0, left = set;
    uint32_t fewest = UINT32_MAX;

    while (left) {
        const struct sched_cpu *c = runq_cpu(s, rq, left & -left);
        uint32_t busy = busy_beside(rq, c);

        if (bits_count(c->siblings) <= 2)
            return set;
        if (busy < fewest)
            roomy = 0;
        if (busy <= fewest)
            roomy |= set & c->siblings;
        fewest = MIN(fewest, busy);
        left &= ~c->siblings;
    }
    return roomy;
}

/*
 * An idle CPU within `mask` for `u`: of a fully idle core, else an untickled thread of a core with
 * as few busy ones as there is; NULL when there is none. Reads cpu of the unit, smt_aware,
 * smt_idle, and what idle_for and choose_roomy read; writes cursor.
 */
struct sched_cpu *idle_choose(const struct sched *s, struct runq *rq, const struct unit *u,
                              uint64_t mask)
{
    uint64_t set = s->params.smt_aware ? rq->smt_idle & mask : 0;

    if (!set) {
        set = idle_for(s, rq, u, mask);
        set = s->params.smt_aware ? choose_roomy(s, rq, set) : set;
    }
    return set ? runq_cpu(s, rq, choose_warm(s, rq, set, u->cpu)) : NULL;
}

/*
 * Likewise for a unit of another runqueue: preferred CPUs first, then allowed ones. Reads what
 * affinity_local and idle_choose read; writes cursor.
 */
struct sched_cpu *idle_choose_newcomer(const struct sched *s, struct runq *rq, const struct unit *u,
                                       uint64_t mask)
{
    uint64_t hard, soft;
    struct sched_cpu *c;

    affinity_local(s, rq, u, &hard, &soft);
    c = idle_choose(s, rq, u, soft & mask);
    return c ? c : idle_choose(s, rq, u, hard & mask);
}
