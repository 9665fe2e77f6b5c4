/*
 * Starting CPUs and handing them work.
 *
 * Decides: which APIC ids are tried and how long. A CPU claims its slot by exchanging the state
 * SMP_WAITED_FOR for SMP_UP; one that comes after it was given up parks itself for ever. Work is a
 * function pointer per CPU, published with release and cleared by that CPU; VEC_WORK wakes it from
 * HLT. An idle CPU looks for work with interrupts off and halts by STI;HLT, so no wake is lost.
 */
#include "tests/guests/rt/smp.h"
#include "tests/guests/rt/rt.h"

enum {
    WAIT_EXPECTED_US = 1000000, /* a CPU that should be there may wait for a busy host */
    WAIT_PROBE_US = 100000,
    INIT_DELAY_US = 200,
    SIPI_DELAY_US = 200,
    XAPIC_IDS = 255,
};

extern const uint8_t ap_trampoline[], ap_trampoline_end[];
_Noreturn void ap_main(void);

struct cpu *smp_cpus[RT_CPUS_MAX];
uint32_t smp_count;
uint64_t smp_stack_of_id[SMP_IDS_MAX]; /* stack tops, read by ap.S */

static struct cpu boot_cpu;

void smp_init_boot_cpu(void)
{
    uint8_t *stacks = mem_alloc(CPU_STACKS * RT_STACK_BYTES, RT_STACK_BYTES);

    if (!stacks)
        rt_fail("no memory for stacks");
    cpu_prepare(&boot_cpu, 0, 0, stacks); /* for NMI and double fault; it stays on boot_stack */
    *(struct cpu **)(uint64_t)boot_stack = &boot_cpu;
    cpu_load(&boot_cpu);
    apic_enable();
    boot_cpu.apic_id = apic_own_id();
    boot_cpu.state = SMP_UP;
    pv_enable();
    smp_cpus[0] = &boot_cpu;
    smp_count = 1;
}

void ap_main(void)
{
    struct cpu *cpu = cpu_this();
    uint32_t expected = SMP_WAITED_FOR;

    if (!__atomic_compare_exchange_n(&cpu->state, &expected, SMP_UP, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST))
        for (;;)
            asm_hlt();
    cpu_load(cpu);
    apic_enable();
    pv_enable();
    for (;;) {
        void (*fn)(void *);

        asm_cli();
        fn = __atomic_load_n(&cpu->fn, __ATOMIC_ACQUIRE);
        if (!fn) {
            asm_sti_hlt();
            continue;
        }
        asm_sti();
        fn(cpu->arg);
        __atomic_store_n(&cpu->fn, NULL, __ATOMIC_RELEASE);
    }
}

/* INIT, SIPI, SIPI, and a bounded wait for the CPU to claim its slot. */
static bool cpu_start(struct cpu *cpu, uint64_t wait_us)
{
    uint64_t deadline;
    uint32_t expected = SMP_WAITED_FOR;

    __atomic_store_n(&cpu->state, SMP_WAITED_FOR, __ATOMIC_SEQ_CST);
    apic_send(cpu->apic_id, ICR_INIT | ICR_ASSERT);
    time_delay_us(INIT_DELAY_US);
    for (uint32_t i = 0; i < 2; i++) {
        apic_send(cpu->apic_id, ICR_STARTUP | ICR_ASSERT | AP_TRAMPOLINE >> PAGE_SHIFT);
        time_delay_us(SIPI_DELAY_US);
        if (__atomic_load_n(&cpu->state, __ATOMIC_ACQUIRE) == SMP_UP)
            return true;
    }
    for (deadline = time_from_us(wait_us); !time_passed(deadline); asm_pause())
        if (__atomic_load_n(&cpu->state, __ATOMIC_ACQUIRE) == SMP_UP)
            return true;
    /* A CPU that claims the slot just now is up all the same. */
    return !__atomic_compare_exchange_n(&cpu->state, &expected, SMP_GIVEN_UP, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static bool id_try(uint32_t id, uint64_t wait_us)
{
    uint64_t bytes = ALIGN_UP(sizeof(struct cpu), RT_STACK_BYTES) + CPU_STACKS * RT_STACK_BYTES;
    uint8_t *block = mem_alloc(bytes, RT_STACK_BYTES);
    struct cpu *cpu = (struct cpu *)(block + CPU_STACKS * RT_STACK_BYTES);

    if (!block)
        return false;
    cpu_prepare(cpu, smp_count, id, block);
    smp_stack_of_id[id] = (uint64_t)block + RT_STACK_BYTES;
    if (!cpu_start(cpu, wait_us))
        return false;
    smp_cpus[smp_count++] = cpu;
    return true;
}

/*
 * APIC ids are `*package`, a power of two, apart from package to package; returns how many CPUs a
 * package has.
 */
static uint32_t package_shape(uint32_t *package)
{
    struct cpuid_regs r;
    uint32_t count = 1;

    if (asm_cpuid(0, 0).eax >= 0xb && asm_cpuid(0xb, 0).ebx) {
        r = asm_cpuid(0xb, 1);
        if (r.ebx & 0xffff)
            count = r.ebx & 0xffff;
    }
    r = asm_cpuid(1, 0);
    if (count == 1 && r.edx & 1u << 28 && (r.ebx >> 16 & 0xff))
        count = r.ebx >> 16 & 0xff;
    *package = 1u << bits_log2_ceil(count);
    return count;
}

void smp_start(void)
{
    uint32_t wanted = (uint32_t)opt_u64("cpus", 0);
    uint32_t limit = apic_is_x2 ? SMP_IDS_MAX : XAPIC_IDS;
    uint32_t package, count = package_shape(&package);

    memcpy((void *)(uint64_t)AP_TRAMPOLINE, ap_trampoline,
           (uint64_t)ap_trampoline_end - (uint64_t)ap_trampoline);
    for (uint32_t id = 0; id < limit; id++) {
        bool expected = wanted ? id < wanted : id < package && (id & (package - 1)) < count;
        bool is_up = id == boot_cpu.apic_id;

        if (smp_count == RT_CPUS_MAX || (wanted && smp_count >= wanted))
            break;
        if (wanted && id >= 4 * ALIGN_UP(wanted, package))
            break; /* fewer CPUs than asked for */
        if (!is_up)
            is_up = id_try(id, expected ? WAIT_EXPECTED_US : WAIT_PROBE_US);
        if (!is_up && !wanted && (id & (package - 1)) == 0)
            break; /* no further package */
    }
}

void smp_run(uint32_t index, void (*fn)(void *), void *arg)
{
    struct cpu *cpu = smp_cpus[index];

    cpu->arg = arg;
    __atomic_store_n(&cpu->fn, fn, __ATOMIC_RELEASE);
    apic_send(cpu->apic_id, ICR_FIXED | ICR_ASSERT | VEC_WORK);
}

bool smp_is_done(uint32_t index)
{
    return !__atomic_load_n(&smp_cpus[index]->fn, __ATOMIC_ACQUIRE);
}

void smp_wait(uint32_t index)
{
    while (!smp_is_done(index))
        asm_pause();
}

void smp_run_first(uint32_t n, void (*fn)(void *), void *arg)
{
    for (uint32_t i = 1; i < n; i++)
        smp_run(i, fn, arg);
    fn(arg);
    for (uint32_t i = 1; i < n; i++)
        smp_wait(i);
}

void smp_send_init(uint32_t index)
{
    apic_send(smp_cpus[index]->apic_id, ICR_INIT | ICR_ASSERT);
}

bool smp_restart(uint32_t index)
{
    struct cpu *cpu = smp_cpus[index];

    cpu->fn = NULL;
    return cpu_start(cpu, WAIT_EXPECTED_US);
}
