/*
 * costs: what is between two vCPUs, in ticks: the way of an interrupt to one that runs, to one that
 * sleeps, and the change from one to the other on a CPU that they share. What one vCPU can measure
 * alone is in the guest `exits`.
 *
 * Options: mode=pair (a CPU for each) or mode=share (both on one CPU), n=N (times, 50). The figures
 * are medians, `yield` is a mean.
 *
 *     notice  from before the ICR is written to the handler of a vCPU that spins
 *     wake    the same to one in HLT
 *     send    from before the ICR is written to after it, if that wakes a vCPU
 *     eoi     the end of that interrupt, by x2APIC
 *     yield   from YIELD (hypercall 0x100) to the other's return from its own
 *     halt    from HLT to the other, that waits for the CPU, going on
 */
#include "tests/guests/rt/rt.h"

enum {
    VEC_STAMP = 0x60,
    TIMES_MAX = 999,
    SETTLE_US = 100,
    VEC_TIMER = 0x61,
    SLEEP_US = 3000,
    AWAY_TICKS = 1000
};

static uint64_t times;
static uint64_t stamp;       /* [a] when the other saw what is measured; 0 while it is waited for */
static uint64_t sent, ended; /* ticks of the last write of the ICR, and of the EOI */
static uint32_t halts, is_over; /* [a] */
static uint64_t yields;         /* of vCPU 1 */

static void stamp_irq(struct trap_frame *frame)
{
    uint64_t start = asm_rdtsc();

    (void)frame;
    apic_eoi();
    ended = asm_rdtsc() - start;
    __atomic_store_n(&stamp, start, __ATOMIC_RELEASE);
}

static void timer_irq(struct trap_frame *frame)
{
    (void)frame;
    apic_eoi();
}

static void receive(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        if (__atomic_load_n(&halts, __ATOMIC_ACQUIRE))
            asm_hlt();
    }
}

/* The sender sleeps meanwhile, as one that waits for an answer does. */
static uint64_t way_once(void)
{
    uint64_t start;

    time_delay_us(SETTLE_US); /* until the other spins, or sleeps */
    __atomic_store_n(&stamp, 0, __ATOMIC_SEQ_CST);
    apic_timer_oneshot(VEC_TIMER, SLEEP_US);
    start = asm_rdtsc();
    apic_send(smp_cpus[1]->apic_id, ICR_FIXED | ICR_ASSERT | VEC_STAMP);
    sent = asm_rdtsc() - start;
    asm_hlt();
    return stamp - start;
}

static uint64_t median_of(uint64_t (*once)(void))
{
    static uint64_t sorted[TIMES_MAX];

    for (uint32_t i = 0; i < times; i++) {
        uint64_t ticks = once();
        uint32_t at = i;

        for (; at && sorted[at - 1] > ticks; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ticks;
    }
    return sorted[times / 2];
}

static int costs_pair(void)
{
    uint64_t notice, wake;

    trap_set_handler(VEC_STAMP, stamp_irq);
    smp_run(1, receive, NULL);
    notice = median_of(way_once);
    __atomic_store_n(&halts, 1, __ATOMIC_RELEASE);
    wake = median_of(way_once);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    apic_send(smp_cpus[1]->apic_id, ICR_FIXED | ICR_ASSERT | VEC_STAMP);
    smp_wait(1);
    rt_printf("COSTS {\"notice\":%lu,\"wake\":%lu,\"send\":%lu,\"eoi\":%lu}\n", notice, wake, sent,
              ended);
    return 0;
}

static void yield_on(void *arg)
{
    uint64_t *own = arg;

    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        pv_call(CALL_YIELD, 0, 0, 0, 0);
        ++*own;
    }
}

/* Keeps the CPU, and says by `stamp` when it first came back after a while without. */
static void keep(void *arg)
{
    uint64_t last = asm_rdtsc();

    (void)arg;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        uint64_t now = asm_rdtsc();

        if (now - last > AWAY_TICKS && !__atomic_load_n(&stamp, __ATOMIC_ACQUIRE))
            __atomic_store_n(&stamp, now, __ATOMIC_RELEASE);
        last = now;
    }
}

/* Sleeps by a timer beside one that keeps the CPU, and has the CPU while it is awake. */
static uint64_t halt_once(void)
{
    uint64_t start;

    __atomic_store_n(&stamp, 0, __ATOMIC_SEQ_CST);
    apic_timer_oneshot(VEC_TIMER, SLEEP_US);
    start = asm_rdtsc();
    asm_hlt();
    return stamp - start;
}

/* Mean of a yield; the turns of both count, so that a yield that kept the CPU counts as one, too.
 */
static uint64_t yield_mean(void)
{
    uint64_t start, ticks, before;

    smp_run(1, yield_on, &yields);
    for (uint32_t i = 0; i < times; i++)
        pv_call(CALL_YIELD, 0, 0, 0, 0);
    before = yields;
    start = asm_rdtsc();
    for (uint32_t i = 0; i < times; i++)
        pv_call(CALL_YIELD, 0, 0, 0, 0);
    ticks = asm_rdtsc() - start;
    before = times + yields - before;
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    smp_wait(1);
    __atomic_store_n(&is_over, 0, __ATOMIC_RELEASE);
    return ticks / before;
}

static int costs_share(void)
{
    uint64_t yield = yield_mean(), halt;

    smp_run(1, keep, NULL);
    halt = median_of(halt_once);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    rt_printf("COSTS {\"yield\":%lu,\"halt\":%lu}\n", yield, halt);
    return 0;
}

int guest_main(void)
{
    trap_set_handler(VEC_TIMER, timer_irq);
    times = MIN(MAX(opt_u64("n", 50), 1), TIMES_MAX);
    if (smp_count < 2)
        rt_fail("needs two vCPUs");
    if (!opt_is("mode", "share"))
        return costs_pair();
    if (!pv.yields)
        rt_fail("no hypercall 0x100");
    return costs_share();
}
