/* What VMs and vCPUs did, added up for listings. See vm_stats.c. */
#ifndef KERNEL_VM_STATS_H
#define KERNEL_VM_STATS_H

#include "kernel/vm.h"

/*
 * Add what the vCPUs that exist did up to now, and what those did that are gone since the last
 * start.
 */
void vm_stats_add(struct vm *vm, struct vm_stats *sum);

/* How long a vCPU ran and waited; 0 before the scheduler knows it. CPU 0. */
void vcpu_times(struct vcpu *v, ns_t *run, ns_t *wait);

/* How long its VM's cap held it back; otherwise as vcpu_times. */
ns_t vcpu_capped_ns(struct vcpu *v);

/* How long it ran on CPUs of another node than its home node. */
ns_t vcpu_remote_ns(const struct vcpu *v);

/* A vCPU is about to go: keep its numbers in the VM. CPU 0. */
void vm_stats_keep(struct vcpu *v);

#endif
