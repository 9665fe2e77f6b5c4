/* What firmware left in the CPUs' MSRs, compared over all CPUs. See firmware_check.c. */
#ifndef ARCH_X86_FIRMWARE_CHECK_H
#define ARCH_X86_FIRMWARE_CHECK_H

struct cpu;

/* Boot CPU, before the TSC is measured. */
void firmware_check_boot_cpu(void);

/* On each other CPU, early: reads. */
void firmware_check_read(struct cpu *cpu);

/* Boot CPU, for CPUs in ascending order: decides what `cpu`, which has read, is to mend. */
void firmware_check_decide(struct cpu *cpu);

/* On each other CPU, before its TSC is compared. */
void firmware_check_mend(struct cpu *cpu);

/* Boot CPU, when all are up: a line for each kind of difference. */
void firmware_check_print(void);

#endif
