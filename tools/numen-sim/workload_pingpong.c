/*
 * workload=pingpong: vCPUs in pairs; one works and interrupts the other, then sleeps until the
 * answer comes. What a wake-up costs from end to end.
 */
#include <stddef.h>

#include "tools/numen-sim/vcpu.h"
#include "tools/numen-sim/workload_list.h"

struct pingpong_params {
    uint64_t work, spread;
};

struct pingpong_vcpu {
    bool begun, works;
    bool called; /* by its partner, in the guest's memory: even before its own first step */
    uint64_t turns;
};

static const struct key keys[] = {
    {"work", KEY_TIME, offsetof(struct pingpong_params, work), "5us", 0, NS_PER_SEC, "",
     "of each turn"},
    {"spread", KEY_COUNT, offsetof(struct pingpong_params, spread), "0", 0, 100, "",
     "per cent around it"},
    KEY_END,
};

/* 2n and 2n + 1. */
static struct vcpu *partner_of(const struct vcpu *v)
{
    return &v->vm->vcpus[v->index ^ 1];
}

/* Its turn is over: the other's. */
static void call(struct sim *sim, struct vcpu *v, struct vcpu *partner)
{
    struct pingpong_vcpu *state = v->state;

    state->works = false;
    state->turns++;
    ((struct pingpong_vcpu *)partner->state)->called = true;
    vcpu_interrupt(sim, v, partner);
}

/* The even one of a pair begins. */
static void next(struct sim *sim, struct vcpu *v)
{
    const struct pingpong_params *p = v->vm->config->params;
    struct pingpong_vcpu *state = v->state;

    if (state->works)
        call(sim, v, partner_of(v));
    else if (!state->begun)
        state->called |= !(v->index & 1);
    state->begun = true;
    if (!state->called) {
        vcpu_halt(sim, v, NS_NEVER);
        return;
    }
    state->called = false;
    state->works = true;
    vcpu_compute(v, random_around(&sim->random, p->work, (uint32_t)p->spread));
}

static void measure(struct sim *sim, struct sim_vm *vm)
{
    (void)sim;
    for (uint32_t i = 0; i < vm->nvcpus; i++)
        ((struct pingpong_vcpu *)vm->vcpus[i].state)->turns = 0;
}

static uint32_t report(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[])
{
    double seconds = sim_measured_seconds(sim);
    uint64_t turns = 0;

    for (uint32_t i = 0; i < vm->nvcpus; i++)
        turns += ((const struct pingpong_vcpu *)vm->vcpus[i].state)->turns;
    metrics[0] = (struct metric){"rate", "trips/s", (double)turns / 2 / seconds, true};
    return 1;
}

const struct workload workload_pingpong = {
    .name = "pingpong",
    .help = "pairs that wake each other by turns",
    .keys = keys,
    .vcpus_by = 2,
    .params_bytes = sizeof(struct pingpong_params),
    .vcpu_bytes = sizeof(struct pingpong_vcpu),
    .next = next,
    .measure = measure,
    .report = report,
};
