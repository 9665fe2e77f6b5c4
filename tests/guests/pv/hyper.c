/*
 * Hypercalls and CPUID's promises (docs/guest-abi.md), all but those about halting.
 */
#include "tests/guests/pv/check.h"

enum {
    VEC_TEST = 0x70,
    CALL_UNKNOWN = 9999,
    BAD_APIC_ID = 0xfffe,
    USER_STACK_BYTES = 256,
    USER_FLAGS = 0x202, /* interrupts on */
};

static void cpuid_tests(void)
{
    struct cpuid_regs r1 = asm_cpuid(1, 0), r = asm_cpuid(0x40000001, 0);

    check(!(r.edx & 1), "hints.realtime_clear", "EDX is %#x", r.edx);
    check(!(r1.ecx & 1u << 3), "cpuid.no_monitor", "MONITOR is shown");
    check(!(r1.ecx & 1u << 5), "cpuid.no_vmx", "VMX is shown");
    check(!(asm_cpuid(0x80000001, 0).ecx & 1u << 2), "cpuid.no_svm", "SVM is shown");
    check(!(pv.features & ~0x01002aabu), "features.known_only", "features are %#x", pv.features);
    if (!pv.numen)
        check_skip("numen.yield_announced", "not Numen");
    else
        check(pv.yields, "numen.yield_announced", "leaf 0x40000101 EAX bit 0 is clear");
}

static void unknown_tests(void)
{
    static const uint64_t numbers[] = {CALL_UNKNOWN, 0x101, 0xffffffff, UINT64_MAX};
    bool ok = true;
    int64_t result = 0;

    for (uint32_t i = 0; ok && i < ARRAY_SIZE(numbers); i++) {
        result = pv_call(numbers[i], 0, 0, 0, 0);
        ok = result == PV_ENOSYS;
    }
    check(ok, "call.unknown", "result %ld", result);
    for (uint32_t i = 0; i < 2; i++) {
        ok = pv_call_safe(i, CALL_UNKNOWN, 0, &result);
        check(ok && result == PV_ENOSYS, i ? "call.by_vmmcall" : "call.by_vmcall", "%s, result %ld",
              ok ? "no fault" : "it faulted", result);
    }
}

/* An exit without effect is stepped over, once. On bare metal INVD would lose memory. */
static void cache_test(void)
{
    uint32_t steps = 0;

    if (!pv.numen) {
        check_skip("invd.skipped_once", "not Numen");
        return;
    }
    asm volatile("invd\n\tincl %0\n\tincl %0\n\tincl %0" : "+a"(steps));
    check(steps == 3, "invd.skipped_once", "%u of 3 instructions behind it ran", steps);
}

static void registers_tests(void)
{
    uint64_t b = 0x1111222233334444, c = 0x2222333344445555, d = 0x3333444455556666;
    uint64_t s = 0x4444555566667777;
    int64_t result;

    if (pv.amd)
        asm volatile("vmmcall" : "=a"(result), "+b"(b), "+c"(c), "+d"(d), "+S"(s) : "0"(9999ul));
    else
        asm volatile("vmcall" : "=a"(result), "+b"(b), "+c"(c), "+d"(d), "+S"(s) : "0"(9999ul));
    check(b == 0x1111222233334444 && c == 0x2222333344445555 && d == 0x3333444455556666 &&
              s == 0x4444555566667777,
          "call.registers_kept", "rbx %lx rcx %lx rdx %lx rsi %lx", b, c, d, s);
}

/* Ring-3 code: RDI is the number. Should the instruction fault, the fix-up goes on behind it. */
#define USER_CALL(name, instruction)                         \
    void name(void);                                         \
    asm(".text\n.globl " #name "\n" #name ":\n"              \
        "mov %rdi, %rax\n xor %ebx, %ebx\n xor %ecx, %ecx\n" \
        "xor %edx, %edx\n xor %esi, %esi\n"                  \
        "1: " instruction "\n2: int $0x80\n" EXTABLE("1b", "2b"))

USER_CALL(user_vmcall, "vmcall");
USER_CALL(user_vmmcall, "vmmcall");

void user_increment(void);
asm(".text\n.globl user_increment\nuser_increment:\n lea 1(%rdi), %rax\n int $0x80\n");

static int64_t user_call(void (*code)(void), uint64_t arg)
{
    static uint8_t stack[USER_STACK_BYTES] __attribute__((aligned(16)));
    uint64_t *rsp0 = (uint64_t *)((uint8_t *)&cpu_this()->tss + offsetof(struct tss, rsp));

    return (int64_t)user_run(code, (uint64_t)stack + sizeof(stack), rsp0, USER_FLAGS, arg);
}

static void user_tests(void)
{
    static const uint64_t numbers[] = {CALL_KICK_CPU, CALL_YIELD, CALL_UNKNOWN};
    int64_t result = 0;
    bool ok = true;

    for (uint32_t i = 0; ok && i < ARRAY_SIZE(numbers); i++) {
        result = user_call(pv.amd ? user_vmmcall : user_vmcall, numbers[i]);
        ok = result == PV_EPERM;
    }
    check(ok, "call.ring3", "result %ld", result);
}

static void refused_tests(void)
{
    static const struct {
        uint32_t feature, call;
        const char *name;
    } calls[] = {
        {PV_UNHALT, CALL_KICK_CPU, "refused.kick"},
        {PV_SEND_IPI, CALL_SEND_IPI, "refused.send_ipi"},
        {PV_SCHED_YIELD, CALL_SCHED_YIELD, "refused.sched_yield"},
    };

    for (uint32_t i = 0; i < ARRAY_SIZE(calls); i++) {
        int64_t result;

        if (pv_has(calls[i].feature)) {
            check_skip(calls[i].name, "it is offered");
            continue;
        }
        result = pv_call(calls[i].call, 0, 0, 0, 0);
        check(result == PV_ENOSYS, calls[i].name, "result %ld", result);
    }
}

static void send_ipi_tests(void)
{
    uint32_t before[2], id = smp_cpus[smp_count - 1]->apic_id, last = smp_count - 1;
    uint64_t mask = 0;
    int64_t result, targets = 0;
    bool all;

    if (!pv_has(PV_SEND_IPI)) {
        check_skip("send_ipi", "not offered");
        return;
    }
    for (uint32_t i = 0; i < smp_count; i++) {
        if (smp_cpus[i]->apic_id >= 64)
            continue;
        mask |= BIT(smp_cpus[i]->apic_id);
        targets++;
    }
    before[0] = irqs_of(0, VEC_TEST);
    before[1] = irqs_of(last, VEC_TEST);
    result = pv_call(CALL_SEND_IPI, mask, 0, 0, VEC_TEST);
    check(result == targets, "send_ipi.count", "%ld for mask %#lx", result, mask);
    all = irqs_wait(0, VEC_TEST, before[0] + 1);
    if (last && id < 64)
        all &= irqs_wait(last, VEC_TEST, before[1] + 1);
    check(all, "send_ipi.delivered", "an IPI is missing");

    before[1] = irqs_of(last, VEC_TEST);
    result = pv_call(CALL_SEND_IPI, 1, 0, id, VEC_TEST);
    check(result == 1 && irqs_wait(last, VEC_TEST, before[1] + 1), "send_ipi.lowest_id",
          "result %ld", result);
    result = pv_call(CALL_SEND_IPI, ~0ull, ~0ull, BAD_APIC_ID, VEC_TEST);
    check(result == 0, "send_ipi.absent_ids", "result %ld", result);
    if (!last) {
        check_skip("send_ipi.nmi", "one vCPU");
        return;
    }
    before[1] = irqs_of(last, VEC_NMI);
    result = pv_call(CALL_SEND_IPI, 1, 0, id, ICR_NMI);
    check(result == 1 && irqs_wait(last, VEC_NMI, before[1] + 1), "send_ipi.nmi", "result %ld",
          result);
}

static void yield_tests(void)
{
    int64_t result;

    if (pv.yields) {
        result = pv_call(CALL_YIELD, 0, 0, 0, 0);
        check(result == 0, "yield.result", "%ld", result);
    } else {
        check_skip("yield.result", "not offered");
    }
    if (!pv_has(PV_SCHED_YIELD)) {
        check_skip("sched_yield", "not offered");
        return;
    }
    result = pv_call(CALL_SCHED_YIELD, BAD_APIC_ID, 0, 0, 0);
    check(result == 0, "sched_yield.bad_id", "%ld", result);
    result = pv_call(CALL_SCHED_YIELD, smp_cpus[0]->apic_id, 0, 0, 0);
    check(result == 0, "sched_yield.self", "%ld", result);
    result = pv_call(CALL_SCHED_YIELD, smp_cpus[smp_count - 1]->apic_id, 0, 0, 0);
    check(result == 0, "sched_yield.halted", "%ld", result);
}

void hyper_tests(void)
{
    check(user_call(user_increment, 41) == 42, "ring3.enter", "wrong result");
    if (!pv.kvm) {
        check_skip("hypercalls", "no KVM ABI here");
        return;
    }
    cpuid_tests();
    unknown_tests();
    registers_tests();
    cache_test();
    user_tests();
    refused_tests();
    send_ipi_tests();
    yield_tests();
}
