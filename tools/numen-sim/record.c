/* See record.h. */
#include "tools/numen-sim/record.h"

#include <stdlib.h>
#include <string.h>

#include "hv/bits.h"
#include "hv/trace_events.h"
#include "tools/numen-sim/memory.h"
#include "tools/numen-sim/sim.h"

#define EVENT_NAMES(id, name, a, b) {name, a, b},
static const struct {
    const char *name, *a, *b;
} names[] = {TRACE_EVENT_LIST(EVENT_NAMES)};
#undef EVENT_NAMES

struct record *record_new(const struct sim *sim, FILE *trace, bool spans)
{
    struct record *r = sim_alloc(1, sizeof(*r));

    r->trace = trace;
    if (spans) {
        r->spans = sim_alloc(RECORD_SPANS_MAX, sizeof(*r->spans));
        r->open = sim_alloc(sim->ncpus, sizeof(*r->open));
    }
    return r;
}

void record_free(struct record *r)
{
    if (!r)
        return;
    free(r->spans);
    free(r->open);
    free(r);
}

static void print_unit(const char *what, uint64_t id, FILE *out)
{
    if (id == TRACE_NO_UNIT)
        fprintf(out, " %s=idle", what);
    else
        fprintf(out, " %s=%llu/%llu", what, (unsigned long long)(id >> 32),
                (unsigned long long)(id & UINT32_MAX));
}

static bool is_unit(const char *what)
{
    return !strcmp(what, "unit") || !strcmp(what, "from") || !strcmp(what, "to");
}

static void print_argument(const char *what, uint64_t value, FILE *out)
{
    if (is_unit(what))
        print_unit(what, value, out);
    else
        fprintf(out, " %s=%llu", what, (unsigned long long)value);
}

static void print_event(const struct record_event *e, FILE *out)
{
    ns_t at = e->at - SIM_BEGIN;

    fprintf(out, "%llu.%06llu ms cpu %u %s", (unsigned long long)(at / NS_PER_MS),
            (unsigned long long)(at % NS_PER_MS), e->cpu, names[e->event].name);
    print_argument(names[e->event].a, e->a, out);
    print_argument(names[e->event].b, e->b, out);
    fputc('\n', out);
}

void record_add(struct record *r, ns_t at, uint32_t cpu, uint32_t event, uint64_t a, uint64_t b)
{
    struct record_event *e = &r->last[r->count++ % RECORD_LAST];

    *e = (struct record_event){at, cpu, event, a, b};
    if (r->trace)
        print_event(e, r->trace);
}

void record_print_last(const struct record *r, FILE *out)
{
    uint64_t n = MIN(r->count, RECORD_LAST);

    for (uint64_t i = r->count - n; i < r->count; i++)
        print_event(&r->last[i % RECORD_LAST], out);
}

void record_switch(struct record *r, ns_t at, const struct sim_cpu *c)
{
    if (!r->spans)
        return;
    if (r->open[c->cpu])
        r->spans[r->open[c->cpu] - 1].to = at;
    r->open[c->cpu] = 0;
    if (!c->cur)
        return;
    if (r->nspans == RECORD_SPANS_MAX) {
        r->dropped++;
        return;
    }
    r->spans[r->nspans] = (struct record_span){c->cur, c->cpu, at, NS_NEVER};
    r->open[c->cpu] = ++r->nspans;
}
