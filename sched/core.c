/*
 * Core scheduling (sched-gran=core): siblings run units of one VM at a time.
 *
 * Who holds a core is read off its CPUs: what runs there and what is still being saved, so a
 * hand-over counts until sched_saved. A CPU picks only units of the VM that holds its core on the
 * other siblings; with none it idles, in HLT. A turn of another VM comes when the best unit that
 * waits for the core is ahead of every unit running on it, and the VM's turn has lasted the rate
 * limit: the core is *closing* for that unit, each sibling gives up at its pick, the last one to
 * have saved opens the core, and those that can run something are kicked. No CPU waits for another.
 *
 * Invariants: units that run or are saved on different siblings belong to one VM; a core closes
 * only while something runs or is saved there; one unit closes one core at a time; an idle,
 * untickled CPU whose core admits a queued unit that may run there does not exist.
 *
 * Reads and writes cur, saving, reserved and core of a core's CPUs, under their runqueue's lock.
 */
#include "sched/runq.h"

/* The record of a core is that of its first sibling. Pure. */
static struct sched_core *core_of(const struct sched *s, const struct sched_cpu *c)
{
    return &runq_cpu(s, c->rq, c->siblings & -c->siblings)->core;
}

/* Whose a core `held` so is once `u` (NULL: nobody) runs or is saved there, too. Pure. */
static uint64_t held_with(uint64_t held, const struct unit *u)
{
    if (!u)
        return held;
    return held == CORE_FREE || held == u->vm_id ? u->vm_id : CORE_CLOSED;
}

/* Reads cur and saving of the other siblings; writes nothing. */
static uint64_t held_by_others(const struct sched *s, const struct sched_cpu *c)
{
    uint64_t held = CORE_FREE;

    runq_for_each_bit (bit, c->siblings & ~c->bit) {
        const struct sched_cpu *other = runq_cpu(s, c->rq, bit);

        held = held_with(held_with(held, other->cur), other->saving);
    }
    return held;
}

/*
 * The VM whose units `c` may pick, for its siblings run or save some; CORE_FREE: any; CORE_CLOSED:
 * none, until somebody has saved. Reads cur and saving of the other siblings, and wanted; writes
 * nothing.
 */
uint64_t core_held(const struct sched *s, const struct sched_cpu *c)
{
    uint64_t held = held_by_others(s, c);

    return held != CORE_FREE && core_of(s, c)->wanted ? CORE_CLOSED : held;
}

/* Pure: may a unit of this VM be picked while its core is `held`? */
bool core_allows(uint64_t held, const struct unit *u)
{
    return held == CORE_FREE || held == u->vm_id;
}

/*
 * May `c` be given `u`, once what `c` runs has left? A tickled idle sibling will run what is
 * reserved for it; with nothing in its slot nobody knows what it will run. Reads wanted, cur,
 * saving and reserved of the other siblings, idle and tickled; writes nothing.
 */
bool core_admits(const struct sched *s, const struct sched_cpu *c, const struct unit *u)
{
    if (core_of(s, c)->wanted || !core_allows(core_held(s, c), u))
        return false;
    runq_for_each_bit (bit, c->siblings & ~c->bit & c->rq->idle & c->rq->tickled) {
        const struct unit *reserved = runq_cpu(s, c->rq, bit)->reserved;

        if (!reserved || reserved->vm_id != u->vm_id)
            return false;
    }
    return true;
}

/*
 * Those of `set`, idle untickled CPUs of `rq`, whose cores admit `u`. Reads smt_idle and what
 * core_admits reads; writes nothing.
 */
uint64_t core_open(const struct sched *s, const struct runq *rq, const struct unit *u, uint64_t set)
{
    uint64_t open = set & rq->smt_idle;

    runq_for_each_bit (bit, set & ~rq->smt_idle)
        if (core_admits(s, runq_cpu(s, rq, bit), u))
            open |= bit;
    return open;
}

/* All siblings of the CPUs in `mask`: what a turn there may make room on. Pure. */
uint64_t core_whole(const struct sched *s, const struct runq *rq, uint64_t mask)
{
    uint64_t whole = mask;

    runq_for_each_bit (bit, mask)
        whole |= runq_cpu(s, rq, bit)->siblings;
    return whole;
}

/*
 * The best queued unit that `c` may pick while its core is `held`, or NULL. Reads the queue; writes
 * nothing.
 */
struct unit *core_best(const struct sched_cpu *c, uint64_t held)
{
    if (held == CORE_CLOSED)
        return NULL;
    if (held == CORE_FREE)
        return queue_best_for(c->rq, c->bit);
    return vm_queue_best(c->rq, (uint32_t)held, c->bit);
}

/*
 * The best unit that waits for any CPU of the core, or NULL. Reads the queue and online; writes
 * nothing.
 */
struct unit *core_head(const struct sched_cpu *c)
{
    return queue_best_for(c->rq, c->siblings & c->rq->online);
}

/*
 * The CPU of the core whose unit has most credit, or NULL when none runs. Reads cur of the siblings
 * and what credit_now reads of it; writes only *credit_ns.
 */
static const struct sched_cpu *core_lead(const struct sched *s, const struct sched_cpu *c, ns_t now,
                                         int64_t *credit_ns)
{
    const struct sched_cpu *lead = NULL;

    *credit_ns = INT64_MIN;
    runq_for_each_bit (bit, c->siblings) {
        const struct sched_cpu *other = runq_cpu(s, c->rq, bit);
        int64_t its_ns = other->cur ? credit_now(s, c->rq, other->cur, now) : INT64_MIN;

        if (other->cur && its_ns > *credit_ns) {
            lead = other;
            *credit_ns = its_ns;
        }
    }
    return lead;
}

/*
 * When a unit with this much credit may have the core to itself: ahead of all that run there by
 * migrate_resist, and not before the present turn has had its time. NS_NEVER: the VM has the core.
 * Reads turn_at, cur of the siblings, what credit_now and credit_time read of it,
 * migrate_resist_ns, slice_max_ns and least_ns; writes nothing.
 */
ns_t core_turn_due(const struct sched *s, const struct sched_cpu *c, const struct unit *u,
                   int64_t credit_ns, ns_t now)
{
    int64_t lead_ns;
    const struct sched_cpu *lead = core_lead(s, c, now, &lead_ns);
    ns_t due = now;

    if (!lead || lead->cur->vm_id == u->vm_id)
        return NS_NEVER;
    lead_ns += (int64_t)s->params.migrate_resist_ns - credit_ns;
    if (lead_ns >= 0)
        due += MIN(credit_time(c->rq, lead->cur, lead_ns) + 1, s->params.slice_max_ns);
    return MAX(due, core_of(s, c)->turn_at + s->least_ns);
}

/*
 * Another core is closing for it already. Reads wanted_by, and wanted of that core; writes nothing.
 */
static bool is_wanted_elsewhere(const struct sched *s, const struct sched_cpu *c,
                                const struct unit *u)
{
    const struct sched_core *core =
        u->wanted_by == CPUMASK_NONE ? NULL : &s->cpus[u->wanted_by].core;

    return core && core->wanted == u && core != core_of(s, c);
}

/*
 * When the best unit that waits for the core is to have its turn; NS_NEVER: there is none. Reads
 * the queue, online, wanted, the best unit's credit, order and wanted_by, and what core_turn_due
 * reads; writes nothing.
 */
ns_t core_turn_at(const struct sched *s, const struct sched_cpu *c, ns_t now)
{
    const struct unit *head = core_head(c);
    ns_t due;

    if (!head || core_of(s, c)->wanted)
        return NS_NEVER;
    due = core_turn_due(s, c, head, credit_of_order(s, c->rq, head), now);
    return due <= now && is_wanted_elsewhere(s, c, head) ? now + s->least_ns : due;
}

/*
 * The busy CPUs of `rq` that `u` may take from their units without the siblings' leave. Reads
 * online, idle, run_cpus and what core_admits reads; writes nothing.
 */
uint64_t core_admitting(const struct sched *s, const struct runq *rq, const struct unit *u)
{
    uint64_t admitting = 0;

    runq_for_each_bit (bit, rq->online & ~rq->idle & u->run_cpus)
        if (core_admits(s, runq_cpu(s, rq, bit), u))
            admitting |= bit;
    return admitting;
}

/*
 * The CPU whose core is to make room for `u`, if one does so before *when, the time of `other`;
 * else `other`. Cores that close already will look by themselves. Reads run_cpus and credit of `u`,
 * online, idle, tickled, wanted, and what core_turn_due reads; writes only *when.
 */
struct sched_cpu *core_turn_choose(const struct sched *s, const struct runq *rq,
                                   const struct unit *u, uint64_t admitting,
                                   struct sched_cpu *other, ns_t *when, ns_t now)
{
    uint64_t mask = core_whole(s, rq, u->run_cpus) & ~admitting;
    ns_t best = other ? *when : NS_NEVER;

    runq_for_each_bit (bit, rq->online & ~rq->idle & ~rq->tickled & mask) {
        struct sched_cpu *c = runq_cpu(s, rq, bit);
        ns_t due =
            core_of(s, c)->wanted ? NS_NEVER : core_turn_due(s, c, u, credit_of(s, rq, u), now);

        if (due < best) {
            best = due;
            other = c;
        }
    }
    *when = best;
    return other;
}

/*
 * Nothing but what `c` runs is left on the core: its pick decides anew. True: the core was closing,
 * and the turn is still due. What runs here gives way then as it would have beside its siblings, or
 * they would close the core again, and kick this CPU, as often as it stays. Reads what core_turn_at
 * reads; writes wanted.
 */
bool core_reopen(struct sched *s, struct sched_cpu *c, ns_t now)
{
    bool was_closing = core_of(s, c)->wanted != NULL;

    core_of(s, c)->wanted = NULL;
    return was_closing && core_turn_at(s, c, now) <= now;
}

/* Gives up what it runs, and takes nothing else. Reads wanted; writes nothing. */
bool core_is_closing(const struct sched *s, const struct sched_cpu *c)
{
    return core_of(s, c)->wanted != NULL;
}

/*
 * The core closes for core_head(c); `c` itself is about to give up what it runs. Reads the queue,
 * online, and cur of the other siblings; writes wanted, turns, wanted_by of that unit, and what
 * place_kick writes.
 */
void core_close(struct sched *s, struct sched_cpu *c)
{
    struct unit *head = core_head(c);
    struct sched_cpu *first = runq_cpu(s, c->rq, c->siblings & -c->siblings);

    c->rq->turns++;
    first->core.wanted = head;
    head->wanted_by = first->cpu;
    runq_for_each_bit (bit, c->siblings & ~c->bit) {
        struct sched_cpu *other = runq_cpu(s, c->rq, bit);

        if (other->cur)
            place_kick(s, other);
    }
}

/*
 * Kicks the idle CPUs of `mask` that can run something now. Reads idle, tickled, and what core_held
 * and core_best read; writes what place_kick writes.
 */
static void core_kick(struct sched *s, struct sched_cpu *c, uint64_t mask)
{
    runq_for_each_bit (bit, mask & c->rq->idle & ~c->rq->tickled) {
        struct sched_cpu *other = runq_cpu(s, c->rq, bit);

        if (core_best(other, core_held(s, other)))
            place_kick(s, other);
    }
}

/*
 * The end of a pick on `c`: whatever changed, siblings that may run now are told. Reads cur of `c`,
 * and what core_kick reads; writes what place_kick writes.
 */
void core_picked(struct sched *s, struct sched_cpu *c)
{
    uint64_t others = held_by_others(s, c);

    ASSERT(!c->cur || core_allows(others, c->cur));
    core_kick(s, c, c->siblings & ~c->bit);
}

/*
 * `u` has just been picked on `c`: the start of a turn, if the core was another's or nobody's.
 * Reads saving of `c`, cur and saving of the other siblings; writes turn_at.
 */
void core_switched_in(struct sched *s, struct sched_cpu *c, const struct unit *u, ns_t now)
{
    struct sched_core *core = core_of(s, c);

    if (held_by_others(s, c) == CORE_FREE && (!c->saving || c->saving->vm_id != u->vm_id))
        core->turn_at = now;
}

/* Reads nothing; writes saving of `c` and of its runqueue. */
void core_switched_out(struct sched_cpu *c, struct unit *u)
{
    c->saving = u;
    c->rq->saving |= c->bit;
}

/*
 * `u` is saved. The last one of a core that closes, or empties, opens it; one that went offline in
 * between keeps it for what it still runs. Reads cur and online of its CPU, and what core_kick
 * reads; writes saving of the CPU and of the runqueue, wanted, and what idle_core_mend and
 * place_kick write.
 */
void core_saved(struct sched *s, struct unit *u)
{
    struct sched_cpu *c = &s->cpus[u->cpu];

    ASSERT(c->saving == u && c->rq == u->rq);
    c->saving = NULL;
    if (c->online || !c->cur)
        c->rq->saving &= ~c->bit;
    idle_core_mend(s, c);
    if (!c->cur && held_by_others(s, c) == CORE_FREE)
        core_of(s, c)->wanted = NULL;
    core_kick(s, c, c->siblings);
}

/*
 * For sched_check: the invariants of one CPU's core. Reads cur and saving of the siblings, online,
 * wanted, and saving of the runqueue; writes nothing.
 */
void core_check(const struct sched *s, const struct sched_cpu *c)
{
    uint64_t others = held_by_others(s, c);
    uint64_t own = held_with(held_with(CORE_FREE, c->cur), c->saving);

    ASSERT(!!(c->rq->saving & c->bit) == (c->saving || (c->cur && !c->online)));
    ASSERT(own == CORE_FREE || others == CORE_FREE || own == others);
    ASSERT(!core_of(s, c)->wanted || own != CORE_FREE || others != CORE_FREE);
}
