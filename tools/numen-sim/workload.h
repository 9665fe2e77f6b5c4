/*
 * What the vCPUs of a VM do: one small state machine per kind.
 *
 * `next` is called when a vCPU's segment has ended, and once at the start; it runs "inside" the
 * vCPU, so the vCPU is on a CPU, and it must begin exactly one new segment (vcpu.h) before it
 * returns. An interrupt that reaches a halted vCPU ends the halt, and `next` follows. `arrived` is
 * called when an interrupt or a new stay on a CPU finds a vCPU in the middle of a segment; it may
 * begin another one, or leave things as they are.
 */
#ifndef NUMEN_SIM_WORKLOAD_H
#define NUMEN_SIM_WORKLOAD_H

#include "tools/numen-sim/keys.h"

#define METRICS_MAX 12u

struct sim;
struct sim_vm;
struct vcpu;

struct metric {
    const char *name, *unit;
    double value;
    bool higher; /* is better */
};

struct workload {
    const char *name, *help;
    const struct key *keys;
    uint32_t vcpus_by; /* the number of vCPUs is a multiple of this; 0: any number will do */
    bool sees_l3;      /* l3-cache= changes what its guest does */
    size_t params_bytes, vm_bytes, vcpu_bytes; /* of params, sim_vm.state, vcpu.state */
    bool (*ends)(const void *params);          /* do its vCPUs finish by themselves? NULL: no */
    void (*start)(struct sim *sim, struct sim_vm *vm); /* before the first `next`; may be NULL */
    void (*next)(struct sim *sim, struct vcpu *v);
    void (*arrived)(struct sim *sim, struct vcpu *v, bool interrupted); /* may be NULL */
    void (*tick)(struct sim *sim, struct sim_vm *vm); /* vm->tick has come; may be NULL */
    void (*measure)(struct sim *sim,
                    struct sim_vm *vm); /* end of the warm-up: counts to zero; may be NULL */
    uint32_t (*report)(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[]);
    uint32_t (*memory_share)(
        const void *params);                   /* of its time spent on memory, 1/1024; NULL: none */
    uint64_t (*bandwidth)(const void *params); /* bytes a second of one running vCPU; NULL: none */
    void (*stop)(struct sim_vm *vm);           /* frees what start took; may be NULL */
};

/* By name, or NULL. */
const struct workload *workload_find(const char *name);

/* All of them, ended by NULL. */
extern const struct workload *const workloads[];

#endif
