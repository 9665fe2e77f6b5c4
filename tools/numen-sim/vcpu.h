/*
 * What a workload lets its vCPUs do.
 *
 * The first group begins a vCPU's next segment and is called from a workload's `next` or `arrived`.
 * Everything a guest pays for (exits for HLT, interrupts, hypercalls) is charged here, so that
 * workloads do not have to.
 */
#ifndef NUMEN_SIM_VCPU_H
#define NUMEN_SIM_VCPU_H

#include "tools/numen-sim/sim.h"
#include "tools/numen-sim/workload.h"

/* ---- the next segment ---- */

/* Compute for `ns` of full speed, then `next`. */
void vcpu_compute(struct vcpu *v, ns_t ns);

/*
 * Spin until vcpu_release, or for `limit` ns of running (NS_NEVER: no limit), then `next`; with a
 * pause-loop exit each `ple_window` ns (0: none).
 */
void vcpu_spin(struct vcpu *v, ns_t limit, ns_t ple_window);

/* HLT until an interrupt, a kick or `until` (NS_NEVER: no timer). */
void vcpu_halt(struct sim *sim, struct vcpu *v, ns_t until);

/* Never runs again. */
void vcpu_finish(struct sim *sim, struct vcpu *v);

/* ---- at any time ---- */

/* Ends the spin of `v` after `ns` more of it: the time a cache line takes to come over. */
void vcpu_release(struct sim *sim, struct vcpu *v, ns_t ns);

/* An interrupt from `from` (NULL: from outside) to `to`. */
void vcpu_interrupt(struct sim *sim, struct vcpu *from, struct vcpu *to);

/*
 * The hypercall of a paravirtual unlock: `to` wakes, or its next HLT ends at once; then a directed
 * yield to it, if it has no CPU yet.
 */
void vcpu_kick(struct sim *sim, struct vcpu *from, struct vcpu *to);

/* Cost that is paid before the present segment ends, or the one that `next` is about to begin. */
void vcpu_charge(struct vcpu *v, ns_t ns);

/* What it owes of that, in ns; it is forgiven, since somebody else will see to it. */
ns_t vcpu_take_debt(struct vcpu *v);

/* ---- cpu.c's side ---- */

/* The segment is done. */
void vcpu_segment_end(struct sim *sim, struct vcpu *v);

/* It has just been given a CPU. */
void vcpu_arrive(struct sim *sim, struct vcpu *v);

/* Its timer has come. */
void vcpu_timer(struct sim *sim, struct vcpu *v);

void vcpu_start(struct sim *sim, struct vcpu *v);

#endif
