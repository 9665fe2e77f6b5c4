/*
 * Work items that make a VM and take it down. See vm_build.c, vm_vcpus.c, vm_image.c,
 * vm_teardown.c.
 */
#ifndef KERNEL_VM_BUILD_H
#define KERNEL_VM_BUILD_H

#include "kernel/vm.h"

void vm_build_begin(struct vm *vm);    /* phase BUILDING; ends in vm_run, or in the taking-down */
void vm_teardown_begin(struct vm *vm); /* nothing of the VM is loaded; ends in phase EMPTY */

/* vm_build.c: guest memory counted without the hole, where the cursor moves. */
gpa_t vm_gpa_at(const struct vm *vm, uint64_t offset);
uint32_t vm_page_order_at(const struct vm *vm, uint64_t offset); /* of the host page there */

/* Counts a page at this offset of guest memory; bytes are 0 - its size when it goes. */
void vm_account_page(struct vm *vm, uint64_t offset, paddr_t pa, uint64_t bytes);

void vm_large_pages_free(struct vm *vm);

/* vm_vcpus.c: 0 done, 1 call again, -errno with a line printed. */
int vm_vcpus_begin(struct vm *vm);
int vm_vcpus_next(struct vm *vm);
void vcpu_init_unit(struct vcpu *v); /* as configured; not with the scheduler yet */
void vcpu_free(struct vcpu *v);
void vm_vcpus_free_arrays(struct vm *vm);

/*
 * vm_image.c: the guest's program, its module and its multiboot information into guest memory;
 * registers of the first vCPU set to start it. 0, or -errno with a line printed.
 */
int vm_image_load(struct vm *vm);

/* vm_place.c: virtual nodes into vm->placement, and each vCPU's home and affinity from them. */
int vm_place(struct vm *vm);
uint32_t vm_home_of_vcpu(const struct vm *vm, uint32_t vcpu);
void vm_place_vcpu(const struct vcpu *v, struct cpumask hard, struct cpumask soft);

/* The guest-physical ranges of a virtual node; how many there are. */
uint32_t vm_vnode_ranges(const struct vm *vm, uint32_t vnode, struct vm_slot ranges[VM_SLOTS_MAX]);

#endif
