/* Reading the instruction a guest stands at, where the hardware does not hand its bytes over. */
#ifndef ARCH_X86_GUEST_FETCH_H
#define ARCH_X86_GUEST_FETCH_H

#include "hv/types.h"

struct vcpu;

/*
 * Up to `bytes` bytes at CS:RIP of the loaded vCPU. Returns how many could be read: fewer when a
 * page of the guest is not mapped or not RAM.
 */
size_t guest_fetch(struct vcpu *v, uint8_t *to, size_t bytes);

/* Whether the vCPU stands at VMCALL or VMMCALL: the one its CPU does not have raises #UD. */
bool guest_fetch_is_hypercall(struct vcpu *v);

#endif
