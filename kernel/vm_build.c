/*
 * Building a VM, in bounded steps: home nodes, memory, vCPUs, image.
 *
 * Decides the layout of guest memory; mm/placement chooses the nodes, and for each page its size
 * and where it comes from. Each step is short (one large page is zeroed, one vCPU is made), so
 * guests run on meanwhile. A step that fails prints one line and hands over to the taking-down.
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
    vm->large_pages = mem_zalloc(vm_large_pages_bytes(vm), vm_first_node(vm));
    err = vm->large_pages ? virt->vm_init(vm) : -ENOMEM;
    if (err < 0)
        pr_err("VM %s: no memory for its tables", vm->config.name);
    return err;
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

/* Where it is cut by the hole below 4 GiB, there are two ranges. */
uint32_t vm_vnode_ranges(const struct vm *vm, uint32_t vnode, struct vm_slot ranges[VM_SLOTS_MAX])
{
    uint64_t low = vm->slot[0].bytes;
    uint64_t left = vm->placement.vnode[vnode].bytes;
    uint64_t offset = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < vnode; i++)
        offset += vm->placement.vnode[i].bytes;
    while (left) {
        uint64_t bytes = offset < low ? MIN(left, low - offset) : left;

        ranges[count++] = (struct vm_slot){vm_gpa_at(vm, offset), bytes};
        offset += bytes;
        left -= bytes;
    }
    return count;
}

/* A page that came or, with 0 - bytes, went. */
void vm_account_page(struct vm *vm, uint64_t offset, paddr_t pa, uint64_t bytes)
{
    uint32_t node = page_node_of(&page_pool, pa);

    atomic_fetch_add(&vm->node_bytes[node], bytes);
    if (vm->placement.vnode[placement_vnode_at(&vm->placement, offset)].node != node)
        atomic_fetch_add(&vm->remote_bytes, bytes);
}

/* One page at the cursor: allocate, zero, map, account. Its order, or -errno. */
static int vm_add_page(struct vm *vm)
{
    uint64_t index = vm->cursor / LARGE_PAGE, bytes;
    uint32_t order;
    paddr_t pa = placement_take_page(&page_pool, &vm->placement, vm->cursor,
                                     vm->config.memory_bytes - vm->cursor, &order);
    int err;

    if (pa == PADDR_NONE)
        return -ENOMEM;
    bytes = PAGE_BYTES << order;
    memset(phys_to_virt(pa), 0, bytes);
    err = virt->map(vm, vm_gpa_at(vm, vm->cursor), pa, bytes, true);
    if (err < 0) {
        mem_free_pages(pa, order);
        return err;
    }
    if (order)
        vm->large_pages[index / 64] |= BIT(index % 64);
    vm_account_page(vm, vm->cursor, pa, bytes);
    vm->cursor += bytes;
    return (int)order;
}

static int stage_memory(struct vm *vm)
{
    uint64_t end = vm->config.memory_bytes;
    int order = 0;

    for (uint32_t i = 0; i < PAGES_PER_STEP && vm->cursor < end && order == 0; i++)
        order = vm_add_page(vm);
    if (order < 0)
        pr_err("VM %s: memory ran out after %llu of %llu MiB", vm->config.name,
               (unsigned long long)(vm->cursor / MIB), (unsigned long long)(end / MIB));
    return order < 0 ? order : vm->cursor < end;
}

static int stage_run(struct vm *vm)
{
    uint64_t mib = MAX(vm->config.memory_bytes / MIB, 1ull);

    pr_info("VM %s: %u vCPUs, %llu MiB from node %u%s, built at %llu ticks a MiB", vm->config.name,
            vm->vcpu_count, (unsigned long long)mib, vm_first_node(vm),
            vm->placement.count > 1 ? " and others" : "",
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
    vm->placement.count = 0;
    memset(vm->node_bytes, 0, sizeof(vm->node_bytes));
    vm->remote_bytes = 0;
    vm->work.step = vm_build_step;
    vm->past = (struct vm_stats){.run_ns = 0};
    work_queue(cpus[0], &vm->work); /* where listings run, which walk vm->vcpus */
}
