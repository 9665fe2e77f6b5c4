/*
 * Descriptors and traps of a guest CPU.
 *
 * Decides: which stack a trap runs on, what happens to a trap nobody handles. Does not decide what
 * an interrupt means: trap_set_handler. Faults of the `_safe` instructions (asm.h) continue at the
 * address of the .extable with the carry flag set.
 */
#include "tests/guests/rt/cpu.h"
#include "tests/guests/rt/rt.h"

struct gate {
    uint16_t offset_low;
    uint16_t selector;
    uint8_t ist;
    uint8_t type;
    uint16_t offset_mid;
    uint32_t offset_high;
    uint32_t reserved;
};
_Static_assert(sizeof(struct gate) == 16, "IDT gate");

struct __attribute__((packed)) descriptor_ptr {
    uint16_t limit;
    uint64_t base;
};

enum {
    GATE_INTERRUPT = 0x8e,
    GATE_INTERRUPT_USER = 0xee,
    SEL_CODE = 0x08,
    SEL_TSS = 0x28,
    IST_NMI = 1,
    IST_DF = 2,
    FLAG_CARRY = 0x1,
    VECTORS = 256,
    STUB_BYTES = 16,
};

extern const uint8_t trap_stubs[];
extern const uint32_t rt_extable_start[][2], rt_extable_end[][2];
void user_exit(void);
void trap_dispatch(struct trap_frame *frame);

static struct gate idt[VECTORS]; /* [i] */
static trap_fn *handlers[VECTORS];

static void gate_set(uint32_t vector, uint64_t entry, uint8_t ist, uint8_t type)
{
    idt[vector] = (struct gate){
        .offset_low = (uint16_t)entry,
        .selector = SEL_CODE,
        .ist = ist,
        .type = type,
        .offset_mid = (uint16_t)(entry >> 16),
        .offset_high = (uint32_t)(entry >> 32),
    };
}

void cpu_build_idt(void)
{
    for (uint32_t v = 0; v < VECTORS; v++)
        gate_set(v, (uint64_t)(trap_stubs + v * STUB_BYTES), 0, GATE_INTERRUPT);
    gate_set(VEC_NMI, (uint64_t)(trap_stubs + VEC_NMI * STUB_BYTES), IST_NMI, GATE_INTERRUPT);
    gate_set(VEC_DF, (uint64_t)(trap_stubs + VEC_DF * STUB_BYTES), IST_DF, GATE_INTERRUPT);
    gate_set(VEC_USER_EXIT, (uint64_t)user_exit, 0, GATE_INTERRUPT_USER);
}

void cpu_prepare(struct cpu *cpu, uint32_t index, uint32_t apic_id, void *stacks)
{
    uint64_t tss = (uint64_t)&cpu->tss;
    uint64_t stack = (uint64_t)stacks;

    memset(cpu, 0, sizeof(*cpu));
    cpu->index = index;
    cpu->apic_id = apic_id;
    for (uint32_t i = 0; i < CPU_STACKS; i++)
        *(struct cpu **)(stack + i * RT_STACK_BYTES) = cpu;
    cpu->tss.rsp[0] = stack + RT_STACK_BYTES;
    cpu->tss.ist[IST_NMI - 1] = stack + 2 * RT_STACK_BYTES;
    cpu->tss.ist[IST_DF - 1] = stack + 3 * RT_STACK_BYTES;
    cpu->tss.iomap = sizeof(struct tss);

    cpu->gdt[1] = 0x00af9b000000ffff; /* 0x08 kernel code */
    cpu->gdt[2] = 0x00cf93000000ffff; /* 0x10 kernel data */
    cpu->gdt[3] = 0x00cff3000000ffff; /* 0x18 user data */
    cpu->gdt[4] = 0x00affb000000ffff; /* 0x20 user code */
    cpu->gdt[5] = (sizeof(struct tss) - 1) | (tss & 0xffffff) << 16 | 0x89ull << 40 |
                  (tss >> 24 & 0xff) << 56;
    cpu->gdt[6] = tss >> 32;
}

void cpu_load(struct cpu *cpu)
{
    struct descriptor_ptr gdtr = {sizeof(cpu->gdt) - 1, (uint64_t)cpu->gdt};
    struct descriptor_ptr idtr = {sizeof(idt) - 1, (uint64_t)idt};

    cpu->gdt[5] &= ~(2ull << 40); /* LTR wants a TSS that is not busy: a CPU may start twice */
    asm volatile("lgdt %0" : : "m"(gdtr) : "memory");
    asm volatile("lidt %0" : : "m"(idtr) : "memory");
    asm volatile("ltr %w0" : : "r"(SEL_TSS) : "memory");
}

void trap_set_handler(uint32_t vector, trap_fn *fn)
{
    __atomic_store_n(&handlers[vector], fn, __ATOMIC_RELEASE);
}

static bool fixup_take(struct trap_frame *frame)
{
    for (const uint32_t(*e)[2] = rt_extable_start; e < rt_extable_end; e++) {
        if ((*e)[0] != frame->rip)
            continue;
        frame->rip = (*e)[1];
        frame->rflags |= FLAG_CARRY;
        return true;
    }
    return false;
}

static _Noreturn void trap_fatal(const struct trap_frame *frame)
{
    rt_printf("FAULT vector %lu error %#lx rip %#lx cs %#lx rsp %#lx cr2 %#lx on vCPU %u\n",
              frame->vector, frame->error, frame->rip, frame->cs, frame->rsp, asm_read_cr2(),
              cpu_this()->index);
    rt_printf("  rax %lx rbx %lx rcx %lx rdx %lx rsi %lx rdi %lx rbp %lx flags %lx\n", frame->rax,
              frame->rbx, frame->rcx, frame->rdx, frame->rsi, frame->rdi, frame->rbp,
              frame->rflags);
    rt_exit(RT_EXIT_FAULT);
}

void trap_dispatch(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();
    trap_fn *fn = __atomic_load_n(&handlers[frame->vector], __ATOMIC_ACQUIRE);

    cpu->irqs[frame->vector]++;
    if (fn) {
        fn(frame);
        return;
    }
    if (frame->vector >= 32) {
        if (frame->vector != VEC_SPURIOUS)
            apic_eoi();
        return;
    }
    if (!fixup_take(frame))
        trap_fatal(frame);
    cpu->faults++;
}
