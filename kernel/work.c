/*
 * Resumable work items (see work.h).
 *
 * The inbox is a stack that any CPU pushes on and only the owner empties, as a whole, so it needs
 * neither a lock nor a guard against reuse of an item.
 */
#include "kernel/work.h"

#include "hv/atomic.h"
#include "kernel/arch.h"
#include "kernel/cpu.h"

#define SHARE_NS  (100 * NS_PER_US) /* what a busy CPU gives at a time: a tenth */
#define PERIOD_NS NS_PER_MS

void work_queue(struct cpu *cpu, struct work *work)
{
    struct work *top = atomic_get(&cpu->work.inbox);

    /* The exchange is a release for the item's fields; its partner is take_inbox. */
    do {
        work->next = top;
    } while (!atomic_cas(&cpu->work.inbox, &top, work));
    cpu_hazard(cpu, HAZARD_WORK);
}

static void append(struct work_list *list, struct work *work)
{
    work->next = NULL;
    if (list->tail)
        list->tail->next = work;
    else
        list->head = work;
    list->tail = work;
}

/* The inbox holds the newest first: turn it round. */
static void take_inbox(struct work_list *list)
{
    struct work *newest, *oldest = NULL;

    if (!atomic_get(&list->inbox))
        return;
    newest = atomic_exchange(&list->inbox, NULL);
    while (newest) {
        struct work *older = newest->next;

        newest->next = oldest;
        oldest = newest;
        newest = older;
    }
    while (oldest) {
        struct work *younger = oldest->next;

        append(list, oldest);
        oldest = younger;
    }
}

bool work_step(void)
{
    struct work_list *list = &cpu_this()->work;
    struct work *work;

    take_inbox(list);
    work = list->head;
    if (!work)
        return false;
    list->head = work->next;
    if (!list->head)
        list->tail = NULL;
    /* Off the list while it runs: a step may free its item or queue it elsewhere. */
    if (!work->step(work))
        append(list, work);
    return true;
}

static void share_due(struct timer *timer, ns_t now)
{
    (void)timer;
    (void)now;
    cpu_hazard(cpu_this(), HAZARD_WORK);
}

void work_take_share(ns_t now)
{
    struct work_list *list = &cpu_this()->work;

    if (now >= list->share_after) {
        list->share_after = now + PERIOD_NS;
        while (work_step() && arch_now() - now < SHARE_NS)
            ;
    }
    if (!list->head && !atomic_get(&list->inbox))
        return;
    if (!list->timer.fn)
        timer_init(&list->timer, share_due);
    timer_arm(&list->timer, list->share_after);
}
