/*
 * I/O APICs: everything masked, but for the few ISA interrupts that Numen takes (the console's).
 *
 * Decides: an input is found by its global number within an I/O APIC's base and size, never by the
 * ids of the MADT, which can be wrong. Polarity and trigger come from the MADT's overrides, else
 * are ISA's. Does not balance interrupts. Source: 82093AA 3.2; ACPI 6.4 5.2.12.5 (overrides).
 */
#include "arch/x86/ioapic.h"

#include <errno.h>

#include "arch/x86/asm.h"
#include "arch/x86/regs/apic.h"
#include "arch/x86/regs/pit.h"
#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"

#define INTI_POLARITY   BITS(1, 0)
#define INTI_TRIGGER    BITS(3, 2)
#define INTI_ACTIVE_LOW 3u
#define INTI_LEVEL      3u

struct ioapic {
    volatile uint32_t *regs;
    uint32_t gsi_base;
    uint32_t pins;
};

static struct ioapic ioapics[MADT_IOAPICS_MAX]; /* [i] */
static uint32_t nioapics;                       /* [i] */
static const struct madt_info *overrides;       /* [i] */

static uint32_t ioapic_read(const struct ioapic *io, uint32_t reg)
{
    io->regs[IOAPIC_SELECT / sizeof(*io->regs)] = reg;
    return io->regs[IOAPIC_WINDOW / sizeof(*io->regs)];
}

static void ioapic_write(const struct ioapic *io, uint32_t reg, uint32_t value)
{
    io->regs[IOAPIC_SELECT / sizeof(*io->regs)] = reg;
    io->regs[IOAPIC_WINDOW / sizeof(*io->regs)] = value;
}

/* The high half first: the low one carries the mask. */
static void entry_write(const struct ioapic *io, uint32_t pin, uint64_t entry)
{
    ioapic_write(io, IOAPIC_REG_ENTRY(pin), (uint32_t)IOAPIC_ENTRY_MASKED);
    ioapic_write(io, IOAPIC_REG_ENTRY(pin) + 1, (uint32_t)(entry >> 32));
    ioapic_write(io, IOAPIC_REG_ENTRY(pin), (uint32_t)entry);
}

/*
 * Its vectors are moved to where no exception is before they are masked: a spurious one can come
 * even then, and firmware leaves IRQ 0 at the vector of a double fault.
 */
static void pic_mask(void)
{
    asm_outb(PIC1_COMMAND, PIC_ICW1);
    asm_outb(PIC2_COMMAND, PIC_ICW1);
    asm_outb(PIC1_DATA, 0x20); /* vectors */
    asm_outb(PIC2_DATA, 0x28);
    asm_outb(PIC1_DATA, 0x04); /* the second PIC is at input 2 */
    asm_outb(PIC2_DATA, 0x02);
    asm_outb(PIC1_DATA, PIC_ICW4_8086);
    asm_outb(PIC2_DATA, PIC_ICW4_8086);
    asm_outb(PIC1_DATA, PIC_MASK_ALL);
    asm_outb(PIC2_DATA, PIC_MASK_ALL);
}

static void ioapic_add(const struct madt_ioapic *entry)
{
    struct ioapic *io = &ioapics[nioapics];

    io->regs = arch_map_mmio(entry->addr, PAGE_BYTES);
    if (!io->regs)
        return;
    io->gsi_base = entry->gsi_base;
    io->pins = (uint32_t)FIELD_GET(IOAPIC_VERSION_LAST, ioapic_read(io, IOAPIC_REG_VERSION)) + 1;
    if (io->pins > 240) { /* all ones: nobody answers */
        pr_warn("no I/O APIC at 0x%lx", entry->addr);
        return;
    }
    for (uint32_t pin = 0; pin < io->pins; pin++)
        ioapic_write(io, IOAPIC_REG_ENTRY(pin), (uint32_t)IOAPIC_ENTRY_MASKED);
    nioapics++;
}

void ioapic_init(const struct madt_info *madt)
{
    pic_mask();
    if (!madt)
        return;
    overrides = madt;
    for (uint32_t i = 0; i < madt->nioapics; i++)
        ioapic_add(&madt->ioapics[i]);
}

/* The global interrupt of an ISA interrupt; *mode: edge and active high unless the MADT says. */
static uint32_t isa_lookup(uint32_t irq, uint64_t *mode)
{
    *mode = 0;
    for (uint32_t i = 0; overrides && i < overrides->noverrides; i++) {
        const struct madt_override *o = &overrides->overrides[i];

        if (o->source != irq)
            continue;
        if (FIELD_GET(INTI_POLARITY, o->flags) == INTI_ACTIVE_LOW)
            *mode |= IOAPIC_ENTRY_ACTIVE_LOW;
        if (FIELD_GET(INTI_TRIGGER, o->flags) == INTI_LEVEL)
            *mode |= IOAPIC_ENTRY_LEVEL;
        return o->gsi;
    }
    return irq;
}

int ioapic_route(uint32_t irq, uint8_t vector, const struct cpu *cpu)
{
    uint64_t mode;
    uint32_t gsi = isa_lookup(irq, &mode);

    if (cpu->place.apic_id > UINT8_MAX)
        return -ERANGE;
    for (uint32_t i = 0; i < nioapics; i++) {
        const struct ioapic *io = &ioapics[i];

        if (gsi < io->gsi_base || gsi - io->gsi_base >= io->pins)
            continue;
        entry_write(io, gsi - io->gsi_base,
                    mode | vector | FIELD_PREP(IOAPIC_ENTRY_DEST, cpu->place.apic_id));
        return 0;
    }
    return -ENOENT;
}
