/*
 * Rates out of two clocks, one of them known.
 *
 * Decides how long a run is, which of several runs is believed, and whether a measurement or
 * CPUID's word counts. A run begins and ends at a tick of the clock; each edge lies between two
 * readings of the TSC, and what they are apart is its uncertainty. An SMI between two edges does no
 * harm, since both clocks run on; one at an edge makes that edge uncertain. So the run whose edges
 * are the most certain is believed, whether the others came out longer or shorter. A clock that
 * steps back, or so far ahead that it may have wrapped, spoils its run.
 *
 * Invariants: every loop ends, be the clock stopped, absent or mad; sums stay within 64 bits, and a
 * run that would not is spoilt. Source: SDM 3B 17.17, CPUID leaves 0x15 and 0x16.
 */
#include "arch/x86/tsc_measure.h"

#include "hv/bits.h"

#define RUNS_WANTED    3u
#define RUNS_MAX       8u
#define RUN_US         2500u
#define STILL_READS    20000u /* reads of one value after which a clock is taken to stand still */
#define RUN_READS      (1u << 20) /* about a second; a run at the told rate has room for far fewer */
#define COUNTER_RUN_US 1000u
#define COUNTER_READS  (1u << 24) /* far more than fit into a run */
#define DISAGREE_PARTS 100        /* a hundredth */
#define LEAF16_MHZ     BITS(15, 0)

/* One moment: what the clock showed, and between which two readings of the TSC. */
struct moment {
    uint32_t value;
    uint64_t before, after;
};

static struct moment look(const struct tsc_clock *clock, tsc_reader *tsc)
{
    struct moment m;

    m.before = tsc();
    m.value = clock->read(clock) & (uint32_t)clock->mask;
    m.after = tsc();
    return m;
}

enum tick { TICK_FOUND, TICK_STILL, TICK_MAD };

/*
 * From `*m` on to the next change of the clock, which lies between the readings in *m. *reads_left
 * are what the run may still take.
 */
static enum tick next_tick(const struct tsc_clock *clock, tsc_reader *tsc, struct moment *m,
                           uint32_t *reads_left)
{
    uint32_t first = m->value;

    for (uint32_t i = 0; i < STILL_READS && *reads_left; i++, --*reads_left) {
        uint64_t before = m->before;

        *m = look(clock, tsc);
        if (m->value == first)
            continue;
        m->before = before;
        return ((m->value - first) & clock->mask) > clock->mask / 2 ? TICK_MAD : TICK_FOUND;
    }
    return TICK_STILL;
}

/* a * b / c, or 0 when the product does not fit. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
    return !c || (b && a > UINT64_MAX / b) ? 0 : a * b / c;
}

/* Best of the runs so far. */
static void take_run(struct tsc_rate *best, uint64_t hz, uint64_t uncertainty)
{
    if (hz && (!best->hz || uncertainty < best->uncertainty)) {
        best->hz = hz;
        best->uncertainty = uncertainty;
    }
}

/* false: the clock stands still, or crawls beside the rate it is said to have. Spoilt: *hz 0. */
static bool run_once(const struct tsc_clock *clock, tsc_reader *tsc, uint64_t *hz,
                     uint64_t *uncertainty)
{
    uint64_t want = MAX(clock->hz * RUN_US / 1000000, 1), elapsed = 0;
    uint32_t reads_left = RUN_READS;
    struct moment start = look(clock, tsc), now;
    enum tick tick = next_tick(clock, tsc, &start, &reads_left);

    *hz = 0;
    now = start;
    while (tick == TICK_FOUND && elapsed < want) {
        uint32_t from = now.value;

        now.before = now.after;
        tick = next_tick(clock, tsc, &now, &reads_left);
        elapsed += (now.value - from) & clock->mask;
    }
    *uncertainty = (start.after - start.before) + (now.after - now.before);
    if (tick == TICK_FOUND && now.after > start.after)
        *hz = scale(now.after - start.after, clock->hz, elapsed);
    return tick != TICK_STILL;
}

static struct tsc_rate measure_by(const struct tsc_clock *clock, tsc_reader *tsc)
{
    struct tsc_rate best = {.name = clock->name};
    uint32_t good = 0;

    while (good < RUNS_WANTED && best.runs < RUNS_MAX) {
        uint64_t hz, uncertainty;

        best.runs++;
        if (!run_once(clock, tsc, &hz, &uncertainty))
            return (struct tsc_rate){.name = clock->name, .runs = best.runs};
        take_run(&best, hz, uncertainty);
        good += hz != 0;
    }
    return best;
}

struct tsc_rate tsc_measure(struct tsc_clock *clocks, uint32_t n, tsc_reader *tsc)
{
    struct tsc_rate rate = {0};

    for (uint32_t i = 0; i < n && !rate.hz; i++)
        if (clocks[i].start(&clocks[i]))
            rate = measure_by(&clocks[i], tsc);
    return rate;
}

struct tsc_rate tsc_measure_counter(const struct tsc_clock *counter, tsc_reader *tsc,
                                    uint64_t tsc_hz)
{
    struct tsc_rate best = {.name = counter->name};
    uint64_t want = tsc_hz * COUNTER_RUN_US / 1000000;

    for (best.runs = 0; best.runs < RUNS_WANTED; best.runs++) {
        struct moment start = look(counter, tsc), end = start;
        uint64_t counts;

        for (uint32_t i = 0; i < COUNTER_READS && end.after - start.after < want; i++)
            end = look(counter, tsc);
        counts = (end.value - start.value) & counter->mask;
        if (end.after > start.after)
            take_run(&best, scale(counts, tsc_hz, end.after - start.after),
                     (start.after - start.before) + (end.after - end.before));
    }
    return best;
}

uint64_t tsc_hz_by_cpuid(struct cpuid_regs leaf15, struct cpuid_regs leaf16)
{
    if (leaf15.eax && leaf15.ebx && leaf15.ecx)
        return (uint64_t)leaf15.ecx * leaf15.ebx / leaf15.eax;
    return FIELD_GET(LEAF16_MHZ, leaf16.eax) * 1000000;
}

enum tsc_verdict tsc_choose(uint64_t measured, uint64_t told, uint64_t *hz)
{
    uint64_t apart = measured > told ? measured - told : told - measured;

    *hz = measured ? measured : told ? told : TSC_GUESS_HZ;
    if (!measured)
        return told ? TSC_TOLD : TSC_GUESSED;
    return told && apart > told / DISAGREE_PARTS ? TSC_DISAGREED : TSC_MEASURED;
}
