/*
 * The clocks of known rate that the TSC is measured against.
 *
 * Decides which, and in which order: the PM timer stops for nothing; an HPET may halt in deep sleep
 * states that Numen does not enter; the PIT is gated off on newer parts. Does not decide how is
 * measured; tsc_measure.c does. Interrupts are off. Source: ACPI 6.4 4.8.3.3 (PM timer, 3.579545
 * MHz), IA-PC HPET 1.0a 2.3, 8254 data sheet.
 */
#include "arch/x86/tsc_reference.h"

#include "arch/x86/asm.h"
#include "arch/x86/regs/pit.h"
#include "hv/bits.h"
#include "kernel/arch.h"

#define PM_TIMER_HZ     3579545ull
#define PM_TIMER_24BIT  BITS(23, 0)

#define HPET_PERIOD     0x004u /* femtoseconds a tick, in the upper half of register 0 */
#define HPET_CONFIG     0x010u
#define HPET_COUNTER    0x0f0u
#define HPET_ENABLE     BIT(0)
#define HPET_PERIOD_MIN 1000000u /* 1 GHz: no HPET is so fast, and hz stays below 2^32 */
#define HPET_PERIOD_MAX 100000000u
#define FS_PER_SEC      1000000000000000ull

/* Where the tables say that the clocks are. */
static const struct fadt_info *fadt; /* [i] NULL: no table */
static paddr_t hpet;                 /* [i] 0: none */

static uint32_t read_port(const struct tsc_clock *c)
{
    return asm_inl(c->port);
}

static uint32_t read_memory(const struct tsc_clock *c)
{
    return *c->regs;
}

/* Counts down; turned round so that all references count up. */
static uint32_t read_pit(const struct tsc_clock *c)
{
    uint32_t count;

    (void)c;
    asm_outb(PIT_COMMAND, PIT_LATCH_2);
    count = asm_inb(PIT_CHANNEL_2);
    count |= (uint32_t)asm_inb(PIT_CHANNEL_2) << 8;
    return ~count;
}

static bool start_pm_timer(struct tsc_clock *c)
{
    if (!fadt || !fadt->pm_timer.addr)
        return false;
    c->hz = PM_TIMER_HZ;
    c->mask = fadt->pm_timer_32bit ? UINT32_MAX : PM_TIMER_24BIT;
    if (fadt->pm_timer.space == ACPI_SPACE_IO) {
        c->read = read_port;
        c->port = (uint16_t)fadt->pm_timer.addr;
        return true;
    }
    c->read = read_memory;
    c->regs = arch_map_mmio(fadt->pm_timer.addr, sizeof(uint32_t));
    return fadt->pm_timer.space == ACPI_SPACE_MEMORY && c->regs;
}

static bool start_hpet(struct tsc_clock *c)
{
    volatile uint32_t *regs = hpet ? arch_map_mmio(hpet, PAGE_BYTES) : NULL;
    uint32_t period = regs ? regs[HPET_PERIOD / sizeof(*regs)] : 0;

    if (period < HPET_PERIOD_MIN || period > HPET_PERIOD_MAX)
        return false;
    regs[HPET_CONFIG / sizeof(*regs)] |= (uint32_t)HPET_ENABLE;
    c->read = read_memory;
    c->hz = FS_PER_SEC / period;
    c->mask = UINT32_MAX;
    c->regs = regs + HPET_COUNTER / sizeof(*regs);
    return true;
}

/* Channel 2, the speaker's, with the speaker off: free-running over 16 bits. */
static bool start_pit(struct tsc_clock *c)
{
    asm_outb(PIT_GATE_PORT, (asm_inb(PIT_GATE_PORT) & ~PIT_GATE_SPEAKER) | PIT_GATE_ENABLE);
    asm_outb(PIT_COMMAND, PIT_SET_2_RATE);
    asm_outb(PIT_CHANNEL_2, 0);
    asm_outb(PIT_CHANNEL_2, 0); /* 0: 65536 */
    c->read = read_pit;
    c->hz = PIT_HZ;
    c->mask = UINT16_MAX;
    return true;
}

struct tsc_rate tsc_reference_measure(const struct fadt_info *fadt_found, paddr_t hpet_found)
{
    struct tsc_clock clocks[] = {
        {.name = "PM timer", .start = start_pm_timer},
        {.name = "HPET", .start = start_hpet},
        {.name = "PIT", .start = start_pit},
    };

    fadt = fadt_found;
    hpet = hpet_found;
    return tsc_measure(clocks, ARRAY_SIZE(clocks), asm_rdtsc);
}
