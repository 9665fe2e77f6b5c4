/*
 * workload=build: a parallel compilation. Jobs of CPU bursts and I/O waits, as many at a time as
 * the VM has vCPUs; with `stage`, all jobs of a stage end before the next begins, and one vCPU
 * works alone in between (a link, a make that reads its files).
 *
 * Lengths are drawn anew each time, within `spread` of their means. Figures: SCHEDULER seed 1
 * (bursts of ~3 ms, waits of ~0.6 ms).
 */
#include <stddef.h>

#include "tools/numen-sim/vcpu.h"
#include "tools/numen-sim/workload_list.h"

struct build_params {
    uint64_t jobs, bursts, burst, io, spread, stage, serial, memory, demand;
};

struct build_vm {
    uint64_t given;   /* jobs handed out */
    uint64_t running; /* and not done */
    uint64_t open;    /* jobs that may be handed out before the next barrier */
    bool between;     /* one vCPU works alone */
};

struct build_vcpu {
    uint64_t bursts; /* left of its job */
    bool waits_io, serial, has_job;
};

#define AT(field) offsetof(struct build_params, field)

static const struct key keys[] = {
    {"jobs", KEY_COUNT, AT(jobs), "400", 1, 1u << 24, "", "compilations in all"},
    {"bursts", KEY_COUNT, AT(bursts), "10", 1, 1u << 20, "", "mean number of bursts of a job"},
    {"burst", KEY_TIME, AT(burst), "3ms", 1, NS_PER_SEC, "", "mean work of a burst"},
    {"io", KEY_TIME, AT(io), "600us", 0, NS_PER_SEC, "", "mean wait after a burst; 0: none"},
    {"spread", KEY_COUNT, AT(spread), "50", 0, 100, "", "per cent around the means"},
    {"stage", KEY_COUNT, AT(stage), "0", 0, 1u << 24, "",
     "jobs between two barriers; 0: a pool without barriers"},
    {"serial", KEY_TIME, AT(serial), "2ms", 0, NS_PER_SEC, "", "work at a barrier, of one vCPU"},
    {"memory_share", KEY_FRACTION, AT(memory), "0", 0, FRACTION_ONE, "",
     "share of its time spent on memory"},
    {"demand", KEY_BYTES, AT(demand), "0", 0, 1024 * GIB, "",
     "bytes a second that one vCPU draws from memory while it works"},
    KEY_END,
};

static const struct build_params *params_of(const struct vcpu *v)
{
    return v->vm->config->params;
}

static void start(struct sim *sim, struct sim_vm *vm)
{
    const struct build_params *p = vm->config->params;
    struct build_vm *state = vm->state;

    (void)sim;
    state->open = p->stage ? MIN(p->stage, p->jobs) : p->jobs;
}

static ns_t around(struct sim *sim, const struct build_params *p, ns_t mean)
{
    return random_around(&sim->random, mean, (uint32_t)p->spread);
}

static void wake_others(struct sim *sim, struct vcpu *v)
{
    for (uint32_t i = 0; i < v->vm->nvcpus; i++)
        if (i != v->index && v->vm->vcpus[i].segment >= SEGMENT_HALTING &&
            !((struct build_vcpu *)v->vm->vcpus[i].state)->has_job)
            vcpu_interrupt(sim, v, &v->vm->vcpus[i]);
}

static void burst(struct sim *sim, struct vcpu *v)
{
    struct build_vcpu *state = v->state;

    state->bursts--;
    vcpu_compute(v, around(sim, params_of(v), params_of(v)->burst));
}

static void take_job(struct sim *sim, struct vcpu *v)
{
    struct build_vm *vm = v->vm->state;
    struct build_vcpu *state = v->state;

    vm->given++;
    vm->running++;
    state->has_job = true;
    state->bursts = MAX(around(sim, params_of(v), params_of(v)->bursts), 1u);
    burst(sim, v);
}

/* Nothing to hand out: the last one at a barrier does the serial part, others wait. */
static void wait_for_jobs(struct sim *sim, struct vcpu *v)
{
    const struct build_params *p = params_of(v);
    struct build_vm *vm = v->vm->state;
    struct build_vcpu *state = v->state;

    if (vm->given == p->jobs && !vm->running && !vm->between) {
        vcpu_finish(sim, v);
        return;
    }
    if (vm->running || vm->between || vm->given == p->jobs) {
        vcpu_halt(sim, v, NS_NEVER);
        return;
    }
    vm->between = true;
    state->serial = true;
    vcpu_compute(v, around(sim, p, p->serial));
}

static void seek_work(struct sim *sim, struct vcpu *v)
{
    struct build_vm *vm = v->vm->state;

    if (vm->given < vm->open && !vm->between)
        take_job(sim, v);
    else
        wait_for_jobs(sim, v);
}

static void end_serial(struct sim *sim, struct vcpu *v)
{
    const struct build_params *p = params_of(v);
    struct build_vm *vm = v->vm->state;

    ((struct build_vcpu *)v->state)->serial = false;
    vm->between = false;
    vm->open = MIN(vm->open + p->stage, p->jobs);
    wake_others(sim, v);
}

static void end_job(struct sim *sim, struct vcpu *v)
{
    struct build_vm *vm = v->vm->state;

    ((struct build_vcpu *)v->state)->has_job = false;
    if (--vm->running == 0 && vm->given == params_of(v)->jobs)
        wake_others(sim, v); /* to find that it is over */
}

static void next(struct sim *sim, struct vcpu *v)
{
    const struct build_params *p = params_of(v);
    struct build_vcpu *state = v->state;

    if (state->serial)
        end_serial(sim, v);
    if (!state->has_job) {
        seek_work(sim, v);
        return;
    }
    state->waits_io = !state->waits_io && p->io;
    if (state->waits_io) {
        vcpu_halt(sim, v, sim->now + around(sim, p, p->io));
    } else if (state->bursts) {
        burst(sim, v);
    } else {
        end_job(sim, v);
        seek_work(sim, v);
    }
}

static bool ends(const void *params)
{
    (void)params;
    return true;
}

static uint32_t memory_share(const void *params)
{
    return (uint32_t)((const struct build_params *)params)->memory;
}

static uint64_t bandwidth(const void *params)
{
    return ((const struct build_params *)params)->demand;
}

static uint32_t report(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[])
{
    ns_t end = vm->finished_at == NS_NEVER ? sim->now : vm->finished_at;
    const struct build_params *p = vm->config->params;
    const struct build_vm *state = vm->state;

    metrics[0] = (struct metric){"time", "s", (double)(end - vm->started_at) / 1e9, false};
    metrics[1] = (struct metric){
        "done", "%", 100.0 * (double)(state->given - state->running) / (double)p->jobs, true};
    return 2;
}

const struct workload workload_build = {
    .name = "build",
    .help = "a parallel compilation",
    .keys = keys,
    .params_bytes = sizeof(struct build_params),
    .vm_bytes = sizeof(struct build_vm),
    .vcpu_bytes = sizeof(struct build_vcpu),
    .ends = ends,
    .start = start,
    .next = next,
    .report = report,
    .memory_share = memory_share,
    .bandwidth = bandwidth,
};
