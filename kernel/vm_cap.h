/* A VM's cap on CPU time: at its start, on the console, at its end. See vm_cap.c. */
#ifndef KERNEL_VM_CAP_H
#define KERNEL_VM_CAP_H

#include "kernel/vm.h"

/* Once, when the struct vm is made. Writes the cap and its timer. */
void vm_cap_init(struct vm *vm);

/* A start begins: the pool is what the configuration says. No unit of the VM exists. */
void vm_cap_begin(struct vm *vm);

/* What its next unit shares: the VM's cap, or NULL when it has none. */
struct cap *vm_cap_shared(struct vm *vm);

/* CPU 0, where VMs are built: per cent of one CPU, at most 100 a vCPU; 0: none. */
void vm_set_cap(struct vm *vm, uint32_t percent);

/* The VM ends: its vCPUs leave without waiting for budget. The VM's lock is held. */
void vm_cap_lift(struct vm *vm) MUST_HOLD(vm->lock);

/* Its vCPUs have left and will be freed: no refill holds on to one any more. No lock held. */
void vm_cap_quiet(struct vm *vm);

/* Call sched_cap_refill for the VM's cap at that time. Under a runqueue's lock. */
void vm_cap_refill_at(struct cap *cap, ns_t at);

#endif
