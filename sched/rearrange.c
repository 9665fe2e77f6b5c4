/*
 * Other parameters, or another arrangement of the CPUs, while units run.
 *
 * Everything that rests on the parameters is made anew: runqueues, masks, hints, loads, and each
 * unit's place. A unit keeps its credit in ns, within the bounds that hold now, its load, weight
 * and settings; what runs goes on running, what is reserved stays so, and what waited is placed
 * again, best first. Only the place behind others that a yield gave is forgotten. CPUs that are
 * offline stay so.
 *
 * The caller lets no CPU be inside sched/ meanwhile, so that a pick reads parameters and runqueue
 * pointers without a lock; units between sched_pick and sched_saved are no obstacle. It is O(log n)
 * for each unit, and a look at every CPU for its affinity.
 */
#include "sched/runq.h"

/* Singly linked, through tree links that are not in use. */
struct unit_list {
    struct unit *first, *last;
};

/*
 * Takes the waiting units of `rq` out, best first, LEAVING. Reads the queue; writes it, their state
 * and queue links.
 */
static void collect_waiting(struct runq *rq, struct unit_list *list)
{
    struct unit *u;

    while ((u = queue_best_for(rq, rq->cpus)) != NULL) {
        queue_remove(rq, u);
        atomic_set(&u->state, UNIT_LEAVING);
        RB_RIGHT(u, queue) = NULL;
        if (list->last)
            RB_RIGHT(list->last, queue) = u;
        else
            list->first = u;
        list->last = u;
    }
}

/*
 * Takes every member of `rq` out; its key becomes its credit, its load is decayed up to `now` by
 * the window that has held so far. Returns the members before `list`, linked through by_weight.
 * Reads state, active, credit and load_window_shift; writes members, key and load of each, and of
 * one that runs what credit_charge writes.
 */
static struct unit *collect_members(struct sched *s, struct runq *rq, struct unit *list, ns_t now)
{
    struct unit *u;

    while ((u = members_first(rq)) != NULL) {
        if (u->state == UNIT_RUNNING)
            credit_charge(s, rq, u, now); /* what ran so far, ran beside the old weights */
        load_update(&u->load, u->active, now, s->params.load_window_shift);
        u->key = (uint64_t)credit_of(s, rq, u);
        members_leave(rq, u);
        RB_RIGHT(u, by_weight) = list;
        list = u;
    }
    return list;
}

/*
 * Into the runqueue of the CPU it runs on, is reserved for or last ran on. Reads state, target,
 * cpu, active, load and credit; writes what members_join and affinity_refresh write, key and order,
 * load and nr_active of the runqueue.
 */
static void join(struct sched *s, struct unit *u, ns_t now)
{
    struct runq *rq = s->cpus[u->state == UNIT_RESERVED ? u->target : u->cpu].rq;
    int64_t floor = -(int64_t)s->params.credit_init_ns;

    members_join(rq, u);
    affinity_refresh(s, u);
    credit_set(rq, u, MAX(credit_of(s, rq, u), floor));
    u->order = u->key;
    rq->nr_active += u->active;
    rq->load.avg += u->load.avg;
    rq->load.recent += u->load.recent;
    rq->load.at = now;
}

/*
 * The masks of its new runqueue as the CPU's state has it. Reads online and reserved; writes what
 * idle_online and idle_tickle write.
 */
static void cpu_enter(struct sched *s, struct sched_cpu *c)
{
    idle_online(s, c, c->online);
    if (c->reserved)
        idle_tickle(s, c);
}

/*
 * The units that waited; the lock of what each is in is taken as in a wake-up. Reads their queue
 * links; writes what place_unit writes.
 */
static void place_collected(struct sched *s, struct unit *u, ns_t now) NO_THREAD_SAFETY
{
    while (u) {
        struct unit *next = RB_RIGHT(u, queue);

        runq_lock_unit(u);
        place_unit(s, u, now);
        runq_unlock_unit(u);
        u = next;
    }
}

/*
 * Deadlines were set by what held before: every CPU picks anew. Takes each runqueue's lock in turn.
 * Reads online and cur; writes what place_kick writes.
 */
static void kick_all(struct sched *s)
{
    for (uint32_t cpu = 0; cpu < s->ncpus; cpu++) {
        struct sched_cpu *c = &s->cpus[cpu];

        spin_lock(&c->rq->lock);
        if (c->online || c->cur)
            place_kick(s, c);
        spin_unlock(&c->rq->lock);
    }
}

/* Takes the machine's lock. Reads and writes everything. */
void sched_rearrange(struct sched *s, const struct sched_params *p, ns_t now)
{
    struct unit_list waiting = {0};
    struct unit *list = NULL;

    spin_lock(&s->lock);
    for (uint32_t id = 0; id < s->nrunqs; id++) {
        collect_waiting(&s->runqs[id], &waiting);
        list = collect_members(s, &s->runqs[id], list, now);
    }
    params_apply(s, p);
    build_runqs(s);
    for (uint32_t cpu = 0; cpu < s->ncpus; cpu++)
        cpu_enter(s, &s->cpus[cpu]);
    while (list) {
        struct unit *u = list;

        list = RB_RIGHT(u, by_weight);
        join(s, u, now);
    }
    place_collected(s, waiting.first, now);
    kick_all(s);
    spin_unlock(&s->lock);
}
