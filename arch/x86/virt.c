/*
 * Chooses the backend at boot.
 *
 * A machine has VT-x or AMD-V, never both; one that has neither, or has it locked away, runs its
 * console and no VMs, and the one line printed here says which of the two and why.
 */
#include "arch/x86/features.h"
#include "arch/x86/svm.h"
#include "arch/x86/vmx.h"
#include "kernel/printk.h"
#include "kernel/virt.h"

const struct virt_ops *virt;

void virt_select(void)
{
    static const struct virt_ops *const backends[] = {&vmx_ops, &svm_ops};
    const char *why = "the CPU has neither VT-x nor AMD-V";

    for (unsigned i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        const char *reason = NULL;

        if (!backends[i]->probe(&reason)) {
            virt = backends[i];
            return;
        }
        if (reason)
            why = reason;
    }
    pr_warn("virt: no VMs on this machine: %s", why);
}
