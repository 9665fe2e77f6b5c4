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

RB_HEAD(timer_rb, timer);

struct timer_tree {
    struct spinlock lock;  /* rank LOCK_TIMER */
    struct timer_rb rb;    /* [T] by deadline, then by address */
    struct timer *running; /* [T] whose handler runs on this CPU now */
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
RB_GENERATE_INTERNAL(timer_rb, timer, node, timer_compare, __attribute__((unused)) static)

int timer_cpu_init(struct cpu *cpu)
{
    struct timer_tree *tree = mem_zalloc(sizeof(*tree), cpu->place.node);

    if (!tree)
        return -ENOMEM;
    spin_init(&tree->lock, LOCK_TIMER);
    RB_INIT(&tree->rb);
    cpu->timers = tree;
    return 0;
}

void timer_init(struct timer *timer, void (*fn)(struct timer *timer, ns_t now))
{
    *timer = (struct timer){.deadline = NS_NEVER, .fn = fn};
}

/* The locked tree that guards the timer. */
static struct timer_tree *lock_tree_of(struct timer *timer) NO_THREAD_SAFETY
{
    for (;;) {
        uint32_t cpu = atomic_get(&timer->cpu);
        struct timer_tree *tree = cpus[cpu]->timers;

        spin_lock(&tree->lock);
        if (timer->cpu == cpu)
            return tree;
        spin_unlock(&tree->lock); /* moved meanwhile */
    }
}

/* The same, once its handler runs on no other CPU than this one. */
static struct timer_tree *lock_quiet_tree_of(struct timer *timer) NO_THREAD_SAFETY
{
    for (;;) {
        struct timer_tree *tree = lock_tree_of(timer);

        if (tree->running != timer || tree == cpu_this()->timers)
            return tree;
        spin_unlock(&tree->lock);
        __builtin_ia32_pause();
    }
}

static bool take_off(struct timer_tree *tree, struct timer *timer) MUST_HOLD(tree->lock)
{
    if (timer->deadline == NS_NEVER)
        return false;
    RB_REMOVE(timer_rb, &tree->rb, timer);
    timer->deadline = NS_NEVER;
    return true;
}

void timer_arm(struct timer *timer, ns_t deadline) NO_THREAD_SAFETY
{
    struct cpu *me = cpu_this();
    struct timer_tree *tree;

    for (;;) {
        tree = lock_quiet_tree_of(timer);
        take_off(tree, timer);
        if (tree == me->timers)
            break;
        /* Whoever arms it at the same time looks at `cpu` again under the lock. */
        atomic_set(&timer->cpu, me->id);
        spin_unlock(&tree->lock);
    }
    if (deadline != NS_NEVER) {
        timer->deadline = deadline;
        RB_INSERT(timer_rb, &tree->rb, timer);
        if (RB_MIN(timer_rb, &tree->rb) == timer)
            arch_timer_set(deadline);
    }
    spin_unlock(&tree->lock);
}

bool timer_cancel(struct timer *timer) NO_THREAD_SAFETY
{
    struct timer_tree *tree = lock_quiet_tree_of(timer);
    bool was_armed = take_off(tree, timer);

    spin_unlock(&tree->lock);
    return was_armed;
}

/*
 * At most RUNS_MAX handlers, so that one that arms itself in the past cannot hold the CPU here; the
 * hardware then fires again at once.
 */
void timer_run_due(ns_t now)
{
    struct timer_tree *tree = cpu_this()->timers;
    struct timer *first;

    spin_lock(&tree->lock);
    for (uint32_t runs = 0;; runs++) {
        first = RB_MIN(timer_rb, &tree->rb);
        if (!first || first->deadline > now || runs == RUNS_MAX)
            break;
        take_off(tree, first);
        tree->running = first;
        spin_unlock(&tree->lock);
        first->fn(first, now);
        spin_lock(&tree->lock);
        tree->running = NULL;
    }
    arch_timer_set(first ? first->deadline : NS_NEVER);
    spin_unlock(&tree->lock);
}

/* A timer whose handler runs stays: whoever cancels it waits for that by its tree. */
static bool may_be_adopted(const struct cpu *from, const struct timer *timer)
{
    return timer != from->timers->running && timer != &from->slice && timer != &from->work.timer;
}

void timer_adopt(struct cpu *from) NO_THREAD_SAFETY
{
    struct cpu *me = cpu_this();
    struct timer_tree *mine = me->timers, *its = from->timers;
    struct timer *next;

    ASSERT(me->id < from->id);
    spin_lock(&mine->lock);
    spin_lock_nested(&its->lock);
    for (struct timer *timer = RB_MIN(timer_rb, &its->rb); timer; timer = next) {
        next = RB_NEXT(timer_rb, &its->rb, timer);
        if (!may_be_adopted(from, timer))
            continue;
        RB_REMOVE(timer_rb, &its->rb, timer);
        atomic_set(&timer->cpu, me->id);
        RB_INSERT(timer_rb, &mine->rb, timer);
    }
    next = RB_MIN(timer_rb, &mine->rb);
    arch_timer_set(next ? next->deadline : NS_NEVER);
    spin_unlock(&its->lock);
    spin_unlock(&mine->lock);
}
