/*
 * What the kernel asks of the machine. kernel/ owns this interface, arch/x86 implements it.
 *
 * Virtualization stands apart in virt.h.
 */
#ifndef KERNEL_ARCH_H
#define KERNEL_ARCH_H

#include "hv/cpuid.h"
#include "hv/types.h"

struct cpu;
struct vcpu;
struct vm;

/* ---- time (arch/x86/tsc.c, apic_timer.c) ---- */

ns_t arch_now(void);                 /* ns since boot, monotonic, the same on all CPUs */
uint64_t arch_tsc_hz(void);          /* TSC ticks per second as calibrated */
bool arch_tsc_is_synchronous(void);  /* the same on all CPUs, as far as comparing them showed */
bool arch_tsc_is_stable(void);       /* invariant and synchronous over all CPUs */
uint64_t arch_ns_to_tsc(ns_t ns);    /* a length of time; saturates */
ns_t arch_tsc_to_ns(uint64_t ticks); /* a length of time */
uint64_t arch_tsc(void);             /* the counter itself, for offsets and the trace */

/*
 * Make this CPU's timer set HAZARD_TIMER at `deadline`, or never. Writes hardware only on a change.
 */
void arch_timer_set(ns_t deadline);

/* ---- CPUs (arch/x86/idle.c, reset.c, backtrace.c, bringup.c) ---- */

void arch_send_kick(struct cpu *cpu); /* an interrupt that only makes `cpu` look at its hazards */
void arch_idle(void);     /* sleep until an interrupt, unless a hazard bit is set already */
void arch_irq_take(void); /* let what is pending on this CPU be handled (IF=1 for a moment) */
struct cpuid_dump arch_cpu_cpuid(const struct cpu *cpu); /* as captured at its bring-up */
void arch_stop_others(void); /* NMI every other CPU into a halt; for panic and power off */
void arch_stack_trace(void); /* of the caller, by pr_err */
_Noreturn void arch_halt(void);
_Noreturn void arch_reboot(void);

/*
 * By QEMU's isa-debug-exit where it is there, else by ACPI, else a halt. A panic makes QEMU's
 * status 255; where that device is not, it ends in a reset if panic= says so.
 */
_Noreturn void arch_poweroff(uint8_t code);
_Noreturn void arch_panic_end(void);

/* ---- memory (arch/x86/paging.c) ---- */

void *phys_to_virt(paddr_t pa);       /* through the direct map: RAM only, never executable */
paddr_t virt_to_phys(const void *va); /* of the direct map or the image */
void *arch_map_mmio(paddr_t pa, size_t bytes); /* uncached, for ever; NULL: no room is left */

/* ---- guest-visible x86 behaviour decided by arch code, called from exit dispatch ---- */

void guest_cpuid_exit(struct vcpu *v); /* CPUID: answers from the vCPU's table, skips */
void guest_rdmsr_exit(struct vcpu *v); /* skips, or injects #GP */
void guest_wrmsr_exit(struct vcpu *v);
void guest_xsetbv_exit(struct vcpu *v);
void guest_cr8_exit(struct vcpu *v);
void guest_hypercall_exit(struct vcpu *v); /* KVM's ABI and Numen's own numbers */

int guest_vm_init(struct vm *vm); /* CPUID table, paravirtual features; 0 or -ENOMEM */
void guest_vm_fini(struct vm *vm);
uint32_t guest_apic_id(const struct vm *vm, uint32_t vcpu); /* of the vCPU with this index */

int guest_vcpu_init(struct vcpu *v); /* vlapic, paravirtual state; 0 or -ENOMEM */
void guest_vcpu_fini(struct vcpu *v);
void guest_vcpu_reset(struct vcpu *v);  /* what INIT does to the vlapic and paravirt state */
bool guest_irq_pending(struct vcpu *v); /* a vector above the vCPU's TPR and ISR waits */
int guest_irq_accept(struct vcpu *v);   /* moves that vector from IRR to ISR, returns it; or -1 */
void guest_switch_in(struct vcpu *v, ns_t now);        /* clock, steal time, PV TLB flush request */
void guest_switch_out(struct vcpu *v, bool preempted); /* preempted: it leaves while runnable */

#endif
