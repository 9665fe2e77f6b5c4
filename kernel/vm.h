/*
 * A virtual machine: configuration, memory, vCPUs, life.
 *
 * A VM is made from a boot module (vm_create), runs, and ends by its own exit code, a crash (vm_kill) or
 * the console. The last vCPU to leave hands it to a work item that frees it. The struct stays as a
 * tombstone for listings, with its exit code, until its name is started again.
 *
 * Tags: [i] set at creation, [a] atomic, [V] vm lock (rank LOCK_VM), [L] vm_list lock.
 */
#ifndef KERNEL_VM_H
#define KERNEL_VM_H

#include "boot/guest_line.h"
#include "hv/lock.h"
#include "hv/types.h"
#include "kernel/vcpu.h"

struct virt_vm; /* arch: EPT or NPT root and its generation */

enum vm_state { VM_RUNNING, VM_PAUSED, VM_STOPPED, VM_CRASHED };

struct vm {
    struct virt_vm *hw;         /* [i] */
    uint32_t id;                /* [i] slot in the table of VMs */
    uint32_t vcpu_count;        /* [i] */
    struct vcpu **vcpus;        /* [i] by index; frozen before the first vCPU runs */
    struct guest_config config; /* [i] as parsed, defaults filled in */
    uint32_t pv_features;       /* [i] KVM feature bits offered (leaf 0x40000001 EAX) */
    uint64_t tsc_offset;        /* [i] one per VM */
    uint32_t state;             /* [a] enum vm_state */
    uint32_t live_vcpus;        /* [a] vCPUs not yet gone after a kill; the last frees the VM */
    int32_t exit_code;          /* [a] valid when stopped and has_exit_code */
    bool has_exit_code;         /* [a] */
    uint64_t memory_bytes;      /* [i] */
    uint32_t home_node;         /* [i] first home node */
};

/* End the VM for a reason that is the guest's: state crashed, one line on the console. Any CPU. */
void vm_kill(struct vm *vm, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* End the VM at its own wish with an exit code. */
void vm_exit(struct vm *vm, uint8_t code);

/*
 * Guest memory at gpa as host memory, or NULL when [gpa, gpa+bytes) is not RAM or not contiguous in the
 * host. The pointer stays valid while the VM lives; the guest may write it at any time.
 */
void *vm_memory(struct vm *vm, gpa_t gpa, size_t bytes);

/* Copy to or from guest memory across page borders. 0 or -EFAULT; nothing is copied on failure. */
int vm_read(struct vm *vm, gpa_t gpa, void *to, size_t bytes);
int vm_write(struct vm *vm, gpa_t gpa, const void *from, size_t bytes);

#endif
