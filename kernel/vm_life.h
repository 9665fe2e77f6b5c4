/*
 * How a VM begins and ends, for the code between the console and the vCPUs. See vm_life.c,
 * vm_build.c.
 */
#ifndef KERNEL_VM_LIFE_H
#define KERNEL_VM_LIFE_H

#include "kernel/vm.h"

#define VMS_MAX 64u

/* The VMs the boot modules describe, whether they run or not. Set once at boot. */
extern struct vm *vms[VMS_MAX];
extern uint32_t vm_count;

struct vm *vm_find(const char *name); /* or NULL */

/*
 * Boot CPU: makes a VM of each module, warns of what cannot be one, starts those with autostart=on.
 */
void vm_boot_modules(void);

/* Console: each returns 0, or -errno with one line printed that says why. */
int vm_start(struct vm *vm);   /* -EBUSY: it runs or is still being taken down */
int vm_pause(struct vm *vm);   /* -ESRCH: it does not run */
int vm_unpause(struct vm *vm); /* -ESRCH: it is not paused */
int vm_destroy(struct vm *vm); /* -ESRCH: it does not run */

/* For vm_build.c: all is made and the vCPUs go to the scheduler; or it is not to be. */
void vm_run(struct vm *vm);
void vm_build_failed(struct vm *vm);

/* By the vCPU's own CPU: it goes no further; the last one's leaving starts the taking-down. */
void vm_vcpu_leaves(struct vcpu *v);
void vm_vcpu_left(struct vcpu *v);

#endif
