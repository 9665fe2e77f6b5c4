/*
 * What each CPU does: the simulator's counterpart of kernel/schedule.c.
 *
 * One event stands for the first thing that will happen on the CPU: the end of a switch, a kick's
 * arrival, the scheduler's deadline, or the end of what its vCPU does. cpu_event finds out which it
 * was, acts, and cpu_arm works out the next. The order of a switch is the image's: pick, save the
 * previous unit, sched_saved, and only then the next one runs.
 *
 * Invariant: a CPU that is saving picks nothing; c->cur is what the last pick returned.
 */
#include "hv/bits.h"
#include "sched/runq.h"
#include "sched/sched_host.h"
#include "tools/numen-sim/record.h"
#include "tools/numen-sim/vcpu.h"

/* Segments that take no time, one after the other: a workload that never gets on. */
#define INSTANT_SEGMENTS_MAX 100000u

/* The scheduler's calls carry no instance: one simulation runs at a time. */
static struct sim *host;

struct sim_cpu *cpu_of_vcpu(struct sim *sim, const struct vcpu *v)
{
    struct sim_cpu *c = &sim->cpus[v->unit.cpu];

    return c->cur == v ? c : NULL;
}

/* ---- what sched/ asks of its host ---- */

void sched_host_kick(uint32_t cpu)
{
    const struct machine_config *m = &host->scenario->machine;
    struct sim_cpu *c = &host->cpus[cpu];
    ns_t way = c == host->at ? 0 : c->cur || c->saving ? m->ipi_ns : m->wake_ns;

    if (c != host->at)
        c->kicks++;
    c->kick_at = MIN(c->kick_at, host->now + way);
    if (c != host->at)
        cpu_arm(host, c);
}

/* As in the image: another CPU is made to pick, and works out its deadline then. */
void sched_host_arm(uint32_t cpu, ns_t deadline)
{
    struct sim_cpu *c = &host->cpus[cpu];

    if (c != host->at)
        sched_host_kick(cpu);
    else
        c->deadline = MIN(c->deadline, deadline);
}

void sched_host_refill(struct cap *cap, ns_t at)
{
    event_set(&host->events, &container_of(cap, struct sim_vm, cap)->refill, MAX(at, host->now));
}

void sched_host_trace(uint32_t cpu, uint32_t event, uint64_t a, uint64_t b)
{
    if (host->record)
        record_add(host->record, host->now, cpu, event, a, b);
}

/* ---- time passes ---- */

/* A vCPU that is moved before its caches are warm owes the dearest of its moves, not their sum. */
static uint64_t owes_cold(const struct vcpu *v)
{
    return v->segment == SEGMENT_SPIN ? 0 : v->cold;
}

static void work_off(struct vcpu *v, uint64_t done)
{
    uint64_t cold = MIN(owes_cold(v), done);

    v->cold -= cold;
    v->work -= MIN(v->work, done - cold);
}

static void account_vcpu(struct sim_cpu *c, ns_t ran)
{
    struct vcpu *v = c->cur;

    if (v->segment == SEGMENT_SPIN)
        v->counts.spin_ns += ran;
    v->counts.remote_ns += ran * (1024 - v->vm->vnodes[v->vnode].share[c->place->node]) / 1024;
    if (v->work != WORK_FOREVER)
        work_off(v, ran * c->speed);
}

void cpu_account(struct sim *sim, struct sim_cpu *c)
{
    ns_t from = MAX(c->accounted, c->ready_at);

    if (!c->cur) {
        c->accounted = sim->now;
        return;
    }
    c->busy_ns += sim->now - c->accounted;
    c->accounted = sim->now;
    if (sim->now > from)
        account_vcpu(c, sim->now - from);
}

/* When its vCPU's work is done at this speed. */
static ns_t work_end(const struct sim *sim, const struct sim_cpu *c)
{
    uint64_t work = c->cur->work;

    if (work == WORK_FOREVER)
        return NS_NEVER;
    work += owes_cold(c->cur);
    return MAX(sim->now, c->ready_at) + (work + c->speed - 1) / c->speed;
}

void cpu_arm(struct sim *sim, struct sim_cpu *c)
{
    ns_t next = MIN(c->kick_at, c->deadline);

    if (c->saving || c->arriving)
        next = c->ready_at;
    else if (c->cur)
        next = MIN(MIN(next, MAX(c->notice_at, c->ready_at)), work_end(sim, c));
    event_set(&sim->events, &c->event, next == NS_NEVER ? next : MAX(next, sim->now));
}

void cpu_poke(struct sim *sim, struct sim_cpu *c)
{
    if (c != sim->at)
        cpu_arm(sim, c);
}

void cpu_notice(struct sim *sim, struct sim_cpu *c)
{
    ns_t way = c == sim->at ? 0 : sim->scenario->machine.ipi_ns;

    c->notice_at = MIN(c->notice_at, sim->now + way);
    cpu_poke(sim, c);
}

/* ---- the switch ---- */

/* The end of a switch: the previous unit is another CPU's to run, the next one begins. */
static void switch_end(struct sim *sim, struct sim_cpu *c)
{
    struct unit *prev = c->saving;

    c->saving = NULL;
    if (prev)
        sched_saved(sim->s, prev, sim->now);
    if (!c->arriving)
        return;
    c->arriving = false;
    vcpu_arrive(sim, c->cur);
}

static void switch_in(struct sim *sim, struct sim_cpu *c, struct vcpu *v)
{
    uint64_t cold;

    c->cur = v;
    c->arriving = true;
    c->notice_at = NS_NEVER;
    speed_enter(sim, c);
    cold = speed_warm_up(sim, c);
    v->cold = MAX(v->cold, cold);
    if (v->woken_at != NS_NEVER)
        histogram_add(&v->vm->wake_latency, sim->now - v->woken_at);
    v->woken_at = NS_NEVER;
}

static void switch_to(struct sim *sim, struct sim_cpu *c, struct unit *next)
{
    c->switches++;
    c->ready_at = sim->now + sim->scenario->machine.switch_ns;
    if (c->cur) {
        c->ready_at += vcpu_take_debt(c->cur); /* it leaves at the end of its exit */
        c->saving = &c->cur->unit;
        speed_leave(sim, c);
    }
    if (next)
        switch_in(sim, c, container_of(next, struct vcpu, unit));
    if (sim->record)
        record_switch(sim->record, sim->now, c);
}

static void pick(struct sim *sim, struct sim_cpu *c)
{
    struct unit *next;
    ns_t deadline = 0;

    c->must_pick = false;
    c->kick_at = NS_NEVER;
    c->deadline = NS_NEVER;
    c->picks++;
    contention_begin(sim, sim->s->cpus[c->cpu].rq);
    next = sched_pick(sim->s, c->cpu, sim->now, &deadline);
    contention_end(sim);
    ASSERT(deadline > sim->now);
    c->deadline = MIN(c->deadline, deadline);
    if (next != (c->cur ? &c->cur->unit : NULL))
        switch_to(sim, c, next);
    else if (next)
        c->ready_at = MAX(c->ready_at, sim->now + sim->scenario->machine.exit_ns);
}

/* Ends segments until one takes time. */
static void run_vcpu(struct sim *sim, struct sim_cpu *c)
{
    struct vcpu *v = c->cur;

    if (c->notice_at <= sim->now) {
        c->notice_at = NS_NEVER;
        if (v->interrupted)
            vcpu_arrive(sim, v);
    }
    for (uint32_t i = 0; v->work == 0 && !c->must_pick; i++) {
        ASSERT(i < INSTANT_SEGMENTS_MAX);
        vcpu_segment_end(sim, v);
    }
}

void cpu_event(struct sim *sim, struct sim_cpu *c)
{
    sim->at = c;
    cpu_account(sim, c);
    if (c->saving || c->arriving)
        switch_end(sim, c);
    if (c->cur && !c->must_pick && sim->now >= c->ready_at)
        run_vcpu(sim, c);
    if (!c->saving && !c->arriving &&
        (c->must_pick || c->kick_at <= sim->now || c->deadline <= sim->now))
        pick(sim, c);
    sim->at = NULL;
    cpu_arm(sim, c);
}

/* They have picked and wait in HLT when the first VM starts, as on a machine that has booted. */
void cpu_init_all(struct sim *sim)
{
    host = sim;
    for (uint32_t i = 0; i < sim->ncpus; i++) {
        struct sim_cpu *c = &sim->cpus[i];

        c->event.kind = EVENT_CPU;
        c->kick_at = c->deadline = c->notice_at = NS_NEVER;
        ASSERT(sched_cpu_online(sim->s, i, sim->now) == 0);
    }
    for (uint32_t i = 0; i < sim->ncpus; i++) {
        sim->cpus[i].kick_at = sim->now;
        cpu_event(sim, &sim->cpus[i]);
    }
}
