/*
 * A vCPU's segments: begun by its workload, ended by its CPU. See vcpu.h.
 *
 * Invariants: a vCPU that is computing, spinning or halting wants to run; a halted one sleeps. Only
 * the CPU a vCPU is on changes its segment, except vcpu_release, which shortens a spin.
 */
#include "tools/numen-sim/vcpu.h"

static void begin(struct vcpu *v, enum vcpu_segment segment, uint64_t work)
{
    v->segment = segment;
    v->work = work;
}

void vcpu_compute(struct vcpu *v, ns_t ns)
{
    begin(v, SEGMENT_COMPUTE, ns * WORK_PER_NS);
}

/* A spin is a row of windows; the pause filter looks at each, the limit at their sum. */
static void spin_window(struct vcpu *v)
{
    ns_t window = v->ple_window ? MIN(v->ple_window, v->spin_left) : v->spin_left;

    begin(v, SEGMENT_SPIN, window == NS_NEVER ? WORK_FOREVER : window * WORK_PER_NS);
    if (v->spin_left != NS_NEVER)
        v->spin_left -= window;
}

void vcpu_spin(struct vcpu *v, ns_t limit, ns_t ple_window)
{
    v->spin_left = limit;
    v->ple_window = ple_window;
    spin_window(v);
}

void vcpu_halt(struct sim *sim, struct vcpu *v, ns_t until)
{
    v->halt_until = until;
    begin(v, SEGMENT_HALTING, sim->scenario->machine.halt_ns * WORK_PER_NS);
}

void vcpu_finish(struct sim *sim, struct vcpu *v)
{
    struct sim_vm *vm = v->vm;

    vcpu_halt(sim, v, NS_NEVER);
    v->interrupted = v->kicked = false;
    if (++vm->done == vm->nvcpus)
        vm_finish(sim, vm);
}

void vcpu_charge(struct vcpu *v, ns_t ns)
{
    v->debt += ns * WORK_PER_NS;
}

ns_t vcpu_take_debt(struct vcpu *v)
{
    ns_t debt = v->debt / WORK_PER_NS;

    v->debt = 0;
    return debt;
}

void vcpu_release(struct sim *sim, struct vcpu *v, ns_t ns)
{
    struct sim_cpu *c = cpu_of_vcpu(sim, v);

    if (v->segment != SEGMENT_SPIN)
        return;
    if (c)
        cpu_account(sim, c);
    begin(v, SEGMENT_COMPUTE, ns * WORK_PER_NS);
    if (c)
        cpu_poke(sim, c);
}

/* Out of HLT, whatever the reason. */
static void wake(struct sim *sim, struct vcpu *v)
{
    if (v->segment != SEGMENT_HALTED || !v->asleep)
        return;
    event_set(&sim->events, &v->timer, NS_NEVER);
    v->asleep = false;
    v->woken_at = sim->now;
    contention_wake(sim, &v->unit);
}

/* What sending an interrupt or a kick costs the sender: waking a sleeper is the longer way. */
static void charge_sender(struct sim *sim, struct vcpu *from, const struct vcpu *to)
{
    const struct machine_config *m = &sim->scenario->machine;

    vcpu_charge(from, m->exit_ns + (to->asleep ? m->exit_wake_ns : 0));
}

void vcpu_interrupt(struct sim *sim, struct vcpu *from, struct vcpu *to)
{
    struct sim_cpu *c = cpu_of_vcpu(sim, to);

    if (from) {
        charge_sender(sim, from, to);
        from->counts.interrupts++;
    }
    to->interrupted = true;
    if (c)
        cpu_notice(sim, c);
    wake(sim, to);
}

/* Directed yield of the CPU that `v` is on; false when it changed nothing. */
static bool yield_to(struct sim *sim, struct vcpu *v, struct vcpu *to)
{
    struct sim_cpu *c = cpu_of_vcpu(sim, v);

    if (!c || !sched_yield_to(sim->s, c->cpu, &to->unit, sim->now))
        return false;
    v->counts.yields++;
    c->must_pick = true;
    return true;
}

void vcpu_kick(struct sim *sim, struct vcpu *from, struct vcpu *to)
{
    charge_sender(sim, from, to);
    from->counts.kicks++;
    to->kicked = true;
    wake(sim, to);
    yield_to(sim, from, to);
}

/* HLT with an interrupt or a kick pending returns at once, but its exit has been paid. */
static void fall_asleep(struct sim *sim, struct vcpu *v)
{
    struct sim_cpu *c = cpu_of_vcpu(sim, v);

    v->segment = SEGMENT_HALTED;
    v->counts.halts++;
    if (v->interrupted || v->kicked || v->halt_until <= sim->now) {
        vcpu_arrive(sim, v);
        return;
    }
    v->asleep = true;
    event_set(&sim->events, &v->timer, v->halt_until);
    sched_sleep(sim->s, c->cpu);
    c->must_pick = true;
}

/*
 * May a directed yield go to it? Not to one that gave way itself, for that one spins, too; but
 * every other time, for what it waited for may have come. KVM's rule since Linux 3.7.
 */
static bool is_candidate(struct vcpu *v)
{
    if (!unit_is_ready(&v->unit))
        return false;
    if (!v->gave_way)
        return true;
    v->passed_over = !v->passed_over;
    return !v->passed_over;
}

/*
 * The pause filter ran out: a yield to the next preempted vCPU of the VM in turn, which may hold
 * what is spun for; then the spin goes on. If none takes the CPU, it is kept.
 */
static void pause_loop_exit(struct sim *sim, struct vcpu *v)
{
    struct sim_vm *vm = v->vm;
    uint32_t at = vm->boosted;

    v->counts.ple_exits++;
    vcpu_charge(v, sim->scenario->machine.exit_ns);
    spin_window(v);
    v->gave_way = v->passed_over = false;
    for (uint32_t i = 0; i < vm->nvcpus && !v->gave_way; i++) {
        struct vcpu *other;

        at = at + 1 < vm->nvcpus ? at + 1 : 0;
        other = &vm->vcpus[at];
        v->gave_way = other != v && is_candidate(other) && yield_to(sim, v, other);
    }
    if (v->gave_way)
        vm->boosted = at;
}

static void end(struct sim *sim, struct vcpu *v)
{
    v->segment = SEGMENT_NONE;
    v->vm->config->workload->next(sim, v);
}

void vcpu_segment_end(struct sim *sim, struct vcpu *v)
{
    v->gave_way = false;
    if (v->debt) { /* exits on the way have still to be paid */
        v->work = v->debt;
        v->debt = 0;
        return;
    }
    switch (v->segment) {
    case SEGMENT_SPIN:
        if (v->spin_left)
            pause_loop_exit(sim, v);
        else
            end(sim, v);
        break;
    case SEGMENT_HALTING:
        fall_asleep(sim, v);
        break;
    default:
        end(sim, v);
    }
}

/*
 * On a CPU: a halt is over, and what was pending is seen. An interrupt that finds a halt on its way
 * in stays pending, and fall_asleep sees it.
 */
void vcpu_arrive(struct sim *sim, struct vcpu *v)
{
    const struct workload *w = v->vm->config->workload;
    bool interrupted = v->interrupted;

    v->gave_way = false;
    if (v->segment == SEGMENT_HALTING)
        return;
    v->interrupted = v->kicked = false;
    if (interrupted)
        vcpu_charge(v, sim->scenario->machine.exit_ns + sim->scenario->machine.exit_irq_ns);
    if (v->segment == SEGMENT_HALTED || v->segment == SEGMENT_NONE)
        end(sim, v);
    else if (w->arrived)
        w->arrived(sim, v, interrupted);
}

void vcpu_timer(struct sim *sim, struct vcpu *v)
{
    wake(sim, v);
}

void vcpu_start(struct sim *sim, struct vcpu *v)
{
    v->segment = SEGMENT_NONE;
    v->woken_at = sim->now;
    contention_wake(sim, &v->unit);
}
