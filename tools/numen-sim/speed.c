/*
 * How fast a CPU does a vCPU's work.
 *
 * Three factors: how many threads of the core are busy (machine.smt), what kind of CPU it is
 * (cpu_speed), and, for the share of its time that the workload spends on memory, how far that
 * memory is and how many others draw on the same nodes. A vCPU that comes to another CPU also pays
 * once for the caches it left behind.
 *
 * Whenever one of these changes, all CPUs that it concerns are accounted at the old speed first and
 * armed anew at the new one.
 */
#include "hv/bits.h"
#include "tools/numen-sim/sim.h"
#include "tools/numen-sim/workload.h"

/* Time of its memory accesses against that of near and free memory: 1024 is equal. */
static uint64_t memory_penalty(const struct sim *sim, const struct sim_cpu *c)
{
    const struct sim_vnode *memory = &c->cur->vm->vnodes[c->cur->vnode];
    uint64_t limit = sim->scenario->machine.bandwidth;
    uint64_t penalty = memory->latency[c->place->node];
    uint64_t crowd = 0;

    if (!limit || !sim->has_bandwidth)
        return penalty;
    for (uint32_t n = 0; n < sim->memory.truth->nnodes; n++) {
        uint64_t wait = MAX(sim->bandwidth_used[n], limit) * 1024 / limit;

        crowd += memory->share[n] * wait;
    }
    return penalty * (crowd / 1024) / 1024;
}

/* How many threads share the core: those that are busy, or all up to the last busy one. */
static uint32_t threads_sharing(const struct sim *sim, const struct sim_core *core)
{
    uint32_t last = core->count;

    if (sim->scenario->machine.smt_by == SMT_BY_COUNT)
        return core->busy;
    while (last > 1 && !sim->cpus[sim->core_cpus[core->first + last - 1]].cur)
        last--;
    return last;
}

static uint32_t speed_of(const struct sim *sim, const struct sim_cpu *c)
{
    const struct machine_config *m = &sim->scenario->machine;
    const struct scenario_vm *config = c->cur->vm->config;
    const struct workload *w = config->workload;
    uint32_t sharing = threads_sharing(sim, &sim->cores[c->core]);
    uint64_t speed = m->smt.value[sharing - 1] * c->own_speed / SPEED_FULL;
    uint64_t share = w->memory_share ? w->memory_share(config->params) : 0;

    if (share)
        speed = speed * 1024 / (1024 - share + share * memory_penalty(sim, c) / 1024);
    return (uint32_t)MAX(speed, 1u);
}

static void refresh(struct sim *sim, struct sim_cpu *c)
{
    uint32_t speed;

    if (!c->cur)
        return;
    speed = speed_of(sim, c);
    if (speed == c->speed)
        return;
    cpu_account(sim, c);
    c->speed = speed;
    if (c != sim->at)
        cpu_arm(sim, c);
}

static uint64_t bandwidth_of(const struct sim_cpu *c)
{
    const struct scenario_vm *config = c->cur->vm->config;

    return config->workload->bandwidth ? config->workload->bandwidth(config->params) : 0;
}

/* `add` or take away what c->cur asks of the nodes; everyone who uses memory is concerned. */
static void bandwidth_change(struct sim *sim, const struct sim_cpu *c, bool add)
{
    uint64_t demand = bandwidth_of(c);

    if (!demand)
        return;
    for (uint32_t n = 0; n < sim->memory.truth->nnodes; n++) {
        uint64_t here = demand * c->cur->vm->vnodes[c->cur->vnode].share[n] / 1024;

        sim->bandwidth_used[n] += add ? here : -here;
    }
    for (uint32_t i = 0; i < sim->ncpus; i++)
        if (&sim->cpus[i] != c)
            refresh(sim, &sim->cpus[i]);
}

static void refresh_core(struct sim *sim, const struct sim_cpu *c)
{
    const struct sim_core *core = &sim->cores[c->core];

    for (uint32_t i = 0; i < core->count; i++)
        refresh(sim, &sim->cpus[sim->core_cpus[core->first + i]]);
}

void speed_enter(struct sim *sim, struct sim_cpu *c)
{
    sim->cores[c->core].busy++;
    if (sim->has_bandwidth)
        bandwidth_change(sim, c, true);
    refresh_core(sim, c);
}

void speed_leave(struct sim *sim, struct sim_cpu *c)
{
    sim->cores[c->core].busy--;
    if (sim->has_bandwidth)
        bandwidth_change(sim, c, false);
    c->cur = NULL;
    c->speed = 0;
    if (sim->cores[c->core].busy)
        refresh_core(sim, c);
}

uint64_t speed_warm_up(struct sim *sim, struct sim_cpu *c)
{
    const struct machine_config *m = &sim->scenario->machine;
    struct vcpu *v = c->cur;
    const struct cpu_place *to = c->place, *from;
    uint32_t warm_cpu = v->warm_cpu;

    v->warm_cpu = c->cpu;
    if (warm_cpu == c->cpu || warm_cpu == CPUMASK_NONE)
        return 0;
    from = &sim->places[warm_cpu];
    if (from->core == to->core)
        return m->warm_core * WORK_PER_NS;
    if (from->llc == to->llc)
        return m->warm_llc * WORK_PER_NS;
    return (from->node == to->node ? m->warm_socket : m->warm_node) * WORK_PER_NS;
}
