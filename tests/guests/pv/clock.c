/*
 * kvmclock, steal time, the preempted flag and the paravirtual TLB flush (docs/guest-abi.md).
 *
 * The TLB flush shows only where a vCPU is preempted now and then, that is on a busy host: vCPU 1
 * reads a page through a mapping of its own while vCPU 0 waits for its `preempted` byte, changes
 * the mapping, and asks for the flush by exchanging the byte 1 for 3. After that vCPU 1 must see
 * the new page.
 */
#include "tests/guests/pv/check.h"

enum {
    READS = 20000,
    COMPARE_US = 50000,
    FLUSH_WAIT_US = 1000000,
    FLUSH_GOAL = 20,
    VEC_RELOAD = 0x73,
    STEAL_PREEMPTED = 1,
    STEAL_FLUSH = 2,
};

static struct {
    uint32_t lock;      /* [a] */
    uint64_t last_ns;   /* under lock */
    uint64_t backwards; /* under lock */
} race;

static void clock_race(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < READS; i++) {
        uint64_t now;

        while (__atomic_exchange_n(&race.lock, 1, __ATOMIC_ACQUIRE))
            asm_pause();
        now = pv_clock_ns();
        race.backwards += now < race.last_ns;
        race.last_ns = now;
        __atomic_store_n(&race.lock, 0, __ATOMIC_RELEASE);
    }
}

static void kvmclock_tests(void)
{
    const volatile struct pv_clock *c = &cpu_this()->clock;
    uint64_t ns, ticks, by_ticks;

    if (!pv_has(PV_CLOCKSOURCE2)) {
        check_rdmsr_faults("refused.kvmclock_read", MSR_PV_SYSTEM_TIME);
        check_wrmsr_faults("refused.kvmclock_write", MSR_PV_SYSTEM_TIME, 0);
        return;
    }
    check(c->mul && !(c->version & 1), "kvmclock.filled", "mul %u version %u", c->mul, c->version);
    check(!pv_has(PV_CLOCK_STABLE) || (c->flags & 1), "kvmclock.stable_flag", "flags %#x",
          c->flags);
    check(asm_rdmsr(MSR_PV_SYSTEM_TIME) == ((uint64_t)c | PV_ENABLE), "kvmclock.reads_back", "%#lx",
          asm_rdmsr(MSR_PV_SYSTEM_TIME));
    ns = pv_clock_ns();
    ticks = asm_rdtsc();
    time_delay_us(COMPARE_US);
    ns = pv_clock_ns() - ns;
    ticks = asm_rdtsc() - ticks;
    by_ticks = ticks * 1000000 / time_tsc_khz;
    check(ns > by_ticks - by_ticks / 10 && ns < by_ticks + by_ticks / 10, "kvmclock.rate",
          "%lu ns against %lu by the TSC", ns, by_ticks);
    smp_run_first(smp_count, clock_race, NULL);
    check(race.backwards == 0, "kvmclock.monotonic", "%lu steps back", race.backwards);
    check(asm_wrmsr_safe(MSR_PV_SYSTEM_TIME, 0), "kvmclock.disable", "#GP at writing 0");
    asm_wrmsr(MSR_PV_SYSTEM_TIME, (uint64_t)c | PV_ENABLE);
    check(c->mul && !(c->version & 1), "kvmclock.enable_again", "mul %u", c->mul);
}

static void wall_clock_test(void)
{
    static struct {
        uint32_t version, sec, nsec;
    } wall __attribute__((aligned(16))) = {.version = 1, .nsec = UINT32_MAX};
    volatile uint32_t *version = &wall.version, *nsec = &wall.nsec;

    if (!pv_has(PV_CLOCKSOURCE2)) {
        check_wrmsr_faults("refused.wall_clock", MSR_PV_WALL_CLOCK, (uint64_t)&wall);
        return;
    }
    asm_wrmsr(MSR_PV_WALL_CLOCK, (uint64_t)&wall);
    check(!(*version & 1) && *nsec < 1000000000, "wall_clock.filled", "version %u nsec %u",
          *version, *nsec);
}

static void halted(void *arg)
{
    (void)arg;
    asm_cli();
    other_stage(1);
    asm_sti_hlt();
}

static void steal_tests(void)
{
    const struct pv_steal *s = &cpu_this()->steal;
    const volatile uint8_t *preempted = &s->preempted;
    uint64_t before;

    if (!pv_has(PV_STEAL_TIME)) {
        check_rdmsr_faults("refused.steal_read", MSR_PV_STEAL_TIME);
        check_wrmsr_faults("refused.steal_write", MSR_PV_STEAL_TIME, 0);
        return;
    }
    check_wrmsr_faults("steal.unaligned", MSR_PV_STEAL_TIME, ((uint64_t)s + 32) | PV_ENABLE);
    check(asm_rdmsr(MSR_PV_STEAL_TIME) == ((uint64_t)s | PV_ENABLE), "steal.reads_back", "%#lx",
          asm_rdmsr(MSR_PV_STEAL_TIME));
    before = pv_steal_ns(cpu_this());
    time_delay_us(SETTLE_US);
    check(pv_steal_ns(cpu_this()) >= before, "steal.grows", "it went back");
    check(*preempted == 0, "steal.running_not_preempted", "%u", *preempted);
    check(s->flags == 0, "steal.flags_zero", "%#x", s->flags);
    if (smp_count < 2)
        return;
    preempted = &smp_cpus[1]->steal.preempted;
    other_start(halted, NULL);
    other_wait_stage(1);
    time_delay_us(SETTLE_US);
    check(*preempted == 0, "steal.halted_not_preempted", "%u", *preempted);
    apic_send(smp_cpus[1]->apic_id, ICR_FIXED | ICR_ASSERT | VEC_WORK);
    other_end();
}

static uint64_t *flush_pte; /* of the one page at flush_va */
static volatile uint64_t *const flush_va = (uint64_t *)BIT(39);
static uint64_t *flush_pages[2];
static uint64_t flush_seen;  /* [a] what vCPU 1 read last */
static uint64_t flush_turns; /* [a] how often it read */
static uint32_t flush_stop;  /* [a] */

static bool flush_map(void)
{
    uint64_t *level = (uint64_t *)asm_read_cr3(), index = 1; /* BIT(39) is entry 1 of the PML4 */

    for (uint32_t i = 0; i < 3; i++) {
        uint64_t *next = mem_alloc(PAGE_BYTES, PAGE_BYTES);

        if (!next)
            return false;
        memset(next, 0, PAGE_BYTES);
        level[index] = (uint64_t)next | 3;
        level = next;
        index = 0;
    }
    flush_pte = level;
    for (uint32_t i = 0; i < 2; i++) {
        flush_pages[i] = mem_alloc(PAGE_BYTES, PAGE_BYTES);
        if (!flush_pages[i])
            return false;
        flush_pages[i][0] = i;
    }
    *flush_pte = (uint64_t)flush_pages[0] | 3;
    return true;
}

static void flush_reload(struct trap_frame *frame)
{
    (void)frame;
    asm_write_cr3(asm_read_cr3());
    apic_eoi();
}

static void flush_reader(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&flush_stop, __ATOMIC_RELAXED)) {
        __atomic_store_n(&flush_seen, *flush_va, __ATOMIC_RELEASE);
        __atomic_fetch_add(&flush_turns, 1, __ATOMIC_SEQ_CST);
    }
}

/* After two whole turns the last read began after now. */
static bool flush_wait_turns(void)
{
    uint64_t goal = __atomic_load_n(&flush_turns, __ATOMIC_SEQ_CST) + 2;
    uint64_t deadline = time_from_us(PATIENCE_US);

    while (__atomic_load_n(&flush_turns, __ATOMIC_SEQ_CST) < goal) {
        if (time_passed(deadline))
            return false;
        asm_pause();
    }
    return true;
}

/* One attempt with page `to`: 1 seen, 0 stale, -1 vCPU 1 was not caught preempted. */
static int flush_attempt(uint32_t to)
{
    uint8_t expected = STEAL_PREEMPTED;
    uint32_t reloads = irqs_of(1, VEC_RELOAD);

    __atomic_store_n(flush_pte, (uint64_t)flush_pages[to] | 3, __ATOMIC_SEQ_CST);
    if (__atomic_compare_exchange_n(&smp_cpus[1]->steal.preempted, &expected,
                                    STEAL_PREEMPTED | STEAL_FLUSH, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        return flush_wait_turns() && __atomic_load_n(&flush_seen, __ATOMIC_ACQUIRE) == to;
    apic_send(smp_cpus[1]->apic_id, ICR_FIXED | ICR_ASSERT | VEC_RELOAD);
    irqs_wait(1, VEC_RELOAD, reloads + 1);
    return -1;
}

static void flush_tests(void)
{
    uint64_t deadline = time_from_us(FLUSH_WAIT_US);
    uint32_t tried = 0, stale = 0, to = 0;

    if (!pv_has(PV_TLB_FLUSH | PV_STEAL_TIME) || smp_count < 2) {
        check_skip("tlb_flush", smp_count < 2 ? "one vCPU" : "not offered");
        return;
    }
    if (!flush_map()) {
        check_skip("tlb_flush", "no memory");
        return;
    }
    trap_set_handler(VEC_RELOAD, flush_reload);
    smp_run(1, flush_reader, NULL);
    while (tried < FLUSH_GOAL && !time_passed(deadline)) {
        int seen;

        if (__atomic_load_n(&smp_cpus[1]->steal.preempted, __ATOMIC_ACQUIRE) != STEAL_PREEMPTED)
            continue;
        to = !to;
        seen = flush_attempt(to);
        tried += seen >= 0;
        stale += seen == 0;
    }
    __atomic_store_n(&flush_stop, 1, __ATOMIC_RELAXED);
    smp_wait(1);
    if (!tried)
        check_skip("tlb_flush", "vCPU 1 was never preempted");
    else
        check(!stale, "tlb_flush", "%u of %u were stale", stale, tried);
}

void clock_tests(void)
{
    if (!pv.kvm) {
        check_skip("kvmclock and steal time", "no KVM ABI here");
        return;
    }
    kvmclock_tests();
    wall_clock_test();
    steal_tests();
    flush_tests();
}
