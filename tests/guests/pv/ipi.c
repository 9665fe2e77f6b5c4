/*
 * IPIs between vCPUs: physical, logical, lowest priority, shorthands, broadcast, NMI, INIT, SIPI.
 */
#include "tests/guests/pv/check.h"

enum { VEC_TEST = 0x74, ABSENT_ID = 200, FIXED = ICR_FIXED | ICR_ASSERT | VEC_TEST };
enum { NMIS = 300, NO_MSR = 0x123456 };

static uint32_t before[RT_CPUS_MAX];
static uint64_t beats;     /* [a] */
static uint32_t beat_stop; /* [a] */

static uint32_t broadcast_id(void)
{
    return apic_is_x2 ? UINT32_MAX : 0xff;
}

/* Sends, then checks that vCPU i took one interrupt where `expected` has bit i, else none. */
static void expect_irqs(const char *name, uint32_t dest, uint32_t icr, uint64_t expected)
{
    uint32_t wrong = 0, at = 0;

    for (uint32_t i = 0; i < smp_count; i++)
        before[i] = irqs_of(i, VEC_TEST);
    apic_send(dest, icr);
    for (uint32_t i = 0; i < smp_count && i < 64; i++)
        if (expected & BIT(i))
            irqs_wait(i, VEC_TEST, before[i] + 1);
    time_delay_us(SETTLE_US); /* for those that should not come */
    for (uint32_t i = 0; i < smp_count && i < 64; i++) {
        if (irqs_of(i, VEC_TEST) - before[i] == (expected >> i & 1))
            continue;
        wrong++;
        at = i;
    }
    check(!wrong, name, "%u vCPUs wrong, vCPU %u took %u", wrong, at,
          irqs_of(at, VEC_TEST) - before[at]);
}

static uint32_t logical_ids[2];

static void logical_read(void *arg)
{
    *(uint32_t *)arg = apic_read(APIC_LDR);
}

static void logical_tests(void)
{
    uint32_t sum = 0, both;

    logical_read(&logical_ids[0]);
    smp_run(1, logical_read, &logical_ids[1]);
    smp_wait(1);
    if (!pv.kvm && !logical_ids[0]) {
        check_skip("logical", "LDR reads 0 (Bochs has no logical x2APIC mode)");
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t id = smp_cpus[i]->apic_id, derived = id >> 4 << 16 | 1u << (id & 15);

        if (!apic_is_x2) {
            logical_ids[i] >>= 24;
            continue;
        }
        check(logical_ids[i] == derived, "logical.ldr", "%#x for id %u", logical_ids[i], id);
        logical_ids[i] = derived;
    }
    if (apic_is_x2 && smp_cpus[1]->apic_id > 15) {
        check_skip("logical.both", "in two clusters");
        return;
    }
    both = logical_ids[0] | logical_ids[1];
    expect_irqs("logical.one", logical_ids[1], ICR_LOGICAL | FIXED, BIT(1));
    if (smp_count <= 8) /* flat xAPIC ids repeat after 8 */
        expect_irqs("logical.both", both, ICR_LOGICAL | FIXED, BIT(0) | BIT(1));
    if (smp_count > 8)
        return;
    for (uint32_t i = 0; i < smp_count; i++)
        before[i] = irqs_of(i, VEC_TEST);
    apic_send(both, ICR_LOGICAL | ICR_LOWEST | ICR_ASSERT | VEC_TEST);
    time_delay_us(SETTLE_US);
    for (uint32_t i = 0; i < smp_count; i++)
        sum += irqs_of(i, VEC_TEST) - before[i];
    check(sum == 1, "lowest_priority", "%u vCPUs took it", sum);
}

static void beat(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&beat_stop, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&beats, 1, __ATOMIC_SEQ_CST);
        asm_pause();
    }
}

static bool beats_go_on(void)
{
    uint64_t was = __atomic_load_n(&beats, __ATOMIC_SEQ_CST), deadline = time_from_us(PATIENCE_US);

    while (__atomic_load_n(&beats, __ATOMIC_SEQ_CST) == was)
        if (time_passed(deadline))
            return false;
    return true;
}

static void init_tests(void)
{
    uint64_t was;

    __atomic_store_n(&beat_stop, 0, __ATOMIC_SEQ_CST);
    smp_run(1, beat, NULL);
    check(beats_go_on(), "init.running_before", "vCPU 1 does not run");
    apic_send(smp_cpus[1]->apic_id, ICR_STARTUP | ICR_ASSERT | AP_TRAMPOLINE >> PAGE_SHIFT);
    time_delay_us(SETTLE_US);
    check(beats_go_on(), "sipi.ignored_when_running", "vCPU 1 stopped");
    smp_send_init(1);
    time_delay_us(SETTLE_US);
    was = __atomic_load_n(&beats, __ATOMIC_SEQ_CST);
    time_delay_us(SETTLE_US);
    check(__atomic_load_n(&beats, __ATOMIC_SEQ_CST) == was, "init.stops", "vCPU 1 runs on");
    expect_irqs("init.waits_for_sipi", smp_cpus[1]->apic_id, FIXED, 0);
    check(smp_restart(1), "init.again", "vCPU 1 does not start");
    expect_irqs("init.irqs_after", smp_cpus[1]->apic_id, FIXED, BIT(1));
}

static void nmi_closed(void *arg)
{
    uint32_t nmis = irqs_of(1, VEC_NMI);

    (void)arg;
    asm_cli();
    other_stage(1);
    irqs_wait(1, VEC_NMI, nmis + 1);
    other_stage(irqs_of(1, VEC_NMI) == nmis + 1 ? 2 : 1);
    asm_sti();
}

static void nmi_test(void)
{
    other_start(nmi_closed, NULL);
    other_wait_stage(1);
    apic_send(smp_cpus[1]->apic_id, ICR_NMI | ICR_ASSERT);
    check(other_wait_stage(2), "nmi.with_if_off", "it never came");
    other_end();
}

static void fault_often(void *arg)
{
    uint64_t value;

    (void)arg;
    other_stage(1);
    while (other_stage_now() == 1)
        asm_rdmsr_safe(NO_MSR, &value);
}

/* An NMI that comes while another event goes in waits for it, and is not lost. */
static void nmi_behind_fault_test(void)
{
    uint32_t taken = 0;

    other_start(fault_often, NULL);
    other_wait_stage(1);
    for (uint32_t start = irqs_of(1, VEC_NMI); taken < NMIS; taken++) {
        apic_send(smp_cpus[1]->apic_id, ICR_NMI | ICR_ASSERT);
        if (!irqs_wait(1, VEC_NMI, start + taken + 1))
            break;
    }
    check(taken == NMIS, "nmi.behind_fault", "number %u was lost", taken);
    other_stage(2);
    other_end();
}

void ipi_tests(void)
{
    uint64_t all = smp_count >= 64 ? ~0ull : BIT(smp_count) - 1;

    expect_irqs("ipi.to_oneself", smp_cpus[0]->apic_id, FIXED, BIT(0));
    expect_irqs("ipi.self_shorthand", 0, ICR_SELF | FIXED, BIT(0));
    expect_irqs("ipi.all_shorthand", 0, ICR_ALL | FIXED, all);
    expect_irqs("ipi.others_shorthand", 0, ICR_OTHERS | FIXED, all & ~1ull);
    expect_irqs("ipi.broadcast_id", broadcast_id(), FIXED, all);
    if (smp_count <= 64)
        expect_irqs("ipi.absent_id", ABSENT_ID, FIXED, 0);
    if (smp_count < 2) {
        check_skip("ipi", "one vCPU");
        return;
    }
    expect_irqs("ipi.physical", smp_cpus[1]->apic_id, FIXED, BIT(1));
    logical_tests();
    nmi_test();
    nmi_behind_fault_test();
    init_tests();
}
