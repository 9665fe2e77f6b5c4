/*
 * workload=server: requests come from outside at random moments (Poisson), wait in one line, and
 * are worked off by whichever vCPU is free. The latency from arrival to answer is the figure; the
 * offered load does not depend on how fast answers are (an open loop).
 */
#include <stddef.h>

#include "tools/numen-sim/vcpu.h"
#include "tools/numen-sim/workload_list.h"

#define LINE_MAX 65536u /* requests that wait; more are dropped and counted */

struct server_params {
    uint64_t interval, service, exponential, spread;
};

struct server_vm {
    ns_t line[LINE_MAX]; /* when each came; a ring */
    uint64_t come, taken, done, dropped;
    uint64_t latency_ns; /* of all that are done */
    struct histogram latency;
};

struct server_vcpu {
    bool serves;
    ns_t came; /* its request */
};

#define AT(field) offsetof(struct server_params, field)

static const struct key keys[] = {
    {"interval", KEY_TIME, AT(interval), "500us", 1, NS_PER_SEC, "",
     "mean time between two requests to the VM"},
    {"service", KEY_TIME, AT(service), "300us", 1, NS_PER_SEC, "", "mean work of a request"},
    {"exponential", KEY_BOOL, AT(exponential), "on", 0, 0, "", "work of exponential spread"},
    {"spread", KEY_COUNT, AT(spread), "20", 0, 100, "", "per cent around `service` otherwise"},
    KEY_END,
};

static void start(struct sim *sim, struct sim_vm *vm)
{
    const struct server_params *p = vm->config->params;

    event_set(&sim->events, &vm->tick, sim->now + random_exponential(&sim->random, p->interval));
}

static struct vcpu *idle_vcpu(const struct sim_vm *vm)
{
    for (uint32_t i = 0; i < vm->nvcpus; i++)
        if (vm->vcpus[i].segment == SEGMENT_HALTED && vm->vcpus[i].asleep)
            return &vm->vcpus[i];
    return NULL;
}

/* A request comes. */
static void tick(struct sim *sim, struct sim_vm *vm)
{
    struct server_vm *state = vm->state;
    struct vcpu *v = idle_vcpu(vm);

    start(sim, vm);
    if (state->come - state->taken == LINE_MAX)
        state->dropped++;
    else
        state->line[state->come++ % LINE_MAX] = sim->now;
    if (v)
        vcpu_interrupt(sim, NULL, v);
}

static void next(struct sim *sim, struct vcpu *v)
{
    const struct server_params *p = v->vm->config->params;
    struct server_vm *vm = v->vm->state;
    struct server_vcpu *state = v->state;

    if (state->serves) {
        vm->done++;
        vm->latency_ns += sim->now - state->came;
        histogram_add(&vm->latency, sim->now - state->came);
    }
    state->serves = vm->taken < vm->come;
    if (!state->serves) {
        vcpu_halt(sim, v, NS_NEVER);
        return;
    }
    state->came = vm->line[vm->taken++ % LINE_MAX];
    vcpu_compute(v, p->exponential ? random_exponential(&sim->random, p->service)
                                   : random_around(&sim->random, p->service, (uint32_t)p->spread));
}

static void measure(struct sim *sim, struct sim_vm *vm)
{
    struct server_vm *state = vm->state;

    (void)sim;
    state->done = state->dropped = state->latency_ns = 0;
    state->latency = (struct histogram){0};
}

static uint32_t report(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[])
{
    static const struct {
        const char *name;
        uint32_t permille;
    } cuts[] = {{"latency-p50", 500}, {"latency-p95", 950}, {"latency-p99", 990}};
    const struct server_vm *state = vm->state;
    double seconds = sim_measured_seconds(sim);

    metrics[0] = (struct metric){"rate", "requests/s", (double)state->done / seconds, true};
    for (uint32_t i = 0; i < ARRAY_SIZE(cuts); i++)
        metrics[1 + i] =
            (struct metric){cuts[i].name, "us",
                            (double)histogram_at(&state->latency, cuts[i].permille) / 1e3, false};
    metrics[4] = (struct metric){"dropped", "", (double)state->dropped, false};
    metrics[5] =
        (struct metric){"latency-mean", "us",
                        (double)state->latency_ns / (double)MAX(state->done, 1u) / 1e3, false};
    return 6;
}

const struct workload workload_server = {
    .name = "server",
    .help = "requests from outside, answered by any vCPU",
    .keys = keys,
    .params_bytes = sizeof(struct server_params),
    .vm_bytes = sizeof(struct server_vm),
    .vcpu_bytes = sizeof(struct server_vcpu),
    .start = start,
    .next = next,
    .tick = tick,
    .measure = measure,
    .report = report,
};
