/*
 * The scheduler's hands: it decides in sched/, this file saves, loads, arms and kicks.
 *
 * Decides nothing about who runs. A switch saves the leaving vCPU whole and only then tells the
 * scheduler (sched_saved), so that no other CPU can run it before; then it loads the next one.
 * Choosing the same vCPU again touches no hardware state.
 *
 * Invariant: cpu->current is the vCPU whose state is loaded on the CPU, and its
 * unit has on_cpu set.
 */
#include "kernel/schedule.h"

#include <errno.h>

#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/gather.h"
#include "kernel/machine.h"
#include "kernel/mem.h"
#include "kernel/printk.h"
#include "kernel/timer.h"
#include "kernel/trace.h"
#include "kernel/vm_cap.h"
#include "kernel/vm_life.h"
#include "sched/sched_host.h"

struct sched *sched;

/* ---- what sched/ asks of its host ---- */

void sched_host_kick(uint32_t cpu)
{
    cpu_hazard(cpus[cpu], HAZARD_SCHED);
}

/*
 * A remote CPU is made to pick at once: its pick works the deadline out again and arms its own
 * timer.
 */
void sched_host_arm(uint32_t cpu, ns_t deadline)
{
    struct cpu *self = cpu_this();

    if (cpu != self->id)
        cpu_hazard(cpus[cpu], HAZARD_SCHED);
    else if (deadline < self->slice.deadline)
        timer_arm(&self->slice, deadline);
}

void sched_host_refill(struct cap *cap, ns_t at)
{
    vm_cap_refill_at(cap, at);
}

void sched_host_trace(uint32_t cpu, uint32_t event, uint64_t a, uint64_t b)
{
    trace(cpu, event, a, b);
}

/* ---- set-up ---- */

static void schedule_slice_end(struct timer *timer, ns_t now)
{
    (void)now;
    cpu_hazard(container_of(timer, struct cpu, slice), HAZARD_SCHED);
}

/* From the options, with one line if they do not go together. */
static void schedule_params_read(struct sched_params *p)
{
    sched_params_options(p, &machine.options);
    if (p->gran == SCHED_GRAN_CORE &&
        (enum runq_arrangement)machine.options.credit2_runqueue.word == RUNQ_PER_CPU)
        pr_warn("credit2_runqueue=cpu parts siblings, sched-gran=core does not: socket is used");
}

int schedule_init(void)
{
    struct sched_params params;
    void *memory = mem_zalloc(sched_bytes(cpu_count), 0);

    if (!memory)
        return -ENOMEM;
    schedule_params_read(&params);
    sched_params_show(&params, &machine.options);
    sched = sched_init(memory, &params, machine.places, cpu_count, machine.numa.distance,
                       machine.numa.nnodes);
    return 0;
}

static void schedule_rearrange(void *arg)
{
    sched_rearrange(sched, arg, arch_now());
}

int schedule_params_changed(void)
{
    struct sched_params params;
    int error;

    schedule_params_read(&params);
    error = gather_call(schedule_rearrange, &params);
    if (!error)
        sched_params_show(&params, &machine.options);
    return error;
}

void schedule_cpu_init(struct cpu *cpu)
{
    timer_init(&cpu->slice, schedule_slice_end);
    cpu->idle_since = arch_now();
    if (sched_cpu_online(sched, cpu->id, cpu->idle_since) < 0)
        panic("CPU %u cannot join the scheduler", cpu->id);
}

/* ---- the switch ---- */

static void schedule_switch_out(struct vcpu *prev, ns_t now)
{
    bool leaves = prev->leaving;

    guest_switch_out(prev, !prev->blocked);
    virt->save(prev);
    if (prev->remote_since != NS_NEVER) {
        ns_t ran = now - prev->remote_since;

        /*
         * The store that releases pairs with vcpu_remote_ns: who sees the sum with this stay sees
         * it ended. A listing between the two shows too little for a moment, never too much.
         */
        atomic_set(&prev->remote_since, NS_NEVER);
        atomic_set_release(&prev->remote_ns, prev->remote_ns + ran);
    }
    cpu_this()->current = NULL;
    sched_saved(sched, &prev->unit, now); /* from here on another CPU may run it */
    if (leaves)
        vm_vcpu_left(prev);
}

static void schedule_switch_in(struct cpu *cpu, struct vcpu *next, ns_t now)
{
    virt->load(next);
    guest_switch_in(next, now);
    atomic_set(&next->gave_way, false);
    if (next->home_node != cpu->place.node)
        atomic_set(&next->remote_since, now);
    cpu->current = next;
    /*
     * The scheduler showed the unit running before; order that before the loop's look at the
     * pending word. Partner: vcpu_post, which sets the word before it looks whether the unit runs.
     */
    atomic_fence();
}

static void schedule_switch(struct cpu *cpu, struct vcpu *next, ns_t now)
{
    cpu->switches++;
    if (cpu->current)
        schedule_switch_out(cpu->current, now);
    else
        cpu->idle_ns += now - cpu->idle_since;
    if (next)
        schedule_switch_in(cpu, next, now);
    else
        cpu->idle_since = now;
}

void schedule(struct cpu *cpu)
{
    ns_t now = arch_now();
    ns_t deadline;
    struct unit *unit = sched_pick(sched, cpu->id, now, &deadline);
    struct vcpu *next = unit ? unit->owner : NULL;

    /* Before the switch: sched_saved in it may ask for an earlier deadline here. */
    if (deadline == NS_NEVER)
        timer_cancel(&cpu->slice);
    else if (deadline != cpu->slice.deadline)
        timer_arm(&cpu->slice, deadline);
    if (next != cpu->current)
        schedule_switch(cpu, next, now);
}

/* ---- requests ---- */

void schedule_yield(void)
{
    struct cpu *cpu = cpu_this();

    sched_yield_current(sched, cpu->id);
    cpu_hazard_self(HAZARD_SCHED);
}

bool schedule_yield_to(struct vcpu *to)
{
    struct cpu *cpu = cpu_this();

    if (!unit_is_ready(&to->unit) || !sched_yield_to(sched, cpu->id, &to->unit, arch_now()))
        return false;
    cpu_hazard_self(HAZARD_SCHED);
    return true;
}

void schedule_sleep(void)
{
    struct cpu *cpu = cpu_this();

    sched_sleep(sched, cpu->id);
    cpu_hazard_self(HAZARD_SCHED);
}

void schedule_wake(struct vcpu *v)
{
    sched_wake(sched, &v->unit, arch_now());
}

void schedule_interrupt(struct vcpu *v)
{
    struct cpu *self = cpu_this();
    struct cpu *cpu = cpus[atomic_get(&v->unit.cpu)];

    if (unit_is_running(&v->unit) && cpu != self) {
        self->kicks_sent++;
        arch_send_kick(cpu);
    }
}
