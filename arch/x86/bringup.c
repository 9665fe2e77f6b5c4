/*
 * The machine's side of the boot order (kernel/bringup.h): each step calls the drivers it is made
 * of.
 *
 * Decides nothing but the order within a step.
 */
#include "kernel/bringup.h"

#include "arch/x86/apic.h"
#include "arch/x86/apic_timer.h"
#include "arch/x86/asm.h"
#include "arch/x86/cpu_area.h"
#include "arch/x86/cpu_model.h"
#include "arch/x86/cpuid_capture.h"
#include "arch/x86/features.h"
#include "arch/x86/firmware_check.h"
#include "arch/x86/ioapic.h"
#include "arch/x86/layout.h"
#include "arch/x86/regs/cpuid.h"
#include "arch/x86/reset.h"
#include "arch/x86/smp.h"
#include "arch/x86/topology.h"
#include "arch/x86/trap.h"
#include "arch/x86/tsc.h"
#include "boot/warn.h"
#include "kernel/arch.h"
#include "kernel/lock.h"
#include "kernel/machine.h"
#include "kernel/mem.h"
#include "kernel/printk.h"

void arch_early_init(void)
{
    trap_init();
    cpu_area_early();
    features_init();
    features_setup_cpu();
    if (cpu_features.hypervisor)
        lock_waiters_barge();
    cpuid_capture(cpu_this()->arch);
}

void arch_image_range(paddr_t *start, paddr_t *end)
{
    *start = (paddr_t)image_start;
    *end = (paddr_t)image_end;
}

paddr_t arch_ram_limit(void)
{
    return DIRECT_MAP_BYTES;
}

/* As ap.S reads it: 32 bits from leaf 0xB where it says anything, else 8 bits from leaf 1. */
uint32_t arch_boot_apic_id(void)
{
    struct cpuid_dump dump = cpuid_of(cpu_this()->arch);
    struct cpuid_regs topology = cpuid_dump_lookup(dump, CPUID_TOPOLOGY, 0);

    if (topology.ebx)
        return topology.edx;
    return (uint32_t)FIELD_GET(CPUID_1_EBX_APIC_ID, cpuid_dump_lookup(dump, CPUID_VERSION, 0).ebx);
}

void arch_platform_init(const struct madt_info *madt, const struct fadt_info *fadt, paddr_t hpet)
{
    if (cpu_features.hypervisor)
        pr_info("below a hypervisor: spinlocks go to who finds them free, not in turn");
    ioapic_init(madt);
    reset_init(fadt, &machine.s5);
    if (apic_init(madt ? madt->lapic_addr : 0))
        panic("the local APIC cannot be used");
    firmware_check_boot_cpu();
    tsc_init(fadt, hpet);
    apic_timer_init();
    apic_timer_init_cpu();
}

size_t arch_topology_scratch_words(uint32_t n)
{
    return TOPO_SCRATCH_WORDS(n) + (n * sizeof(struct topo_ids) + 7) / 8;
}

static void notes_tell(const struct topo_result *result, struct fw_warnings *w)
{
    for (uint32_t code = 0; code < TOPO_NOTES; code++) {
        const struct topo_note *note = &result->notes[code];

        if (note->cpus)
            boot_warn(w, "%s (%u, %u used; CPU %u, %u in all)", topology_note_text(code),
                      note->told, note->used, note->cpu, note->cpus);
    }
}

void arch_topology(struct cpu_place *places, uint32_t n, bool unit_siblings, uint64_t *scratch,
                   struct topology_counts *counts, struct fw_warnings *w)
{
    struct topo_ids *ids = (struct topo_ids *)(scratch + TOPO_SCRATCH_WORDS(n));
    struct topo_result result;

    for (uint32_t i = 0; i < n; i++) {
        /* A CPU that is not up (yet) is taken for one like the boot CPU. */
        const struct arch_cpu *arch = cpus[i] ? cpus[i]->arch : cpu_this()->arch;

        if (!arch->cpuid_count)
            arch = cpu_this()->arch;
        ids[i] = topology_decode(places[i].apic_id, cpuid_of(arch));
    }
    topology_build(ids, n, unit_siblings ? TOPO_UNITS_ARE_SIBLINGS : 0, scratch, places, &result);
    *counts = (struct topology_counts){
        .sockets = result.sockets,
        .llcs = result.llcs,
        .cores = result.cores,
        .threads = result.threads,
        .threads_per_core_max = result.threads_per_core_max,
        .hybrid = result.hybrid,
    };
    if (w)
        notes_tell(&result, w);
}

static void (*boot_cpu_continue)(void);

static _Noreturn void on_own_stack(void)
{
    boot_cpu_continue();
    __builtin_unreachable();
}

void arch_boot_cpu_enter(void (*fn)(void))
{
    boot_cpu_continue = fn;
    cpu_area_load(cpus[0]);
    cpuid_capture(cpus[0]->arch);
    asm_switch_stack(cpus[0]->arch->stack_top, on_own_stack);
}

struct cpuid_dump arch_cpu_cpuid(const struct cpu *cpu)
{
    return cpuid_of(cpu->arch);
}

void arch_cpu_describe(const struct cpu *cpu, char *text, size_t bytes)
{
    struct cpuid_regs leaf1 = cpuid_dump_lookup(cpuid_of(cpu->arch), CPUID_VERSION, 0);
    struct cpuid_regs core = cpuid_dump_lookup(cpuid_of(cpu->arch), CPUID_CORE_TYPE, 0);
    const char *kind = cpu_model_core_kind(core.eax);
    uint32_t family, model, stepping;

    cpu_model_decode(leaf1.eax, &family, &model, &stepping);
    format_text(text, bytes, "%x:%x:%x, microcode %x%s%s", family, model, stepping,
                cpu->arch->microcode, kind ? ", " : "", kind ? kind : "");
}
