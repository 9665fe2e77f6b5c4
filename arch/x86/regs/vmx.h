/* VT-x: capability MSRs, VMCS fields, controls, exit reasons. SDM 3C 25-29, 3D appendices A-C. */
#ifndef ARCH_X86_REGS_VMX_H
#define ARCH_X86_REGS_VMX_H

#include "hv/bits.h"

#define MSR_VMX_BASIC           0x480u
#define MSR_VMX_MISC            0x485u
#define MSR_VMX_CR0_FIXED0      0x486u
#define MSR_VMX_CR4_FIXED0      0x488u
#define MSR_VMX_PROC2_CTLS      0x48bu
#define MSR_VMX_EPT_VPID_CAP    0x48cu
#define MSR_VMX_TRUE_PIN_CTLS   0x48du
#define MSR_VMX_TRUE_PROC_CTLS  0x48eu
#define MSR_VMX_TRUE_EXIT_CTLS  0x48fu
#define MSR_VMX_TRUE_ENTRY_CTLS 0x490u

#define VMX_BASIC_REVISION      BITS(30, 0)
#define VMX_BASIC_TRUE_CTLS     BIT(55)
#define VMX_MISC_TIMER_SHIFT    BITS(4, 0)

/*
 * Capability MSRs of controls: bits that must be 1 in the low half, that may be 1 in the high half.
 */
#define VMX_CTLS_MUST      BITS(31, 0)
#define VMX_CTLS_MAY       BITS(63, 32)

#define EPT_CAP_4_LEVELS   BIT(6)
#define EPT_CAP_WB         BIT(14)
#define EPT_CAP_2M         BIT(16)
#define EPT_CAP_1G         BIT(17)
#define EPT_CAP_INVEPT     BIT(20)
#define EPT_CAP_INVEPT_ALL BIT(26)
#define VPID_CAP_INVVPID   BIT(32)
#define VPID_CAP_SINGLE    BIT(41)
#define VPID_CAP_ALL       BIT(42)

#define EPTP_WB            6u
#define EPTP_4_LEVELS      (3u << 3)

enum vmx_invalidation { INVVPID_SINGLE = 1, INVVPID_ALL = 2, INVEPT_ALL = 2 };

#define PIN_IRQ_EXITING      BIT(0)
#define PIN_NMI_EXITING      BIT(3)
#define PIN_VIRTUAL_NMIS     BIT(5)
#define PIN_PREEMPTION_TIMER BIT(6)

#define PROC_IRQ_WINDOW      BIT(2)
#define PROC_TSC_OFFSET      BIT(3)
#define PROC_HLT             BIT(7)
#define PROC_MWAIT           BIT(10)
#define PROC_RDPMC           BIT(11)
#define PROC_CR8_LOAD        BIT(19)
#define PROC_CR8_STORE       BIT(20)
#define PROC_NMI_WINDOW      BIT(22)
#define PROC_IO              BIT(24) /* every port */
#define PROC_MSR_BITMAP      BIT(28)
#define PROC_MONITOR         BIT(29)
#define PROC_PAUSE           BIT(30)
#define PROC_SECONDARY       BIT(31)

#define PROC2_EPT            BIT(1)
#define PROC2_RDTSCP         BIT(3)
#define PROC2_VPID           BIT(5)
#define PROC2_WBINVD         BIT(6)
#define PROC2_UNRESTRICTED   BIT(7)
#define PROC2_PLE            BIT(10)
#define PROC2_INVPCID        BIT(12)

#define EXITC_SAVE_DEBUG     BIT(2)
#define EXITC_HOST64         BIT(9)
#define EXITC_ACK_IRQ        BIT(15)
#define EXITC_SAVE_PAT       BIT(18)
#define EXITC_LOAD_PAT       BIT(19)
#define EXITC_SAVE_EFER      BIT(20)
#define EXITC_LOAD_EFER      BIT(21)
#define EXITC_SAVE_TIMER     BIT(22)

#define ENTRYC_LOAD_DEBUG    BIT(2)
#define ENTRYC_IA32E         BIT(9)
#define ENTRYC_LOAD_PAT      BIT(14)
#define ENTRYC_LOAD_EFER     BIT(15)

enum vmcs_field {
    VMCS_VPID = 0x0000,
    VMCS_GUEST_ES = 0x0800, /* then CS SS DS FS GS LDTR TR, two apart */
    VMCS_HOST_ES = 0x0c00,
    VMCS_HOST_CS = 0x0c02,
    VMCS_HOST_SS = 0x0c04,
    VMCS_HOST_DS = 0x0c06,
    VMCS_HOST_FS = 0x0c08,
    VMCS_HOST_GS = 0x0c0a,
    VMCS_HOST_TR = 0x0c0c,
    VMCS_MSR_BITMAP = 0x2004,
    VMCS_TSC_OFFSET = 0x2010,
    VMCS_EPTP = 0x201a,
    VMCS_GUEST_PHYSICAL = 0x2400,
    VMCS_LINK = 0x2800,
    VMCS_GUEST_DEBUGCTL = 0x2802,
    VMCS_GUEST_PAT = 0x2804,
    VMCS_GUEST_EFER = 0x2806,
    VMCS_HOST_PAT = 0x2c00,
    VMCS_HOST_EFER = 0x2c02,
    VMCS_PIN = 0x4000,
    VMCS_PROC = 0x4002,
    VMCS_EXCEPTIONS = 0x4004,
    VMCS_PF_MASK = 0x4006,
    VMCS_PF_MATCH = 0x4008,
    VMCS_CR3_TARGETS = 0x400a,
    VMCS_EXIT_CTLS = 0x400c,
    VMCS_EXIT_MSR_STORES = 0x400e,
    VMCS_EXIT_MSR_LOADS = 0x4010,
    VMCS_ENTRY_CTLS = 0x4012,
    VMCS_ENTRY_MSR_LOADS = 0x4014,
    VMCS_ENTRY_EVENT = 0x4016,
    VMCS_ENTRY_ERROR = 0x4018,
    VMCS_ENTRY_LENGTH = 0x401a,
    VMCS_PROC2 = 0x401e,
    VMCS_PLE_GAP = 0x4020,
    VMCS_PLE_WINDOW = 0x4022,
    VMCS_INSTRUCTION_ERROR = 0x4400,
    VMCS_EXIT_REASON = 0x4402,
    VMCS_EXIT_EVENT = 0x4404,
    VMCS_EXIT_ERROR = 0x4406,
    VMCS_VECTORING_EVENT = 0x4408,
    VMCS_VECTORING_ERROR = 0x440a,
    VMCS_EXIT_LENGTH = 0x440c,
    VMCS_GUEST_ES_LIMIT = 0x4800, /* and so on, as the selectors */
    VMCS_GUEST_GDTR_LIMIT = 0x4810,
    VMCS_GUEST_IDTR_LIMIT = 0x4812,
    VMCS_GUEST_ES_RIGHTS = 0x4814,
    VMCS_GUEST_SS_RIGHTS = 0x4818,
    VMCS_INTERRUPTIBILITY = 0x4824,
    VMCS_ACTIVITY = 0x4826,
    VMCS_GUEST_SYSENTER_CS = 0x482a,
    VMCS_TIMER = 0x482e,
    VMCS_HOST_SYSENTER_CS = 0x4c00,
    VMCS_CR0_MASK = 0x6000,
    VMCS_CR4_MASK = 0x6002,
    VMCS_CR0_SHADOW = 0x6004,
    VMCS_CR4_SHADOW = 0x6006,
    VMCS_QUALIFICATION = 0x6400,
    VMCS_GUEST_CR0 = 0x6800,
    VMCS_GUEST_CR3 = 0x6802,
    VMCS_GUEST_CR4 = 0x6804,
    VMCS_GUEST_ES_BASE = 0x6806,
    VMCS_GUEST_CS_BASE = 0x6808,
    VMCS_GUEST_FS_BASE = 0x680e,
    VMCS_GUEST_GS_BASE = 0x6810,
    VMCS_GUEST_GDTR_BASE = 0x6816,
    VMCS_GUEST_IDTR_BASE = 0x6818,
    VMCS_GUEST_DR7 = 0x681a,
    VMCS_GUEST_RSP = 0x681c,
    VMCS_GUEST_RIP = 0x681e,
    VMCS_GUEST_RFLAGS = 0x6820,
    VMCS_PENDING_DEBUG = 0x6822,
    VMCS_GUEST_SYSENTER_ESP = 0x6824,
    VMCS_GUEST_SYSENTER_EIP = 0x6826,
    VMCS_HOST_CR0 = 0x6c00,
    VMCS_HOST_CR3 = 0x6c02,
    VMCS_HOST_CR4 = 0x6c04,
    VMCS_HOST_FS_BASE = 0x6c06,
    VMCS_HOST_GS_BASE = 0x6c08,
    VMCS_HOST_TR_BASE = 0x6c0a,
    VMCS_HOST_GDTR_BASE = 0x6c0c,
    VMCS_HOST_IDTR_BASE = 0x6c0e,
    VMCS_HOST_SYSENTER_ESP = 0x6c10,
    VMCS_HOST_SYSENTER_EIP = 0x6c12,
    VMCS_HOST_RSP = 0x6c14,
    VMCS_HOST_RIP = 0x6c16,
};

/* Interruption information: entry, exit and IDT-vectoring share the layout (SDM 25.8.3, 25.9.2). */
#define EVENT_VECTOR        BITS(7, 0)
#define EVENT_TYPE          BITS(10, 8)
#define EVENT_HAS_ERROR     BIT(11)
#define EVENT_NMI_UNBLOCKED BIT(12) /* exit only: an IRET had just ended NMI blocking */
#define EVENT_VALID         BIT(31)

enum vmx_event_type {
    EVENT_IRQ = 0,
    EVENT_NMI = 2,
    EVENT_EXCEPTION = 3,
    EVENT_SOFT_INT = 4,
    EVENT_SOFT_PRIVILEGED = 5, /* INT1 */
    EVENT_SOFT_EXCEPTION = 6,  /* INT3, INTO */
};

#define INTERRUPTIBILITY_STI    BIT(0)
#define INTERRUPTIBILITY_MOV_SS BIT(1)
#define INTERRUPTIBILITY_NMI    BIT(3)

#define PENDING_DEBUG_STEP      BIT(14)

enum vmx_reason {
    REASON_EXCEPTION = 0,
    REASON_IRQ = 1,
    REASON_TRIPLE_FAULT = 2,
    REASON_IRQ_WINDOW = 7,
    REASON_NMI_WINDOW = 8,
    REASON_TASK_SWITCH = 9,
    REASON_CPUID = 10,
    REASON_GETSEC = 11,
    REASON_HLT = 12,
    REASON_INVD = 13,
    REASON_RDPMC = 15,
    REASON_VMCALL = 18,
    REASON_VMCLEAR = 19,
    REASON_VMLAUNCH = 20,
    REASON_VMPTRLD = 21,
    REASON_VMPTRST = 22,
    REASON_VMREAD = 23,
    REASON_VMRESUME = 24,
    REASON_VMWRITE = 25,
    REASON_VMXOFF = 26,
    REASON_VMXON = 27,
    REASON_CR = 28,
    REASON_IO = 30,
    REASON_RDMSR = 31,
    REASON_WRMSR = 32,
    REASON_MWAIT = 36,
    REASON_MONITOR = 39,
    REASON_PAUSE = 40,
    REASON_EPT_VIOLATION = 48,
    REASON_EPT_MISCONFIG = 49,
    REASON_INVEPT = 50,
    REASON_TIMER = 52,
    REASON_INVVPID = 53,
    REASON_WBINVD = 54,
    REASON_XSETBV = 55,
    REASON_COUNT = 70
};

/* Exit qualifications (SDM 28.2.1). */
#define QUAL_CR_NUMBER         BITS(3, 0)
#define QUAL_CR_ACCESS         BITS(5, 4)
#define QUAL_CR_GPR            BITS(11, 8)
#define QUAL_CR_MOV_TO         0u
#define QUAL_IO_BYTES          BITS(2, 0) /* less one */
#define QUAL_IO_IN             BIT(3)
#define QUAL_IO_STRING         BIT(4)
#define QUAL_IO_PORT           BITS(31, 16)
#define QUAL_EPT_WRITE         BIT(1)
#define QUAL_EPT_FETCH         BIT(2)
#define QUAL_EPT_NMI_UNBLOCKED BIT(12)
#define QUAL_DEBUG_CAUSES      (BITS(3, 0) | BITS(14, 13)) /* the bits of DR6 that would be set */

/* Access rights of segments (SDM 25.4.1): descriptor bits 47:40 and 55:52. */
#define RIGHTS_DPL BITS(6, 5)

#endif
