/*
 * state: every vCPU fills all its registers with a pattern of its own, gives the CPU away again and
 * again, and finds all of them as they were. Two such VMs on one CPU test that the host keeps the
 * state of vCPUs apart.
 *
 * Checked: general registers and flags, the rows of state/sysregs.c, vector registers. The pattern
 * comes from seed=, the vCPU and the round; a new one is loaded every change= times.
 * Options: n=N (default 10000), seed=N (default 1; give each VM another), how=yield|hlt|pause|mix
 * (default mix: mostly yields where the hypercall is there, else PAUSE loops, and now and then a
 * HLT), change=N (default 100), pauses=N (in one PAUSE loop; default 500), us=N (timer period for
 * HLT; default 1000).
 */
#include "tests/guests/state/state.h"

enum {
    VEC_TICK = 0xe0,      /* above every TPR that sysregs.c loads */
    FLAGS_TESTED = 0xcd5, /* CF PF AF ZF SF DF OF */
    FLAGS_ON = 0x202,     /* IF and the bit that is always 1 */
};

static uint64_t times, seed, change, pauses, period_us;
static uint32_t failed; /* [a] vCPUs that found a difference */

static void state_tick(struct trap_frame *frame)
{
    (void)frame;
    apic_eoi();
}

static enum state_way state_choose(uint64_t i)
{
    enum state_way yield = pv.amd ? WAY_VMMCALL : WAY_VMCALL;

    if (opt_is("how", "hlt"))
        return WAY_HLT;
    if (opt_is("how", "pause"))
        return WAY_PAUSE;
    if (opt_is("how", "yield") && pv.yields)
        return yield;
    if (i % 64 == 63)
        return WAY_HLT;
    return pv.yields && i % 16 ? yield : WAY_PAUSE;
}

static bool gprs_cross(uint64_t key, enum state_way way, struct state_fault *fault)
{
    static const char names[GPRS][6] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8",
                                        "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "flags"};
    uint64_t load[GPRS], stored[GPRS];

    for (uint32_t i = 0; i < GPRS; i++)
        load[i] = state_hash(key + i);
    load[GPR_FLAGS] = (load[GPR_FLAGS] & FLAGS_TESTED) | FLAGS_ON;
    if (way == WAY_PAUSE)
        load[GPR_RCX] = pauses;
    else if (way != WAY_HLT)
        load[GPR_RAX] = CALL_YIELD;
    state_cross(load, stored, way);
    if (way == WAY_PAUSE)
        load[GPR_RCX] = 0;
    else if (way != WAY_HLT)
        load[GPR_RAX] = 0;
    for (uint32_t i = 0; i < GPRS; i++) {
        if (stored[i] == load[i])
            continue;
        rt_snprintf(fault->what, sizeof(fault->what), "%s", names[i]);
        fault->is = stored[i];
        fault->should_be = load[i];
        return false;
    }
    return true;
}

static bool state_rounds(struct vectors *v, struct state_fault *fault, uint64_t *at,
                         enum state_way *way)
{
    uint64_t base = seed << 20 ^ (uint64_t)cpu_this()->index << 12, key = 0;

    for (*at = 0; *at < times; ++*at) {
        if (*at % change == 0) {
            key = state_hash(base + *at / change);
            sysregs_load(key);
            vectors_load(v, key);
        }
        *way = state_choose(*at);
        if (!gprs_cross(key + *at, *way, fault) || !sysregs_check(key, fault) ||
            !vectors_check(v, fault))
            return false;
    }
    return true;
}

static void state_work(void *arg)
{
    static const char *const ways[] = {"yield", "yield", "hlt", "pause"};
    struct vectors *v = (struct vectors *)arg + cpu_this()->index;
    struct state_fault fault = {0};
    enum state_way way = WAY_PAUSE;
    uint64_t at;

    apic_timer_periodic(VEC_TICK, period_us);
    if (!state_rounds(v, &fault, &at, &way)) {
        __atomic_fetch_add(&failed, 1, __ATOMIC_SEQ_CST);
        rt_printf("STATE FAIL vCPU %u after %lu (%s): %s is %#lx, should be %#lx\n",
                  cpu_this()->index, at, ways[way], fault.what, fault.is, fault.should_be);
    }
    apic_timer_stop();
    asm_write_dr7(0x400);
    asm_write_cr8(0);
}

int guest_main(void)
{
    static struct vectors vectors[RT_CPUS_MAX];

    times = opt_u64("n", 10000);
    seed = opt_u64("seed", 1);
    change = MAX(opt_u64("change", 100), 1);
    pauses = MAX(opt_u64("pauses", 500), 1);
    period_us = MAX(opt_u64("us", 1000), 1);
    trap_set_handler(VEC_TICK, state_tick);
    vectors_init();
    sysregs_init();
    for (uint32_t i = 0; i < smp_count; i++)
        if (!vectors_alloc(&vectors[i]))
            rt_fail("no memory for the XSAVE areas");
    rt_printf("state: %u vCPUs, n=%lu seed=%lu, XSAVE components %#lx, %s\n", smp_count, times,
              seed, vectors_offered(),
              pv.yields ? "yields by hypercall" : "no yield hypercall here");
    smp_run_first(smp_count, state_work, vectors);
    if (failed)
        return 1;
    rt_printf("STATE ok n=%lu\n", times);
    return 0;
}
