/*
 * A small guest kernel: tasks on vCPUs, and where a woken task goes.
 *
 * Workloads whose threads outnumber or move between vCPUs stand on it (messaging, pipe). It models
 * what a virtual L3 changes in Linux (SCHEDULER seed 5): a waker looks for an idle CPU only among
 * those that share its last-level cache, and a wake-up across caches goes through the other CPU's
 * wake list, which costs an interrupt whether that CPU is idle or not. Within a cache only an idle
 * CPU and one whose task has to give way are interrupted.
 */
#ifndef NUMEN_SIM_GUEST_H
#define NUMEN_SIM_GUEST_H

#include "tools/numen-sim/vcpu.h"

struct guest;

enum task_state { TASK_BLOCKED, TASK_READY, TASK_RUNNING };

struct guest_task {
    uint32_t index;
    enum task_state state;
    uint32_t vcpu;    /* runs, waits or last ran there */
    ns_t work;        /* left of what it does now */
    int64_t vruntime; /* ns it has run, as its vCPU counts */
    uint32_t load;    /* share of its time that it wanted to run, lately; 1024: all of it */
    ns_t loaded_at;   /* up to here */
    const struct guest_task *last_wakee;
    uint32_t flips; /* how often it woke another task than the time before; halves each second */
    ns_t flips_halved;
    struct guest_task *next;
};

struct guest_queue {
    struct guest_task *first, *last;
    uint32_t count; /* waiting, the running one apart */
};

struct guest_vcpu {
    struct guest_task *current;
    struct guest_queue ready;
    struct guest_queue woken; /* the wake list: sent from other caches, not yet looked at */
    int64_t floor;            /* virtual run time that tasks are ahead or behind of */
    ns_t ran;                 /* the current one, since it was chosen */
    bool preempted;           /* it is to give way at the end of its step */
};

/* The workload's say: what a task does when its work is done. It calls guest_work or guest_block.
 */
typedef void guest_step(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_task *t);

struct guest {
    struct sim_vm *vm;
    guest_step *step;
    bool shares_cache;       /* l3-cache=on */
    ns_t switch_ns, wake_ns; /* of the guest's own scheduler and wake-up path */
    struct guest_vcpu *vcpus;
    struct guest_task *tasks;
    uint32_t ntasks;
};

/* Tasks start ready, spread over the vCPUs in turn, with no work: the first step gives them some.
 */
void guest_init(struct guest *g, struct sim_vm *vm, uint32_t ntasks, guest_step *step);
void guest_free(struct guest *g);

/* The workload's `next` and `arrived`. */
void guest_next(struct sim *sim, struct guest *g, struct vcpu *v);
void guest_arrived(struct sim *sim, struct guest *g, struct vcpu *v, bool interrupted);

/* From `step`: go on for `ns`, or wait for a guest_wake. */
void guest_work(struct guest_task *t, ns_t ns);
void guest_block(struct guest_task *t);

/* By a task that runs on `v`. `sync`: the waker is about to block (pipes say so). */
void guest_wake(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_task *t, bool sync);

#endif
