/*
 * See guest.h. Source of the rules, as behaviour and not as code: Linux 4.14 to 5.7,
 * kernel/sched/fair.c (wake_affine_idle, select_idle_sibling, place_entity, check_preempt_wakeup,
 * check_preempt_tick) and core.c (ttwu_queue, resched_curr).
 *
 * A vCPU runs the task with the least virtual run time. A woken task keeps what it is behind, up to
 * BONUS_NS, and takes the CPU from one that is GRAN_NS ahead of it: a task that wakes for every
 * message soon does so each time, and that is what makes messaging block as often as it does. The
 * three times are Linux's for 8 CPUs (6, 0.75 and 1 ms, times 1 + log2 of the CPUs). One without a
 * task pulls one that waits elsewhere before it halts.
 */
#include "tools/numen-sim/guest.h"

#include <stdlib.h>

#include "hv/bits.h"
#include "tools/numen-sim/memory.h"

#define LATENCY_NS (24 * NS_PER_MS)
#define SLICE_NS   (3 * NS_PER_MS)
#define GRAN_NS    (4 * NS_PER_MS)
#define BONUS_NS   (LATENCY_NS / 2)
#define WINDOW_NS  (46 * NS_PER_MS) /* of loads, that halve in 32 ms */
#define LOAD_FULL  1024

/* Behind `before`; NULL: first. */
static void queue_put_behind(struct guest_queue *q, struct guest_task *before, struct guest_task *t)
{
    struct guest_task **link = before ? &before->next : &q->first;

    t->next = *link;
    *link = t;
    if (!t->next)
        q->last = t;
    q->count++;
}

/* In the order they came. */
static void queue_put(struct guest_queue *q, struct guest_task *t)
{
    queue_put_behind(q, q->last, t);
}

/* By virtual run time; of equal ones the first stays first. */
static void queue_put_sorted(struct guest_queue *q, struct guest_task *t)
{
    struct guest_task *before = NULL;

    for (struct guest_task *at = q->first; at && at->vruntime <= t->vruntime; at = at->next)
        before = at;
    queue_put_behind(q, before, t);
}

static struct guest_task *queue_take(struct guest_queue *q)
{
    struct guest_task *t = q->first;

    if (!t)
        return NULL;
    q->first = t->next;
    if (!q->first)
        q->last = NULL;
    q->count--;
    return t;
}

void guest_init(struct guest *g, struct sim_vm *vm, uint32_t ntasks, guest_step *step)
{
    g->vm = vm;
    g->step = step;
    g->shares_cache = vm->config->guest.l3_cache;
    g->ntasks = ntasks;
    g->tasks = sim_alloc(ntasks, sizeof(*g->tasks));
    g->vcpus = sim_alloc(vm->nvcpus, sizeof(*g->vcpus));
    for (uint32_t i = 0; i < ntasks; i++) {
        struct guest_task *t = &g->tasks[i];

        *t = (struct guest_task){.index = i, .state = TASK_READY, .vcpu = i % vm->nvcpus};
        queue_put(&g->vcpus[t->vcpu].ready, t);
    }
}

void guest_free(struct guest *g)
{
    free(g->tasks);
    free(g->vcpus);
}

void guest_work(struct guest_task *t, ns_t ns)
{
    t->work += ns;
}

void guest_block(struct guest_task *t)
{
    t->state = TASK_BLOCKED;
}

/* ---- virtual run time ---- */

/* What tasks are ahead or behind of here: the least run time of what runs and waits, never back. */
static void floor_update(struct guest_vcpu *gv)
{
    const struct guest_task *first = gv->ready.first;
    int64_t least;

    if (!gv->current && !first)
        return;
    least = gv->current ? gv->current->vruntime : first->vruntime;
    if (first)
        least = MIN(least, first->vruntime);
    gv->floor = MAX(gv->floor, least);
}

/* Keeps what it is ahead or behind. */
static void rebase(struct guest_task *t, const struct guest_vcpu *from, const struct guest_vcpu *to)
{
    t->vruntime += to->floor - from->floor;
}

/* Time that passes while the current task runs is its own, exits included: a guest sees no others.
 */
static void spend(struct guest_vcpu *gv, ns_t ns)
{
    gv->ran += ns;
    if (gv->current)
        gv->current->vruntime += (int64_t)ns;
}

/* A woken task joins those that wait; true if it is to have the CPU at once. */
static bool enqueue(struct guest_vcpu *gv, struct guest_task *t)
{
    t->vruntime = MAX(t->vruntime, gv->floor - (int64_t)BONUS_NS);
    queue_put_sorted(&gv->ready, t);
    if (!gv->current || gv->current->vruntime - t->vruntime <= (int64_t)GRAN_NS)
        return false;
    gv->preempted = true;
    return true;
}

/* ---- load ---- */

/* It was runnable, or not, since the last time. */
static void load_settle(struct guest_task *t, bool was_runnable, ns_t now)
{
    int64_t passed = (int64_t)MIN(now - t->loaded_at, WINDOW_NS);
    int64_t wanted = was_runnable ? LOAD_FULL : 0;

    t->load = (uint32_t)(t->load + (wanted - t->load) * passed / (int64_t)WINDOW_NS);
    t->loaded_at = now;
}

static uint32_t load_of(struct guest_vcpu *gv, ns_t now)
{
    uint32_t sum = 0;

    if (gv->current)
        load_settle(gv->current, true, now);
    sum = gv->current ? gv->current->load : 0;
    for (struct guest_task *t = gv->ready.first; t; t = t->next) {
        load_settle(t, true, now);
        sum += t->load;
    }
    return sum;
}

/* ---- running ---- */

static void take_woken(struct guest_vcpu *gv)
{
    for (struct guest_task *t; (t = queue_take(&gv->woken));)
        enqueue(gv, t);
}

/* From the vCPU where most wait. */
static struct guest_task *pull(struct guest *g, struct guest_vcpu *to)
{
    struct guest_vcpu *from = NULL;
    struct guest_task *t;

    for (uint32_t i = 0; i < g->vm->nvcpus; i++)
        if (g->vcpus[i].ready.count && (!from || g->vcpus[i].ready.count > from->ready.count))
            from = &g->vcpus[i];
    if (!from)
        return NULL;
    t = queue_take(&from->ready);
    rebase(t, from, to);
    return t;
}

static struct guest_task *choose(struct guest *g, struct guest_vcpu *gv)
{
    struct guest_task *t = queue_take(&gv->ready);

    return t ? t : pull(g, gv);
}

/* Of the current task, on beyond what it has had, while others wait. */
static ns_t slice_of(const struct guest_vcpu *gv)
{
    ns_t slice = MAX(LATENCY_NS / (gv->ready.count + 1), SLICE_NS);

    return slice > gv->ran ? slice - gv->ran : 0;
}

static void run(struct guest *g, struct vcpu *v, struct guest_task *t, ns_t overhead)
{
    struct guest_vcpu *gv = &g->vcpus[v->index];
    ns_t slice = gv->ready.count ? MIN(t->work, MAX(slice_of(gv), 1u)) : t->work;

    t->work -= slice;
    t->vruntime += (int64_t)(slice + overhead);
    gv->ran += slice + overhead;
    floor_update(gv);
    vcpu_compute(v, slice + overhead);
}

/* Does the current task go on, its slice or its work being over? */
static bool go_on(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_vcpu *gv)
{
    struct guest_task *t = gv->current;

    if (!t->work)
        g->step(sim, g, v, t);
    if (t->state != TASK_RUNNING) {
        load_settle(t, true, sim->now);
        return false;
    }
    if (!gv->preempted && (!gv->ready.count || slice_of(gv)))
        return true;
    t->state = TASK_READY;
    queue_put_sorted(&gv->ready, t);
    return false;
}

void guest_next(struct sim *sim, struct guest *g, struct vcpu *v)
{
    struct guest_vcpu *gv = &g->vcpus[v->index];

    take_woken(gv);
    if (gv->current && go_on(sim, g, v, gv)) {
        run(g, v, gv->current, 0);
        return;
    }
    gv->current = NULL;
    gv->preempted = false;
    gv->ran = 0;
    gv->current = choose(g, gv);
    if (!gv->current) {
        vcpu_halt(sim, v, NS_NEVER);
        return;
    }
    gv->current->state = TASK_RUNNING;
    gv->current->vcpu = v->index;
    run(g, v, gv->current, g->switch_ns);
}

/* What other caches sent is looked at. */
void guest_arrived(struct sim *sim, struct guest *g, struct vcpu *v, bool interrupted)
{
    if (!interrupted)
        return;
    spend(&g->vcpus[v->index], sim->scenario->machine.exit_ns);
    take_woken(&g->vcpus[v->index]);
}

/* ---- waking ---- */

static bool is_idle(const struct guest *g, uint32_t vcpu)
{
    const struct guest_vcpu *gv = &g->vcpus[vcpu];

    return !gv->current && !gv->ready.count && !gv->woken.count;
}

static bool share_cache(const struct guest *g, uint32_t a, uint32_t b)
{
    return a == b || g->shares_cache;
}

static void note_wakee(struct guest_task *waker, const struct guest_task *t, ns_t now)
{
    if (now >= waker->flips_halved + NS_PER_SEC) {
        waker->flips /= 2;
        waker->flips_halved = now;
    }
    waker->flips += waker->last_wakee != t;
    waker->last_wakee = t;
}

/*
 * One that wakes many who wake many: they had better stay where they are. "Many" is measured by the
 * CPUs that share a cache (wake_wide), so that few are enough where none is shared.
 */
static bool is_wide(const struct guest *g, const struct guest_task *waker,
                    const struct guest_task *t)
{
    uint64_t factor = g->shares_cache ? g->vm->nvcpus : 1;
    uint64_t master = MAX(waker->flips, t->flips), slave = MIN(waker->flips, t->flips);

    return slave >= factor && master >= slave * factor;
}

/*
 * The task's last CPU, or the waker's: if it is idle as soon as the waker blocks, or if its load
 * without the waker's is less than the last one's (wake_affine_idle, wake_affine_weight, which has
 * a bias of 12 % and takes the task's own load off the last CPU's though it sleeps).
 */
static uint32_t choose_affine(const struct guest *g, uint32_t waker, const struct guest_task *t,
                              bool sync, ns_t now)
{
    uint32_t last = t->vcpu;
    int64_t here = load_of(&g->vcpus[waker], now), there = load_of(&g->vcpus[last], now);

    if (is_idle(g, last) && share_cache(g, waker, last))
        return last;
    if (sync && !g->vcpus[waker].ready.count)
        return waker;
    if (sync)
        here -= g->vcpus[waker].current->load;
    if (100 * (here + t->load) < 112 * (there - t->load) + sync)
        return waker;
    return last;
}

/* `target`, or an idle CPU that shares its cache: the last one first. */
static uint32_t choose_idle(const struct guest *g, uint32_t target, uint32_t last)
{
    if (is_idle(g, target))
        return target;
    if (share_cache(g, target, last) && is_idle(g, last))
        return last;
    for (uint32_t i = 1; g->shares_cache && i < g->vm->nvcpus; i++) {
        uint32_t other = (target + i) % g->vm->nvcpus;

        if (is_idle(g, other))
            return other;
    }
    return target;
}

void guest_wake(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_task *t, bool sync)
{
    struct guest_task *waker = g->vcpus[v->index].current;
    uint32_t target;
    struct guest_vcpu *gv;
    bool idle;

    if (t->state != TASK_BLOCKED)
        return;
    note_wakee(waker, t, sim->now);
    load_settle(t, false, sim->now);
    target = is_wide(g, waker, t) ? t->vcpu : choose_affine(g, v->index, t, sync, sim->now);
    target = choose_idle(g, target, t->vcpu);
    gv = &g->vcpus[target];
    idle = is_idle(g, target);
    rebase(t, &g->vcpus[t->vcpu], gv);
    t->state = TASK_READY;
    t->vcpu = target;
    vcpu_charge(v, g->wake_ns);
    spend(&g->vcpus[v->index], g->wake_ns);
    if (target == v->index || share_cache(g, v->index, target)) {
        bool preempts = enqueue(gv, t);

        if (target == v->index || !(idle || preempts))
            return;
    } else {
        queue_put(&gv->woken, t);
        if (gv->woken.count > 1)
            return; /* its interrupt is on the way */
    }
    spend(&g->vcpus[v->index], sim->scenario->machine.exit_ns);
    vcpu_interrupt(sim, v, &g->vm->vcpus[target]);
}
