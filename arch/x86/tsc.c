/*
 * The clock.
 *
 * Keeps the TSC's rate (chosen by tsc_measure.c: the measurement, CPUID's word only when nothing
 * could be measured, and a warning when the two disagree). Decides whether the counters of the CPUs
 * are one: each new CPU's is compared with the boot CPU's in both directions, and where one is seen
 * to run behind the other the new CPU gets an offset. Invariant: arch_now never runs backward
 * between two CPUs that tell each other the time. Source: SDM 3B 17.17, CPUID leaves 0x15 and 0x16.
 */
#include "arch/x86/tsc.h"

#include "arch/x86/asm.h"
#include "arch/x86/cpu_area.h"
#include "arch/x86/features.h"
#include "arch/x86/regs/cpuid.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/tsc_reference.h"
#include "hv/atomic.h"
#include "hv/lock.h"
#include "kernel/arch.h"
#include "kernel/printk.h"

#define NS_SHIFT       32 /* ns = ticks * ns_mult >> NS_SHIFT */
#define COMPARE_ROUNDS 8u /* few: on a busy host each costs a switch between two virtual CPUs */

static uint64_t hz = TSC_GUESS_HZ; /* [i] */
static uint64_t ns_mult;        /* [i] 2^NS_SHIFT * 10^9 / hz; 0 until measured: the clock stands */
static uint64_t ticks_mult;     /* [i] 2^NS_SHIFT * hz / 10^9 */
static uint64_t start;          /* [i] counter at time 0 */
static bool synchronous = true; /* [i] */

__extension__ typedef unsigned __int128 uint128;

uint64_t arch_tsc(void)
{
    return asm_rdtsc() + (uint64_t)cpu_this()->arch->tsc_offset;
}

uint64_t arch_tsc_hz(void)
{
    return hz;
}

bool arch_tsc_is_synchronous(void)
{
    return synchronous;
}

bool arch_tsc_is_stable(void)
{
    return synchronous && cpu_features.invariant_tsc;
}

ns_t arch_tsc_to_ns(uint64_t ticks)
{
    uint128 ns = ((uint128)ticks * ns_mult) >> NS_SHIFT;

    return ns >> 64 ? UINT64_MAX : (ns_t)ns;
}

uint64_t arch_ns_to_tsc(ns_t ns)
{
    uint128 ticks = ((uint128)ns * ticks_mult) >> NS_SHIFT;

    return ticks >> 64 ? UINT64_MAX : (uint64_t)ticks;
}

/* 2^64 ns are 584 years: no overflow of the low half in the life of a machine. */
ns_t arch_now(void)
{
    return (ns_t)(((uint128)(arch_tsc() - start) * ns_mult) >> NS_SHIFT);
}

static uint64_t hz_by_cpuid(void)
{
    uint32_t max = asm_cpuid(CPUID_MAX_BASIC, 0).eax;
    struct cpuid_regs none = {0, 0, 0, 0};

    return tsc_hz_by_cpuid(max >= CPUID_TSC ? asm_cpuid(CPUID_TSC, 0) : none,
                           max >= CPUID_FREQUENCY ? asm_cpuid(CPUID_FREQUENCY, 0) : none);
}

/* Those of the CPU since reset; 0 where it does not count them. */
static uint64_t smi_count(void)
{
    uint64_t count;

    return cpu_features.intel && !asm_rdmsr_safe(MSR_SMI_COUNT, &count) ? count : 0;
}

static void warn_of(enum tsc_verdict verdict, uint64_t told)
{
    if (verdict == TSC_TOLD || verdict == TSC_GUESSED)
        pr_warn("no timer to measure the TSC by; %lu MHz is %s", hz / 1000000,
                verdict == TSC_TOLD ? "the CPU's word" : "a guess");
    if (verdict == TSC_DISAGREED)
        pr_warn("CPUID says the TSC runs at %lu MHz; the measurement is used", told / 1000000);
}

void tsc_init(const struct fadt_info *fadt, paddr_t hpet)
{
    uint64_t smis = smi_count();
    struct tsc_rate rate = tsc_reference_measure(fadt, hpet);
    uint64_t told = hz_by_cpuid();

    pr_debug("TSC: %u runs, edges of the best within %lu ticks, %lu SMIs meanwhile, %lu before",
             rate.runs, rate.uncertainty, smi_count() - smis, smis);
    warn_of(tsc_choose(rate.hz, told, &hz), told);
    /* hz > 2^20 and < 2^40, so both quotients fit 64 bits. */
    ns_mult = asm_div128(NS_PER_SEC >> (64 - NS_SHIFT), NS_PER_SEC << NS_SHIFT, hz);
    ticks_mult = asm_div128(hz >> (64 - NS_SHIFT), hz << NS_SHIFT, NS_PER_SEC);
    start = arch_tsc();
    pr_info("TSC %lu.%03lu MHz by %s%s", hz / 1000000, hz / 1000 % 1000,
            rate.hz ? rate.name : "CPUID", cpu_features.invariant_tsc ? ", invariant" : "");
}

void tsc_delay(ns_t ns)
{
    uint64_t ticks = ns_mult ? arch_ns_to_tsc(ns) : ns * (TSC_GUESS_HZ / 1000000) / 1000;
    uint64_t from = asm_rdtsc();

    while (asm_rdtsc() - from < ticks)
        asm_pause();
}

/* ---- comparing two CPUs: one writes its counter, then the other reads its own, by turns ---- */

#define COMPARE_DONE    (2 * COMPARE_ROUNDS + 1) /* a turn that compare_side never waits for */
#define COMPARE_WAIT_NS (10 * NS_PER_SEC) /* for the other CPU's move: nanoseconds, if it lives */
#define COMPARE_LOOKS   4096u             /* at the turn between two at the clock, which is slow */

struct compare {
    uint32_t turn;    /* [a] rises with each value written: even is the boot CPU's move */
    uint64_t value;   /* written before turn's release, read behind its acquire */
    int64_t new_sees; /* compare_side's result on the new CPU; likewise ordered by turn */
};

static struct compare compare;

/* Acquire: the other's value, and its reading of its counter, lie before. */
static void compare_wait(uint32_t turn)
{
    uint64_t from = asm_rdtsc(), limit = arch_ns_to_tsc(COMPARE_WAIT_NS);

    for (uint32_t looks = 1; atomic_get_acquire(&compare.turn) != turn; looks++) {
        if (looks % COMPARE_LOOKS == 0 && asm_rdtsc() - from > limit)
            panic("a CPU stops while its TSC is compared with the boot CPU's");
        asm_pause();
    }
}

/* One side of the ping-pong: least difference between the own counter and a value just received. */
static int64_t compare_side(uint32_t first)
{
    int64_t least = INT64_MAX;

    for (uint32_t turn = first; turn < first + 2 * COMPARE_ROUNDS; turn += 2) {
        compare_wait(turn);
        if (turn) {
            int64_t difference = (int64_t)(asm_rdtsc_ordered() - compare.value);

            least = difference < least ? difference : least;
        }
        compare.value = asm_rdtsc_ordered();
        atomic_set_release(&compare.turn, turn + 1);
    }
    return least;
}

/*
 * With d the new CPU's counter minus the boot CPU's at one moment, and t > 0 the time a value
 * takes, the new CPU sees at least t + d, the boot CPU t - d. Either below zero proves a
 * difference.
 */
void tsc_compare_boot(struct cpu *cpu)
{
    int64_t boot_sees;

    atomic_set_release(&compare.turn, 0);
    boot_sees = compare_side(0);
    compare_wait(COMPARE_DONE); /* new_sees is there */
    if (compare.new_sees >= 0 && boot_sees >= 0)
        return;
    cpu->arch->tsc_offset = (boot_sees - compare.new_sees) / 2;
    if (synchronous)
        pr_warn("the TSC of CPU %u is %ld ticks off; offsets are used", cpu->id,
                -cpu->arch->tsc_offset);
    synchronous = false;
}

void tsc_compare_new(void)
{
    compare.new_sees = compare_side(1);
    atomic_set_release(&compare.turn, COMPARE_DONE);
}
