/*
 * exits: TSC ticks per operation that makes a guest leave (CPUID, hypercalls, MSRs, EOI, IPI,
 * ports). In Bochs, and under QEMU's -icount shift=0, a tick is an instruction.
 *
 * Each operation is timed in batches of n; the figure is the median batch less the loop's own cost,
 * divided by n and rounded. What does not exist here (no hypervisor, no such call) prints "n/a" and
 * is left out of the JSON line `EXITS {...}`. Options: n=N (default 1000), batches=N (default 11,
 * at most 99), only=NAME.
 */
#include "tests/guests/rt/rt.h"

enum {
    BATCHES_MAX = 99,
    CALL_UNKNOWN = 9999,
    PORT_DELAY = 0x80,
    PORT_COM1_LSR = 0x3fd,
    VEC_SELF = 0x50,
    VEC_INT = 0x51,
};

static uint64_t turns;
static uint32_t batches;
static uint32_t own_id;    /* of the vCPU that measures */
static uint64_t apic_base; /* what stands in the MSR, to be written again */

/*
 * Each operation stands in a loop of its own, so that a turn holds its instruction and at most the
 * loading of its arguments.
 */
#define LOOP(name, body)                            \
    static void loop_##name(void)                   \
    {                                               \
        for (uint64_t i = 0, n = turns; i < n; i++) \
            body;                                   \
    }

#define CALL(instruction, nr, arg)                                                         \
    asm volatile(instruction                                                               \
                 : "=a"(result)                                                            \
                 : "a"((uint64_t)(nr)), "b"(rbx), "c"((uint64_t)(arg)), "d"(0ul), "S"(0ul) \
                 : "memory")

#define LOOP_CALL(name, nr, first, second)              \
    static void loop_##name(void)                       \
    {                                                   \
        uint64_t rbx = (first), result;                 \
                                                        \
        if (pv.amd)                                     \
            for (uint64_t i = 0, n = turns; i < n; i++) \
                CALL("vmmcall", nr, second);            \
        else                                            \
            for (uint64_t i = 0, n = turns; i < n; i++) \
                CALL("vmcall", nr, second);             \
        (void)result;                                   \
    }

LOOP(nothing, asm volatile(""))
LOOP(cpuid, asm_cpuid(0, 0))
LOOP_CALL(hypercall, CALL_UNKNOWN, 0, 0)
LOOP_CALL(kick, CALL_KICK_CPU, 0, own_id)
LOOP_CALL(yield, CALL_YIELD, 0, 0)
LOOP_CALL(sched_yield, CALL_SCHED_YIELD, own_id, 0)
LOOP(msr, asm_rdmsr(MSR_APIC_BASE))
LOOP(wrmsr, asm_wrmsr(MSR_APIC_BASE, apic_base))
LOOP(eoi, apic_eoi())
LOOP(ipi, apic_self_ipi(VEC_SELF))
LOOP(int, asm volatile("int %0" : : "i"(VEC_INT)))
LOOP(io, asm_out8(PORT_DELAY, 0))
LOOP(io_in, asm_in8(PORT_COM1_LSR))

static void exits_self_ipi(struct trap_frame *frame)
{
    (void)frame;
    apic_eoi();
}

static void exits_int(struct trap_frame *frame)
{
    (void)frame;
}

static bool have_always(void)
{
    return true;
}

static bool have_kvm(void)
{
    return pv.kvm;
}

static bool have_unhalt(void)
{
    return pv_has(PV_UNHALT);
}

static bool have_sched_yield(void)
{
    return pv_has(PV_SCHED_YIELD);
}

static bool have_yield(void)
{
    return pv.yields;
}

static const struct {
    const char *key;
    const char *what;
    void (*loop)(void);
    bool (*have)(void);
} operations[] = {
    {"hypercall", "hypercall 9999, unknown", loop_hypercall, have_kvm},
    {"cpuid", "CPUID leaf 0", loop_cpuid, have_always},
    {"kick", "hypercall 5, kick self", loop_kick, have_unhalt},
    {"yield", "hypercall 0x100, yield", loop_yield, have_yield},
    {"sched_yield", "hypercall 11, to oneself", loop_sched_yield, have_sched_yield},
    {"msr", "RDMSR APIC_BASE", loop_msr, have_always},
    {"wrmsr", "WRMSR APIC_BASE, as it was", loop_wrmsr, have_always},
    {"eoi", "EOI with nothing in service", loop_eoi, have_always},
    {"ipi", "self-IPI taken, with its handler and EOI", loop_ipi, have_always},
    {"int", "INT and its handler: the guest's own part of ipi", loop_int, have_always},
    {"io", "OUT to port 0x80", loop_io, have_always},
    {"io_in", "IN from the UART's status", loop_io_in, have_always},
};

static uint64_t batch_median(void (*loop)(void))
{
    uint64_t sorted[BATCHES_MAX] = {0};

    loop(); /* once outside the measurement, for what is set up on first use */
    for (uint32_t i = 0; i < batches; i++) {
        uint64_t start = asm_rdtsc(), ticks;
        uint32_t at = i;

        loop();
        ticks = asm_rdtsc() - start;
        for (; at && sorted[at - 1] > ticks; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ticks;
    }
    return sorted[batches / 2];
}

/* 0 when the operation is lost in the noise of the loop. */
static uint64_t exits_measure(void (*loop)(void), uint64_t loop_ticks)
{
    uint64_t ticks = batch_median(loop);

    return ticks > loop_ticks ? (ticks - loop_ticks + turns / 2) / turns : 0;
}

static bool exits_wanted(const char *key)
{
    return !opt_flag("only") || opt_is("only", key);
}

int guest_main(void)
{
    uint64_t loop_ticks, result[ARRAY_SIZE(operations)];
    const char *comma = "";

    turns = MAX(opt_u64("n", 1000), 1);
    batches = (uint32_t)MIN(MAX(opt_u64("batches", 11), 1), BATCHES_MAX);
    trap_set_handler(VEC_SELF, exits_self_ipi);
    trap_set_handler(VEC_INT, exits_int);
    own_id = smp_cpus[0]->apic_id;
    apic_base = asm_rdmsr(MSR_APIC_BASE);
    loop_ticks = batch_median(loop_nothing);
    rt_printf("exits: %u batches of %lu, loop %lu ticks a batch, %s, %s\n", batches, turns,
              loop_ticks, apic_is_x2 ? "x2APIC" : "xAPIC", pv.kvm ? "KVM ABI" : "no KVM ABI");
    for (uint32_t i = 0; i < ARRAY_SIZE(operations); i++) {
        bool have = operations[i].have() && exits_wanted(operations[i].key);

        result[i] = have ? exits_measure(operations[i].loop, loop_ticks) : UINT64_MAX;
        if (have)
            rt_printf("exits: %-12s %8lu  %s\n", operations[i].key, result[i], operations[i].what);
        else
            rt_printf("exits: %-12s %8s  %s\n", operations[i].key, "n/a", operations[i].what);
    }
    rt_printf("EXITS {");
    for (uint32_t i = 0; i < ARRAY_SIZE(operations); i++) {
        if (result[i] == UINT64_MAX)
            continue;
        rt_printf("%s\"%s\":%lu", comma, operations[i].key, result[i]);
        comma = ",";
    }
    rt_printf("}\n");
    return 0;
}
