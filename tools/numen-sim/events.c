/*
 * A heap of four children a node: half as deep as a binary one, and the children share a cache
 * line.
 */
#include "tools/numen-sim/events.h"

#include <stdlib.h>

#include "hv/assert.h"
#include "tools/numen-sim/memory.h"

#define CHILDREN 4u

void events_init(struct events *q, uint32_t capacity)
{
    *q = (struct events){.heap = sim_alloc(capacity, sizeof(struct event *)), .capacity = capacity};
}

void events_free(struct events *q)
{
    free(q->heap);
}

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void put(struct events *q, uint32_t i, struct event *e)
{
    q->heap[i] = e;
    e->slot = i + 1;
}

static void sift_up(struct events *q, uint32_t i)
{
    struct event *e = q->heap[i];

    while (i) {
        uint32_t parent = (i - 1) / CHILDREN;

        if (!is_before(e, q->heap[parent]))
            break;
        put(q, i, q->heap[parent]);
        i = parent;
    }
    put(q, i, e);
}

static void sift_down(struct events *q, uint32_t i)
{
    struct event *e = q->heap[i];

    for (;;) {
        uint32_t first = i * CHILDREN + 1;
        uint32_t least = first;

        if (first >= q->count)
            break;
        for (uint32_t c = first + 1; c < first + CHILDREN && c < q->count; c++)
            if (is_before(q->heap[c], q->heap[least]))
                least = c;
        if (!is_before(q->heap[least], e))
            break;
        put(q, i, q->heap[least]);
        i = least;
    }
    put(q, i, e);
}

static void take_out(struct events *q, struct event *e)
{
    uint32_t i = e->slot - 1;
    struct event *last = q->heap[--q->count];

    e->slot = 0;
    if (last == e)
        return;
    put(q, i, last);
    sift_up(q, i);
    sift_down(q, last->slot - 1);
}

void event_set(struct events *q, struct event *e, ns_t at)
{
    if (e->slot && e->at == at)
        return;
    if (at == NS_NEVER) {
        if (e->slot)
            take_out(q, e);
        return;
    }
    e->at = at;
    e->order = q->set++;
    if (!e->slot) {
        ASSERT(q->count < q->capacity);
        put(q, q->count++, e);
    }
    sift_up(q, e->slot - 1);
    sift_down(q, e->slot - 1);
}

struct event *events_pop(struct events *q)
{
    struct event *e = q->count ? q->heap[0] : NULL;

    if (e)
        take_out(q, e);
    return e;
}
