/* Starting the other CPUs: arch_start_cpus of kernel/bringup.h. See smp.c. */
#ifndef ARCH_X86_SMP_H
#define ARCH_X86_SMP_H

struct ap_slot;

/* Where ap.S arrives, on the slot's stack. */
_Noreturn void ap_main(struct ap_slot *slot);

#endif
