/*
 * workload=stream: every vCPU reads memory as fast as it comes (lmbench's `bw_mem rd`, STREAM).
 *
 * What it gets is what the nodes of its pages give: nearness and bandwidth come from where mm/ put
 * the pages (pages.c, speed.c).
 */
#include <stddef.h>

#include "tools/numen-sim/vcpu.h"
#include "tools/numen-sim/workload_list.h"

#define SLICE_NS (200 * NS_PER_US) /* progress is seen in steps of this */

struct stream_params {
    uint64_t demand, memory;
};

struct stream_vcpu {
    uint64_t slices;
};

#define AT(field) offsetof(struct stream_params, field)

static const struct key keys[] = {
    {"demand", KEY_BYTES, AT(demand), "8G", MIB, 1024 * GIB, "",
     "bytes a second that one vCPU reads from near memory, alone"},
    {"memory_share", KEY_FRACTION, AT(memory), "1", 0, FRACTION_ONE, "",
     "share of its time spent on memory"},
    KEY_END,
};

static void next(struct sim *sim, struct vcpu *v)
{
    (void)sim;
    ((struct stream_vcpu *)v->state)->slices++;
    vcpu_compute(v, SLICE_NS);
}

static void measure(struct sim *sim, struct sim_vm *vm)
{
    (void)sim;
    for (uint32_t i = 0; i < vm->nvcpus; i++)
        ((struct stream_vcpu *)vm->vcpus[i].state)->slices = 0;
}

static uint32_t report(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[])
{
    const struct stream_params *p = vm->config->params;
    double seconds = sim_measured_seconds(sim);
    uint64_t slices = 0;

    for (uint32_t i = 0; i < vm->nvcpus; i++)
        slices += ((const struct stream_vcpu *)vm->vcpus[i].state)->slices;
    metrics[0] = (struct metric){
        "rate", "MB/s", (double)slices * SLICE_NS / 1e9 * (double)p->demand / 1e6 / seconds, true};
    return 1;
}

static uint32_t memory_share(const void *params)
{
    return (uint32_t)((const struct stream_params *)params)->memory;
}

static uint64_t bandwidth(const void *params)
{
    return ((const struct stream_params *)params)->demand;
}

const struct workload workload_stream = {
    .name = "stream",
    .help = "reading memory",
    .keys = keys,
    .params_bytes = sizeof(struct stream_params),
    .vcpu_bytes = sizeof(struct stream_vcpu),
    .next = next,
    .measure = measure,
    .report = report,
    .memory_share = memory_share,
    .bandwidth = bandwidth,
};
