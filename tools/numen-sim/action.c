/*
 * Things that happen to the machine from outside: VMs start, the warm-up ends, CPUs come and go,
 * weights, caps, affinities and options change. Each is an event of its own, planned at the start.
 */
#include "tools/numen-sim/action.h"

#include <stdlib.h>
#include <string.h>

#include "boot/cmdline.h"
#include "tools/numen-sim/memory.h"
#include "tools/numen-sim/vcpu.h"

struct planned {
    struct event event;
    enum { DO_START, DO_MEASURE, DO_ACTION } what;
    struct sim_vm *vm;
    const struct scenario_action *action;
};

uint32_t actions_count(const struct scenario *scenario)
{
    return 1 + scenario->nactions + scenario_total_vms(scenario);
}

static void plan(struct sim *sim, struct planned what, ns_t after)
{
    struct planned *p = &sim->planned[sim->nplanned++];

    *p = what;
    p->event = (struct event){.kind = EVENT_ACTION};
    event_set(&sim->events, &p->event, sim->now + after);
}

void actions_plan(struct sim *sim)
{
    const struct scenario *scenario = sim->scenario;

    sim->planned = sim_alloc(actions_count(scenario), sizeof(*sim->planned));
    for (uint32_t i = 0; i < sim->nvms; i++)
        plan(sim, (struct planned){.what = DO_START, .vm = &sim->vms[i]},
             sim->vms[i].config->start);
    plan(sim, (struct planned){.what = DO_MEASURE}, scenario->run.warmup);
    for (uint32_t i = 0; i < scenario->nactions; i++)
        plan(sim, (struct planned){.what = DO_ACTION, .action = &scenario->actions[i]},
             scenario->actions[i].at);
}

void actions_free(struct sim *sim)
{
    free(sim->planned);
}

/* Counts go back to zero; the run and wait times of units are remembered as they are. */
static void measure(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->ncpus; i++) {
        struct sim_cpu *c = &sim->cpus[i];

        cpu_account(sim, c);
        c->busy_ns = c->kicks = c->picks = c->switches = 0;
    }
    for (uint32_t i = 0; i < sim->nvms; i++) {
        struct sim_vm *vm = &sim->vms[i];

        memset(&vm->wake_latency, 0, sizeof(vm->wake_latency));
        for (uint32_t j = 0; j < vm->nvcpus; j++) {
            struct vcpu *v = &vm->vcpus[j];

            v->counts = (struct vcpu_counts){.migrations_before = v->unit.migrations,
                                             .capped_before = unit_capped_ns(&v->unit, sim->now)};
            unit_times(&v->unit, sim->now, &v->counts.run_before, &v->counts.wait_before);
        }
        if (vm->config->workload->measure)
            vm->config->workload->measure(sim, vm);
    }
}

/* VMs made of one [vm NAME] share its name. */
static void for_vcpus(struct sim *sim, const struct scenario_action *a,
                      void (*change)(struct sim *, struct vcpu *, const struct scenario_action *))
{
    for (uint32_t i = 0; i < sim->nvms; i++) {
        struct sim_vm *vm = &sim->vms[i];

        if (strcmp(vm->config->name, a->name) != 0 && strcmp(vm->name, a->name) != 0)
            continue;
        if (a->kind == ACTION_CAP && a->number)
            cap_set(&vm->cap, (uint32_t)a->number, vm->nvcpus, sim->now);
        for (uint32_t j = 0; j < vm->nvcpus; j++)
            change(sim, &vm->vcpus[j], a);
    }
}

static void change_weight(struct sim *sim, struct vcpu *v, const struct scenario_action *a)
{
    sched_unit_set_weight(sim->s, &v->unit, (uint32_t)a->number, sim->now);
}

/* One cap for all of the VM's vCPUs, which for_vcpus has set. */
static void change_cap(struct sim *sim, struct vcpu *v, const struct scenario_action *a)
{
    sched_unit_set_cap(sim->s, &v->unit, a->number ? &v->vm->cap : NULL, sim->now);
}

/* As the console's `pin`: none of these CPUs is preferred to the others. */
static void change_pin(struct sim *sim, struct vcpu *v, const struct scenario_action *a)
{
    uint64_t *copy = sim_alloc(cpumask_nwords(sim->ncpus), sizeof(*copy));
    struct cpumask hard = cpumask_over(copy, sim->ncpus);

    for (uint32_t cpu = 0; cpu < sim->ncpus; cpu++)
        if (guest_ranges_have(&a->cpus, cpu))
            cpumask_set(hard, cpu);
    sched_unit_set_affinity(sim->s, &v->unit, hard, hard, sim->now);
    free(copy);
}

static void change_option(struct sim *sim, const struct scenario_action *a)
{
    if (option_set(&sim->options, option_find(a->name), a->value)) {
        fprintf(stderr, "numen-sim: %s=%s: not accepted\n", a->name, a->value);
        return;
    }
    sched_params_options(&sim->params, &sim->options);
    sched_rearrange(sim->s, &sim->params, sim->now);
}

static void act(struct sim *sim, const struct scenario_action *a)
{
    int refused;

    switch (a->kind) {
    case ACTION_OFFLINE:
        refused = sched_cpu_offline(sim->s, (uint32_t)a->number, sim->now);
        break;
    case ACTION_ONLINE:
        refused = sched_cpu_online(sim->s, (uint32_t)a->number, sim->now);
        break;
    case ACTION_WEIGHT:
        for_vcpus(sim, a, change_weight);
        return;
    case ACTION_CAP:
        for_vcpus(sim, a, change_cap);
        return;
    case ACTION_PIN:
        for_vcpus(sim, a, change_pin);
        return;
    default:
        change_option(sim, a);
        return;
    }
    if (refused)
        fprintf(stderr, "numen-sim: CPU %llu is not there, already so, or the last\n",
                (unsigned long long)a->number);
}

void action_do(struct sim *sim, struct event *e)
{
    const struct planned *p = container_of(e, struct planned, event);

    switch (p->what) {
    case DO_START:
        vm_start(sim, p->vm);
        break;
    case DO_MEASURE:
        measure(sim);
        break;
    default:
        act(sim, p->action);
    }
}
