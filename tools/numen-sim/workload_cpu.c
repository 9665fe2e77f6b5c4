/*
 * workload=cpu: every vCPU computes for ever, or until it has done `work`.
 *
 * The plainest measure of a scheduler: who gets how much, and how soon fixed work is done.
 */
#include <stddef.h>

#include "tools/numen-sim/vcpu.h"
#include "tools/numen-sim/workload_list.h"

struct cpu_params {
    uint64_t work, memory;
};

struct cpu_vcpu {
    bool begun;
};

static const struct key keys[] = {
    {"work", KEY_TIME, offsetof(struct cpu_params, work), "0", 0, 3600 * NS_PER_SEC, "",
     "full-speed time of each vCPU's work; 0: no end"},
    {"memory_share", KEY_FRACTION, offsetof(struct cpu_params, memory), "0", 0, FRACTION_ONE, "",
     "share of its time spent on memory"},
    KEY_END,
};

static void next(struct sim *sim, struct vcpu *v)
{
    const struct cpu_params *p = v->vm->config->params;
    struct cpu_vcpu *state = v->state;

    if (!p->work)
        vcpu_compute(v, 3600 * NS_PER_SEC);
    else if (!state->begun)
        vcpu_compute(v, p->work);
    else
        vcpu_finish(sim, v);
    state->begun = true;
}

static bool ends(const void *params)
{
    return ((const struct cpu_params *)params)->work != 0;
}

static uint32_t memory_share(const void *params)
{
    return (uint32_t)((const struct cpu_params *)params)->memory;
}

static uint32_t report(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[])
{
    (void)sim;
    if (vm->finished_at == NS_NEVER)
        return 0;
    metrics[0] = (struct metric){
        "time", "s", (double)(vm->finished_at - vm->started_at) / (double)NS_PER_SEC, false};
    return 1;
}

const struct workload workload_cpu = {
    .name = "cpu",
    .help = "computing without a pause",
    .keys = keys,
    .params_bytes = sizeof(struct cpu_params),
    .vcpu_bytes = sizeof(struct cpu_vcpu),
    .ends = ends,
    .next = next,
    .report = report,
    .memory_share = memory_share,
};
