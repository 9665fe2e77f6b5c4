/*
 * Building a VM, in bounded steps: home nodes, memory, vCPUs, image.
 *
 * Decides the layout of guest memory and which node each part comes from; mm/placement chooses the
 * nodes. Each step is short (one large page is zeroed, one vCPU is made), so guests run on
 * meanwhile. Guest memory is in 2 MiB pages of its home node, in 4 KiB pages where no large one is
 * free or the size ends. A step that fails prints one line and hands over to the taking-down.
 *
 * Invariant: guest memory below vm->cursor is mapped, with large pages where large_pages says so.
 */
#include "kernel/vm_build.h"

#include <errno.h>
#include <string.h>

#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/mem.h"
#include "kernel/mem_init.h"
#include "kernel/printk.h"
#include "kernel/vm_life.h"

#define HOLE_START     (3 * GIB) /* below 4 GiB, where a PC has its devices */
#define HOLE_END       (4 * GIB)
#define LARGE_PAGE     (PAGE_BYTES << PAGE_ORDER_2M)
#define PAGES_PER_STEP 64

/* A stage does one step: 0 it is done, 1 call it again, -errno it cannot. */
typedef int vm_stage_fn(struct vm *vm);

static size_t vm_large_pages_bytes(const struct vm *vm)
{
    return (vm->config.memory_bytes / LARGE_PAGE + 64) / 64 * sizeof(uint64_t);
}

static void vm_lay_out_slots(struct vm *vm)
{
    uint64_t low = MIN(vm->config.memory_bytes, HOLE_START);
    uint64_t high = vm->config.memory_bytes - low;

    vm->slot[0] = (struct vm_slot){.gpa = 0, .bytes = low};
    vm->slot[1] = (struct vm_slot){.gpa = HOLE_END, .bytes = high};
    vm->slot_count = high ? 2 : 1;
}

void vm_large_pages_free(struct vm *vm)
{
    if (vm->large_pages)
        mem_free(vm->large_pages, vm_large_pages_bytes(vm));
    vm->large_pages = NULL;
}

static int stage_begin(struct vm *vm)
{
    int err = vm_place(vm);

    if (err < 0)
        return err;
    vm_lay_out_slots(vm);
    vm->large_pages = mem_zalloc(vm_large_pages_bytes(vm), vm->placement.node[0]);
    return vm->large_pages ? virt->vm_init(vm) : -ENOMEM;
}

static uint32_t vm_node_at(const struct vm *vm, uint64_t offset)
{
    uint32_t i = 0;

    while (i + 1 < vm->placement.count && offset >= vm->placement.bytes[i])
        offset -= vm->placement.bytes[i++];
    return vm->placement.node[i];
}

gpa_t vm_gpa_at(const struct vm *vm, uint64_t offset)
{
    return offset < vm->slot[0].bytes ? offset : offset - vm->slot[0].bytes + HOLE_END;
}

uint32_t vm_page_order_at(const struct vm *vm, uint64_t offset)
{
    uint64_t index = offset / LARGE_PAGE;

    return vm->large_pages[index / 64] & BIT(index % 64) ? PAGE_ORDER_2M : 0;
}

/* One page at the cursor: allocate, zero, map, account. */
static int vm_add_page(struct vm *vm, uint32_t order)
{
    uint64_t bytes = PAGE_BYTES << order;
    uint64_t index = vm->cursor / LARGE_PAGE;
    paddr_t pa = mem_alloc_pages(order, vm_node_at(vm, vm->cursor));
    int err;

    if (pa == PADDR_NONE)
        return -ENOMEM;
    memset(phys_to_virt(pa), 0, bytes);
    err = virt->map(vm, vm_gpa_at(vm, vm->cursor), pa, bytes, true);
    if (err < 0) {
        mem_free_pages(pa, order);
        return err;
    }
    if (order)
        vm->large_pages[index / 64] |= BIT(index % 64);
    atomic_fetch_add(&vm->node_bytes[page_node_of(&page_pool, pa)], bytes);
    vm->cursor += bytes;
    return 0;
}

static int stage_memory(struct vm *vm)
{
    uint64_t end = vm->config.memory_bytes;
    int err = 0;

    if (end - vm->cursor >= LARGE_PAGE && IS_ALIGNED(vm->cursor, LARGE_PAGE) &&
        vm_add_page(vm, PAGE_ORDER_2M) == 0)
        return vm->cursor < end;
    for (uint32_t i = 0; i < PAGES_PER_STEP && vm->cursor < end && err == 0; i++)
        err = vm_add_page(vm, 0);
    if (err < 0)
        pr_err("VM %s: memory ran out after %llu of %llu MiB", vm->config.name,
               (unsigned long long)(vm->cursor / MIB), (unsigned long long)(end / MIB));
    return err < 0 ? err : vm->cursor < end;
}

static int stage_run(struct vm *vm)
{
    uint64_t mib = MAX(vm->config.memory_bytes / MIB, 1ull);

    pr_info("VM %s: %u vCPUs, %llu MiB from node %u, built at %llu ticks a MiB", vm->config.name,
            vm->vcpu_count, (unsigned long long)mib, vm->placement.node[0],
            (unsigned long long)(vm->build_ticks / mib));
    vm_run(vm);
    return 0;
}

static vm_stage_fn *const vm_stages[] = {stage_begin,   stage_memory,  vm_vcpus_begin,
                                         vm_vcpus_next, vm_image_load, stage_run};

static bool vm_was_ended(const struct vm *vm)
{
    uint32_t state = atomic_get(&vm->state);

    return state == VM_STOPPED || state == VM_CRASHED;
}

static bool vm_build_step(struct work *work)
{
    struct vm *vm = container_of(work, struct vm, work);
    uint64_t from = arch_tsc();
    int more = vm_was_ended(vm) ? -ECANCELED : vm_stages[vm->stage](vm);

    vm->build_ticks += arch_tsc() - from;
    if (more < 0) {
        vm_build_failed(vm);
        return true;
    }
    return more == 0 && ++vm->stage == ARRAY_SIZE(vm_stages);
}

void vm_build_begin(struct vm *vm)
{
    vm->stage = 0;
    vm->vcpu_count = 0;
    vm->cursor = 0;
    vm->build_ticks = 0;
    memset(vm->node_bytes, 0, sizeof(vm->node_bytes));
    vm->work.step = vm_build_step;
    vm->past = (struct vm_stats){.run_ns = 0};
    work_queue(cpus[0], &vm->work); /* where listings run, which walk vm->vcpus */
}
