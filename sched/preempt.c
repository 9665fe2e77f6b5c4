/*
 * Which busy CPU a waking unit takes, when no CPU is idle for it.
 *
 * The running unit with the least credit gives way, if the waking one has more; on a CPU other than
 * the one it last ran on it must be ahead by migrate_resist. A CPU under the rate limit is not
 * disturbed: it gets a timer for the end of the limit. Tickled CPUs will pick soon anyway and are
 * left alone.
 *
 * Under sched-gran=core CPUs whose siblings run another VM are no victims by themselves; the core
 * as a whole is, by core_turn_choose.
 *
 * Looks at every busy CPU of one runqueue, at most 64.
 */
#include "sched/runq.h"

struct victims {
    struct sched_cpu *now;   /* may be preempted at once */
    struct sched_cpu *later; /* least credit of all */
    int64_t now_score, later_score;
};

/* Reads picked_at of what `c` runs, and ratelimit_ns; writes only *v. */
static void victims_add(const struct sched *s, struct victims *v, struct sched_cpu *c,
                        int64_t score, ns_t now)
{
    if (!v->later || score < v->later_score) {
        v->later = c;
        v->later_score = score;
    }
    if (now - c->cur->picked_at < s->params.ratelimit_ns && now >= c->cur->picked_at)
        return;
    if (!v->now || score < v->now_score) {
        v->now = c;
        v->now_score = score;
    }
}

/*
 * Reads online, idle, tickled, and of what runs on those CPUs picked_at and what credit_now reads,
 * migrate_resist_ns and ratelimit_ns; writes nothing.
 */
static struct victims victims_find(const struct sched *s, const struct runq *rq, uint64_t mask,
                                   uint32_t last, ns_t now)
{
    struct victims v = {0};

    runq_for_each_bit (bit, rq->online & ~rq->idle & ~rq->tickled & mask) {
        struct sched_cpu *c = runq_cpu(s, rq, bit);
        int64_t score = credit_now(s, rq, c->cur, now);

        if (c->cpu != last)
            score += (int64_t)s->params.migrate_resist_ns;
        victims_add(s, &v, c, score, now);
    }
    return v;
}

/*
 * When the unit on `c` will have burnt the `ahead_ns` that it is ahead by, and may be disturbed.
 * Reads cur, its picked_at, what credit_time reads of it, slice_max_ns and least_ns; writes
 * nothing.
 */
ns_t preempt_due(const struct sched *s, const struct sched_cpu *c, int64_t ahead_ns, ns_t now)
{
    ns_t limit = c->cur->picked_at + s->least_ns;
    ns_t due = now;

    if (ahead_ns > 0)
        due += MIN(credit_time(c->rq, c->cur, ahead_ns), s->params.slice_max_ns);
    return MAX(due, limit);
}

/*
 * The CPU to preempt for `u` at *when: `now` means at once, later means by a timer there. Preferred
 * CPUs first, then all allowed ones. NULL when every allowed CPU is idle, tickled or offline. Under
 * sched-gran=core it may be one that does not admit `u` (core_admits): to be made to pick, no more.
 * Reads credit, run_cpus, soft_cpus and cpu of `u`, what victims_find and preempt_due read, and
 * under sched-gran=core what core_admitting and core_turn_choose read; writes only *when.
 */
struct sched_cpu *preempt_choose(const struct sched *s, const struct runq *rq, const struct unit *u,
                                 ns_t now, ns_t *when)
{
    int64_t credit_ns = credit_of(s, rq, u);
    uint64_t mask = s->whole_cores ? core_admitting(s, rq, u) : u->run_cpus;
    struct victims v = victims_find(s, rq, u->soft_cpus & mask, u->cpu, now);

    *when = now;
    if (v.now && v.now_score < credit_ns)
        return v.now;
    if (u->soft_cpus != u->run_cpus) {
        v = victims_find(s, rq, mask, u->cpu, now);
        if (v.now && v.now_score < credit_ns)
            return v.now;
    }
    if (v.later)
        *when = preempt_due(s, v.later, v.later_score - credit_ns, now);
    return s->whole_cores ? core_turn_choose(s, rq, u, mask, v.later, when, now) : v.later;
}
