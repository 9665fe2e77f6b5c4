/*
 * What the parts of the `state` guest share: patterns, and the three groups of state that are
 * loaded with them and checked: general registers, system registers, vector registers.
 */
#ifndef GUEST_STATE_STATE_H
#define GUEST_STATE_STATE_H

#include "tests/guests/rt/rt.h"

/* How a vCPU gives the CPU away; order of state_ways in gpr.S. */
enum state_way { WAY_VMCALL, WAY_VMMCALL, WAY_HLT, WAY_PAUSE };

/* rax rbx rcx rdx rsi rdi rbp r8..r15, flags. */
enum { GPR_RAX = 0, GPR_RCX = 2, GPR_FLAGS = 15, GPRS = 16 };

/* A number that depends on all bits of `key`: the pattern of one register of one vCPU. */
static inline uint64_t state_hash(uint64_t key)
{
    key += 0x9e3779b97f4a7c15;
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
    key = (key ^ key >> 27) * 0x94d049bb133111eb;
    return key ^ key >> 31;
}

/* Loads all general registers and flags, gives the CPU away, and stores them as they are then. */
void state_cross(const uint64_t load[GPRS], uint64_t stored[GPRS], uint64_t way);

/* A difference found: what, and both values. */
struct state_fault {
    char what[24];
    uint64_t is, should_be;
};

/* System registers. Key: of this vCPU and this round. Check returns false at a difference. */
void sysregs_init(void);
void sysregs_load(uint64_t key);
bool sysregs_check(uint64_t key, struct state_fault *fault);

/* x87, SSE, AVX, AVX-512 as far as CPUID offers and XCR0 (loaded before) enables them. */
struct vectors {
    uint8_t *load, *stored; /* XSAVE areas, 64-byte aligned */
    uint64_t mask;          /* components in use; 0: FXSAVE only */
};

void vectors_init(void);
bool vectors_alloc(struct vectors *v);
void vectors_load(struct vectors *v, uint64_t key);
bool vectors_check(struct vectors *v, struct state_fault *fault);

/* Components that this guest tests of those that CPUID offers; 0 without XSAVE. */
uint64_t vectors_offered(void);

#endif
