/*
 * Local APIC driver for both access modes.
 *
 * Invariant: one mode on all CPUs. A CPU found in x2APIC mode stays there (Numen starts vCPUs so;
 * leaving it needs a detour that some hosts refuse). Waits for the delivery bit are bounded.
 */
#include "tests/guests/rt/apic.h"
#include "tests/guests/rt/rt.h"

enum {
    APIC_PAGE = 0xfee00000,
    BASE_EXTD = 1 << 10,
    BASE_ENABLE = 1 << 11,
    SVR_ENABLE = 0x100,
    LVT_MASKED = 0x10000,
    DIVIDE_BY_1 = 0xb,
    CALIBRATE_US = 10000,
    BUSY_TRIES = 1000000,
};

bool apic_is_x2;
bool apic_has_deadline;
uint64_t apic_timer_khz;

void apic_init(void)
{
    uint32_t features = asm_cpuid(1, 0).ecx;
    bool offered = features & 1u << 21;

    apic_is_x2 = (asm_rdmsr(MSR_APIC_BASE) & BASE_EXTD) || (offered && !opt_is("apic", "xapic"));
    apic_has_deadline = features & 1u << 24;
}

uint32_t apic_read(uint32_t reg)
{
    if (apic_is_x2)
        return (uint32_t)asm_rdmsr(MSR_X2APIC + (reg >> 4));
    return *(volatile uint32_t *)(uint64_t)(APIC_PAGE + reg);
}

void apic_write(uint32_t reg, uint32_t value)
{
    if (apic_is_x2)
        asm_wrmsr(MSR_X2APIC + (reg >> 4), value);
    else
        *(volatile uint32_t *)(uint64_t)(APIC_PAGE + reg) = value;
}

uint32_t apic_own_id(void)
{
    uint32_t id = apic_read(APIC_ID);

    return apic_is_x2 ? id : id >> 24;
}

void apic_enable(void)
{
    uint64_t base = asm_rdmsr(MSR_APIC_BASE);
    uint64_t want = base | BASE_ENABLE | (apic_is_x2 ? BASE_EXTD : 0);

    if (want != base)
        asm_wrmsr(MSR_APIC_BASE, want);
    apic_write(APIC_SVR, SVR_ENABLE | VEC_SPURIOUS);
    apic_write(APIC_TPR, 0);
    if (!apic_is_x2) {
        apic_write(APIC_DFR, 0xffffffff); /* flat */
        apic_write(APIC_LDR, 1u << (24 + cpu_this()->index % 8));
    }
    apic_write(APIC_LVT_TIMER, LVT_MASKED);
    apic_write(APIC_LVT_LINT0, LVT_MASKED);
    apic_write(APIC_LVT_LINT1, LVT_MASKED);
    apic_write(APIC_LVT_ERROR, LVT_MASKED);
    apic_write(APIC_TIMER_DIVIDE, DIVIDE_BY_1);
}

void apic_calibrate(void)
{
    uint32_t left;

    apic_write(APIC_TIMER_START, 0xffffffff);
    time_delay_us(CALIBRATE_US);
    left = apic_read(APIC_TIMER_NOW);
    apic_write(APIC_TIMER_START, 0);
    apic_timer_khz = (0xffffffffu - left) / (CALIBRATE_US / 1000);
}

static void icr_wait(void)
{
    for (uint32_t i = 0; i < BUSY_TRIES && apic_read(APIC_ICR) & ICR_BUSY; i++)
        asm_pause();
}

void apic_send(uint32_t dest, uint32_t icr_low)
{
    if (apic_is_x2) {
        asm_mfence(); /* WRMSR to the x2APIC does not order earlier stores */
        asm_wrmsr(MSR_X2APIC + (APIC_ICR >> 4), (uint64_t)dest << 32 | icr_low);
        return;
    }
    icr_wait();
    apic_write(APIC_ICR_HIGH, dest << 24);
    apic_write(APIC_ICR, icr_low);
    icr_wait();
}

void apic_self_ipi(uint32_t vector)
{
    if (apic_is_x2)
        apic_write(APIC_SELF_IPI, vector);
    else
        apic_send(0, ICR_SELF | ICR_ASSERT | vector);
}

void apic_eoi(void)
{
    apic_write(APIC_EOI, 0);
}

static void timer_start(uint32_t lvt, uint64_t us)
{
    uint64_t count = us * apic_timer_khz / 1000;

    apic_write(APIC_LVT_TIMER, lvt);
    apic_write(APIC_TIMER_START, count ? (uint32_t)MIN(count, UINT32_MAX) : 1);
}

void apic_timer_oneshot(uint32_t vector, uint64_t us)
{
    timer_start(vector, us);
}

void apic_timer_periodic(uint32_t vector, uint64_t us)
{
    timer_start(TIMER_PERIODIC | vector, us);
}

void apic_timer_stop(void)
{
    apic_write(APIC_TIMER_START, 0);
    apic_write(APIC_LVT_TIMER, LVT_MASKED);
}

bool apic_vector_bit(uint32_t reg, uint32_t vector)
{
    return apic_read(reg + (vector / 32) * 0x10) >> (vector % 32) & 1;
}
