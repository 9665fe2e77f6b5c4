/* Gathering and printing. See results.h. */
#include "tools/numen-sim/results.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "tools/numen-sim/memory.h"
#include "tools/numen-sim/vcpu.h"

#define DECIMALS_MAX 9 /* of a second: a nanosecond */

void results_init(struct results *r, uint32_t first_seed, uint32_t seeds)
{
    *r = (struct results){.first_seed = first_seed, .seeds = seeds};
}

void results_free(struct results *r)
{
    for (uint32_t i = 0; i < r->nseries; i++) {
        free(r->series[i].values);
        free(r->series[i].seeds);
    }
    free(r->series);
}

/*
 * NULL: it is new, as all are in the first seed. Series come in nearly the same order from every
 * seed, so the search begins behind the one that was found last.
 */
static struct series *series_find(struct results *r, const char *vm, const struct metric *m)
{
    for (uint32_t i = 0; r->done && i < r->nseries; i++) {
        uint32_t at = (r->next + i) % r->nseries;

        if (strcmp(r->series[at].vm, vm) == 0 && strcmp(r->series[at].name, m->name) == 0) {
            r->next = at + 1;
            return &r->series[at];
        }
    }
    return NULL;
}

static struct series *series_new(struct results *r, const char *vm, const struct metric *m)
{
    struct series *s;

    if (r->nseries == r->capacity) {
        uint32_t more = r->capacity ? 2 * r->capacity : 64;
        struct series *grown = sim_alloc(more, sizeof(*grown));

        if (r->nseries)
            memcpy(grown, r->series, r->nseries * sizeof(*grown));
        free(r->series);
        r->series = grown;
        r->capacity = more;
    }
    s = &r->series[r->nseries++];
    snprintf(s->vm, sizeof(s->vm), "%s", vm);
    snprintf(s->name, sizeof(s->name), "%s", m->name);
    snprintf(s->unit, sizeof(s->unit), "%s", m->unit);
    s->higher = m->higher;
    s->values = sim_alloc(r->seeds, sizeof(*s->values));
    s->seeds = sim_alloc(r->seeds, sizeof(*s->seeds));
    return s;
}

static void add(struct results *r, const char *vm, const struct metric *m)
{
    struct series *s = series_find(r, vm, m);

    if (!s)
        s = series_new(r, vm, m);
    s->seeds[s->count] = r->first_seed + r->done;
    s->values[s->count++] = m->value;
}

struct sums {
    uint64_t run_ns, wait_ns, capped_ns, migrations;
    struct vcpu_counts counts;
};

static struct sums sums_of(const struct sim *sim, const struct sim_vm *vm)
{
    struct sums s = {0};

    for (uint32_t i = 0; i < vm->nvcpus; i++) {
        struct vcpu *v = &vm->vcpus[i];
        uint64_t run_ns, wait_ns;

        unit_times(&v->unit, sim->now, &run_ns, &wait_ns);
        s.run_ns += run_ns - v->counts.run_before;
        s.wait_ns += wait_ns - v->counts.wait_before;
        s.capped_ns += unit_capped_ns(&v->unit, sim->now) - v->counts.capped_before;
        s.migrations += v->unit.migrations - v->counts.migrations_before;
        s.counts.halts += v->counts.halts;
        s.counts.interrupts += v->counts.interrupts;
        s.counts.kicks += v->counts.kicks;
        s.counts.yields += v->counts.yields;
        s.counts.ple_exits += v->counts.ple_exits;
        s.counts.spin_ns += v->counts.spin_ns;
        s.counts.remote_ns += v->counts.remote_ns;
    }
    return s;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void add_common(struct results *r, const struct sim *sim, const struct sim_vm *vm)
{
    struct sums s = sums_of(sim, vm);
    double us = 1000;
    const struct metric common[] = {
        {"run", "s", (double)s.run_ns / 1e9, true},
        {"steal", "s", (double)(s.wait_ns + s.capped_ns) / 1e9, false},
        {"capped", "s", (double)s.capped_ns / 1e9, false},
        {"migrations", "", (double)s.migrations, false},
        {"ipis", "", (double)s.counts.interrupts, false},
        {"halts", "", (double)s.counts.halts, false},
        {"kicks", "", (double)s.counts.kicks, false},
        {"yields", "", (double)s.counts.yields, false},
        {"ple-exits", "", (double)s.counts.ple_exits, false},
        {"spin", "%", share(s.counts.spin_ns, s.run_ns), false},
        {"remote", "%", share(s.counts.remote_ns, s.run_ns), false},
        {"wake-p50", "us", (double)histogram_at(&vm->wake_latency, 500) / us, false},
        {"wake-p95", "us", (double)histogram_at(&vm->wake_latency, 950) / us, false},
        {"wake-p99", "us", (double)histogram_at(&vm->wake_latency, 990) / us, false},
    };

    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        add(r, vm->name, &common[i]);
}

static void add_machine(struct results *r, const struct sim *sim)
{
    uint64_t busy_ns = 0, kicks = 0, picks = 0, switches = 0;
    ns_t span = (sim->now - sim->measured_from) * sim->ncpus;

    for (uint32_t i = 0; i < sim->ncpus; i++) {
        busy_ns += sim->cpus[i].busy_ns;
        kicks += sim->cpus[i].kicks;
        picks += sim->cpus[i].picks;
        switches += sim->cpus[i].switches;
    }
    add(r, "", &(struct metric){"busy", "%", share(busy_ns, span), false});
    add(r, "", &(struct metric){"scheduler-ipis", "", (double)kicks, false});
    add(r, "", &(struct metric){"picks", "", (double)picks, false});
    add(r, "", &(struct metric){"switches", "", (double)switches, false});
}

void results_add(struct results *r, const struct sim *sim)
{
    struct metric metrics[METRICS_MAX];

    for (uint32_t i = 0; i < sim->nvms; i++) {
        const struct sim_vm *vm = &sim->vms[i];
        uint32_t n = vm->config->workload->report(sim, vm, metrics);

        for (uint32_t j = 0; j < n; j++)
            add(r, vm->name, &metrics[j]);
        add_common(r, sim, vm);
    }
    add_machine(r, sim);
    r->events += sim->nevents;
    r->done++;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(const struct series *s, double q)
{
    double at = q * (double)(s->count - 1);
    uint32_t low = (uint32_t)at;
    uint32_t high = low + 1 < s->count ? low + 1 : low;

    return s->values[low] + (at - low) * (s->values[high] - s->values[low]);
}

struct spread series_spread(struct series *s)
{
    qsort(s->values, s->count, sizeof(double), compare);
    return (struct spread){quantile(s, 0.25), quantile(s, 0.5), quantile(s, 0.75)};
}

/* Whole numbers as they are; others with four digits, or all before the point; no exponents. */
static void print_value(double value, int width, FILE *out)
{
    int decimals = 3;

    for (double limit = 1; value < limit && decimals < DECIMALS_MAX; limit /= 10)
        decimals++;
    for (double limit = 10; value >= limit && decimals > 0; limit *= 10)
        decimals--;
    fprintf(out, "%*.*f", width, value == (double)(uint64_t)value ? 0 : decimals, value);
}

static void print_series(struct series *s, FILE *out)
{
    struct spread spread = series_spread(s);

    fprintf(out, "  %-16s ", s->name);
    print_value(spread.median, 14, out);
    if (s->count == 1 && *s->unit)
        fprintf(out, " %s", s->unit);
    if (s->count > 1) {
        fprintf(out, " %-10s (", s->unit);
        print_value(spread.low, 0, out);
        fputs(" .. ", out);
        print_value(spread.high, 0, out);
        fputc(')', out);
    }
    fputc('\n', out);
}

/* A line a metric, by VM. */
void results_print(struct results *r, FILE *out)
{
    const char *vm = NULL;

    fprintf(out, "simulated, %u seed%s: median (quartiles)\n", r->seeds, r->seeds == 1 ? "" : "s");
    for (uint32_t i = 0; i < r->nseries; i++) {
        struct series *s = &r->series[i];

        if (!vm || strcmp(vm, s->vm) != 0)
            fprintf(out, "%s\n", *s->vm ? s->vm : "machine");
        vm = s->vm;
        print_series(s, out);
    }
}

void results_csv(const struct results *r, FILE *out)
{
    fprintf(out, "vm,metric,unit,seed,value\n");
    for (uint32_t i = 0; i < r->nseries; i++)
        for (uint32_t j = 0; j < r->series[i].count; j++)
            fprintf(out, "%s,%s,%s,%u,%.9g\n", r->series[i].vm, r->series[i].name,
                    r->series[i].unit, r->series[i].seeds[j], r->series[i].values[j]);
}

static cJSON *series_json(struct series *s)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *values = cJSON_AddArrayToObject(object, "values");
    struct spread spread;

    for (uint32_t i = 0; i < s->count; i++)
        cJSON_AddItemToArray(values, cJSON_CreateNumber(s->values[i]));
    spread = series_spread(s);
    cJSON_AddStringToObject(object, "unit", s->unit);
    cJSON_AddNumberToObject(object, "median", spread.median);
    cJSON_AddNumberToObject(object, "low", spread.low);
    cJSON_AddNumberToObject(object, "high", spread.high);
    return object;
}

/* {"scenario":..., "seeds":n, "vms":{NAME:{METRIC:{...}}}, "machine":{...}} on one line. */
void results_json(struct results *r, const char *scenario, FILE *out)
{
    cJSON *root = cJSON_CreateObject();
    cJSON *machine = cJSON_AddObjectToObject(root, "machine");
    cJSON *vms = cJSON_AddObjectToObject(root, "vms");
    char *text;

    cJSON_AddStringToObject(root, "scenario", scenario);
    cJSON_AddNumberToObject(root, "seeds", r->seeds);
    cJSON_AddNumberToObject(root, "events", (double)r->events);
    for (uint32_t i = 0; i < r->nseries; i++) {
        struct series *s = &r->series[i];
        cJSON *vm = *s->vm ? cJSON_GetObjectItemCaseSensitive(vms, s->vm) : machine;

        if (!vm)
            vm = cJSON_AddObjectToObject(vms, s->vm);
        cJSON_AddItemToObject(vm, s->name, series_json(s));
    }
    text = cJSON_PrintUnformatted(root);
    fprintf(out, "%s\n", text);
    free(text);
    cJSON_Delete(root);
}
