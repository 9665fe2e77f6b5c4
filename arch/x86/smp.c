/*
 * Starting the other CPUs.
 *
 * All are called together (ap_call.c has the sequence and its patience); those that do not come are
 * reported and left out. Each CPU that comes claims its slot by compare-and-swap (ap.S), sets
 * itself up, and waits for its turn to have its TSC compared.
 *
 * Decides whom to give up. Invariants: a slot is taken either by its AP or by whoever gives it up,
 * never by both; an AP that comes too late parks in the trampoline, whose page is never used for
 * anything else; the boot loader's information was copied before that page is written. Source: SDM
 * 3A 8.4.4.1 (INIT-SIPI-SIPI).
 */
#include "arch/x86/smp.h"

#include <string.h>

#include "arch/x86/ap_call.h"
#include "arch/x86/apic.h"
#include "arch/x86/apic_timer.h"
#include "arch/x86/asm.h"
#include "arch/x86/cpu_area.h"
#include "arch/x86/cpuid_capture.h"
#include "arch/x86/features.h"
#include "arch/x86/firmware_check.h"
#include "arch/x86/layout.h"
#include "arch/x86/paging.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/tsc.h"
#include "boot/memmap.h"
#include "hv/atomic.h"
#include "kernel/arch.h"
#include "kernel/boot_time.h"
#include "kernel/bringup.h"
#include "kernel/machine.h"
#include "kernel/mem.h"
#include "kernel/printk.h"

enum ap_state {
    AP_IDLE, /* not called yet, or given up */
    AP_CALLED = AP_STATE_CALLED,
    AP_CLAIMED = AP_STATE_CLAIMED, /* by the AP */
    AP_READY,                      /* by the AP: set up, waits for its turn */
    AP_COMPARE,                    /* by the boot CPU: compare counters now */
};

struct ap_slot {
    uint32_t apic_id; /* [i] */
    uint32_t state;   /* [a] enum ap_state */
    uint64_t stack;   /* [i] */
    struct cpu *cpu;  /* [i] */
};

_Static_assert(offsetof(struct ap_slot, apic_id) == AP_SLOT_APIC_ID, "boot/entry.h");
_Static_assert(offsetof(struct ap_slot, state) == AP_SLOT_STATE, "boot/entry.h");
_Static_assert(offsetof(struct ap_slot, stack) == AP_SLOT_STACK, "boot/entry.h");
_Static_assert(offsetof(struct ap_slot, cpu) == AP_SLOT_CPU, "boot/entry.h");
_Static_assert(sizeof(struct ap_slot) == AP_SLOT_BYTES, "boot/entry.h");
_Static_assert(ENTRY_CR0_PE == CR0_PE && ENTRY_CR0_CACHES == (CR0_CD | CR0_NW), "boot/entry.h");

struct __attribute__((packed)) far_pointer {
    uint32_t offset;
    uint16_t selector;
};

/* The start of the trampoline page. */
struct __attribute__((packed)) ap_trampoline {
    uint8_t jump[8];
    uint32_t cr3;
    uint32_t efer;
    uint16_t gdt_limit;
    uint32_t gdt_base;
    uint16_t pad0;
    struct far_pointer far32;
    uint16_t pad1;
    struct far_pointer far64;
    uint16_t pad2;
    uint64_t gdt[4];
};

_Static_assert(offsetof(struct ap_trampoline, cr3) == AP_TRAMPOLINE_CR3, "boot/entry.h");
_Static_assert(offsetof(struct ap_trampoline, efer) == AP_TRAMPOLINE_EFER, "boot/entry.h");
_Static_assert(offsetof(struct ap_trampoline, gdt_limit) == AP_TRAMPOLINE_GDTR, "boot/entry.h");
_Static_assert(offsetof(struct ap_trampoline, far32) == AP_TRAMPOLINE_FAR32, "boot/entry.h");
_Static_assert(offsetof(struct ap_trampoline, far64) == AP_TRAMPOLINE_FAR64, "boot/entry.h");
_Static_assert(offsetof(struct ap_trampoline, gdt) == AP_TRAMPOLINE_GDT, "boot/entry.h");
_Static_assert(sizeof(struct ap_trampoline) == AP_TRAMPOLINE_BYTES, "boot/entry.h");

extern const char ap_trampoline[], ap_trampoline_end[]; /* ap.S */
extern const char ap_trampoline_protected[], ap_trampoline_long[];

struct ap_slot *ap_slots; /* [i] read by ap.S */
uint32_t ap_slot_count;   /* [i] read by ap.S */

static void trampoline_fill(paddr_t page, paddr_t root)
{
    struct ap_trampoline *t = phys_to_virt(page);
    uint32_t base = (uint32_t)page;

    memcpy(t, ap_trampoline, (size_t)(ap_trampoline_end - ap_trampoline));
    t->cr3 = (uint32_t)root;
    t->efer = (uint32_t)(EFER_LME | (cpu_features.nx ? EFER_NXE : 0));
    t->gdt_limit = sizeof(t->gdt) - 1;
    t->gdt_base = base + AP_TRAMPOLINE_GDT;
    t->far32.offset = base + (uint32_t)(ap_trampoline_protected - ap_trampoline);
    t->far32.selector = ENTRY_CS32;
    t->far64.offset = base + (uint32_t)(ap_trampoline_long - ap_trampoline);
    t->far64.selector = ENTRY_CS64;
    t->gdt[ENTRY_CS64 / 8] = SEGMENT_CODE64;
    t->gdt[ENTRY_DS / 8] = SEGMENT_DATA;
    t->gdt[ENTRY_CS32 / 8] = SEGMENT_CODE32;
}

/* CLI; HLT; JMP back: where a CPU ends that starts when all is over. */
static void trampoline_close(paddr_t page)
{
    static const uint8_t park[] = {0xfa, 0xf4, 0xeb, 0xfd};

    memcpy(phys_to_virt(page), park, sizeof(park));
    paging_trampoline_end();
}

void ap_main(struct ap_slot *slot)
{
    struct cpu *cpu = slot->cpu;

    paging_load();
    cpu_area_load(cpu); /* gates first: the set-up probes registers that may fault */
    features_setup_cpu();
    if (apic_init_cpu())
        arch_halt(); /* the boot CPU reports a CPU that gets stuck */
    firmware_check_read(cpu);
    apic_timer_init_cpu();
    cpuid_capture(cpu->arch);
    /* Release pairs with take_in: what this CPU said of itself is there. */
    atomic_set_release(&slot->state, AP_READY);
    while (atomic_get_acquire(&slot->state) != AP_COMPARE)
        asm_sti_hlt_cli(); /* until take_in's kick; STI's shadow covers the HLT */
    firmware_check_mend(cpu);
    tsc_compare_new();
    cpu_main(cpu);
}

static uint32_t count_in_state(uint32_t state)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ap_slot_count; i++)
        n += atomic_get(&ap_slots[i].state) == state;
    return n;
}

/* A delay that the protocol asks for; kept apart from what the boot itself costs. */
static void protocol_delay(ns_t ns)
{
    uint64_t from = arch_tsc();

    tsc_delay(ns);
    boot_time_waited(arch_tsc() - from);
}

static void send_to_called(enum ap_ipi ipi)
{
    uint8_t vector = ipi == AP_IPI_SIPI ? (uint8_t)(machine.ap_page >> PAGE_SHIFT) : 0;

    for (uint32_t i = 0; i < ap_slot_count; i++) {
        if (atomic_get(&ap_slots[i].state) == AP_CALLED)
            apic_send(ap_slots[i].apic_id, ipi == AP_IPI_SIPI ? APIC_MODE_SIPI : APIC_MODE_INIT,
                      vector);
    }
}

static uint32_t count_called(void)
{
    return count_in_state(AP_CALLED);
}

static uint32_t count_claimed(void)
{
    return count_in_state(AP_CLAIMED);
}

/* Nobody claimed these: take the slots back, so that whoever comes later parks. */
static uint32_t take_back(void)
{
    for (uint32_t i = 0; i < ap_slot_count; i++) {
        uint32_t called = AP_CALLED;

        (void)atomic_cas(&ap_slots[i].state, &called, AP_IDLE);
    }
    return count_in_state(AP_IDLE);
}

static void call_idle(void)
{
    for (uint32_t i = 0; i < ap_slot_count; i++) {
        if (ap_slots[i].state == AP_IDLE)
            atomic_set(&ap_slots[i].state, AP_CALLED);
    }
}

static const struct ap_call_ops call_ops = {
    .send = send_to_called,
    .waiting = count_called,
    .close = take_back,
    .reopen = call_idle,
    .unready = count_claimed,
    .delay = protocol_delay,
};

static void give_up(struct ap_slot *slot, const char *why)
{
    pr_warn("CPU %u (APIC id %u) %s; left out", slot->cpu->id, slot->apic_id, why);
    cpus[slot->cpu->id] = NULL;
}

/* One after the other, since comparing takes both sides' whole attention. */
static uint32_t take_in(void)
{
    uint32_t up = 0;

    (void)ap_wait_ready(&call_ops);
    for (uint32_t i = 0; i < ap_slot_count; i++) {
        struct ap_slot *slot = &ap_slots[i];

        if (atomic_get_acquire(&slot->state) != AP_READY) {
            give_up(slot, slot->state == AP_IDLE ? "does not start" : "starts and gets stuck");
            continue;
        }
        firmware_check_decide(slot->cpu);
        /* Release pairs with ap_main: what it is to mend is there. */
        atomic_set_release(&slot->state, AP_COMPARE);
        arch_send_kick(slot->cpu);
        tsc_compare_boot(slot->cpu);
        up++;
    }
    return up;
}

static void slots_fill(void)
{
    ap_slot_count = 0;
    for (uint32_t i = 1; i < cpu_count; i++) {
        if (!cpus[i])
            continue;
        ap_slots[ap_slot_count++] = (struct ap_slot){
            .apic_id = cpus[i]->place.apic_id,
            .state = AP_CALLED,
            .stack = cpus[i]->arch->stack_top,
            .cpu = cpus[i],
        };
    }
}

static void start_all(paddr_t page)
{
    paddr_t root = paging_trampoline_begin(page);
    bool modern = (cpu_features.intel && cpu_features.family == 6) ||
                  (cpu_features.amd && cpu_features.family >= 15);

    slots_fill();
    if (root == PADDR_NONE) {
        (void)take_back(); /* nobody is called: all are left out */
        return;
    }
    trampoline_fill(page, root);
    /* Who did not come is in state AP_IDLE now, which take_in reports. */
    (void)ap_call(&call_ops, modern);
}

uint32_t arch_start_cpus(void)
{
    size_t bytes = cpu_count * sizeof(*ap_slots);
    paddr_t page = machine.ap_page;
    uint32_t up;

    cpuid_capture(cpu_this()->arch);
    if (cpu_count == 1)
        return 1;
    ap_slots = mem_zalloc(bytes, 0);
    if (!ap_slots || page == PADDR_NONE)
        panic("no memory to start the other CPUs in");
    start_all(page);
    up = take_in();
    trampoline_close(page);
    firmware_check_print();
    return up + 1;
}
