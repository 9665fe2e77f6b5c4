/*
 * Timers (see timer.h): a red-black tree by deadline for each CPU.
 *
 * A tree, not an array, because timers are members of vCPUs and VMs: an array would have to grow
 * with them, on a path that may not allocate.
 *
 * Invariants: timer->cpu names the tree whose lock guards the timer, armed or not, so it is found
 * by reading `cpu`, taking that lock and looking again. The hardware is set to the first deadline
 * of the CPU's own tree, or earlier: a timer that another CPU takes away leaves an alarm behind
 * that finds nothing due.
 */
#include "kernel/timer.h"

#include <errno.h>

#include "hv/assert.h"
#include "hv/atomic.h"
#include "hv/lock.h"
#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/mem.h"

#define RUNS_MAX 64u /* handlers run in a row */

RB_HEAD(timer_tree, timer);

struct timer_heap {
    struct spinlock lock;   /* rank LOCK_TIMER */
    struct timer_tree tree; /* [T] by deadline, then by address */
    struct timer *running;  /* [T] whose handler runs on this CPU now */
};

static int timer_compare(const struct timer *a, const struct timer *b)
{
    if (a->deadline != b->deadline)
        return a->deadline < b->deadline ? -1 : 1;
    return a < b ? -1 : a > b;
}

/*
 * RB_GENERATE_STATIC by its expansion: Debian's <bsd/sys/cdefs.h> leaves its `__unused` undefined.
 */
RB_GENERATE_INTERNAL(timer_tree, timer, node, timer_compare, __attribute__((unused)) static)

int timer_cpu_init(struct cpu *cpu)
{
    struct timer_heap *heap = mem_zalloc(sizeof(*heap), cpu->place.node);

    if (!heap)
        return -ENOMEM;
    spin_init(&heap->lock, LOCK_TIMER);
    RB_INIT(&heap->tree);
    cpu->timers = heap;
    return 0;
}

void timer_init(struct timer *timer, void (*fn)(struct timer *timer, ns_t now))
{
    *timer = (struct timer){.deadline = NS_NEVER, .fn = fn};
}

/* The locked tree that guards the timer. */
static struct timer_heap *lock_heap_of(struct timer *timer) NO_THREAD_SAFETY
{
    for (;;) {
        uint32_t cpu = atomic_get(&timer->cpu);
        struct timer_heap *heap = cpus[cpu]->timers;

        spin_lock(&heap->lock);
        if (timer->cpu == cpu)
            return heap;
        spin_unlock(&heap->lock); /* moved meanwhile */
    }
}

/* The same, once its handler runs on no other CPU than this one. */
static struct timer_heap *lock_quiet_heap_of(struct timer *timer) NO_THREAD_SAFETY
{
    for (;;) {
        struct timer_heap *heap = lock_heap_of(timer);

        if (heap->running != timer || heap == cpu_this()->timers)
            return heap;
        spin_unlock(&heap->lock);
        __builtin_ia32_pause();
    }
}

static bool take_off(struct timer_heap *heap, struct timer *timer) MUST_HOLD(heap->lock)
{
    if (timer->deadline == NS_NEVER)
        return false;
    RB_REMOVE(timer_tree, &heap->tree, timer);
    timer->deadline = NS_NEVER;
    return true;
}

void timer_arm(struct timer *timer, ns_t deadline) NO_THREAD_SAFETY
{
    struct cpu *me = cpu_this();
    struct timer_heap *heap;

    for (;;) {
        heap = lock_quiet_heap_of(timer);
        take_off(heap, timer);
        if (heap == me->timers)
            break;
        /* Whoever arms it at the same time looks at `cpu` again under the lock. */
        atomic_set(&timer->cpu, me->id);
        spin_unlock(&heap->lock);
    }
    if (deadline != NS_NEVER) {
        timer->deadline = deadline;
        RB_INSERT(timer_tree, &heap->tree, timer);
        if (RB_MIN(timer_tree, &heap->tree) == timer)
            arch_timer_set(deadline);
    }
    spin_unlock(&heap->lock);
}

bool timer_cancel(struct timer *timer) NO_THREAD_SAFETY
{
    struct timer_heap *heap = lock_quiet_heap_of(timer);
    bool was_armed = take_off(heap, timer);

    spin_unlock(&heap->lock);
    return was_armed;
}

/*
 * At most RUNS_MAX handlers, so that one that arms itself in the past cannot hold the CPU here; the
 * hardware then fires again at once.
 */
void timer_run_due(ns_t now)
{
    struct timer_heap *heap = cpu_this()->timers;
    struct timer *first;

    spin_lock(&heap->lock);
    for (uint32_t runs = 0;; runs++) {
        first = RB_MIN(timer_tree, &heap->tree);
        if (!first || first->deadline > now || runs == RUNS_MAX)
            break;
        take_off(heap, first);
        heap->running = first;
        spin_unlock(&heap->lock);
        first->fn(first, now);
        spin_lock(&heap->lock);
        heap->running = NULL;
    }
    arch_timer_set(first ? first->deadline : NS_NEVER);
    spin_unlock(&heap->lock);
}
