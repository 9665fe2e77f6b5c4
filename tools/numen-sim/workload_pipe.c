/*
 * workload=pipe: two tasks pass a byte to and fro (perf bench sched pipe). Each turn is a write
 * that wakes the other with the promise to block, and a read that blocks.
 */
#include <stddef.h>

#include "tools/numen-sim/guest.h"
#include "tools/numen-sim/workload_list.h"

struct pipe_params {
    uint64_t loops, work, switch_ns, wake_ns;
};

struct pipe_vm {
    struct guest guest;
    uint64_t turns, turns_before;
    bool full[2];   /* a byte lies in the pipe to this task */
    bool writes[2]; /* what this task does now ends with a write */
};

#define AT(field) offsetof(struct pipe_params, field)

static const struct key keys[] = {
    {"loops", KEY_COUNT, AT(loops), "0", 0, 1ull << 40, "", "to and fro; 0: no end"},
    {"work", KEY_TIME, AT(work), "500ns", 1, NS_PER_MS, "", "of a write and a read"},
    {"task_switch", KEY_TIME, AT(switch_ns), "500ns", 0, NS_PER_MS, "",
     "the guest's switch of tasks"},
    {"task_wake", KEY_TIME, AT(wake_ns), "300ns", 0, NS_PER_MS, "", "the guest's wake-up path"},
    KEY_END,
};

/* A turn's work is done: the byte is written, and the other woken. */
static void write_byte(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_task *t)
{
    const struct pipe_params *p = g->vm->config->params;
    struct pipe_vm *vm = g->vm->state;
    uint32_t other = t->index ^ 1;

    vm->writes[t->index] = false;
    vm->full[other] = true;
    vm->turns++;
    guest_wake(sim, g, v, &g->tasks[other], true);
    if (vm->turns == 2 * p->loops)
        vm_finish(sim, g->vm);
}

static void step(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_task *t)
{
    const struct pipe_params *p = g->vm->config->params;
    struct pipe_vm *vm = g->vm->state;

    if (vm->writes[t->index])
        write_byte(sim, g, v, t);
    if (!vm->full[t->index]) {
        guest_block(t);
        return;
    }
    vm->full[t->index] = false;
    vm->writes[t->index] = true;
    guest_work(t, p->work);
}

static void start(struct sim *sim, struct sim_vm *vm)
{
    const struct pipe_params *p = vm->config->params;
    struct pipe_vm *state = vm->state;

    (void)sim;
    guest_init(&state->guest, vm, 2, step);
    state->guest.switch_ns = p->switch_ns;
    state->guest.wake_ns = p->wake_ns;
    state->full[0] = true;
}

static void next(struct sim *sim, struct vcpu *v)
{
    guest_next(sim, &((struct pipe_vm *)v->vm->state)->guest, v);
}

static void arrived(struct sim *sim, struct vcpu *v, bool interrupted)
{
    guest_arrived(sim, &((struct pipe_vm *)v->vm->state)->guest, v, interrupted);
}

static bool ends(const void *params)
{
    return ((const struct pipe_params *)params)->loops != 0;
}

static void measure(struct sim *sim, struct sim_vm *vm)
{
    struct pipe_vm *state = vm->state;

    (void)sim;
    state->turns_before = state->turns;
}

static uint32_t report(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[])
{
    ns_t end = MIN(sim->now, vm->finished_at);
    double seconds = (double)(MAX(end, sim->measured_from) - sim->measured_from) / 1e9;
    const struct pipe_vm *state = vm->state;
    uint64_t interrupts = 0, halts = 0;
    double loops = (double)(state->turns - state->turns_before) / 2;

    for (uint32_t i = 0; i < vm->nvcpus; i++) {
        interrupts += vm->vcpus[i].counts.interrupts;
        halts += vm->vcpus[i].counts.halts;
    }
    metrics[0] = (struct metric){"rate", "loops/s", loops / seconds, true};
    metrics[1] = (struct metric){"time", "s", seconds, false};
    metrics[2] = (struct metric){"ipis-per-loop", "", (double)interrupts / loops, false};
    metrics[3] = (struct metric){"halts-per-loop", "", (double)halts / loops, false};
    return 4;
}

static void stop(struct sim_vm *vm)
{
    guest_free(&((struct pipe_vm *)vm->state)->guest);
}

const struct workload workload_pipe = {
    .name = "pipe",
    .help = "two tasks of a guest kernel that wake each other",
    .keys = keys,
    .sees_l3 = true,
    .params_bytes = sizeof(struct pipe_params),
    .vm_bytes = sizeof(struct pipe_vm),
    .ends = ends,
    .start = start,
    .next = next,
    .arrived = arrived,
    .measure = measure,
    .report = report,
    .stop = stop,
};
