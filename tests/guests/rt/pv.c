/*
 * Detection and use of KVM's paravirtual ABI.
 *
 * The vendor of CPUID chooses VMCALL or VMMCALL, as Linux does. Sources: Linux 6.1
 * Documentation/virt/kvm/x86/{cpuid,hypercalls,msr}.rst.
 */
#include "tests/guests/rt/pv.h"
#include "tests/guests/rt/rt.h"

enum {
    LEAF_KVM = 0x40000000,
    LEAF_KVM_FEATURES = 0x40000001,
    LEAF_NUMEN = 0x40000100,
    LEAF_NUMEN_FEATURES = 0x40000101,
};

struct pv_state pv;

static void signature_text(char *text, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t words[3] = {a, b, c};

    memcpy(text, words, sizeof(words));
    text[12] = 0;
}

void pv_init(void)
{
    struct cpuid_regs r = asm_cpuid(0, 0);
    char numen[13];

    signature_text(pv.vendor, r.ebx, r.edx, r.ecx);
    pv.amd = !strcmp(pv.vendor, "AuthenticAMD") || !strcmp(pv.vendor, "HygonGenuine");
    pv.hypervisor = asm_cpuid(1, 0).ecx >> 31;
    if (!pv.hypervisor)
        return;
    r = asm_cpuid(LEAF_KVM, 0);
    signature_text(pv.signature, r.ebx, r.ecx, r.edx);
    pv.kvm = !strcmp(pv.signature, "KVMKVMKVM");
    if (pv.kvm && r.eax >= LEAF_KVM_FEATURES)
        pv.features = asm_cpuid(LEAF_KVM_FEATURES, 0).eax;
    r = asm_cpuid(LEAF_NUMEN, 0);
    signature_text(numen, r.ebx, r.ecx, r.edx);
    pv.numen = !strncmp(numen, "Numen", 5);
    pv.yields =
        pv.numen && r.eax >= LEAF_NUMEN_FEATURES && (asm_cpuid(LEAF_NUMEN_FEATURES, 0).eax & 1);
}

void pv_enable(void)
{
    struct cpu *cpu = cpu_this();

    if (pv_has(PV_CLOCKSOURCE2))
        asm_wrmsr(MSR_PV_SYSTEM_TIME, (uint64_t)&cpu->clock | PV_ENABLE);
    if (pv_has(PV_STEAL_TIME))
        asm_wrmsr(MSR_PV_STEAL_TIME, (uint64_t)&cpu->steal | PV_ENABLE);
}

int64_t pv_call(uint64_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    int64_t result;

    if (pv.amd)
        asm volatile("vmmcall" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
    else
        asm volatile("vmcall" : "=a"(result) : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
    return result;
}

bool pv_call_safe(bool vmmcall, uint64_t nr, uint64_t a, int64_t *result)
{
    uint8_t fault;

    if (vmmcall)
        asm volatile("clc\n1: vmmcall\n2: setc %1\n" EXTABLE("1b", "2b")
                     : "=a"(*result), "=qm"(fault)
                     : "a"(nr), "b"(a), "c"(0ul), "d"(0ul), "S"(0ul)
                     : "memory", "cc");
    else
        asm volatile("clc\n1: vmcall\n2: setc %1\n" EXTABLE("1b", "2b")
                     : "=a"(*result), "=qm"(fault)
                     : "a"(nr), "b"(a), "c"(0ul), "d"(0ul), "S"(0ul)
                     : "memory", "cc");
    return !fault;
}

uint64_t pv_clock_ns(void)
{
    const volatile struct pv_clock *c = &cpu_this()->clock;
    uint32_t version;
    uint64_t ns;

    do {
        uint64_t ticks;

        version = __atomic_load_n(&c->version, __ATOMIC_ACQUIRE) & ~1u;
        ticks = asm_rdtsc() - c->tsc_stamp;
        ticks = c->shift < 0 ? ticks >> -c->shift : ticks << c->shift;
        ns = c->system_ns + (uint64_t)((unsigned __int128)ticks * c->mul >> 32);
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the fields before the second look */
    } while (__atomic_load_n(&c->version, __ATOMIC_RELAXED) != version);
    return ns;
}

uint64_t pv_wall_start_ns(void)
{
    static volatile struct {
        uint32_t version, seconds, nanoseconds;
    } wall __attribute__((aligned(16)));

    asm_wrmsr(MSR_PV_WALL_CLOCK, (uint64_t)&wall);
    return wall.seconds * 1000000000ul + wall.nanoseconds;
}

uint64_t pv_steal_ns(const struct cpu *cpu)
{
    const volatile struct pv_steal *s = &cpu->steal;
    uint32_t version;
    uint64_t ns;

    do {
        version = __atomic_load_n(&s->version, __ATOMIC_ACQUIRE) & ~1u;
        ns = s->steal_ns;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (__atomic_load_n(&s->version, __ATOMIC_RELAXED) != version);
    return ns;
}

uint64_t pv_tsc_khz(void)
{
    const volatile struct pv_clock *c = &cpu_this()->clock;
    uint64_t khz;

    if (!pv_has(PV_CLOCKSOURCE2) || !c->mul)
        return 0;
    khz = (1000000ull << 32) / c->mul; /* ns per tick = mul * 2^shift / 2^32 */
    return c->shift < 0 ? khz << -c->shift : khz >> c->shift;
}
