/*
 * CPUs that come and go.
 *
 * A CPU that goes offline leaves every mask first; then the units that waited for it, and those
 * whose hard affinity now has no CPU online, are placed anew. What it runs leaves at its next pick.
 * Both directions look at every unit once, since affinity depends on who is online.
 */
#include <errno.h>

#include "sched/runq.h"

/*
 * Queued where it may not run, or beside an idle CPU that it now may use. Reads run_cpus, online,
 * and what idle_for reads; writes nothing.
 */
static bool is_misplaced(const struct sched *s, const struct runq *rq, const struct unit *u)
{
    return !(u->run_cpus & rq->online) || idle_for(s, rq, u, u->run_cpus);
}

/*
 * The next queued or reserved unit that must move, or NULL. Running ones are only kicked, also
 * where a CPU that they prefer may have come back. Reads members, their state, target and cpu, and
 * online of those CPUs; writes what affinity_refresh, queue_refresh and place_kick write.
 */
static struct unit *refresh_members(struct sched *s, struct runq *rq)
{
    for (struct unit *u = members_first(rq); u; u = members_next(u)) {
        uint64_t before = u->run_cpus;
        struct sched_cpu *c;
        bool fits;

        affinity_refresh(s, u);
        if (u->state == UNIT_QUEUED)
            queue_refresh(rq, u);
        /* The deadlines of CPUs that it may use only now know nothing of it. */
        if (u->state == UNIT_QUEUED && (is_misplaced(s, rq, u) || (u->run_cpus & ~before)))
            return u;
        if (u->state != UNIT_RESERVED && u->state != UNIT_RUNNING)
            continue;
        c = &s->cpus[u->state == UNIT_RESERVED ? u->target : u->cpu];
        fits = c->online && (u->run_cpus & c->bit);
        if (u->state == UNIT_RESERVED && !fits)
            return u;
        if (u->state == UNIT_RUNNING && (!fits || unit_is_away(u, c->bit)))
            place_kick(s, c);
    }
    return NULL;
}

/*
 * Ends because each turn takes one unit out of the runqueue's waiting ones, to where it may stay.
 * The machine's lock is held; takes each runqueue's in turn. Reads what refresh_members reads;
 * writes what it, place_withdraw and place_unit write.
 */
static void refresh_once(struct sched *s, ns_t now) NO_THREAD_SAFETY
{
    for (uint32_t id = 0; id < s->nrunqs; id++) {
        struct runq *rq = &s->runqs[id];
        struct unit *u;

        spin_lock(&rq->lock);
        while ((u = refresh_members(s, rq)) != NULL) {
            place_withdraw(s, u);
            place_unit(s, u, now);
            runq_unlock_unit(u);
            spin_lock(&rq->lock);
        }
        spin_unlock(&rq->lock);
    }
}

/*
 * Again while a unit with masks of before went, meanwhile, from a runqueue not yet looked at to one
 * that was. Ends because a unit that was looked at does so no more. Reads and writes masks_at,
 * masks_again, and as refresh_once does.
 */
static void refresh_all(struct sched *s, ns_t now)
{
    atomic_set(&s->masks_at, s->masks_at + 1);
    do {
        atomic_set(&s->masks_again, false);
        refresh_once(s, now);
    } while (atomic_get(&s->masks_again));
}

/*
 * A CPU that comes counts as tickled until its first pick, which takes what may be waiting for it.
 * Takes the runqueue's lock. Reads cur; writes what idle_online and place_kick write.
 */
static void set_online(struct sched *s, struct sched_cpu *c, bool online)
{
    spin_lock(&c->rq->lock);
    idle_online(s, c, online);
    if (c->cur || online)
        place_kick(s, c);
    spin_unlock(&c->rq->lock);
    sched_host_trace(c->cpu, TRACE_SCHED_CPU_ONLINE, c->cpu, online);
}

/* Takes the runqueue's lock. Writes what place_kick writes. */
static void look_again(struct sched *s, struct sched_cpu *c)
{
    spin_lock(&c->rq->lock);
    place_kick(s, c);
    spin_unlock(&c->rq->lock);
}

/*
 * Takes the machine's lock. Reads online; writes ncpus_online, what idle_online writes, affinity of
 * every unit, and where those go that can do better now.
 */
int sched_cpu_online(struct sched *s, uint32_t cpu, ns_t now)
{
    int error = 0;

    if (cpu >= s->ncpus)
        return -EINVAL;
    spin_lock(&s->lock);
    if (s->cpus[cpu].online)
        error = -EINVAL;
    if (!error) {
        s->ncpus_online++;
        set_online(s, &s->cpus[cpu], true);
        refresh_all(s, now);
        look_again(s, &s->cpus[cpu]); /* it may have looked for work before all units knew of it */
    }
    spin_unlock(&s->lock);
    return error;
}

/*
 * Takes the machine's lock. Reads ncpus_online, and reads and writes as sched_cpu_online does; what
 * waits for the CPU is placed again, what runs there is tickled away.
 */
int sched_cpu_offline(struct sched *s, uint32_t cpu, ns_t now)
{
    int error = 0;

    if (cpu >= s->ncpus)
        return -EINVAL;
    spin_lock(&s->lock);
    if (!s->cpus[cpu].online)
        error = -EINVAL;
    else if (s->ncpus_online == 1)
        error = -EBUSY;
    if (!error) {
        s->ncpus_online--;
        set_online(s, &s->cpus[cpu], false);
        refresh_all(s, now);
    }
    spin_unlock(&s->lock);
    return error;
}
