/*
 * workload=burst: every vCPU computes for a while and sleeps for a while, over and over.
 *
 * Interactive and periodic load, and noise beside other workloads: `busy` and `sleep` are means, of
 * even spread or exponential. The latency from wake to pick is what it suffers from.
 */
#include <stddef.h>

#include "tools/numen-sim/vcpu.h"
#include "tools/numen-sim/workload_list.h"

struct burst_params {
    uint64_t busy, sleep, spread, exponential;
};

struct burst_vcpu {
    bool slept; /* the next segment is a burst */
    uint64_t bursts;
};

static const struct key keys[] = {
    {"busy", KEY_TIME, offsetof(struct burst_params, busy), "5ms", 1, 3600 * NS_PER_SEC, "",
     "mean length of a burst, at full speed"},
    {"sleep", KEY_TIME, offsetof(struct burst_params, sleep), "5ms", 0, 3600 * NS_PER_SEC, "",
     "mean time between two bursts"},
    {"spread", KEY_COUNT, offsetof(struct burst_params, spread), "20", 0, 100, "",
     "per cent around the means"},
    {"exponential", KEY_BOOL, offsetof(struct burst_params, exponential), "off", 0, 0, "",
     "exponential instead of even"},
    KEY_END,
};

static ns_t draw(struct sim *sim, const struct burst_params *p, ns_t mean)
{
    return p->exponential ? random_exponential(&sim->random, mean)
                          : random_around(&sim->random, mean, (uint32_t)p->spread);
}

static void next(struct sim *sim, struct vcpu *v)
{
    const struct burst_params *p = v->vm->config->params;
    struct burst_vcpu *state = v->state;

    state->slept = !state->slept;
    if (state->slept) {
        vcpu_compute(v, draw(sim, p, p->busy));
        return;
    }
    state->bursts++;
    vcpu_halt(sim, v, sim->now + draw(sim, p, p->sleep));
}

static void measure(struct sim *sim, struct sim_vm *vm)
{
    (void)sim;
    for (uint32_t i = 0; i < vm->nvcpus; i++)
        ((struct burst_vcpu *)vm->vcpus[i].state)->bursts = 0;
}

static uint32_t report(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[])
{
    double seconds = sim_measured_seconds(sim);
    uint64_t bursts = 0;

    for (uint32_t i = 0; i < vm->nvcpus; i++)
        bursts += ((const struct burst_vcpu *)vm->vcpus[i].state)->bursts;
    metrics[0] = (struct metric){"rate", "bursts/s", (double)bursts / seconds, true};
    return 1;
}

const struct workload workload_burst = {
    .name = "burst",
    .help = "computing and sleeping by turns",
    .keys = keys,
    .params_bytes = sizeof(struct burst_params),
    .vcpu_bytes = sizeof(struct burst_vcpu),
    .next = next,
    .measure = measure,
    .report = report,
};
