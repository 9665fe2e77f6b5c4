/*
 * The local APIC.
 *
 * Decides the mode: x2APIC wherever the CPU offers it (firmware may have locked it on, and leaving
 * it faults then), else xAPIC through its page. Does not decide when IPIs are sent. Invariants:
 * interrupts are off around the two writes of an xAPIC's ICR; LINT0 stays masked, so the old PIC
 * has no way in; LINT1 is NMI. Source: SDM 3A 10.4 to 10.12.
 */
#include "arch/x86/apic.h"

#include <errno.h>

#include "arch/x86/asm.h"
#include "arch/x86/features.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/trap.h"
#include "hv/assert.h"
#include "kernel/arch.h"

#define ICR_WAIT_ROUNDS 100000u /* an IPI leaves within microseconds */

static bool x2apic;             /* [i] the same on all CPUs */
static volatile uint32_t *mmio; /* [i] registers are 16 bytes apart */

uint32_t apic_read(uint32_t reg)
{
    return x2apic ? (uint32_t)asm_rdmsr(MSR_X2APIC(reg)) : mmio[reg / sizeof(*mmio)];
}

void apic_write(uint32_t reg, uint32_t value)
{
    if (x2apic)
        asm_wrmsr(MSR_X2APIC(reg), value);
    else
        mmio[reg / sizeof(*mmio)] = value;
}

void apic_eoi(void)
{
    apic_write(APIC_EOI, 0);
}

/* A write makes the register take in what has gathered; zero is the only value x2APIC allows. */
void apic_error_clear(void)
{
    apic_write(APIC_ESR, 0);
}

uint32_t apic_id(void)
{
    uint32_t id = apic_read(APIC_ID);

    return x2apic ? id : id >> 24;
}

int apic_init(paddr_t address)
{
    uint64_t base = asm_rdmsr(MSR_APIC_BASE);

    x2apic = firmware_wants_x2apic(cpu_features.x2apic, base);
    if (!x2apic) {
        if (!address)
            address = base & APIC_BASE_ADDR;
        mmio = arch_map_mmio(address, PAGE_BYTES);
        if (!mmio)
            return -ENOMEM;
    }
    return apic_init_cpu();
}

static void mask_lvt(uint32_t reg, uint32_t index, uint32_t max)
{
    if (index <= max)
        apic_write(reg, APIC_LVT_MASKED);
}

int apic_init_cpu(void)
{
    uint32_t max_lvt;

    if (firmware_set_apic_mode(&cpu_msrs, x2apic))
        return -EIO;
    max_lvt = (uint32_t)FIELD_GET(APIC_VERSION_MAX_LVT, apic_read(APIC_VERSION));
    apic_write(APIC_TPR, 0);
    /* Enabled first: while the software enable is off, LVT entries cannot be unmasked. */
    apic_write(APIC_SVR, (uint32_t)(APIC_SVR_ENABLE | VECTOR_SPURIOUS));
    mask_lvt(APIC_LVT_TIMER, 0, max_lvt);
    mask_lvt(APIC_LVT_LINT0, 1, max_lvt);
    apic_write(APIC_LVT_LINT1, (uint32_t)FIELD_PREP(APIC_LVT_MODE, APIC_MODE_NMI));
    mask_lvt(APIC_LVT_PERF, 4, max_lvt);
    mask_lvt(APIC_LVT_THERMAL, 5, max_lvt);
    mask_lvt(APIC_LVT_CMCI, 6, max_lvt);
    apic_error_clear();
    apic_write(APIC_LVT_ERROR, VECTOR_ERROR);
    apic_eoi(); /* what firmware may have left in service */
    return 0;
}

static void xapic_wait_sent(void)
{
    for (uint32_t i = 0; i < ICR_WAIT_ROUNDS && (apic_read(APIC_ICR) & APIC_ICR_BUSY); i++)
        asm_pause();
}

void apic_send(uint32_t to, enum apic_delivery_mode mode, uint8_t vector)
{
    uint64_t icr =
        FIELD_PREP(APIC_ICR_VECTOR, vector) | FIELD_PREP(APIC_ICR_MODE, mode) | APIC_ICR_ASSERT;

    if (x2apic) {
        /* WRMSR to x2APIC does not wait for earlier stores, and the receiver must see them. */
        asm_mfence();
        asm_wrmsr(MSR_X2APIC(APIC_ICR), icr | FIELD_PREP(APIC_ICR_X2APIC_DEST, to));
        return;
    }
    ASSERT(to <= UINT8_MAX);
    xapic_wait_sent();
    apic_write(APIC_ICR_HIGH, (uint32_t)(FIELD_PREP(APIC_ICR_XAPIC_DEST, to) >> 32));
    apic_write(APIC_ICR, (uint32_t)icr);
}
