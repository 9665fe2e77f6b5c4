/* A VM's devices, as the exit dispatch and the console reach them. See vm_devices.c. */
#ifndef KERNEL_VM_DEVICES_H
#define KERNEL_VM_DEVICES_H

#include "kernel/vm.h"

void vm_devices_init(struct vm *vm);

/* The port access in v->exit.io: done and skipped, or the VM is ended with the reason. */
void vm_devices_io(struct vcpu *v);

/* Bytes typed for the VM. */
void vm_devices_input(uint32_t vm_id, const char *bytes, size_t n);

#endif
