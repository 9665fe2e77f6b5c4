/*
 * A virtual machine: configuration, memory, vCPUs, life.
 *
 * There is one struct vm for each boot module that describes a guest, for ever; a start gives it
 * memory and vCPUs, its end takes them away and leaves state and exit code to be read. A VM ends by
 * its own exit port, by a fault of its own (vm_kill), or from the console. See kernel/vm_life.c.
 *
 * Tags: [i] set at boot, [b] set while a start builds it and fixed until all vCPUs have left, [a]
 * atomic, [V] vm lock (rank LOCK_VM), [D] device lock (rank LOCK_DEVICE; taken before the vm
 * lock, since a write to the exit port ends the VM).
 */
#ifndef KERNEL_VM_H
#define KERNEL_VM_H

#include "hv/cpumask.h"
#include "hv/guest_config.h"
#include "hv/lock.h"
#include "hv/types.h"
#include "kernel/timer.h"
#include "kernel/vcpu.h"
#include "kernel/work.h"
#include "mm/placement.h"
#include "sched/cap.h"
#include "vmm/vmm.h"

struct virt_vm; /* arch: root of EPT or NPT and its generation */
struct guest_cpuid_table;

enum vm_state { VM_RUNNING, VM_PAUSED, VM_STOPPED, VM_CRASHED };

/* What exists of a VM: the state above is what its user is told. */
enum vm_phase {
    VM_EMPTY,    /* neither memory nor vCPUs */
    VM_BUILDING, /* work items are making it */
    VM_LIVE,     /* vCPUs are with the scheduler */
    VM_ENDING    /* vCPUs leave, then work items free all */
};

/* Guest-physical RAM [gpa, gpa + bytes). */
struct vm_slot {
    gpa_t gpa;
    uint64_t bytes;
};

#define VM_SLOTS_MAX 2 /* below the hole under 4 GiB, and above it */

/* Sums over the vCPUs of a VM. */
struct vm_stats {
    struct vcpu_stats vcpu; /* sum over the vCPUs */
    uint64_t migrations;
    ns_t run_ns;
    ns_t remote_ns; /* of run_ns, on CPUs of another node than the vCPU's home node */
    ns_t wait_ns;   /* runnable, not running, and not held back by the cap */
    ns_t capped_ns; /* held back by the cap; with wait_ns, what the guest is told as steal time */
};

struct vm {
    uint32_t id;                /* [i] index in vms[] */
    struct guest_config config; /* [i] as parsed, name made unique */
    const void *image;          /* [i] the boot module's bytes */
    size_t image_bytes;         /* [i] */
    const void *initrd;         /* [i] another module's bytes, or NULL */
    size_t initrd_bytes;        /* [i] */

    struct spinlock lock;
    uint32_t phase;        /* [V] enum vm_phase; read as a glance elsewhere */
    uint32_t state;        /* [V] enum vm_state; read as a glance elsewhere */
    int32_t exit_code;     /* [V] */
    bool has_exit_code;    /* [V] */
    struct work work;      /* [V] the start's or the end's next step */
    uint32_t stage;        /* [b] of the work */
    uint64_t cursor;       /* [b] guest memory made so far, without the hole */
    uint64_t build_ticks;  /* [b] TSC ticks that the steps of the start took */
    uint64_t *large_pages; /* [b] bit n: a large host page backs its n-th 2 MiB */

    struct virt_vm *hw;                /* [b] */
    struct guest_cpuid_table *cpuid;   /* [b] */
    uint32_t pv_features;              /* [b] KVM feature bits offered (leaf 0x40000001 EAX) */
    uint64_t tsc_offset;               /* [b] guest TSC - host TSC, of every vCPU at its start */
    ns_t start_ns;                     /* [b] when the guest's TSC was 0 */
    uint32_t vcpu_count;               /* [b] */
    struct vcpu **vcpus;               /* [b] by index */
    uint16_t *vcpu_of_apic_id;         /* [b] apic_ids entries; UINT16_MAX where there is none */
    uint32_t apic_ids;                 /* [b] */
    struct placement placement;        /* [b] home nodes: virtual nodes; none before it is placed */
    uint32_t slot_count;               /* [b] */
    struct vm_slot slot[VM_SLOTS_MAX]; /* [b] */
    uint64_t node_bytes[NODES_MAX];    /* [a] guest memory by the node it really lies on */
    uint64_t remote_bytes;             /* [a] of it, not on its virtual node's home node */

    struct cap cap;        /* shared by its units while config.cap is not 0; own lock */
    struct timer refill;   /* of the cap */
    struct vm_stats past;  /* of vCPUs taken down since the last start; CPU 0 only */
    uint32_t live_vcpus;   /* [a] with the scheduler; the last one's leaving ends the VM */
    uint32_t last_boosted; /* [a] where the pause-loop search stopped */
    struct spinlock device_lock;
    struct vmm devices; /* [D] */
};

/* Where what all of the VM uses lies; valid once it is placed. */
static inline uint32_t vm_first_node(const struct vm *vm)
{
    return vm->placement.vnode[0].node;
}

/* End the VM for a reason that is the guest's: state crashed, one line on the console. Any CPU. */
void vm_kill(struct vm *vm, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* End the VM at its own wish: state stopped, with this exit code. Any CPU. */
void vm_exit(struct vm *vm, uint8_t code);

/*
 * Guest memory at gpa as host memory, or NULL when [gpa, gpa + bytes) is not RAM or not contiguous
 * in the host. The pointer stays valid while the VM lives; the guest may write it at any time.
 */
void *vm_memory(struct vm *vm, gpa_t gpa, size_t bytes);

/* Copy into guest memory across page borders. 0; or -EFAULT, with a leading part written. */
int vm_write(struct vm *vm, gpa_t gpa, const void *from, size_t bytes);

#endif
