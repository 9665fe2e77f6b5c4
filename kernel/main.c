/*
 * The boot order, on one screen.
 *
 * The boot CPU does everything up to cpu_loop; the other CPUs are started half-way, describe
 * themselves, wait in cpu_main until the machine is complete, and then enter the same loop. Each
 * step is explained where it is defined.
 */
#include "kernel/arch.h"
#include "kernel/boot_time.h"
#include "kernel/bringup.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/machine.h"
#include "kernel/mem_init.h"
#include "kernel/printk.h"
#include "kernel/schedule.h"
#include "kernel/timer.h"
#include "kernel/virt.h"
#include "kernel/vm_life.h"

enum release { RELEASE_WAIT, RELEASE_GO };

static uint32_t release; /* [a] enum release */

_Noreturn void kernel_main(uint32_t magic, paddr_t info);

/* Gives every CPU that will be started an area on its own node; the boot CPU must have one. */
static void make_cpus(void)
{
    uint32_t n = (uint32_t)MIN(cpu_count, machine.options.maxcpus);

    for (uint32_t i = 0; i < n; i++) {
        const struct cpu_place *place = &machine.places[i];

        if (!arch_cpu_make(i, place->apic_id, place->node))
            continue;
        if (!i)
            panic("no memory for the boot CPU's stacks");
        pr_warn("no memory for CPU %u; left out", i);
    }
}

/* smt=off: one thread of each core stays. */
static bool is_spare_thread(const struct cpu *cpu)
{
    return machine.options.smt.word == SMT_OFF && cpu->place.thread;
}

static void cpu_go_online(struct cpu *cpu)
{
    schedule_cpu_init(cpu);
    atomic_set_release(&cpu->online, true);
}

static void boot_cpu_join(struct cpu *cpu)
{
    const char *why;

    if (timer_cpu_init(cpu))
        panic("no memory for the boot CPU's timers");
    if (virt && virt->cpu_enable(cpu, &why)) {
        pr_warn("no VMs on this machine: %s", why);
        virt = NULL; /* before any other CPU looks */
    }
    cpu_go_online(cpu);
}

/*
 * A CPU that cannot do what the boot CPU does is reported and left out, like one that never came.
 */
static bool cpu_join(struct cpu *cpu)
{
    const char *why = "no memory for its timers";

    if (is_spare_thread(cpu))
        return false;
    if (timer_cpu_init(cpu) || (virt && virt->cpu_enable(cpu, &why))) {
        pr_warn("CPU %u: %s; left out", cpu->id, why);
        return false;
    }
    cpu_go_online(cpu);
    return true;
}

void cpu_main(struct cpu *cpu)
{
    /* Acquire pairs with release_cpus: the machine's data is complete. */
    while (atomic_get_acquire(&release) == RELEASE_WAIT)
        arch_idle();
    if (cpu_join(cpu))
        cpu_loop();
    atomic_set_release(&cpu->left_out, true);
    arch_halt();
}

/* One after the other, so that the boot log reads in order. */
static void release_cpus(void)
{
    atomic_set_release(&release, RELEASE_GO);
    for (uint32_t i = 1; i < cpu_count; i++) {
        struct cpu *cpu = cpus[i];

        if (!cpu)
            continue;
        arch_send_kick(cpu);
        while (!atomic_get_acquire(&cpu->online) && !atomic_get_acquire(&cpu->left_out))
            __builtin_ia32_pause();
        if (!atomic_get(&cpu->online))
            cpus[i] = NULL;
    }
}

static _Noreturn void main_on_own_stack(void)
{
    uint32_t up = arch_start_cpus();

    machine_place_cpus(true);
    machine_print_warnings();
    machine_print_topology();
    pr_info("%u of %u CPUs up", up, cpu_count);
    virt_select();
    if (schedule_init())
        panic("no memory for the scheduler");
    boot_cpu_join(cpu_this());
    release_cpus();
    console_start();
    boot_time_print();
    vm_boot_modules();
    cpu_loop();
}

void kernel_main(uint32_t magic, paddr_t info)
{
    arch_early_init();
    machine_read_loader(magic, info);
    console_init(&machine.options, &machine.boot.framebuffer);
    machine_print_loader();
    if (arch_memory_init(&machine.map))
        panic("no memory for page tables");
    console_open_screen(&machine.map);
    machine_read_firmware();
    console_init_late(&machine.spcr, &machine.dbg2);
    machine_number_cpus();
    machine_place_cpus(false);
    machine_build_nodes();
    mem_init();
    arch_platform_init(machine.has_madt ? &machine.madt : NULL,
                       machine.has_fadt ? &machine.fadt : NULL, machine.hpet);
    make_cpus();
    arch_boot_cpu_enter(main_on_own_stack);
}
