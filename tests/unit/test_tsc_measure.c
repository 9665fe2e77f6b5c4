/*
 * Measuring rates by clocks that are made up: sound, wrapping, standing still, gated, jumping,
 * and CPUs that are taken away in the middle. The TSC runs at 3 GHz; every look at a clock costs
 * time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/x86/tsc_measure.h"
#include "hv/bits.h"

#define TSC_HZ   3000000000ull
#define READ_TSC 3000u /* a read of the clock takes a microsecond */
#define MS       (TSC_HZ / 1000)

/* An SMI: when it comes (0: none), and how long the CPU is away. */
#define SMIS 8

static struct {
    uint64_t now; /* the TSC */
    uint64_t reads;
    uint64_t smi_at[SMIS], smi_ticks[SMIS];
    uint64_t stops_at;      /* TSC from which the clock stands still; 0: never */
    uint64_t back_at, back; /* from here on it shows so much less */
    uint32_t first;         /* what it shows at TSC 0 */
    uint32_t grain;         /* reads give multiples of this only */
} fake;

static void spend(uint64_t ticks)
{
    fake.now += ticks;
    for (int i = 0; i < SMIS; i++) {
        if (fake.smi_at[i] && fake.now >= fake.smi_at[i]) {
            fake.now += fake.smi_ticks[i];
            fake.smi_at[i] = 0;
        }
    }
}

static uint64_t fake_tsc(void)
{
    spend(30);
    return fake.now;
}

static uint32_t fake_read(const struct tsc_clock *clock)
{
    uint64_t at, count;

    fake.reads++;
    assert_true(fake.reads < 10000000); /* every loop ends */
    spend(READ_TSC);
    at = fake.stops_at && fake.now > fake.stops_at ? fake.stops_at : fake.now;
    count = (uint64_t)((unsigned __int128)at * clock->hz / TSC_HZ) + fake.first;
    if (fake.back_at && fake.now >= fake.back_at)
        count -= fake.back;
    return (uint32_t)(count / MAX(fake.grain, 1u) * MAX(fake.grain, 1u));
}

static bool start_pm(struct tsc_clock *clock)
{
    clock->read = fake_read;
    clock->hz = 3579545;
    clock->mask = BITS(23, 0);
    return true;
}

static bool start_hpet(struct tsc_clock *clock)
{
    clock->read = fake_read;
    clock->hz = 14318180;
    clock->mask = UINT32_MAX;
    return true;
}

static bool start_pit(struct tsc_clock *clock)
{
    clock->read = fake_read;
    clock->hz = 1193182;
    clock->mask = UINT16_MAX;
    return true;
}

static bool start_absent(struct tsc_clock *clock)
{
    (void)clock;
    return false;
}

/* There, but not counting: a gated PIT, a stopped PM timer, a port where nothing is. */
static uint32_t read_ones(const struct tsc_clock *clock)
{
    (void)clock;
    spend(READ_TSC);
    return UINT32_MAX;
}

static bool start_still(struct tsc_clock *clock)
{
    start_pm(clock);
    clock->read = read_ones;
    return true;
}

static uint32_t read_noise(const struct tsc_clock *clock)
{
    static uint32_t x = 1;

    (void)clock;
    spend(READ_TSC);
    x = x * 1664525 + 1013904223;
    return x;
}

/* Moves by one every thousand looks, and is said to run at 4 GHz. */
static uint32_t read_crawling(const struct tsc_clock *clock)
{
    static uint32_t looks;

    (void)clock;
    fake.reads++;
    spend(READ_TSC);
    return looks++ / 1000;
}

static bool start_crawling(struct tsc_clock *clock)
{
    start_hpet(clock);
    clock->hz = 4000000000;
    clock->read = read_crawling;
    return true;
}

static bool start_noise(struct tsc_clock *clock)
{
    start_hpet(clock);
    clock->read = read_noise;
    return true;
}

/* Counts down: every step is backwards. */
static uint32_t read_down(const struct tsc_clock *clock)
{
    return ~fake_read(clock);
}

static bool start_down(struct tsc_clock *clock)
{
    start_hpet(clock);
    clock->read = read_down;
    return true;
}

static struct tsc_rate measure(bool (*start)(struct tsc_clock *))
{
    struct tsc_clock clock = {.name = "clock", .start = start};

    return tsc_measure(&clock, 1, fake_tsc);
}

static void assert_near(uint64_t hz, uint64_t wanted, uint64_t ppm)
{
    uint64_t apart = hz > wanted ? hz - wanted : wanted - hz;

    if (apart > wanted / 1000000 * ppm)
        fail_msg("%lu Hz, wanted %lu within %lu ppm", hz, wanted, ppm);
}

static void test_sound(void **state)
{
    bool (*const starts[])(struct tsc_clock *) = {start_pm, start_hpet, start_pit};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
        /* Wraps of 16, 24 and 32 bits fall into the first run; and reads may be equal. */
        const uint32_t first[] = {0, 0xfffff000, 0x00fff000, 0x7ffff000, 0xfff0};

        for (size_t n = 0; n < ARRAY_SIZE(first); n++) {
            struct tsc_rate rate;

            memset(&fake, 0, sizeof(fake));
            fake.first = first[n];
            rate = measure(starts[i]);
            assert_near(rate.hz, TSC_HZ, 1000);
            assert_int_equal(rate.runs, 3);
            assert_true(rate.uncertainty > 0 && rate.uncertainty < 30000);
        }
    }
    memset(&fake, 0, sizeof(fake));
    fake.grain = 16; /* shows the same for a while */
    assert_near(measure(start_pm).hz, TSC_HZ, 2000);
}

/* Two SMIs of 1 to 2 ms at each moment of the first two runs: one run at least is clean. */
static void test_smi(void **state)
{
    (void)state;
    for (uint64_t at = 1; at < 5 * MS; at += 7919) {
        memset(&fake, 0, sizeof(fake));
        fake.smi_at[0] = at;
        fake.smi_ticks[0] = 2 * MS;
        fake.smi_at[1] = at + 3 * MS;
        fake.smi_ticks[1] = MS;
        assert_near(measure(start_pm).hz, TSC_HZ, 1000);
    }
    /* One that outlasts the PIT's period: its run seems too short, and is not believed. */
    memset(&fake, 0, sizeof(fake));
    fake.smi_at[0] = MS;
    fake.smi_ticks[0] = 60 * MS;
    assert_near(measure(start_pit).hz, TSC_HZ, 2500);
    /* A second away: nothing overflows. */
    memset(&fake, 0, sizeof(fake));
    fake.smi_at[0] = MS;
    fake.smi_ticks[0] = 1000 * MS;
    assert_near(measure(start_hpet).hz, TSC_HZ, 1000);
}

static void test_unsound(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    assert_int_equal(measure(start_absent).hz, 0);
    assert_int_equal(measure(start_still).hz, 0);
    fake.stops_at = 4 * MS; /* in the second run */
    assert_int_equal(measure(start_pm).hz, 0);

    /* Backwards once: that run is spoilt, three others are found. */
    for (uint64_t at = 1; at < 8 * MS; at += MS / 3) {
        memset(&fake, 0, sizeof(fake));
        fake.back_at = at;
        fake.back = 100000;
        assert_near(measure(start_pm).hz, TSC_HZ, 1000);
        assert_near(measure(start_hpet).hz, TSC_HZ, 1000);
    }
    /* Noise ends, whatever it gives. */
    memset(&fake, 0, sizeof(fake));
    assert_true(measure(start_noise).runs <= 8);
    memset(&fake, 0, sizeof(fake));
    assert_int_equal(measure(start_crawling).hz, 0);
    assert_true(fake.reads < 2000000);
    memset(&fake, 0, sizeof(fake));
    assert_int_equal(measure(start_down).hz, 0);
}

/* The order of the references, and which of them is named. */
static void test_order(void **state)
{
    static const struct {
        bool (*pm)(struct tsc_clock *), (*hpet)(struct tsc_clock *), (*pit)(struct tsc_clock *);
        const char *name; /* NULL: none */
    } rows[] = {
        {start_pm, start_hpet, start_pit, "PM timer"},
        {start_absent, start_hpet, start_pit, "HPET"},
        {start_still, start_hpet, start_pit, "HPET"},
        {start_still, start_absent, start_pit, "PIT"},
        {start_still, start_still, start_pit, "PIT"},
        {start_absent, start_absent, start_still, NULL},
        {start_still, start_still, start_still, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct tsc_clock clocks[] = {{.name = "PM timer", .start = rows[i].pm},
                                     {.name = "HPET", .start = rows[i].hpet},
                                     {.name = "PIT", .start = rows[i].pit}};
        struct tsc_rate rate;

        memset(&fake, 0, sizeof(fake));
        rate = tsc_measure(clocks, 3, fake_tsc);
        assert_int_equal(rate.hz != 0, rows[i].name != NULL);
        if (rows[i].name)
            assert_string_equal(rate.name, rows[i].name);
    }
}

/* The APIC timer's rate by the TSC. */
static void test_counter(void **state)
{
    struct tsc_clock counter = {.read = fake_read, .hz = 25000000, .mask = UINT32_MAX};

    (void)state;
    memset(&fake, 0, sizeof(fake));
    assert_near(tsc_measure_counter(&counter, fake_tsc, TSC_HZ).hz, 25000000, 3000);
    memset(&fake, 0, sizeof(fake));
    fake.first = 0xffffff00;
    assert_near(tsc_measure_counter(&counter, fake_tsc, TSC_HZ).hz, 25000000, 3000);
    for (uint64_t at = 1; at < 3 * MS; at += 4999) {
        memset(&fake, 0, sizeof(fake));
        fake.smi_at[0] = at;
        fake.smi_ticks[0] = 2 * MS;
        assert_near(tsc_measure_counter(&counter, fake_tsc, TSC_HZ).hz, 25000000, 3000);
    }
    /* Away so long in every run that the product is beyond 64 bits: nothing is better than that. */
    memset(&fake, 0, sizeof(fake));
    counter.hz = 2000000000;
    for (uint64_t i = 0; i < SMIS; i++) {
        fake.smi_at[i] = MS / 2 + i * 2002 * MS;
        fake.smi_ticks[i] = 2000 * MS;
    }
    assert_int_equal(tsc_measure_counter(&counter, fake_tsc, 1ull << 33).hz, 0);
    counter.read = read_ones;
    assert_int_equal(tsc_measure_counter(&counter, fake_tsc, TSC_HZ).hz, 0);
}

static void test_cpuid(void **state)
{
    static const struct {
        const char *name;
        struct cpuid_regs leaf15, leaf16;
        uint64_t hz;
    } rows[] = {
        {"Tiger Lake: 38.4 MHz * 74", {2, 148, 38400000, 0}, {2800, 4700, 100, 0}, 2841600000},
        {"Skylake: no crystal", {2, 216, 0, 0}, {2600, 3500, 100, 0}, 2600000000},
        {"no denominator", {0, 216, 24000000, 0}, {2600, 0, 0, 0}, 2600000000},
        {"no numerator", {2, 0, 24000000, 0}, {0, 0, 0, 0}, 0},
        {"neither leaf", {0, 0, 0, 0}, {0, 0, 0, 0}, 0},
        {"reserved bits of 0x16", {0, 0, 0, 0}, {0xabcd0064, 0, 0, 0}, 100000000},
        {"all ones", {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0}, {0, 0, 0, 0}, UINT32_MAX},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (tsc_hz_by_cpuid(rows[i].leaf15, rows[i].leaf16) != rows[i].hz)
            fail_msg("%s", rows[i].name);
}

static void test_choose(void **state)
{
    static const struct {
        uint64_t measured, told, hz;
        enum tsc_verdict verdict;
    } rows[] = {
        {2999900000, 3000000000, 2999900000, TSC_MEASURED},
        {3030000000, 3000000000, 3030000000, TSC_MEASURED}, /* just 1 % */
        {3030000001, 3000000000, 3030000001, TSC_DISAGREED},
        {2969999999, 3000000000, 2969999999, TSC_DISAGREED},
        {50000000, 4000000000, 50000000, TSC_DISAGREED}, /* Bochs */
        {3000000000, 0, 3000000000, TSC_MEASURED},
        {0, 2600000000, 2600000000, TSC_TOLD},
        {0, 0, TSC_GUESS_HZ, TSC_GUESSED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        uint64_t hz;

        assert_int_equal(tsc_choose(rows[i].measured, rows[i].told, &hz), rows[i].verdict);
        assert_int_equal(hz, rows[i].hz);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),   cmocka_unit_test(test_smi),
        cmocka_unit_test(test_unsound), cmocka_unit_test(test_order),
        cmocka_unit_test(test_counter), cmocka_unit_test(test_cpuid),
        cmocka_unit_test(test_choose),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
