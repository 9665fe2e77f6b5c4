/*
 * VT-x, between its own files. Outside, only vmx_ops is used.
 *
 * The instructions stand here as inline functions, since vmx.c, vmx_vmcs.c, vmx_event.c and
 * vmx_exit.c all need them. A VMREAD or VMWRITE that fails is a broken promise of the host's own
 * code: the VMCS is current and the field exists, since probe() insists on what is used.
 */
#ifndef ARCH_X86_VMX_H
#define ARCH_X86_VMX_H

#include "arch/x86/regs/vmx.h"
#include "arch/x86/virt_state.h"
#include "hv/assert.h"
#include "kernel/vcpu.h"

extern const struct virt_ops vmx_ops;

/* What the machine's VT-x can do, worked out once by vmx_caps_probe. [i] */
struct vmx_caps {
    uint32_t revision;
    uint32_t pin, proc, proc2, exit, entry; /* controls as the VMCS gets them */
    uint64_t cr0_must, cr4_must;            /* host bits that VMXON needs */
    unsigned ept_largest_level;
    uint32_t timer_shift; /* the preemption timer counts TSC >> this */
    bool vpid, ple, timer;
};

extern struct vmx_caps vmx_caps;

int vmx_caps_probe(const char **why);     /* fills vmx_caps; 0, or -ENODEV with the reason */
int vmx_caps_check_cpu(const char **why); /* this CPU is no less able than the boot CPU */

/* vmx_vmcs.c: all with the VMCS current but vmx_borrow itself. */
void vmx_vmcs_init(struct vcpu *v);     /* controls and what never changes */
void vmx_vmcs_set_host(struct vcpu *v); /* this CPU's host state */
void vmx_start_state(struct vcpu *v, enum virt_start start, uint32_t arg);
uint64_t vmx_get_reg(struct vcpu *v, enum virt_reg r);
void vmx_set_reg(struct vcpu *v, enum virt_reg r, uint64_t value);
void vmx_set_tsc_offset(struct vcpu *v, uint64_t offset);
int vmx_shared_init(void); /* the MSR bitmap; 0 or -ENOMEM */

/* vmx.c: make a vCPU's VMCS current though it is not loaded, for set-up; and undo that. */
void vmx_borrow(struct vcpu *v);
void vmx_return(struct vcpu *v);
void vmx_alarm_rearm(void);

/* vmx_event.c */
void vmx_skip(struct vcpu *v);
bool vmx_event_armed(struct vcpu *v);
void vmx_event_arm(struct vcpu *v, const struct virt_event *e);
void vmx_event_arm_raw(struct virt_vcpu *hw, uint32_t event, uint32_t error, uint32_t length);
bool vmx_irq_open(struct vcpu *v);
bool vmx_nmi_open(struct vcpu *v);
void vmx_irq_window(struct vcpu *v, bool on);
void vmx_nmi_window(struct vcpu *v, bool on);

/* vmx_entry.S: virt_ops.run. It goes on to one of the two below. */
void vmx_run(struct vcpu *v);

/* vmx_exit.c: fill v->exit from the VMCS, after an exit or when VMLAUNCH or VMRESUME failed. */
void vmx_exit_decode(struct vcpu *v);
void vmx_entry_failed(struct vcpu *v);

static inline uint64_t vmread(enum vmcs_field field)
{
    uint64_t value;

    __asm__ volatile("vmread %1, %0" : "=r"(value) : "r"((uint64_t)field) : "cc", "memory");
    return value;
}

static inline void vmwrite(enum vmcs_field field, uint64_t value)
{
    bool failed;

    __asm__ volatile("vmwrite %2, %1"
                     : "=@ccbe"(failed)
                     : "r"((uint64_t)field), "r"(value)
                     : "memory");
    DEBUG_ASSERT(!failed);
}

static inline void vmptrld(paddr_t vmcs)
{
    bool failed;

    __asm__ volatile("vmptrld %1" : "=@ccbe"(failed) : "m"(vmcs) : "memory");
    ASSERT(!failed);
}

static inline void vmclear(paddr_t vmcs)
{
    bool failed;

    __asm__ volatile("vmclear %1" : "=@ccbe"(failed) : "m"(vmcs) : "memory");
    ASSERT(!failed);
}

static inline bool vmxon(paddr_t region)
{
    bool failed;

    __asm__ volatile("vmxon %1" : "=@ccbe"(failed) : "m"(region) : "memory");
    return !failed;
}

static inline void invept_all(void)
{
    uint64_t descriptor[2] = {0, 0};
    bool failed;

    __asm__ volatile("invept %1, %2"
                     : "=@ccbe"(failed)
                     : "m"(descriptor), "r"((uint64_t)INVEPT_ALL)
                     : "memory");
    ASSERT(!failed);
}

static inline void invvpid(enum vmx_invalidation kind, uint32_t vpid)
{
    uint64_t descriptor[2] = {vpid, 0};
    bool failed;

    __asm__ volatile("invvpid %1, %2"
                     : "=@ccbe"(failed)
                     : "m"(descriptor), "r"((uint64_t)kind)
                     : "memory");
    ASSERT(!failed);
}

#endif
