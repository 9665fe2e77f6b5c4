/*
 * workload=ebizzy: threads that allocate a chunk, copy it and search it, with now and then a short
 * sleep where they meet in the kernel's memory manager. One thread a vCPU; records a second are the
 * figure. What matters to it is how many threads share a core (machine.smt).
 *
 * Figures: ebizzy 0.3's own loop; SCHEDULER seed 4.
 */
#include <stddef.h>

#include "tools/numen-sim/vcpu.h"
#include "tools/numen-sim/workload_list.h"

struct ebizzy_params {
    uint64_t record, batch, sleep, memory;
};

struct ebizzy_vcpu {
    bool worked;
    uint64_t batches;
};

#define AT(field) offsetof(struct ebizzy_params, field)

static const struct key keys[] = {
    {"record", KEY_TIME, AT(record), "2us", 1, NS_PER_SEC, "", "work of a record"},
    {"batch", KEY_COUNT, AT(batch), "1000", 1, 1u << 20, "", "mean records between two sleeps"},
    {"sleep", KEY_TIME, AT(sleep), "50us", 0, NS_PER_SEC, "", "mean sleep; 0: none"},
    {"memory_share", KEY_FRACTION, AT(memory), "0", 0, FRACTION_ONE, "",
     "share of its time spent on memory"},
    KEY_END,
};

static void next(struct sim *sim, struct vcpu *v)
{
    const struct ebizzy_params *p = v->vm->config->params;
    struct ebizzy_vcpu *state = v->state;

    state->batches += state->worked;
    state->worked = !state->worked || !p->sleep;
    if (state->worked)
        vcpu_compute(v, random_around(&sim->random, p->record * p->batch, 30));
    else
        vcpu_halt(sim, v, sim->now + random_exponential(&sim->random, p->sleep));
}

static void measure(struct sim *sim, struct sim_vm *vm)
{
    (void)sim;
    for (uint32_t i = 0; i < vm->nvcpus; i++)
        ((struct ebizzy_vcpu *)vm->vcpus[i].state)->batches = 0;
}

static uint32_t report(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[])
{
    const struct ebizzy_params *p = vm->config->params;
    double seconds = sim_measured_seconds(sim);
    uint64_t batches = 0;

    for (uint32_t i = 0; i < vm->nvcpus; i++)
        batches += ((const struct ebizzy_vcpu *)vm->vcpus[i].state)->batches;
    metrics[0] =
        (struct metric){"rate", "records/s", (double)batches * (double)p->batch / seconds, true};
    return 1;
}

static uint32_t memory_share(const void *params)
{
    return (uint32_t)((const struct ebizzy_params *)params)->memory;
}

const struct workload workload_ebizzy = {
    .name = "ebizzy",
    .help = "memory-bound threads, one a vCPU",
    .keys = keys,
    .params_bytes = sizeof(struct ebizzy_params),
    .vcpu_bytes = sizeof(struct ebizzy_vcpu),
    .next = next,
    .measure = measure,
    .report = report,
    .memory_share = memory_share,
};
