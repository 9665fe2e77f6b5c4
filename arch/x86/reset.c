/*
 * Ways out: stop the other CPUs, reset, power off.
 *
 * Each way is tried in turn, for as long as it may take to work: the FADT's register, the keyboard
 * controller, chipset register CF9, a triple fault. UEFI's ResetSystem is left alone (often
 * broken). A QEMU with the isa-debug-exit device ends with a status instead. Source:
 * ACPI 6.4 4.8.3.6 (reset register); Intel ICH data sheets (CF9).
 */
#include "arch/x86/reset.h"

#include "arch/x86/apic.h"
#include "arch/x86/asm.h"
#include "arch/x86/tsc.h"
#include "boot/fadt.h"
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"

#define KBD_STATUS       0x64u
#define KBD_STATUS_FULL  0x02u
#define KBD_RESET        0xfeu
#define CF9_PORT         0xcf9u
#define CF9_SYSTEM       0x02u
#define CF9_SYSTEM_RESET 0x06u
#define DEBUG_EXIT_PORT  0xf4u
#define PANIC_EXIT_CODE  0x7fu /* QEMU's status is twice that, plus one */
#define PORT_ABSENT      0xffu
#define RESET_WAIT_NS    (50 * NS_PER_MS)
#define STOP_WAIT_NS     (10 * NS_PER_MS)

static struct acpi_register reset_register; /* [i] addr 0: none */
static volatile uint8_t *reset_memory;      /* [i] mapped while there is memory for it */
static uint8_t reset_value;                 /* [i] */

void reset_init(const struct fadt_info *fadt)
{
    if (!fadt || !fadt->reset.addr)
        return;
    reset_register = fadt->reset;
    reset_value = fadt->reset_value;
    if (reset_register.space == ACPI_SPACE_MEMORY)
        reset_memory = arch_map_mmio(reset_register.addr, 1);
}

void arch_stop_others(void)
{
    struct cpu *self = cpu_this();

    for (uint32_t i = 0; i < cpu_count; i++) {
        if (!cpus[i] || cpus[i] == self)
            continue;
        atomic_fetch_or(&cpus[i]->hazard, HAZARD_STOP);
        apic_send(cpus[i]->place.apic_id, APIC_MODE_NMI, 0);
    }
    tsc_delay(STOP_WAIT_NS);
}

static void reset_by_acpi(void)
{
    if (reset_register.addr && reset_register.space == ACPI_SPACE_IO)
        asm_outb((uint16_t)reset_register.addr, reset_value);
    else if (reset_memory)
        *reset_memory = reset_value;
}

static void reset_by_keyboard(void)
{
    for (uint32_t i = 0; i < 10000 && (asm_inb(KBD_STATUS) & KBD_STATUS_FULL); i++)
        asm_pause();
    asm_outb(KBD_STATUS, KBD_RESET);
}

void arch_reboot(void)
{
    const struct table_pointer none = {0, 0};

    asm_cli();
    console_flush(); /* first: a CPU that is stopped may hold the console's lock */
    arch_stop_others();
    for (uint32_t i = 0; i < 2; i++) {
        reset_by_acpi();
        tsc_delay(RESET_WAIT_NS);
        reset_by_keyboard();
        tsc_delay(RESET_WAIT_NS);
    }
    asm_outb(CF9_PORT, CF9_SYSTEM);
    asm_outb(CF9_PORT, CF9_SYSTEM_RESET);
    tsc_delay(RESET_WAIT_NS);
    asm_lidt(&none);
    asm_breakpoint(); /* with no table of gates: a triple fault */
    arch_halt();
}

/* The device reads back 0, an absent port reads all ones. */
static void debug_exit(uint8_t code)
{
    if (asm_inb(DEBUG_EXIT_PORT) != PORT_ABSENT)
        asm_outb(DEBUG_EXIT_PORT, code);
}

void arch_panic_end(void)
{
    debug_exit(PANIC_EXIT_CODE);
    arch_halt();
}

void arch_poweroff(uint8_t code)
{
    asm_cli();
    pr_info("off; if the machine is still on, it is safe to turn it off");
    console_flush(); /* before CPUs are stopped, as above */
    arch_stop_others();
    debug_exit(code);
    arch_halt();
}
