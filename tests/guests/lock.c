/*
 * lock: threads over locks, as numen-sim's workload of that name: every vCPU thinks, takes one of
 * the locks, holds it, and again.
 *
 * Options: kind= (lock/kinds.h; ticket), locks=N (1; one is chosen anew each time), think=N and
 * hold=N (instructions: 1000 and 50), spread=N (per cent around both: 50), ms=N (what is measured:
 * 100) behind warmup=N ms (20), grid=N ms (0), spinlog=N (rt/lock.h).
 * With grid= it begins at the next multiple of that time on the wall clock, and later= us after
 * that, so that it is known when several VMs begin; without the wall clock's MSR at once. Work is
 * counted in instructions, not in time, so that a vCPU without a CPU does none.
 *
 * `LOCK {...}` tells the rounds within the time, and what numen-sim has to know: the ticks of a
 * round of a vCPU that is alone (`alone`), and of a spin before it halts (`limit`).
 */
#include "tests/guests/lock/kinds.h"

enum {
    LOCKS_MAX = 64,
    VEC_BEGIN = 0x60,
    ALONE_ROUNDS = 200,
    INSTRUCTIONS_A_TURN = 2,
};

static struct any_lock locks[LOCKS_MAX];

static struct {
    uint64_t rounds;   /* own vCPU only, until it is done */
    uint64_t measured; /* those within the time */
    uint64_t random;
    uint8_t pad[40]; /* a cache line each */
} per_vcpu[RT_CPUS_MAX];

static const struct kind *kind;
static uint64_t option_think, option_hold, option_spread;
static uint32_t nlocks;
static uint64_t from, until; /* by the TSC; written before the others are started */

static uint64_t random_below(uint64_t *state, uint64_t n)
{
    *state = *state * 6364136223846793005ul + 1442695040888963407ul; /* Knuth's MMIX */
    return (*state >> 32) * n >> 32;
}

static void work_around(uint64_t *state, uint64_t mean)
{
    uint64_t swing = mean * option_spread / 100;
    uint64_t turns = (mean - swing + random_below(state, 2 * swing + 1)) / INSTRUCTIONS_A_TURN;

    if (turns)
        asm volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
}

static void one_round(uint32_t me)
{
    uint64_t *state = &per_vcpu[me].random;
    struct any_lock *lock = &locks[random_below(state, nlocks)];

    work_around(state, option_think);
    kind->take(lock);
    work_around(state, option_hold);
    lock->count++;
    kind->drop(lock);
    per_vcpu[me].rounds++;
}

static void lock_work(void *arg)
{
    uint32_t me = cpu_this()->index;
    uint64_t before = 0, now;

    (void)arg;
    while ((now = asm_rdtsc()) < until) {
        if (now < from)
            before = per_vcpu[me].rounds + 1;
        one_round(me);
    }
    per_vcpu[me].measured = per_vcpu[me].rounds - before;
}

static uint64_t ticks_alone(void)
{
    uint64_t start = asm_rdtsc();

    for (uint32_t i = 0; i < ALONE_ROUNDS; i++)
        one_round(0);
    return (asm_rdtsc() - start) / ALONE_ROUNDS;
}

static uint64_t ticks_of_a_spin(void)
{
    static struct pv_lock never;
    uint64_t start = asm_rdtsc();

    lock_spin(&never, 1);
    return asm_rdtsc() - start;
}

static void begin_irq(struct trap_frame *frame)
{
    (void)frame;
    apic_eoi();
}

/* Sleeps until `later` after the next multiple of `grid_ms`; the wall clock's ms then, or 0. */
static uint64_t wait_for_grid(uint64_t grid_ms)
{
    uint64_t grid_ns = grid_ms * 1000000, now_ns, left_us, then;

    if (!grid_ns || !pv_has(PV_CLOCKSOURCE2))
        return 0;
    now_ns = pv_wall_start_ns() + pv_clock_ns();
    left_us = (grid_ns - now_ns % grid_ns) / 1000 + opt_u64("later", 0);
    then = time_from_us(left_us);
    trap_set_handler(VEC_BEGIN, begin_irq);
    apic_timer_oneshot(VEC_BEGIN, left_us);
    for (asm_cli(); !time_passed(then); asm_cli())
        asm_sti_hlt();
    asm_sti();
    return (now_ns / grid_ns + 1) * grid_ms;
}

static int lock_report(uint64_t began_ms, uint64_t alone, uint64_t limit)
{
    uint64_t total = 0, least = UINT64_MAX, most = 0, behind = 0, all = 0, halts = 0, kicks = 0;

    for (uint32_t i = 0; i < smp_count; i++) {
        uint64_t n = per_vcpu[i].measured;

        total += n;
        all += per_vcpu[i].rounds;
        least = MIN(least, n);
        most = MAX(most, n);
        halts += smp_cpus[i]->halts;
        kicks += smp_cpus[i]->kicks;
    }
    for (uint32_t i = 0; i < nlocks; i++)
        behind += locks[i].count;
    rt_printf("LOCK {\"kind\":\"%s\",\"vcpus\":%u,\"began_ms\":%lu,\"ticks\":%lu,\"rounds\":%lu,"
              "\"min\":%lu,\"max\":%lu,\"halts\":%lu,\"kicks\":%lu,\"alone\":%lu,\"limit\":%lu}\n",
              kind->name, smp_count, began_ms, until - from, total, least, most, halts, kicks,
              alone, limit);
    if (behind == all)
        return 0;
    rt_printf("FAIL: %lu updates behind the locks, %lu rounds\n", behind, all);
    return 1;
}

int guest_main(void)
{
    uint64_t alone, limit, began_ms, ms = opt_u64("ms", 100), warmup = opt_u64("warmup", 20);

    kind = kind_chosen();
    if (!kind)
        rt_fail("kind= is none of spin, ticket, ticket-pv, queued");
    if (kind->is_pv && !lock_is_pv)
        rt_fail("this kind needs PV_UNHALT");
    lock_is_pv = kind->is_pv;
    option_think = opt_u64("think", 1000);
    option_hold = opt_u64("hold", 50);
    option_spread = MIN(opt_u64("spread", 50), 100);
    nlocks = (uint32_t)MIN(MAX(opt_u64("locks", 1), 1), LOCKS_MAX);
    for (uint32_t i = 0; i < smp_count; i++)
        per_vcpu[i].random = i + 1;
    alone = ticks_alone();
    limit = ticks_of_a_spin();
    began_ms = wait_for_grid(opt_u64("grid", 0));
    from = time_from_us(warmup * 1000);
    until = from + ms * time_tsc_khz;
    smp_run_first(smp_count, lock_work, NULL);
    return lock_report(began_ms, alone, limit);
}
