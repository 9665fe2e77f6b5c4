/*
 * Measuring the TSC's rate against a clock of known rate.
 *
 * Decides: which reference (the PM timer stops for nothing; an HPET may halt in deep sleep states
 * that Numen does not enter; the PIT is gated off on newer parts), how long, and which of several
 * runs to believe: the one with the fewest TSC ticks per reference tick, since an SMI can only make
 * a run longer. A run begins and ends at a tick of the reference. Invariants: every loop ends, be
 * the reference stopped or absent; interrupts are off. Source: ACPI 6.4 4.8.3.3 (PM timer, 3.579545
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
#define HPET_PERIOD_MAX 100000000u
#define FS_PER_SEC      1000000000000000ull

#define RUNS            3
#define RUN_US          2500u
#define STILL_READS     20000u /* reads of one value after which a clock is taken to stand still */

struct reference {
    uint32_t (*read)(const struct reference *r);
    const char *name;
    uint64_t hz;
    uint64_t mask; /* bits that count */
    uint16_t port;
    volatile uint32_t *regs;
};

static uint32_t read_port(const struct reference *r)
{
    return asm_inl(r->port);
}

static uint32_t read_memory(const struct reference *r)
{
    return *r->regs;
}

/* Counts down; turned round so that all references count up. */
static uint32_t read_pit(const struct reference *r)
{
    uint32_t count;

    (void)r;
    asm_outb(PIT_COMMAND, PIT_LATCH_2);
    count = asm_inb(PIT_CHANNEL_2);
    count |= (uint32_t)asm_inb(PIT_CHANNEL_2) << 8;
    return ~count;
}

static bool use_pm_timer(struct reference *r, const struct fadt_info *fadt)
{
    if (!fadt || !fadt->pm_timer.addr)
        return false;
    *r = (struct reference){
        .name = "PM timer",
        .hz = PM_TIMER_HZ,
        .mask = fadt->pm_timer_32bit ? UINT32_MAX : PM_TIMER_24BIT,
    };
    if (fadt->pm_timer.space == ACPI_SPACE_IO) {
        r->read = read_port;
        r->port = (uint16_t)fadt->pm_timer.addr;
        return true;
    }
    r->read = read_memory;
    r->regs = arch_map_mmio(fadt->pm_timer.addr, sizeof(uint32_t));
    return fadt->pm_timer.space == ACPI_SPACE_MEMORY && r->regs;
}

static bool use_hpet(struct reference *r, paddr_t hpet)
{
    volatile uint32_t *regs = hpet ? arch_map_mmio(hpet, PAGE_BYTES) : NULL;
    uint32_t period = regs ? regs[HPET_PERIOD / sizeof(*regs)] : 0;

    if (!period || period > HPET_PERIOD_MAX)
        return false;
    regs[HPET_CONFIG / sizeof(*regs)] |= (uint32_t)HPET_ENABLE;
    *r = (struct reference){
        .read = read_memory,
        .name = "HPET",
        .hz = FS_PER_SEC / period,
        .mask = UINT32_MAX,
        .regs = regs + HPET_COUNTER / sizeof(*regs),
    };
    return true;
}

/* Channel 2, the speaker's, with the speaker off: free-running over 16 bits. */
static void use_pit(struct reference *r)
{
    asm_outb(PIT_GATE_PORT, (asm_inb(PIT_GATE_PORT) & ~PIT_GATE_SPEAKER) | PIT_GATE_ENABLE);
    asm_outb(PIT_COMMAND, PIT_SET_2_RATE);
    asm_outb(PIT_CHANNEL_2, 0);
    asm_outb(PIT_CHANNEL_2, 0); /* 0: 65536 */
    *r = (struct reference){.read = read_pit, .name = "PIT", .hz = PIT_HZ, .mask = UINT16_MAX};
}

/* The TSC just after the reference has moved, and the value it moved to; false: it stands still. */
static bool next_tick(const struct reference *r, uint32_t *value, uint64_t *tsc)
{
    uint32_t first = r->read(r) & (uint32_t)r->mask;

    for (uint32_t i = 0; i < STILL_READS; i++) {
        *value = r->read(r) & (uint32_t)r->mask;
        *tsc = asm_rdtsc();
        if (*value != first)
            return true;
    }
    return false;
}

/* TSC ticks per second by one run; 0: the reference stands still. */
static uint64_t measure_once(const struct reference *r)
{
    uint64_t want = r->hz * RUN_US / 1000000, start_tsc, tsc, elapsed;
    uint32_t start, value;
    __extension__ unsigned __int128 product;

    if (!next_tick(r, &start, &start_tsc))
        return 0;
    do { /* bounded, since each round is a tick at least */
        if (!next_tick(r, &value, &tsc))
            return 0;
        elapsed = (value - start) & r->mask;
    } while (elapsed < want);
    /* ticks * hz: < 2^40 * 2^32 needs 128 bits; the quotient is a rate and fits. */
    product = (unsigned __int128)(tsc - start_tsc) * r->hz;
    return asm_div128((uint64_t)(product >> 64), (uint64_t)product, elapsed);
}

static uint64_t measure(const struct reference *r)
{
    uint64_t best = 0;

    for (uint32_t run = 0; run < RUNS; run++) {
        uint64_t hz = measure_once(r);

        if (!hz)
            return 0;
        if (!best || hz < best)
            best = hz;
    }
    return best;
}

uint64_t tsc_reference_measure(const struct fadt_info *fadt, paddr_t hpet, const char **name)
{
    struct reference r;
    uint64_t hz = 0;

    if (use_pm_timer(&r, fadt))
        hz = measure(&r);
    if (!hz && use_hpet(&r, hpet))
        hz = measure(&r);
    if (!hz) {
        use_pit(&r);
        hz = measure(&r);
    }
    *name = r.name;
    return hz;
}
