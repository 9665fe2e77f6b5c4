/* Descriptors, the task state, gates and exception vectors. SDM 3A 3.4.5, 6.14, 7.7, 6.15. */
#ifndef ARCH_X86_REGS_SEGMENT_H
#define ARCH_X86_REGS_SEGMENT_H

#include "hv/bits.h"

/* Code and data descriptors of long mode, accessed bit set. */
#define SEGMENT_CODE64 0x00af9b000000ffffull
#define SEGMENT_DATA   0x00cf93000000ffffull
#define SEGMENT_CODE32 0x00cf9b000000ffffull

/* System descriptors: TSS, 16 bytes. */
#define SEGMENT_LIMIT   BITS(15, 0)
#define SEGMENT_BASE_LO BITS(39, 16)
#define SEGMENT_TYPE    BITS(44, 40)
#define SEGMENT_PRESENT BIT(47)
#define SEGMENT_BASE_HI BITS(63, 56)
#define SEGMENT_TSS64   0x09u

struct tss64 {
    uint32_t reserved0;
    uint32_t rsp[6]; /* three 64-bit stack pointers, only 4-byte aligned */
    uint32_t reserved1[2];
    uint32_t ist[14]; /* seven, from IST 1 */
    uint32_t reserved2[2];
    uint16_t reserved3;
    uint16_t iomap;
};

_Static_assert(sizeof(struct tss64) == 104, "SDM 3A figure 7-11");
_Static_assert(offsetof(struct tss64, ist) == 36, "SDM 3A figure 7-11");

struct gate64 {
    uint64_t low;
    uint64_t high; /* offset 63..32 */
};

#define GATE_OFFSET_LO  BITS(15, 0)
#define GATE_SELECTOR   BITS(31, 16)
#define GATE_IST        BITS(34, 32)
#define GATE_TYPE       BITS(43, 40)
#define GATE_PRESENT    BIT(47)
#define GATE_OFFSET_MID BITS(63, 48)
#define GATE_INTERRUPT  0xeu

struct __attribute__((packed)) table_pointer {
    uint16_t limit;
    uint64_t base;
};

_Static_assert(sizeof(struct table_pointer) == 10, "SDM 3A 2.4");

enum exception_vector {
    VECTOR_DE = 0,
    VECTOR_DB = 1,
    VECTOR_NMI = 2,
    VECTOR_BP = 3,
    VECTOR_OF = 4,
    VECTOR_BR = 5,
    VECTOR_UD = 6,
    VECTOR_NM = 7,
    VECTOR_DF = 8,
    VECTOR_TS = 10,
    VECTOR_NP = 11,
    VECTOR_SS = 12,
    VECTOR_GP = 13,
    VECTOR_PF = 14,
    VECTOR_MF = 16,
    VECTOR_AC = 17,
    VECTOR_MC = 18,
    VECTOR_XM = 19,
    VECTOR_CP = 21,
    EXCEPTION_VECTORS = 32
};

#endif
