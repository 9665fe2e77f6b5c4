/*
 * Finding the TSC's frequency; order and reasons in time.h.
 *
 * The PIT comes before CPUID because Bochs reports in CPUID the rate of the real part it imitates.
 * Every loop is bounded: where no PIT answers, its output bit reads constant.
 */
#include "tests/guests/rt/time.h"
#include "tests/guests/rt/rt.h"

enum {
    PIT_HZ = 1193182,
    PIT_TICKS = 11932, /* 10 ms */
    PIT_CHANNEL2 = 0x42,
    PIT_COMMAND = 0x43,
    PORT_B = 0x61,
    PORT_B_GATE2 = 0x01,
    PORT_B_OUT2 = 0x20,
    TRIES = 10000000,
};

uint64_t time_tsc_khz = 1000000;
const char *time_source = "none, taking 1 GHz";

static uint64_t pit_tsc_khz(void)
{
    uint64_t start, ticks;
    uint32_t tries = 0;

    asm_out8(PORT_B, (asm_in8(PORT_B) & 0xfc) | PORT_B_GATE2);
    asm_out8(PIT_COMMAND, 0xb0); /* channel 2, low then high byte, mode 0: output rises at zero */
    asm_out8(PIT_CHANNEL2, PIT_TICKS & 0xff);
    asm_out8(PIT_CHANNEL2, PIT_TICKS >> 8);
    start = asm_rdtsc();
    if (asm_in8(PORT_B) & PORT_B_OUT2)
        return 0;
    while (!(asm_in8(PORT_B) & PORT_B_OUT2))
        if (++tries == TRIES)
            return 0;
    ticks = asm_rdtsc() - start;
    return ticks * PIT_HZ / PIT_TICKS / 1000;
}

static uint64_t cpuid_tsc_khz(void)
{
    uint32_t last = asm_cpuid(0, 0).eax;
    struct cpuid_regs r = asm_cpuid(1, 0);

    if (r.ecx & 1u << 31 && asm_cpuid(0x40000000, 0).eax >= 0x40000010 &&
        asm_cpuid(0x40000000, 0).eax < 0x40000100) {
        r = asm_cpuid(0x40000010, 0);
        if (r.eax)
            return r.eax;
    }
    if (last >= 0x15) {
        r = asm_cpuid(0x15, 0);
        if (r.eax && r.ebx && r.ecx)
            return (uint64_t)r.ecx * r.ebx / r.eax / 1000;
    }
    return last >= 0x16 ? (uint64_t)(asm_cpuid(0x16, 0).eax & 0xffff) * 1000 : 0;
}

void time_init(void)
{
    static const struct {
        uint64_t (*khz)(void);
        const char *name;
    } sources[] = {
        {pv_tsc_khz, "kvmclock"},
        {pit_tsc_khz, "PIT"},
        {cpuid_tsc_khz, "CPUID"},
    };

    for (uint32_t i = 0; i < ARRAY_SIZE(sources); i++) {
        uint64_t khz = sources[i].khz();

        if (!khz)
            continue;
        time_tsc_khz = khz;
        time_source = sources[i].name;
        return;
    }
}
