/*
 * What VT-x and AMD-V share below virt.h: the vCPU's hardware part, and the state that neither VMCS
 * nor VMCB holds.
 *
 * struct virt_vcpu begins with the words that vmx_entry.S and svm_entry.S know by offset.
 * Tags: [i] set once, [c] only the CPU that has the vCPU loaded, [a] atomic.
 */
#ifndef ARCH_X86_VIRT_STATE_H
#define ARCH_X86_VIRT_STATE_H

#include "hv/bits.h"
#include "hv/types.h"
#include "kernel/cpu.h"
#include "kernel/virt.h"

struct vmcb;

/* Virtualization's part of one CPU. */
struct virt_cpu {
    uint64_t tag_generation; /* [c] goes up when the tags below were used up */
    uint32_t tag_next;       /* [c] next VPID or ASID to give out */
    uint32_t tag_last;       /* [i] highest that the CPU has */
    paddr_t own_page;        /* [i] VMXON region, or the host save area of VMRUN */
    paddr_t host_page;       /* [i] AMD-V: what VMLOAD brings back for the host */
    paddr_t vmcs;            /* [c] VT-x: the current VMCS, or PADDR_NONE */
};

/* VT-x only: state that lives in CPU registers while the vCPU is loaded, and here otherwise. */
enum vmx_kept_msr { KEPT_KERNEL_GS_BASE, KEPT_STAR, KEPT_LSTAR, KEPT_CSTAR, KEPT_FMASK, KEPT_MSRS };

struct vmx_vcpu {
    uint64_t kept[KEPT_MSRS]; /* [c] */
    uint64_t cr2;             /* [c] */
    uint64_t dr6;             /* [c] */
    uint32_t proc;            /* [c] what the VMCS's primary controls hold */
    bool armed;               /* [c] an event goes in at the next entry */
};

struct svm_vcpu {
    uint64_t iret_rip;   /* [c] of the intercepted IRET that ends NMI blocking */
    uint64_t shadow_rip; /* [c] where a host interrupt cut an interrupt shadow short, or 0 */
    bool nmi_blocked;    /* [c] an NMI was injected and its IRET has not run */
    bool nmi_iret;       /* [c] its IRET runs next, at iret_rip */
    bool nmi_step;       /* [c] single-stepping, since an NMI waits for the next instruction */
    bool step_guest_tf;  /* [c] the guest's own TF while nmi_step */
    bool irq_window;     /* [c] asked for */
    bool nmi_window;     /* [c] asked for */
};

struct virt_vcpu {
    uint64_t host_rsp;    /* 0 [c] VT-x: what the VMCS holds as host RSP */
    uint64_t launched;    /* 8 [c] VT-x: VMRESUME will do */
    paddr_t page;         /* 16 [i] VMCS or VMCB */
    paddr_t host_page;    /* 24 [c] AMD-V: virt_cpu.host_page of the CPU it is loaded on */
    struct vmcb *vmcb;    /* 32 [i] AMD-V: `page` as memory */
    struct virt_cpu *cpu; /* [c] the CPU it is loaded on; NULL when it is not */

    struct virt_cpu *last_cpu; /* [c] where it was loaded last */
    uint64_t tag_generation;   /* [c] of last_cpu, when the tag was given out */
    uint32_t tag;              /* [c] VPID or ASID; 0: none yet */

    uint32_t xsave_bytes; /* [i] */
    void *xsave;          /* [i] FXSAVE or XSAVE area */
    uint64_t xcr0;        /* [c] */
    uint64_t dr[4];       /* [c] */
    uint64_t tsc_aux;     /* [c] in the CPU's register while loaded */

    union {
        struct vmx_vcpu vmx;
        struct svm_vcpu svm;
    };
};

_Static_assert(offsetof(struct virt_vcpu, host_rsp) == 0, "vmx_entry.S");
_Static_assert(offsetof(struct virt_vcpu, launched) == 8, "vmx_entry.S");
_Static_assert(offsetof(struct virt_vcpu, page) == 16, "svm_entry.S");
_Static_assert(offsetof(struct virt_vcpu, host_page) == 24, "svm_entry.S");
_Static_assert(offsetof(struct virt_vcpu, vmcb) == 32, "svm_entry.S");

/* What guests may be offered besides what the CPU has: for the CPUID policy, after virt_select. */
uint64_t virt_guest_xcr0(void); /* XCR0 bits that are switched; 0: no XSAVE */
bool virt_guest_has_rdtscp(void);
bool virt_guest_has_invpcid(void);
void virt_guest_allow(bool rdtscp, bool invpcid); /* by the backend's probe */

/* On each CPU: makes cpu->arch->virt and turns on FXSAVE and XSAVE. 0 or -ENOMEM. */
int virt_cpu_init(struct cpu *cpu, uint32_t tag_last);

/* The vCPU's memory: struct virt_vcpu, save area, and `page`. 0 or -ENOMEM. */
int virt_vcpu_alloc(struct vcpu *v);
void virt_vcpu_free(struct vcpu *v);

/* FPU, XCR0, DR0-3 and TSC_AUX, into and out of this CPU. Load also notes where it is. */
void virt_state_load(struct virt_vcpu *hw);
void virt_state_save(struct virt_vcpu *hw);

/* After INIT the debug registers are zero; x87, SSE and XCR0 keep what they had (SDM 10.1.1). */
void virt_state_init(struct virt_vcpu *hw);

/*
 * XCR0 of a loaded vCPU, read from the CPU: QEMU's TCG has no XSETBV intercept, so a guest may have
 * changed it without an exit. To set: the caller has checked the value against virt_guest_xcr0.
 */
uint64_t virt_state_xcr0(const struct virt_vcpu *hw);
void virt_state_set_xcr0(struct virt_vcpu *hw, uint64_t xcr0);

/* Whether the vCPU's tag is still its own on this CPU. */
static inline bool virt_tag_is_fresh(const struct virt_vcpu *hw)
{
    return hw->tag && hw->last_cpu == hw->cpu && hw->tag_generation == hw->cpu->tag_generation;
}

/* All tags of this CPU are used up: the next one given out comes with a flush of all. */
void virt_tags_expire(struct virt_cpu *vc);

/* Give the loaded vCPU a tag that no TLB entry of this CPU carries. True: once all are flushed. */
bool virt_tag_renew(struct virt_vcpu *hw);

/* Segments and registers of a start state, the same for VMCS and VMCB. */
struct virt_segment {
    uint16_t selector;
    uint32_t rights; /* as VMCS_GUEST_ES_RIGHTS */
    uint32_t limit;
    uint64_t base;
};

enum virt_segment_nr {
    SEG_ES,
    SEG_CS,
    SEG_SS,
    SEG_DS,
    SEG_FS,
    SEG_GS,
    SEG_LDTR,
    SEG_TR,
    SEG_COUNT
};

struct virt_start_regs {
    struct virt_segment segments[SEG_COUNT];
    uint32_t table_limit; /* GDTR and IDTR; their base is 0 */
    uint64_t cr0;
    uint64_t rip;
};

void virt_start_regs(struct virt_start_regs *regs, enum virt_start start, uint32_t arg);

#define VIRT_DR6_INIT 0xffff0ff0ull
#define VIRT_DR7_INIT 0x400ull
#define VIRT_DR6_STEP BIT(14)

#endif
