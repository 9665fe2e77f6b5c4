/*
 * Guest memory as the host touches it: by way of the VM's own nested page
 * table, through the direct map.
 */
#include <errno.h>
#include <string.h>

#include "kernel/arch.h"
#include "kernel/vm.h"

#define GPA_BITS 48 /* of a four-level nested table; a lookup would ignore higher ones */

void *vm_memory(struct vm *vm, gpa_t gpa, size_t bytes)
{
    uint64_t run = 0;
    paddr_t pa = gpa >> GPA_BITS ? UINT64_MAX : virt->lookup(vm, gpa, bytes, &run);

    return pa == PADDR_NONE || run < bytes ? NULL : phys_to_virt(pa);
}

int vm_write(struct vm *vm, gpa_t gpa, const void *from, size_t bytes)
{
    const uint8_t *p = from;

    while (bytes) {
        uint64_t run = 0;
        paddr_t pa = virt->lookup(vm, gpa, bytes, &run);
        size_t n = MIN(run, (uint64_t)bytes);

        if (pa == PADDR_NONE)
            return -EFAULT;
        memcpy(phys_to_virt(pa), p, n);
        gpa += n;
        p += n;
        bytes -= n;
    }
    return 0;
}
