/* The look at a vCPU before it enters the guest. See vcpu_entry.c. */
#ifndef KERNEL_VCPU_ENTRY_H
#define KERNEL_VCPU_ENTRY_H

#include "kernel/vcpu.h"

/* Acts on the pending bits; false when the vCPU is not to enter now (it slept, or it ends). */
bool vcpu_prepare(struct vcpu *v);

/* The short path: one word is zero. */
static inline bool vcpu_may_enter(struct vcpu *v)
{
    if (__builtin_expect(!(atomic_get(&v->pending) & PENDING_BEFORE_ENTRY), 1))
        return true;
    return vcpu_prepare(v);
}

#endif
