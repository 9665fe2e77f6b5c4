/*
 * Taking a VM down, in bounded steps: vCPUs, guest memory, tables.
 *
 * Runs when nothing of the VM is loaded on any CPU (or nothing ever was), so pages can be handed
 * out again at once: translations of it that CPUs still cache are flushed before any guest enters
 * again (virt->vm_fini raises the request that every CPU meets before its next entry). Every part
 * may be missing, since a failed build ends here too.
 */
#include "kernel/vm_build.h"

#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/mem.h"
#include "kernel/schedule.h"
#include "kernel/vm_cap.h"
#include "kernel/vm_life.h"
#include "kernel/vm_stats.h"
#include "sched/sched.h"

#define PAGES_PER_STEP 64

/* The highest one goes first, so that vcpu_count says what is left. */
static void teardown_vcpu(struct vm *vm)
{
    struct vcpu *v = vm->vcpus[vm->vcpu_count - 1];

    vm_stats_keep(v);
    if (v->inserted)
        sched_unit_remove(sched, &v->unit, arch_now());
    virt->vcpu_fini(v);
    guest_vcpu_fini(v);
    vcpu_free(v);
    vm->vcpu_count--;
}

/* Gives back the page that ends at the cursor and moves the cursor to its start. */
static void teardown_page(struct vm *vm)
{
    uint32_t order = vm_page_order_at(vm, vm->cursor - 1);
    uint64_t bytes = PAGE_BYTES << order;
    paddr_t pa;

    vm->cursor -= bytes;
    pa = virt->lookup(vm, vm_gpa_at(vm, vm->cursor), PAGE_BYTES, NULL);
    vm_account_page(vm, vm->cursor, pa, 0 - bytes);
    mem_free_pages(pa, order);
}

static void teardown_tables(struct vm *vm)
{
    if (vm->hw)
        virt->vm_fini(vm);
    guest_vm_fini(vm);
    vm_vcpus_free_arrays(vm);
    vm_large_pages_free(vm);
}

static bool vm_teardown_step(struct work *work)
{
    struct vm *vm = container_of(work, struct vm, work);

    if (vm->vcpu_count) {
        teardown_vcpu(vm);
        return false;
    }
    for (uint32_t i = 0; i < PAGES_PER_STEP; i++) {
        if (!vm->cursor) {
            teardown_tables(vm);
            console_guest_end(vm->id);
            spin_lock(&vm->lock);
            atomic_set_release(&vm->phase, VM_EMPTY);
            spin_unlock(&vm->lock);
            return true;
        }
        teardown_page(vm);
    }
    return false;
}

void vm_teardown_begin(struct vm *vm)
{
    vm_cap_quiet(vm);
    vm->work.step = vm_teardown_step;
    work_queue(cpus[0], &vm->work); /* where listings run, which walk vm->vcpus */
}
