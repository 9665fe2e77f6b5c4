/* AMD-V: MSRs, the VMCB, intercepts, exit codes. APM 2 chapter 15, appendices B and C. */
#ifndef ARCH_X86_REGS_SVM_H
#define ARCH_X86_REGS_SVM_H

#include <stddef.h>
#include <stdint.h>

#include "hv/bits.h"

#define MSR_VM_CR            0xc0010114u
#define MSR_VM_HSAVE_PA      0xc0010117u
#define VM_CR_LOCK           BIT(3)
#define VM_CR_SVMDIS         BIT(4)

#define CPUID_SVM            0x8000000au
#define SVM_EDX_NP           BIT(0)
#define SVM_EDX_NRIP         BIT(3)
#define SVM_EDX_CLEAN        BIT(5)
#define SVM_EDX_FLUSH_ASID   BIT(6)
#define SVM_EDX_DECODE       BIT(7)
#define SVM_EDX_PAUSE_FILTER BIT(10)
#define SVM_EDX_PAUSE_THRESH BIT(12)

struct vmcb_segment {
    uint16_t selector;
    uint16_t rights; /* descriptor bits 47:40 and 55:52, packed into 12 bits */
    uint32_t limit;
    uint64_t base;
};

struct vmcb {
    uint32_t cr_intercepts;    /* 0x000 reads in 15:0, writes in 31:16 */
    uint32_t dr_intercepts;    /* 0x004 */
    uint32_t exceptions;       /* 0x008 by vector */
    uint32_t intercepts1;      /* 0x00c INTERCEPT1_* */
    uint32_t intercepts2;      /* 0x010 INTERCEPT2_* */
    uint32_t intercepts3;      /* 0x014 */
    uint8_t reserved1[0x24];   /* 0x018 */
    uint16_t pause_threshold;  /* 0x03c */
    uint16_t pause_count;      /* 0x03e */
    uint64_t iopm;             /* 0x040 physical */
    uint64_t msrpm;            /* 0x048 physical */
    uint64_t tsc_offset;       /* 0x050 */
    uint32_t asid;             /* 0x058 */
    uint8_t tlb_control;       /* 0x05c enum svm_tlb_control */
    uint8_t reserved2[3];      /* 0x05d */
    uint64_t virq;             /* 0x060 VIRQ_* */
    uint64_t shadow;           /* 0x068 bit 0: interrupt shadow */
    uint64_t exit_code;        /* 0x070 enum svm_exit_code */
    uint64_t exit_info1;       /* 0x078 */
    uint64_t exit_info2;       /* 0x080 */
    uint64_t exit_event;       /* 0x088 SVM_EVENT_* */
    uint64_t nested_paging;    /* 0x090 bit 0 */
    uint8_t reserved3[0x10];   /* 0x098 */
    uint64_t event;            /* 0x0a8 SVM_EVENT_* */
    uint64_t nested_cr3;       /* 0x0b0 */
    uint64_t lbr;              /* 0x0b8 */
    uint64_t clean;            /* 0x0c0 VMCB_CLEAN_* */
    uint64_t next_rip;         /* 0x0c8 */
    uint8_t reserved4[0x330];  /* 0x0d0 */
    struct vmcb_segment es;    /* 0x400 */
    struct vmcb_segment cs;    /* 0x410 */
    struct vmcb_segment ss;    /* 0x420 */
    struct vmcb_segment ds;    /* 0x430 */
    struct vmcb_segment fs;    /* 0x440 */
    struct vmcb_segment gs;    /* 0x450 */
    struct vmcb_segment gdtr;  /* 0x460 */
    struct vmcb_segment ldtr;  /* 0x470 */
    struct vmcb_segment idtr;  /* 0x480 */
    struct vmcb_segment tr;    /* 0x490 */
    uint8_t reserved5[0x2b];   /* 0x4a0 */
    uint8_t cpl;               /* 0x4cb */
    uint8_t reserved6[4];      /* 0x4cc */
    uint64_t efer;             /* 0x4d0 */
    uint8_t reserved7[0x70];   /* 0x4d8 */
    uint64_t cr4;              /* 0x548 */
    uint64_t cr3;              /* 0x550 */
    uint64_t cr0;              /* 0x558 */
    uint64_t dr7;              /* 0x560 */
    uint64_t dr6;              /* 0x568 */
    uint64_t rflags;           /* 0x570 */
    uint64_t rip;              /* 0x578 */
    uint8_t reserved8[0x58];   /* 0x580 */
    uint64_t rsp;              /* 0x5d8 */
    uint8_t reserved9[0x18];   /* 0x5e0 */
    uint64_t rax;              /* 0x5f8 */
    uint64_t star;             /* 0x600 */
    uint64_t lstar;            /* 0x608 */
    uint64_t cstar;            /* 0x610 */
    uint64_t fmask;            /* 0x618 */
    uint64_t kernel_gs_base;   /* 0x620 */
    uint64_t sysenter_cs;      /* 0x628 */
    uint64_t sysenter_esp;     /* 0x630 */
    uint64_t sysenter_eip;     /* 0x638 */
    uint64_t cr2;              /* 0x640 */
    uint8_t reserved10[0x20];  /* 0x648 */
    uint64_t pat;              /* 0x668 */
    uint8_t reserved11[0x990]; /* 0x670 */
};

_Static_assert(offsetof(struct vmcb, pause_threshold) == 0x03c, "APM 2 B-1");
_Static_assert(offsetof(struct vmcb, asid) == 0x058, "APM 2 B-1");
_Static_assert(offsetof(struct vmcb, nested_paging) == 0x090, "APM 2 B-1");
_Static_assert(offsetof(struct vmcb, event) == 0x0a8, "APM 2 B-1");
_Static_assert(offsetof(struct vmcb, next_rip) == 0x0c8, "APM 2 B-1");
_Static_assert(offsetof(struct vmcb, es) == 0x400, "APM 2 B-2");
_Static_assert(offsetof(struct vmcb, cpl) == 0x4cb, "APM 2 B-2");
_Static_assert(offsetof(struct vmcb, efer) == 0x4d0, "APM 2 B-2");
_Static_assert(offsetof(struct vmcb, cr4) == 0x548, "APM 2 B-2");
_Static_assert(offsetof(struct vmcb, rip) == 0x578, "APM 2 B-2");
_Static_assert(offsetof(struct vmcb, rsp) == 0x5d8, "APM 2 B-2");
_Static_assert(offsetof(struct vmcb, rax) == 0x5f8, "APM 2 B-2");
_Static_assert(offsetof(struct vmcb, cr2) == 0x640, "APM 2 B-2");
_Static_assert(offsetof(struct vmcb, pat) == 0x668, "APM 2 B-2");
_Static_assert(sizeof(struct vmcb) == 4096, "APM 2 B");

#define INTERCEPT_CR_READ(n)   BIT(n)
#define INTERCEPT_CR_WRITE(n)  BIT(16 + (n))

#define INTERCEPT1_INTR        BIT(0)
#define INTERCEPT1_NMI         BIT(1)
#define INTERCEPT1_INIT        BIT(3)
#define INTERCEPT1_VINTR       BIT(4)
#define INTERCEPT1_RDPMC       BIT(15)
#define INTERCEPT1_CPUID       BIT(18)
#define INTERCEPT1_IRET        BIT(20)
#define INTERCEPT1_INVD        BIT(22)
#define INTERCEPT1_PAUSE       BIT(23)
#define INTERCEPT1_HLT         BIT(24)
#define INTERCEPT1_INVLPGA     BIT(26)
#define INTERCEPT1_IO          BIT(27)
#define INTERCEPT1_MSR         BIT(28)
#define INTERCEPT1_SHUTDOWN    BIT(31)

#define INTERCEPT2_VMRUN       BIT(0)
#define INTERCEPT2_VMMCALL     BIT(1)
#define INTERCEPT2_VMLOAD      BIT(2)
#define INTERCEPT2_VMSAVE      BIT(3)
#define INTERCEPT2_STGI        BIT(4)
#define INTERCEPT2_CLGI        BIT(5)
#define INTERCEPT2_SKINIT      BIT(6)
#define INTERCEPT2_WBINVD      BIT(9)
#define INTERCEPT2_MONITOR     BIT(10)
#define INTERCEPT2_MWAIT       BIT(11)
#define INTERCEPT2_MWAIT_ARMED BIT(12)
#define INTERCEPT2_XSETBV      BIT(13)
#define INTERCEPT2_RDPRU       BIT(14)

#define VIRQ_PENDING           BIT(8)
#define VIRQ_PRIORITY          BITS(19, 16)
#define VIRQ_IGNORE_TPR        BIT(20)
#define VIRQ_MASKING           BIT(24) /* the host's RFLAGS.IF rules over physical interrupts */

#define SVM_SHADOW             BIT(0)

enum svm_tlb_control { SVM_TLB_KEEP = 0, SVM_TLB_FLUSH_ALL = 1, SVM_TLB_FLUSH_ASID = 3 };

#define VMCB_CLEAN_CONTROLS BIT(0) /* intercepts, TSC offset, pause filter */
#define VMCB_CLEAN_ASID     BIT(2)
#define VMCB_CLEAN_VIRQ     BIT(3)
#define VMCB_CLEAN_NESTED   BIT(4) /* nested CR3, PAT */
#define VMCB_CLEAN_CR       BIT(5) /* CR0, CR3, CR4, EFER */
#define VMCB_CLEAN_DR       BIT(6)
#define VMCB_CLEAN_SEGMENTS BIT(8)
#define VMCB_CLEAN_CR2      BIT(9)
#define VMCB_CLEAN_ALL      BITS(9, 0) /* not LBR, AVIC, CET: unused, hence never clean */

#define SVM_EVENT_VECTOR    BITS(7, 0)
#define SVM_EVENT_TYPE      BITS(10, 8)
#define SVM_EVENT_HAS_ERROR BIT(11)
#define SVM_EVENT_VALID     BIT(31)
#define SVM_EVENT_ERROR     BITS(63, 32)

enum svm_event_type {
    SVM_EVENT_IRQ = 0,
    SVM_EVENT_NMI = 2,
    SVM_EVENT_EXCEPTION = 3,
    SVM_EVENT_SOFT_INT = 4
};

enum svm_exit_code {
    SVM_EXIT_CR_READ = 0x00,
    SVM_EXIT_CR_WRITE = 0x10,
    SVM_EXIT_EXCEPTION = 0x40,
    SVM_EXIT_INTR = 0x60,
    SVM_EXIT_NMI = 0x61,
    SVM_EXIT_VINTR = 0x64,
    SVM_EXIT_RDPMC = 0x6f,
    SVM_EXIT_CPUID = 0x72,
    SVM_EXIT_IRET = 0x74,
    SVM_EXIT_INVD = 0x76,
    SVM_EXIT_PAUSE = 0x77,
    SVM_EXIT_HLT = 0x78,
    SVM_EXIT_INVLPGA = 0x7a,
    SVM_EXIT_IO = 0x7b,
    SVM_EXIT_MSR = 0x7c,
    SVM_EXIT_SHUTDOWN = 0x7f,
    SVM_EXIT_VMRUN = 0x80,
    SVM_EXIT_VMMCALL = 0x81,
    SVM_EXIT_VMLOAD = 0x82,
    SVM_EXIT_VMSAVE = 0x83,
    SVM_EXIT_STGI = 0x84,
    SVM_EXIT_CLGI = 0x85,
    SVM_EXIT_SKINIT = 0x86,
    SVM_EXIT_WBINVD = 0x89,
    SVM_EXIT_MONITOR = 0x8a,
    SVM_EXIT_MWAIT = 0x8b,
    SVM_EXIT_MWAIT_ARMED = 0x8c,
    SVM_EXIT_XSETBV = 0x8d,
    SVM_EXIT_RDPRU = 0x8e,
    SVM_EXIT_COUNT = 0x8f,
    SVM_EXIT_NPF = 0x400
};

/* EXITINFO1 of an I/O exit; EXITINFO2 is the address of the next instruction. */
#define SVM_IO_IN     BIT(0)
#define SVM_IO_STRING BIT(2)
#define SVM_IO_BYTES  BITS(6, 4) /* one bit set: 1, 2 or 4 */
#define SVM_IO_PORT   BITS(31, 16)

/* EXITINFO1 of a nested page fault is a page-fault error code; of an MSR exit, 1 means write. */
#define SVM_NPF_WRITE BIT(1)
#define SVM_NPF_FETCH BIT(4)

#define SVM_CR_GPR    BITS(3, 0) /* EXITINFO1 of a CR exit, with decode assists */

#define MSRPM_BYTES   8192u
#define IOPM_BYTES    12288u

#endif
