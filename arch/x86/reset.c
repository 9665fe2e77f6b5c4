/*
 * Ways out: stop the other CPUs, reset, power off.
 *
 * The steps of reset and power off, with their order, are way_out.c's; here are the registers they
 * act on. A QEMU with the isa-debug-exit device ends with a status, before anything else is tried.
 * Invariant: registers in memory are mapped at boot, since on the way out there may be nothing left
 * to map with.
 */
#include "arch/x86/reset.h"

#include "arch/x86/apic.h"
#include "arch/x86/asm.h"
#include "arch/x86/tsc.h"
#include "arch/x86/way_out.h"
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/machine.h"
#include "kernel/printk.h"

#define DEBUG_EXIT_PORT 0xf4u
#define PANIC_EXIT_CODE 0x7fu /* QEMU's status is twice that, plus one */
#define PORT_ABSENT     0xffu
#define STOP_WAIT_NS    (10 * NS_PER_MS)
#define MAPPED_MAX      7u

struct mapped_register {
    paddr_t addr;
    volatile void *at;
};

static const struct fadt_info *fadt;              /* [i] NULL: none */
static const struct acpi_s5 *s5;                  /* [i] */
static struct mapped_register mapped[MAPPED_MAX]; /* [i] */
static uint32_t mapped_count;                     /* [i] */

static void map_register(const struct acpi_register *r)
{
    if (!r->addr || r->space != ACPI_SPACE_MEMORY)
        return;
    mapped[mapped_count++] =
        (struct mapped_register){r->addr, arch_map_mmio(r->addr, sizeof(uint16_t))};
}

void reset_init(const struct fadt_info *found, const struct acpi_s5 *off)
{
    fadt = found;
    s5 = off;
    if (!fadt)
        return;
    map_register(&fadt->reset);
    for (uint32_t block = 0; block < 2; block++) {
        map_register(&fadt->pm1_event[block]);
        map_register(&fadt->pm1_control[block]);
    }
    map_register(&fadt->sleep_control);
    map_register(&fadt->sleep_status);
}

/* NULL: not mapped, or not in memory. */
static volatile void *find_mapped(const struct acpi_register *r)
{
    for (uint32_t i = 0; i < mapped_count && r->space == ACPI_SPACE_MEMORY; i++)
        if (mapped[i].addr == r->addr)
            return mapped[i].at;
    return NULL;
}

/* All ones for what cannot be reached, as from a port where nothing is. */
static uint32_t read_register(const struct acpi_register *r, uint32_t bytes)
{
    volatile void *at = find_mapped(r);

    if (at)
        return bytes == 1 ? *(volatile uint8_t *)at : *(volatile uint16_t *)at;
    if (r->space != ACPI_SPACE_IO)
        return bytes == 1 ? UINT8_MAX : UINT16_MAX;
    return bytes == 1 ? asm_inb((uint16_t)r->addr) : asm_inw((uint16_t)r->addr);
}

static void write_register(const struct acpi_register *r, uint32_t bytes, uint32_t value)
{
    volatile void *at = find_mapped(r);

    if (at && bytes == 1)
        *(volatile uint8_t *)at = (uint8_t)value;
    else if (at)
        *(volatile uint16_t *)at = (uint16_t)value;
    else if (r->space == ACPI_SPACE_IO && bytes == 1)
        asm_outb((uint16_t)r->addr, (uint8_t)value);
    else if (r->space == ACPI_SPACE_IO)
        asm_outw((uint16_t)r->addr, (uint16_t)value);
}

static void triple_fault(void)
{
    const struct table_pointer none = {0, 0};

    asm_lidt(&none);
    asm_breakpoint(); /* with no table of gates */
}

static const struct way_out_ops ops = {read_register, write_register, tsc_delay, triple_fault};

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

void arch_reboot(void)
{
    asm_cli();
    console_flush(); /* first: a CPU that is stopped may hold the console's lock */
    arch_stop_others();
    way_out_reset(&ops, fadt);
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
    if (!machine.options.panic)
        arch_halt();
    for (uint64_t second = 0; second < machine.options.panic; second++)
        tsc_delay(NS_PER_SEC);
    way_out_reset(&ops, fadt); /* the others are stopped, and the console is left as it is */
    arch_halt();
}

void arch_poweroff(uint8_t code)
{
    asm_cli();
    pr_info("off; if the machine is still on, it is safe to turn it off");
    console_flush(); /* before CPUs are stopped, as above */
    arch_stop_others();
    debug_exit(code);
    way_out_off(&ops, fadt, s5);
    arch_halt();
}
