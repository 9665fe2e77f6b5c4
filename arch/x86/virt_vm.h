/* Guest memory as EPT or NPT holds it: the same for both backends but for the format. */
#ifndef ARCH_X86_VIRT_VM_H
#define ARCH_X86_VIRT_VM_H

#include "arch/x86/pagetable.h"

struct vm;

struct virt_vm {
    struct pagetable table; /* changes are serialised by the caller: slots of a VM */
    uint32_t node;          /* [i] where tables come from */
    uint64_t eptp;          /* [i] VT-x: what the VMCS wants of it */
};

int virt_vm_init(struct vm *vm, const struct pt_format *format, unsigned largest_level);
void virt_vm_fini(struct vm *vm);
int virt_vm_map(struct vm *vm, gpa_t gpa, paddr_t pa, uint64_t bytes, bool writable);
paddr_t virt_vm_lookup(struct vm *vm, gpa_t gpa, uint64_t want_bytes, uint64_t *run_bytes);

#endif
