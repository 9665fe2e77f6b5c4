/*
 * The simulated machine: CPUs that run vCPUs as sched/ says, under a virtual clock.
 *
 * The scheduler is the image's own, linked as it is; cpu.c does what kernel/schedule.c does in the
 * image, and calls it in the same order. A vCPU is given one thing to do at a time (vcpu.h) by its
 * VM's workload (workload.h). How fast it does it depends on what its core's other threads do, on
 * whether its caches are warm, and on where its memory is (speed.c).
 *
 * Work is counted in 1/1024 ns of a core that is alone with its caches warm and its memory near;
 * speed in 1/1024 of that, so that work done is time times speed. All of it is integers: a seed
 * gives the same run everywhere.
 */
#ifndef NUMEN_SIM_SIM_H
#define NUMEN_SIM_SIM_H

#include <stdio.h>

#include "hv/cpu_place.h"
#include "mm/placement.h"
#include "sched/cap.h"
#include "sched/sched.h"
#include "tools/numen-sim/events.h"
#include "tools/numen-sim/histogram.h"
#include "tools/numen-sim/pages.h"
#include "tools/numen-sim/random.h"
#include "tools/numen-sim/scenario.h"

#define SPEED_FULL   1024u
#define WORK_PER_NS  1024u
#define WORK_FOREVER UINT64_MAX

#define SIM_BEGIN    NS_PER_SEC /* the clock at the start; 0 would make "long ago" hard to say */

struct sim;
struct sim_vm;

enum vcpu_segment {
    SEGMENT_NONE,    /* before its first step, and after its last */
    SEGMENT_COMPUTE, /* until its work is done */
    SEGMENT_SPIN,    /* until vcpu_release, burning the CPU */
    SEGMENT_HALTING, /* the exit of a HLT: ends asleep */
    SEGMENT_HALTED,
};

/* Since the end of the warm-up; what the scheduler counts itself is remembered as it was then. */
struct vcpu_counts {
    uint64_t halts, interrupts, kicks, yields, ple_exits;
    uint64_t spin_ns, remote_ns;
    uint64_t run_before, wait_before, capped_before, migrations_before;
};

struct vcpu {
    struct unit unit;
    struct sim_vm *vm;
    uint32_t index; /* in its VM */
    enum vcpu_segment segment;
    uint64_t work;     /* left of the segment */
    uint64_t debt;     /* costs of exits, to be paid before the segment ends */
    uint64_t cold;     /* work that its cold caches still cost it; a spin does not need them */
    ns_t ple_window;   /* of a spin; 0: no pause-loop exits */
    ns_t spin_left;    /* of its limit, behind this window; NS_NEVER: no limit */
    bool gave_way;     /* it last lost its CPU by a pause-loop exit, and has not run since */
    bool passed_over;  /* once for that: the next directed yield may go to it */
    bool interrupted;  /* an interrupt waits to be looked at */
    bool kicked;       /* the same of a kick: it ends a HLT, and costs nothing to take */
    bool asleep;       /* sched_sleep was called and no wake has come since */
    uint32_t vnode;    /* virtual node: index in vm->placement */
    uint32_t warm_cpu; /* whose caches hold its data; CPUMASK_NONE: nobody's */
    ns_t halt_until;
    ns_t woken_at;        /* NS_NEVER: not waiting for its first pick after a wake */
    ns_t neglected_since; /* check.c: queued beside an idle CPU it may use; NS_NEVER: not so */
    struct event timer;
    void *state; /* the workload's, zeroed */

    struct vcpu_counts counts;
};

struct sim_cpu {
    struct event event; /* whatever comes first here */
    uint32_t cpu;
    const struct cpu_place *place;
    struct vcpu *cur;
    struct unit *saving; /* its registers are being saved until ready_at */
    ns_t ready_at;       /* switches and exits have been paid then, and cur's own work goes on */
    ns_t accounted;      /* up to here */
    ns_t deadline;       /* of the last pick */
    ns_t kick_at;        /* when a kick arrives; NS_NEVER: none is under way */
    ns_t notice_at;      /* when an interrupt for cur arrives; NS_NEVER: none */
    bool must_pick;      /* what ran gave the CPU up */
    bool arriving;       /* cur begins at ready_at */
    uint32_t speed;      /* of cur */
    uint32_t own_speed;  /* of this CPU as such: hybrid parts */
    uint32_t core;       /* index in sim.cores */

    uint64_t busy_ns, kicks, picks, switches; /* since the end of the warm-up */
};

struct sim_core {
    uint32_t first, count; /* in sim.core_cpus */
    uint32_t busy;
};

/* A virtual node, as it really came to lie. By true node. */
struct sim_vnode {
    uint64_t bytes[NODES_MAX];
    uint32_t share[NODES_MAX];   /* the same in 1/1024 */
    uint32_t latency[NODES_MAX]; /* of an access from there, on average; 1024: all near */
};

struct sim_vm {
    const struct scenario_vm *config;
    char name[SCENARIO_NAME_CHARS];
    uint32_t id;
    uint32_t nvcpus;
    struct vcpu *vcpus;
    struct placement placement;
    struct sim_vnode *vnodes;      /* as placement has them */
    uint32_t boosted;              /* vCPU that the last pause-loop exit yielded to */
    uint32_t done;                 /* vCPUs that have finished */
    ns_t started_at;               /* 0: not yet */
    ns_t finished_at;              /* NS_NEVER: not yet */
    struct histogram wake_latency; /* ns from wake to pick */
    void *state;                   /* the workload's, zeroed */
    struct event tick;             /* the workload's own timer */
    uint64_t *masks;               /* of all its units */
    struct cap cap;                /* shared by its units if they have one */
    struct event refill;           /* of the cap */
};

struct sim {
    const struct scenario *scenario;
    struct sched *s;
    void *sched_memory;
    struct sched_params params;
    struct options options; /* the scenario's, and what an action set since */
    ns_t now, measured_from, end;
    struct events events;
    struct random random;

    uint32_t ncpus, ncores;
    struct cpu_place *places; /* the true machine */
    struct sim_cpu *cpus;
    struct sim_core *cores;
    uint32_t *core_cpus;
    struct sim_cpu *at; /* the CPU whose event is being handled; NULL: none */

    struct sim_memory memory;
    uint64_t bandwidth_used[NODES_MAX]; /* asked for by what runs now: bytes a second */
    bool has_bandwidth;                 /* a VM has bandwidth at all */

    uint32_t nvms;
    struct sim_vm *vms;
    uint32_t vms_left; /* that have an end and have not reached it */

    struct runq **taken; /* contention.c's */
    uint32_t ntaken;

    struct planned *planned; /* action.c's */
    uint32_t nplanned;

    uint64_t nevents;
    uint64_t at_once;                        /* of them, how many were at this very moment */
    void (*progress)(const struct sim *sim); /* called now and then; NULL: nobody wants to know */
    struct record *record;                   /* trace and timeline; NULL: none kept */
    bool check;
};

/* Builds machine, scheduler and VMs. Ends the program where memory runs out. */
struct sim *sim_new(const struct scenario *scenario, uint64_t seed);
void sim_free(struct sim *sim);

/*
 * Until the duration is over, or until every VM that has an end has reached it. False: that came
 * before the warm-up was over, so nothing was measured.
 */
__attribute__((warn_unused_result)) bool sim_run(struct sim *sim);

void vm_start(struct sim *sim, struct sim_vm *vm);

/* All that it had to do is done. Once, and of a VM whose workload `ends`. */
void vm_finish(struct sim *sim, struct sim_vm *vm);

/* Of the run, without the warm-up, up to now. */
double sim_measured_seconds(const struct sim *sim);

/* ---- cpu.c ---- */
void cpu_init_all(struct sim *sim);
void cpu_event(struct sim *sim, struct sim_cpu *c);
void cpu_account(struct sim *sim, struct sim_cpu *c);
void cpu_arm(struct sim *sim, struct sim_cpu *c);
void cpu_poke(struct sim *sim, struct sim_cpu *c);   /* its unit's segment changed */
void cpu_notice(struct sim *sim, struct sim_cpu *c); /* an interrupt is on the way to its unit */
struct sim_cpu *cpu_of_vcpu(struct sim *sim, const struct vcpu *v); /* NULL: not on a CPU */

/* ---- speed.c ---- */
void speed_enter(struct sim *sim, struct sim_cpu *c);       /* c->cur is new there */
void speed_leave(struct sim *sim, struct sim_cpu *c);       /* takes c->cur away */
uint64_t speed_warm_up(struct sim *sim, struct sim_cpu *c); /* work that cold caches cost */

/* ---- contention.c ---- */
void contention_begin(struct sim *sim, const struct runq *own);
void contention_end(struct sim *sim);
void contention_wake(struct sim *sim, struct unit *u);

/* ---- check.c ---- */
void check_watch(const struct sim *sim); /* whose last events a failed ASSERT shows; NULL: none's */
void check_all(struct sim *sim);
void check_clock(const struct sim *sim); /* that it does not stand still */

#endif
