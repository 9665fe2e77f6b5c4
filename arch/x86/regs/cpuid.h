/* CPUID leaves and the feature bits that host code asks for. SDM 2A CPUID; APM 3 appendix E. */
#ifndef ARCH_X86_REGS_CPUID_H
#define ARCH_X86_REGS_CPUID_H

#include "hv/bits.h"

#define CPUID_MAX_BASIC       0x00000000u
#define CPUID_VERSION         0x00000001u
#define CPUID_CACHES          0x00000004u
#define CPUID_FEATURES_7      0x00000007u
#define CPUID_TOPOLOGY        0x0000000bu
#define CPUID_XSAVE           0x0000000du
#define CPUID_TSC             0x00000015u
#define CPUID_FREQUENCY       0x00000016u
#define CPUID_CORE_TYPE       0x0000001au
#define CPUID_TOPOLOGY_V2     0x0000001fu
#define CPUID_MAX_EXTENDED    0x80000000u
#define CPUID_EXTENDED        0x80000001u
#define CPUID_POWER           0x80000007u
#define CPUID_SIZES           0x80000008u
#define CPUID_AMD_CACHES      0x8000001du
#define CPUID_AMD_TOPOLOGY    0x8000001eu
#define CPUID_AMD_TOPOLOGY_V2 0x80000026u

/* leaf 0 */
#define CPUID_VENDOR_EBX_INTEL 0x756e6547u /* "Genu" */
#define CPUID_VENDOR_EBX_AMD   0x68747541u /* "Auth" */
#define CPUID_VENDOR_EBX_HYGON 0x6f677948u /* "Hygo" */

/* leaf 1 */
#define CPUID_1_EBX_APIC_ID    BITS(31, 24)
#define CPUID_1_ECX_VMX        BIT(5)
#define CPUID_1_ECX_X2APIC     BIT(21)
#define CPUID_1_ECX_DEADLINE   BIT(24)
#define CPUID_1_ECX_XSAVE      BIT(26)
#define CPUID_1_ECX_HYPERVISOR BIT(31) /* reserved by both manuals for use by hypervisors */
#define CPUID_1_EDX_MCE        BIT(7)
#define CPUID_1_EDX_PGE        BIT(13)
#define CPUID_1_EDX_MCA        BIT(14)

#define CPUID_1_EAX_STEPPING   BITS(3, 0)
#define CPUID_1_EAX_MODEL      BITS(7, 4)
#define CPUID_1_EAX_FAMILY     BITS(11, 8)
#define CPUID_1_EAX_EXT_MODEL  BITS(19, 16)
#define CPUID_1_EAX_EXT_FAMILY BITS(27, 20)

/* leaf 7, subleaf 0 */
#define CPUID_7_EBX_TSC_ADJUST BIT(1)
#define CPUID_7_EBX_SMEP       BIT(7)
#define CPUID_7_EBX_SMAP       BIT(20)
#define CPUID_7_ECX_UMIP       BIT(2)

/* leaf 0x80000001 */
#define CPUID_EXT_ECX_SVM     BIT(2)
#define CPUID_EXT_EDX_NX      BIT(20)
#define CPUID_EXT_EDX_PAGE1GB BIT(26)
#define CPUID_EXT_EDX_RDTSCP  BIT(27)
#define CPUID_EXT_EDX_LM      BIT(29)

/* leaf 0x80000007 */
#define CPUID_POWER_EDX_INVARIANT_TSC BIT(8)

/* leaf 0x80000008 */
#define CPUID_SIZES_EAX_PHYSICAL BITS(7, 0)

/* leaf 0x1A of hybrid parts */
#define CPUID_CORE_TYPE_EAX_KIND BITS(31, 24)
#define CPUID_CORE_KIND_ATOM     0x20u
#define CPUID_CORE_KIND_CORE     0x40u

/* leaves 0xB and 0x1F */
#define CPUID_TOPOLOGY_ECX_TYPE BITS(15, 8)

/* leaves 4 and 0x8000001D */
#define CPUID_CACHE_TYPE BITS(4, 0)

#endif
