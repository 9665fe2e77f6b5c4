/*
 * Building a simulation out of its scenario, and running it.
 *
 * CPUs are numbered socket by socket, die by die, core by core, siblings adjacent. The scheduler
 * sees the nodes that numa= leaves; the true ones decide what memory costs.
 */
#include "tools/numen-sim/sim.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "hv/bits.h"
#include "tools/numen-sim/action.h"
#include "tools/numen-sim/memory.h"
#include "tools/numen-sim/vcpu.h"

#define PROGRESS_EVENTS 0x40000u /* between two calls of `progress`: some 0.1 s */
#define AT_ONCE_LOOK    0x1000u  /* events of one moment between two looks at the clock */

/* ---- the machine ---- */

/* The value of the last range that holds `cpu`, or `otherwise`. */
static uint64_t range_value(const struct key_list *list, uint32_t cpu, uint64_t otherwise)
{
    for (uint64_t i = 0; i + 2 < list->count; i += 3)
        if (cpu >= list->value[i] && cpu <= list->value[i + 1])
            otherwise = list->value[i + 2];
    return otherwise;
}

/* As topology_build makes it: never negative, and a kind of core is a multiple of CPUS_MAX. */
static int32_t asym_prio_of(const struct machine_config *m, uint32_t cpu)
{
    return (int32_t)(range_value(&m->priority, cpu, 0) * CPUS_MAX + (CPUS_MAX - 1 - cpu));
}

static void places_fill(struct sim *sim)
{
    const struct machine_config *m = &sim->scenario->machine;
    uint32_t per_core = (uint32_t)m->threads, per_die = (uint32_t)m->cores * per_core;
    uint32_t per_socket = (uint32_t)m->dies * per_die;
    uint64_t nodes = machine_node_count(m);

    for (uint32_t cpu = 0; cpu < sim->ncpus; cpu++)
        sim->places[cpu] = (struct cpu_place){
            .cpu = cpu,
            .apic_id = cpu,
            .thread = cpu % per_core,
            .core = cpu / per_core,
            .llc = cpu / per_die,
            .socket = cpu / per_socket,
            .node = (uint32_t)(cpu * nodes / sim->ncpus),
            .asym_prio = asym_prio_of(m, cpu),
        };
}

static void cores_fill(struct sim *sim)
{
    uint32_t threads = (uint32_t)sim->scenario->machine.threads;

    sim->ncores = sim->ncpus / threads;
    sim->cores = sim_alloc(sim->ncores, sizeof(*sim->cores));
    sim->core_cpus = sim_alloc(sim->ncpus, sizeof(*sim->core_cpus));
    for (uint32_t cpu = 0; cpu < sim->ncpus; cpu++)
        sim->core_cpus[cpu] = cpu;
    for (uint32_t core = 0; core < sim->ncores; core++)
        sim->cores[core] = (struct sim_core){.first = core * threads, .count = threads};
}

static void machine_build(struct sim *sim)
{
    const struct machine_config *m = &sim->scenario->machine;

    sim->ncpus = (uint32_t)machine_cpu_count(m);
    sim->places = sim_alloc(sim->ncpus, sizeof(*sim->places));
    sim->cpus = sim_alloc(sim->ncpus, sizeof(*sim->cpus));
    sim->taken = sim_alloc(sim->ncpus, sizeof(struct runq *));
    places_fill(sim);
    cores_fill(sim);
    for (uint32_t cpu = 0; cpu < sim->ncpus; cpu++) {
        sim->cpus[cpu].cpu = cpu;
        sim->cpus[cpu].place = &sim->places[cpu];
        sim->cpus[cpu].core = sim->places[cpu].core;
        sim->cpus[cpu].own_speed = (uint32_t)range_value(&m->cpu_speed, cpu, SPEED_FULL);
    }
    pages_init(sim);
}

static void scheduler_build(struct sim *sim)
{
    struct cpu_place *seen = sim_alloc(sim->ncpus, sizeof(*seen));
    const struct numa *numa = sim->memory.numa;

    sim->options = sim->scenario->options;
    sched_params_options(&sim->params, &sim->options);
    for (uint32_t cpu = 0; cpu < sim->ncpus; cpu++) {
        seen[cpu] = sim->places[cpu];
        seen[cpu].node = sim->memory.node_of_cpu[cpu];
    }
    sim->sched_memory = sim_alloc_aligned(64, sched_bytes(sim->ncpus));
    sim->s =
        sched_init(sim->sched_memory, &sim->params, seen, sim->ncpus, numa->distance, numa->nnodes);
    free(seen);
    cpu_init_all(sim);
}

/* ---- the VMs ---- */

static void vcpu_init(struct sim *sim, struct sim_vm *vm, uint32_t index)
{
    struct vcpu *v = &vm->vcpus[index];
    uint32_t words = cpumask_nwords(sim->ncpus);
    struct unit_params params = {
        .weight = vm->config->guest.weight,
        .hard = cpumask_over(vm->masks + 2ul * index * words, sim->ncpus),
        .soft = cpumask_over(vm->masks + (2ul * index + 1) * words, sim->ncpus),
        .cap = vm->config->guest.cap ? &vm->cap : NULL,
        .owner = v,
        .vm_id = vm->id,
        .index = index,
    };

    v->vnode = placement_vnode_of_vcpu(&vm->placement, index);
    for (uint32_t cpu = 0; cpu < sim->ncpus; cpu++) {
        if (!guest_ranges_have(&vm->config->guest.cpus, cpu))
            continue;
        cpumask_set(params.hard, cpu);
        if (sim->memory.node_of_cpu[cpu] == vm->placement.vnode[v->vnode].node)
            cpumask_set(params.soft, cpu);
    }
    v->vm = vm;
    v->index = index;
    v->warm_cpu = CPUMASK_NONE;
    v->woken_at = v->neglected_since = NS_NEVER;
    v->timer.kind = EVENT_TIMER;
    v->state = sim_alloc(1, vm->config->workload->vcpu_bytes);
    unit_init(&v->unit, &params);
    sched_unit_insert(sim->s, &v->unit, sim->now);
}

static void vm_build(struct sim *sim, struct sim_vm *vm, const struct scenario_vm *config,
                     uint32_t copy)
{
    uint32_t words = cpumask_nwords(sim->ncpus);

    vm->config = config;
    vm->id = (uint32_t)(vm - sim->vms);
    vm->nvcpus = config->guest.vcpus;
    vm->finished_at = NS_NEVER;
    vm->tick.kind = EVENT_TICK;
    vm->refill.kind = EVENT_REFILL;
    cap_init(&vm->cap);
    if (config->guest.cap)
        cap_set(&vm->cap, config->guest.cap, vm->nvcpus, sim->now);
    if (config->count > 1)
        snprintf(vm->name, sizeof(vm->name), "%.31s%u", config->name, copy + 1);
    else
        snprintf(vm->name, sizeof(vm->name), "%.31s", config->name);
    if (pages_give(sim, vm))
        errx(2, "%s:%d: VM %s: no nodes have that much memory free", sim->scenario->path,
             config->line, vm->name);
    vm->masks = sim_alloc(2ul * vm->nvcpus * words, sizeof(*vm->masks));
    vm->vcpus = sim_alloc(vm->nvcpus, sizeof(*vm->vcpus));
    vm->state = sim_alloc(1, config->workload->vm_bytes);
    for (uint32_t i = 0; i < vm->nvcpus; i++)
        vcpu_init(sim, vm, i);
    sim->vms_left += config->workload->ends && config->workload->ends(config->params);
    sim->has_bandwidth |=
        config->workload->bandwidth && config->workload->bandwidth(config->params);
}

static void vms_build(struct sim *sim)
{
    const struct scenario *scenario = sim->scenario;

    sim->vms = sim_alloc(scenario_total_vms(scenario), sizeof(*sim->vms));
    for (uint32_t i = 0; i < scenario->nvms; i++)
        for (uint32_t copy = 0; copy < scenario->vms[i].count; copy++)
            vm_build(sim, &sim->vms[sim->nvms++], &scenario->vms[i], copy);
}

void vm_start(struct sim *sim, struct sim_vm *vm)
{
    vm->started_at = sim->now;
    if (vm->config->workload->start)
        vm->config->workload->start(sim, vm);
    for (uint32_t i = 0; i < vm->nvcpus; i++)
        vcpu_start(sim, &vm->vcpus[i]);
}

void vm_finish(struct sim *sim, struct sim_vm *vm)
{
    ASSERT(vm->finished_at == NS_NEVER);
    vm->finished_at = sim->now;
    sim->vms_left--;
}

double sim_measured_seconds(const struct sim *sim)
{
    return (double)(sim->now - sim->measured_from) / (double)NS_PER_SEC;
}

struct sim *sim_new(const struct scenario *scenario, uint64_t seed)
{
    struct sim *sim = sim_alloc(1, sizeof(*sim));

    sim->scenario = scenario;
    sim->now = SIM_BEGIN;
    sim->end = sim->now + scenario->run.duration;
    sim->measured_from = sim->now + scenario->run.warmup;
    random_seed(&sim->random, seed);
    machine_build(sim);
    events_init(&sim->events, sim->ncpus + scenario_total_vcpus(scenario) +
                                  2 * scenario_total_vms(scenario) + actions_count(scenario));
    scheduler_build(sim);
    vms_build(sim);
    actions_plan(sim);
    check_watch(sim);
    return sim;
}

static void vm_free(struct sim_vm *vm)
{
    if (vm->config->workload->stop)
        vm->config->workload->stop(vm);
    for (uint32_t i = 0; i < vm->nvcpus; i++)
        free(vm->vcpus[i].state);
    free(vm->vcpus);
    free(vm->vnodes);
    free(vm->masks);
    free(vm->state);
}

void sim_free(struct sim *sim)
{
    check_watch(NULL);
    for (uint32_t i = 0; i < sim->nvms; i++)
        vm_free(&sim->vms[i]);
    actions_free(sim);
    pages_free(sim);
    events_free(&sim->events);
    free(sim->vms);
    free(sim->sched_memory);
    free(sim->places);
    free(sim->cpus);
    free(sim->taken);
    free(sim->cores);
    free(sim->core_cpus);
    free(sim);
}

static void handle(struct sim *sim, struct event *e)
{
    struct sim_vm *vm;

    switch (e->kind) {
    case EVENT_CPU:
        cpu_event(sim, container_of(e, struct sim_cpu, event));
        break;
    case EVENT_TIMER:
        vcpu_timer(sim, container_of(e, struct vcpu, timer));
        break;
    case EVENT_TICK:
        vm = container_of(e, struct sim_vm, tick);
        vm->config->workload->tick(sim, vm);
        break;
    case EVENT_REFILL:
        sched_cap_refill(sim->s, &container_of(e, struct sim_vm, refill)->cap, sim->now);
        break;
    default:
        action_do(sim, e);
    }
}

bool sim_run(struct sim *sim)
{
    bool can_end = sim->vms_left > 0;
    struct event *e;

    while ((e = events_pop(&sim->events)) && e->at <= sim->end) {
        sim->at_once = e->at == sim->now ? sim->at_once + 1 : 0;
        sim->now = e->at;
        if (sim->at_once % AT_ONCE_LOOK == AT_ONCE_LOOK - 1)
            check_clock(sim);
        sim->nevents++;
        handle(sim, e);
        if (sim->check)
            check_all(sim);
        if (sim->progress && sim->nevents % PROGRESS_EVENTS == 0)
            sim->progress(sim);
        if (can_end && !sim->vms_left)
            break;
    }
    if (sim->check)
        sched_check_affinity(sim->s);
    if (!can_end || sim->vms_left)
        sim->now = sim->end;
    for (uint32_t i = 0; i < sim->ncpus; i++)
        cpu_account(sim, &sim->cpus[i]);
    return sim->now > sim->measured_from;
}
