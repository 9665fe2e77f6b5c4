/*
 * Hardware virtualization behind one table: VT-x (arch/x86/vmx*.c) and AMD-V
 * (arch/x86/svm*.c). kernel/ owns the interface; nothing above it knows which one runs.
 *
 * All calls but the init and fini ones are made on the CPU that has the vCPU loaded (or, for init,
 * before the vCPU was ever scheduled). None of them allocates except vcpu_init, vm_init and
 * map; none sleeps.
 *
 * Event rules: an event whose delivery an exit cut short (IDT-vectoring information, EXITINTINFO)
 * is armed again by run() itself, so that it goes in at the next entry unless replaced;
 * event_armed() tells. skip() moves RIP past the exiting instruction and clears the interrupt
 * shadow.
 */
#ifndef KERNEL_VIRT_H
#define KERNEL_VIRT_H

#include "hv/types.h"

struct cpu;
struct vcpu;
struct vm;

/* Exit kinds: name for statistics and traces, and the enum. */
#define EXIT_KINDS(X)                                                                             \
    X(UNKNOWN, unknown) /* exit.detail holds the hardware's reason; 0, so tables default to it */ \
    X(IRQ, irq)         /* a host interrupt; already handled or taken right after */              \
    X(NMI, nmi)         /* a host NMI; already handled */                                         \
    X(TIMER, timer)     /* VMX-preemption timer; hidden interrupts were taken */                  \
    X(IRQ_WINDOW, irq_window) /* the guest can take an interrupt now */                           \
    X(NMI_WINDOW, nmi_window) /* the guest can take an NMI now */                                 \
    X(CPUID, cpuid)                                                                               \
    X(HYPERCALL, hypercall) /* VMCALL or VMMCALL: exit.cpl */                                     \
    X(HLT, hlt)                                                                                   \
    X(PAUSE, pause) /* pause-loop exit or pause filter */                                         \
    X(IO, io)       /* exit.io */                                                                 \
    X(RDMSR, rdmsr) /* number in RCX */                                                           \
    X(WRMSR, wrmsr)                                                                               \
    X(XSETBV, xsetbv)                                                                             \
    X(CR8, cr8)                   /* exit.cr8 */                                                  \
    X(MEM, mem)                   /* EPT violation or nested page fault: exit.mem */              \
    X(UD, ud)                     /* an instruction Numen hides: #UD is due */                    \
    X(NOP, nop)                   /* INVD, WBINVD: skipped */                                     \
    X(TRIPLE_FAULT, triple_fault) /* SHUTDOWN on AMD */                                           \
    X(INTERNAL, internal)         /* dealt with inside run(); nothing to do */                    \
    X(ENTRY_FAILED, entry_failed) /* guest state refused: exit.detail */

enum exit_kind {
#define X(name, text) EXIT_##name,
    EXIT_KINDS(X)
#undef X
        EXIT_KIND_COUNT
};

struct exit_io {
    uint16_t port;
    uint8_t bytes; /* 1, 2 or 4 */
    bool in;
    bool string; /* INS/OUTS; not offered to devices yet: the VM is ended with a clear line */
};

struct exit_mem {
    gpa_t gpa;
    bool write;
    bool fetch;
};

struct exit_cr8 {
    bool write;
    uint8_t gpr; /* index into vcpu.regs, or VCPU_RSP: by get_reg */
};

/* Filled by run(): `kind` always, the member of `kind` alone besides. */
struct exit {
    uint32_t kind;   /* enum exit_kind */
    uint64_t detail; /* the hardware's own exit reason or code, for messages */
    union {
        uint8_t cpl; /* HYPERCALL: the caller's ring */
        struct exit_io io;
        struct exit_mem mem;
        struct exit_cr8 cr8;
    };
};

/* clang-format off */
/* Indices of vcpu.regs, in x86's encoding order. RSP's slot is unused: it lives in VMCS or VMCB. */
enum vcpu_gpr {
    VCPU_RAX, VCPU_RCX, VCPU_RDX, VCPU_RBX, VCPU_RSP, VCPU_RBP, VCPU_RSI, VCPU_RDI,
    VCPU_R8, VCPU_R9, VCPU_R10, VCPU_R11, VCPU_R12, VCPU_R13, VCPU_R14, VCPU_R15,
    VCPU_GPR_COUNT
};

/* Registers that live in VMCS or VMCB, by get_reg and set_reg. */
enum virt_reg {
    VREG_RIP, VREG_RSP, VREG_RFLAGS, VREG_CR0, VREG_CR2, VREG_CR3, VREG_CR4, VREG_EFER, VREG_DR7,
    VREG_CS_BASE, VREG_FS_BASE, VREG_GS_BASE, VREG_KERNEL_GS_BASE, VREG_STAR, VREG_LSTAR,
    VREG_CSTAR, VREG_FMASK, VREG_SYSENTER_CS, VREG_SYSENTER_ESP, VREG_SYSENTER_EIP, VREG_PAT,
    VREG_TSC_AUX, VREG_XCR0, VREG_CPL /* read only */
};
/* clang-format on */

enum virt_event_type { VIRT_EVENT_IRQ, VIRT_EVENT_NMI, VIRT_EVENT_EXCEPTION };

struct virt_event {
    uint8_t type; /* enum virt_event_type */
    uint8_t vector;
    bool has_error;
    uint32_t error;
};

/* States that start_state sets; all else is as after INIT (SDM 3A table 10-1). */
enum virt_start {
    VIRT_START_INIT,      /* real mode at F000:FFF0, used for a vCPU that waits for SIPI */
    VIRT_START_SIPI,      /* real mode at vector << 12 */
    VIRT_START_MULTIBOOT, /* 32-bit protected mode, flat segments, no paging (Multiboot 3.2) */
};

struct virt_ops {
    const char *name; /* "vmx" or "svm" */

    /*
     * Boot CPU: can this machine do it? 0, or -ENODEV and a line why (and the firmware's switch) or
     * NULL.
     */
    int (*probe)(const char **why);
    /* On each CPU, once: VMXON or EFER.SVME. 0, or -ENODEV with a reason. */
    int (*cpu_enable)(struct cpu *cpu, const char **why);

    int (*vm_init)(struct vm *vm);  /* the root of EPT or NPT; MSR and I/O bitmaps are shared */
    void (*vm_fini)(struct vm *vm); /* frees the tables, not the guest's pages */
    /*
     * Guest memory, in multiples of 4 KiB, in the largest pages that fit; always executable for the
     * guest. The caller serialises changes. 0, -EINVAL, -EEXIST or -ENOMEM. vm_fini sets
     * HAZARD_TLB on every CPU, so that none uses an old translation beyond its next entry.
     */
    int (*map)(struct vm *vm, gpa_t gpa, paddr_t pa, uint64_t bytes, bool writable);
    /* Host address of gpa or PADDR_NONE; *run_bytes (may be NULL): contiguous from there on. */
    paddr_t (*lookup)(struct vm *vm, gpa_t gpa, uint64_t want_bytes, uint64_t *run_bytes);
    int (*vcpu_init)(struct vcpu *v); /* VMCS or VMCB, XSAVE area, on the vCPU's node; INIT state */
    void (*vcpu_fini)(struct vcpu *v);
    /* arg: SIPI vector, or the entry point of a multiboot guest. */
    void (*start_state)(struct vcpu *v, enum virt_start start, uint32_t arg);

    void (*load)(struct vcpu *v); /* this CPU's now: VMPTRLD/ASID, FPU, debug registers, MSRs */
    void (*save)(struct vcpu *v); /* leaves this CPU whole: XSAVE, VMCLEAR or VMSAVE */
    void (*run)(struct vcpu *v);  /* enter; back with v->exit filled, interrupts off throughout */

    void (*skip)(struct vcpu *v);
    bool (*event_armed)(struct vcpu *v);
    void (*event_arm)(struct vcpu *v, const struct virt_event *e); /* replaces what was armed */
    bool (*irq_open)(struct vcpu *v);            /* IF=1, no shadow, nothing armed */
    bool (*nmi_open)(struct vcpu *v);            /* no NMI in service, no shadow, nothing armed */
    void (*irq_window)(struct vcpu *v, bool on); /* ask for EXIT_IRQ_WINDOW */
    void (*nmi_window)(struct vcpu *v, bool on);

    uint64_t (*get_reg)(struct vcpu *v, enum virt_reg r);
    /* The caller has checked the value. */
    void (*set_reg)(struct vcpu *v, enum virt_reg r, uint64_t value);

    void (*tlb_flush)(struct vcpu *v); /* all of this vCPU's translations, before its next entry */
    void (*tlb_flush_cpu)(struct cpu *cpu); /* HAZARD_TLB: this CPU's translations of all VMs */
    void (*set_tsc_offset)(struct vcpu *v, uint64_t offset);
};

/* The backend chosen at boot, or NULL: then the machine runs its console and no VMs. */
extern const struct virt_ops *virt;

/* arch/x86/virt.c: probes VT-x then AMD-V, sets `virt`, or says why not in one line. */
void virt_select(void);

#endif
