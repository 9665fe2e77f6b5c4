/*
 * The trace's rings (see trace.h).
 *
 * A reader sees whole records because it reads while the trace is off. A CPU that was inside
 * trace_write when it was switched off finishes one record; reading that one half-written shows an
 * odd line and harms nothing, for every field is checked before it is used.
 */
#include "kernel/trace.h"

#include <errno.h>

#include "hv/bits.h"
#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/mem.h"

bool trace_is_on;

/* [c] CPU 0: how far each ring has been read. */
static uint64_t cursors[CPUS_MAX];

static const struct {
    const char *name;
    const char *args[2];
} events[] = {
#define EVENT_ROW(id, name, a, b) {name, {a, b}},
    TRACE_EVENT_LIST(EVENT_ROW)
#undef EVENT_ROW
};

void trace_write(uint32_t cpu, uint32_t event, uint64_t a, uint64_t b)
{
    /* Acquire: the ring's memory is zeroed before its pointer is seen; partner trace_make_ring. */
    struct trace_ring *ring = atomic_get_acquire(&cpu_this()->trace);

    if (!ring)
        return;
    ring->records[ring->head % TRACE_RING_EVENTS] =
        (struct trace_record){.time = arch_now(), .event = event, .cpu = cpu, .a = a, .b = b};
    atomic_set(&ring->head, ring->head + 1);
}

int trace_make_ring(uint32_t cpu)
{
    struct trace_ring *ring;

    if (!cpus[cpu] || cpus[cpu]->trace)
        return 0;
    ring = mem_zalloc(sizeof(*ring), cpus[cpu]->place.node);
    if (!ring)
        return -ENOMEM;
    atomic_set_release(&cpus[cpu]->trace, ring);
    return 0;
}

static const struct trace_ring *ring_of(uint32_t cpu)
{
    return cpus[cpu] ? cpus[cpu]->trace : NULL;
}

static uint64_t oldest(const struct trace_ring *ring)
{
    uint64_t head = atomic_get(&ring->head);

    return head - MIN(head, (uint64_t)TRACE_RING_EVENTS);
}

uint64_t trace_count(void)
{
    uint64_t sum = 0;

    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        const struct trace_ring *ring = ring_of(cpu);

        sum += ring ? atomic_get(&ring->head) - oldest(ring) : 0;
    }
    return sum;
}

void trace_rewind(void)
{
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++)
        if (ring_of(cpu))
            cursors[cpu] = oldest(ring_of(cpu));
}

/* The earliest of the rings' next records: O(CPUs) for each, which a console's pace hides. */
bool trace_next(struct trace_record *record)
{
    uint32_t from = CPUS_MAX;

    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        const struct trace_ring *ring = ring_of(cpu);
        const struct trace_record *next;

        if (!ring || cursors[cpu] >= atomic_get(&ring->head))
            continue;
        next = &ring->records[cursors[cpu] % TRACE_RING_EVENTS];
        if (from < CPUS_MAX && next->time >= record->time)
            continue;
        *record = *next;
        from = cpu;
    }
    if (from == CPUS_MAX)
        return false;
    cursors[from]++;
    return true;
}

const char *trace_event_name(uint32_t event)
{
    return event < TRACE_EVENT_COUNT ? events[event].name : "unknown";
}

const char *trace_arg_name(uint32_t event, uint32_t arg)
{
    return event < TRACE_EVENT_COUNT ? events[event].args[arg] : "argument";
}
