/*
 * spin: all vCPUs contend for locks; how many acquisitions, how fairly, how many halts and kicks.
 *
 * Options: ms=N (default 1000; 0 runs until killed), iters=N (per vCPU, instead of a time), locks=N
 * (default 1), hold=N and think=N (loop turns inside and outside the lock; 200 and 200), every=MS
 * (a line now and then; 1000 with ms=0, else never), spinlog=N, nopvspin.
 * The counters behind each lock are plain: a lost update is a broken lock, and fails the run.
 */
#include "tests/guests/rt/rt.h"

enum { LOCKS_MAX = 64 };

static struct {
    struct pv_lock lock;
    uint64_t count; /* guarded by lock */
} locks[LOCKS_MAX];

static struct {
    uint64_t count;  /* [a] written by its vCPU, read by vCPU 0 now and then */
    uint8_t pad[56]; /* a cache line each */
} per_vcpu[RT_CPUS_MAX];

static uint64_t option_ms, option_iters, option_hold, option_think, option_every;
static uint32_t nlocks;
static uint64_t deadline;         /* written by vCPU 0 before it sets `started` */
static uint32_t arrived, started; /* [a] */

static void spin_turns(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        asm volatile("");
}

static uint64_t spin_total(void)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < smp_count; i++)
        total += __atomic_load_n(&per_vcpu[i].count, __ATOMIC_RELAXED);
    return total;
}

/* Jain's index (sum x)^2 / (n sum x^2), in per mille. */
static uint64_t spin_fairness(void)
{
    uint64_t sum = 0, squares = 0;
    uint32_t shift = 0;

    while (spin_total() >> shift >= BIT(24))
        shift++; /* so that 1000 * sum^2 stays below 2^58 */
    for (uint32_t i = 0; i < smp_count; i++) {
        uint64_t x = per_vcpu[i].count >> shift;

        sum += x;
        squares += x * x;
    }
    return squares ? 1000 * sum * sum / (smp_count * squares) : 1000;
}

static void spin_print_now(void)
{
    static uint64_t next, last_total;
    uint64_t total;

    if (!option_every || !time_passed(next))
        return;
    total = spin_total();
    if (next)
        rt_printf("spin: %lu acquisitions (+%lu), fairness %lu per mille\n", total,
                  total - last_total, spin_fairness());
    last_total = total;
    next = time_from_us(option_every * 1000);
}

static bool spin_is_over(uint64_t done)
{
    if (option_iters)
        return done >= option_iters;
    return option_ms && time_passed(deadline);
}

/* All begin together: the first comers would else have the locks to themselves for a while. */
static void spin_start_together(uint32_t me)
{
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    while (me == 0 && __atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < smp_count)
        asm_pause();
    if (me == 0) {
        deadline = time_from_us(option_ms * 1000);
        __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    }
    while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
        asm_pause();
}

static void spin_work(void *arg)
{
    uint32_t me = cpu_this()->index;
    uint64_t done = 0;

    (void)arg;
    spin_start_together(me);
    while (!spin_is_over(done)) {
        uint32_t at = (uint32_t)(done + me) % nlocks;

        lock_take(&locks[at].lock);
        locks[at].count++;
        spin_turns(option_hold);
        lock_drop(&locks[at].lock);
        spin_turns(option_think);
        __atomic_store_n(&per_vcpu[me].count, ++done, __ATOMIC_RELAXED);
        if (me == 0)
            spin_print_now();
    }
}

static int spin_report(uint64_t ticks)
{
    uint64_t least = UINT64_MAX, most = 0, halts = 0, kicks = 0, behind_locks = 0;

    for (uint32_t i = 0; i < smp_count; i++) {
        uint64_t n = per_vcpu[i].count;

        rt_printf("spin: vCPU %u: %lu acquisitions, %lu halts, %lu kicks\n", i, n,
                  smp_cpus[i]->halts, smp_cpus[i]->kicks);
        least = MIN(least, n);
        most = MAX(most, n);
        halts += smp_cpus[i]->halts;
        kicks += smp_cpus[i]->kicks;
    }
    for (uint32_t i = 0; i < nlocks; i++)
        behind_locks += locks[i].count;
    rt_printf("spin: total %lu acquisitions in %lu ms, %lu halts, %lu kicks\n", spin_total(),
              ticks / time_tsc_khz, halts, kicks);
    rt_printf(
        "SPIN {\"mode\":\"%s\",\"vcpus\":%u,\"locks\":%u,\"ticks\":%lu,\"total\":%lu,\"min\":%lu,"
        "\"max\":%lu,\"jain_per_mille\":%lu,\"halts\":%lu,\"kicks\":%lu}\n",
        lock_is_pv ? "pv" : "nopv", smp_count, nlocks, ticks, spin_total(), least, most,
        spin_fairness(), halts, kicks);
    if (behind_locks == spin_total())
        return 0;
    rt_printf("FAIL: %lu updates behind the locks, %lu acquisitions\n", behind_locks, spin_total());
    return 1;
}

int guest_main(void)
{
    uint64_t start;

    option_ms = opt_u64("ms", 1000);
    option_iters = opt_u64("iters", 0);
    option_hold = opt_u64("hold", 200);
    option_think = opt_u64("think", 200);
    option_every = opt_u64("every", option_ms || option_iters ? 0 : 1000);
    nlocks = (uint32_t)MIN(MAX(opt_u64("locks", 1), 1), LOCKS_MAX);
    rt_printf("spin: %u vCPUs, %u locks, hold %lu, think %lu, %s\n", smp_count, nlocks, option_hold,
              option_think, lock_is_pv ? "pv" : "nopv");
    start = asm_rdtsc();
    smp_run_first(smp_count, spin_work, NULL);
    return spin_report(asm_rdtsc() - start);
}
