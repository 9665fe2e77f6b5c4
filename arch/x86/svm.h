/* AMD-V, between its own files. Outside, only svm_ops is used. */
#ifndef ARCH_X86_SVM_H
#define ARCH_X86_SVM_H

#include "arch/x86/regs/svm.h"
#include "arch/x86/virt_state.h"
#include "hv/assert.h"
#include "kernel/vcpu.h"

extern const struct virt_ops svm_ops;

/* What the machine's AMD-V can do. [i] by the probe */
struct svm_caps {
    uint32_t asid_last;
    bool nrip, clean, flush_asid, decode, page_1gib;
    bool pause_filter, pause_threshold;
    bool pause_exits; /* PAUSE is intercepted, by the filter if there is one */
};

extern struct svm_caps svm_caps;

/* svm_vmcb.c */
int svm_shared_init(void); /* MSR and I/O permission maps; 0 or -ENOMEM */
void svm_vmcb_init(struct vcpu *v);
void svm_start_state(struct vcpu *v, enum virt_start start, uint32_t arg);
uint64_t svm_get_reg(struct vcpu *v, enum virt_reg r);
void svm_set_reg(struct vcpu *v, enum virt_reg r, uint64_t value);
void svm_set_tsc_offset(struct vcpu *v, uint64_t offset);

/* svm_event.c */
void svm_skip(struct vcpu *v);
bool svm_event_armed(struct vcpu *v);
void svm_event_arm(struct vcpu *v, const struct virt_event *e);
bool svm_irq_open(struct vcpu *v);
bool svm_nmi_open(struct vcpu *v);
void svm_irq_window(struct vcpu *v, bool on);
void svm_nmi_window(struct vcpu *v, bool on);
void svm_nmi_iret(struct vcpu *v);      /* the IRET of an NMI handler is about to run */
bool svm_nmi_step_done(struct vcpu *v); /* a #DB was the single step over that IRET */

/* svm_entry.S: virt_ops.run. It goes on to svm_exit_decode. */
void svm_run(struct vcpu *v);

/* svm_exit.c: fill v->exit from the VMCB. */
void svm_exit_decode(struct vcpu *v);

/* The CPU may go on using its copy of these parts of the VMCB unless told that they changed. */
static inline void vmcb_changed(struct vmcb *vmcb, uint64_t parts)
{
    vmcb->clean &= ~parts;
}

#endif
