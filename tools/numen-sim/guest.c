/*
 * See guest.h. Source of the rules: Linux 4.14 to 5.7, kernel/sched/fair.c (wake_affine_idle,
 * select_idle_sibling) and core.c (ttwu_queue), as described in the thread of seed 5; behaviour,
 * not code.
 *
 * A vCPU runs its tasks in turn, SLICE_NS at most while another waits; one without a task pulls one
 * that waits elsewhere before it halts.
 */
#include "tools/numen-sim/guest.h"

#include <stdlib.h>

#include "hv/bits.h"
#include "tools/numen-sim/memory.h"

#define SLICE_NS (3 * NS_PER_MS)

static void queue_put(struct guest_queue *q, struct guest_task *t)
{
    t->next = NULL;
    if (q->last)
        q->last->next = t;
    else
        q->first = t;
    q->last = t;
    q->count++;
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

/* ---- running ---- */

static void take_woken(struct guest_vcpu *gv)
{
    for (struct guest_task *t; (t = queue_take(&gv->woken));)
        queue_put(&gv->ready, t);
}

/* From the vCPU where most wait. */
static struct guest_task *pull(struct guest *g)
{
    struct guest_queue *longest = NULL;

    for (uint32_t i = 0; i < g->vm->nvcpus; i++)
        if (g->vcpus[i].ready.count && (!longest || g->vcpus[i].ready.count > longest->count))
            longest = &g->vcpus[i].ready;
    return longest ? queue_take(longest) : NULL;
}

static struct guest_task *choose(struct guest *g, struct guest_vcpu *gv)
{
    struct guest_task *t = queue_take(&gv->ready);

    return t ? t : pull(g);
}

static void run(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_task *t,
                ns_t overhead)
{
    ns_t slice = g->vcpus[v->index].ready.count ? MIN(t->work, SLICE_NS) : t->work;

    t->work -= slice;
    vcpu_compute(sim, v, slice + overhead);
}

/* The current task's slice or work is over; true if it goes on. */
static bool go_on(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_vcpu *gv)
{
    struct guest_task *t = gv->current;

    if (t->work) { /* only its slice ended */
        t->state = TASK_READY;
        queue_put(&gv->ready, t);
        return false;
    }
    g->step(sim, g, v, t);
    return t->state == TASK_RUNNING;
}

void guest_next(struct sim *sim, struct guest *g, struct vcpu *v)
{
    struct guest_vcpu *gv = &g->vcpus[v->index];

    take_woken(gv);
    if (gv->current && go_on(sim, g, v, gv)) {
        run(sim, g, v, gv->current, 0);
        return;
    }
    gv->current = choose(g, gv);
    if (!gv->current) {
        vcpu_halt(sim, v, NS_NEVER);
        return;
    }
    gv->current->state = TASK_RUNNING;
    gv->current->vcpu = v->index;
    run(sim, g, v, gv->current, g->switch_ns);
}

/* What other caches sent is looked at. */
void guest_arrived(struct sim *sim, struct guest *g, struct vcpu *v, bool interrupted)
{
    (void)sim;
    if (interrupted)
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

/* The task's last CPU, or the waker's if it is idle enough: at once, or as soon as it blocks. */
static uint32_t choose_affine(const struct guest *g, uint32_t waker, uint32_t last, bool sync)
{
    if (is_idle(g, last) && share_cache(g, waker, last))
        return last;
    if (sync && !g->vcpus[waker].ready.count)
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
    uint32_t target;
    struct guest_vcpu *gv;
    bool idle;

    if (t->state != TASK_BLOCKED)
        return;
    g->wakes++;
    target = choose_idle(g, choose_affine(g, v->index, t->vcpu, sync), t->vcpu);
    gv = &g->vcpus[target];
    idle = is_idle(g, target);
    t->state = TASK_READY;
    t->vcpu = target;
    vcpu_charge(v, g->wake_ns);
    if (target == v->index || share_cache(g, v->index, target)) {
        queue_put(&gv->ready, t);
        if (target == v->index || !idle)
            return;
    } else {
        queue_put(&gv->woken, t);
        if (gv->woken.count > 1)
            return; /* its interrupt is on the way */
    }
    g->remote_wakes++;
    vcpu_interrupt(sim, v, &g->vm->vcpus[target]);
}
