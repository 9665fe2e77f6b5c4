/* The x86 side of a vCPU that is neither VT-x nor AMD-V. See guest_vcpu.c. */
#ifndef ARCH_X86_GUEST_VCPU_H
#define ARCH_X86_GUEST_VCPU_H

#include "arch/x86/guest_cpuid.h"
#include "kernel/vcpu.h"

bool guest_vcpu_has_rdtscp(const struct vcpu *v);
bool guest_vcpu_has_nx(const struct vcpu *v);

#endif
