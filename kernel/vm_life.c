/*
 * How VMs live: start, pause, end.
 *
 * Decides the order of states and who may do what when; building and taking down are work items
 * (vm_build.c, vm_teardown.c). An end is a request: it sets the state and posts PENDING_KILL to
 * every vCPU. Each vCPU, on whichever CPU has it, goes to sleep for good before its next entry;
 * when the last has been switched away from, nothing of the VM is loaded anywhere, and the
 * taking-down is queued.
 *
 * Invariants: phase goes EMPTY -> BUILDING -> LIVE -> ENDING -> EMPTY and from BUILDING to ENDING
 * when the building fails or is cut short; the first end to come decides state and exit code. A VM
 * is ended by a vCPU of its own or from CPU 0, where it is also built and taken down: so its vCPUs
 * are there while vm_end goes over them, and it does not end between two steps of vm_run.
 */
#include "kernel/vm_life.h"

#include <errno.h>
#include <string.h>

#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"
#include "kernel/schedule.h"
#include "kernel/vm_build.h"
#include "kernel/vm_cap.h"
#include "sched/sched.h"

struct vm *vms[VMS_MAX];
uint32_t vm_count;

struct vm *vm_find(const char *name)
{
    for (uint32_t i = 0; i < vm_count; i++)
        if (strcmp(vms[i]->config.name, name) == 0)
            return vms[i];
    return NULL;
}

int vm_start(struct vm *vm)
{
    int err = 0;

    if (!virt)
        return -ENODEV;
    spin_lock(&vm->lock);
    if (vm->phase == VM_EMPTY) {
        vm->phase = VM_BUILDING;
        vm->state = VM_RUNNING;
        vm->has_exit_code = false;
        vm_build_begin(vm);
    } else {
        err = -EBUSY;
    }
    spin_unlock(&vm->lock);
    return err;
}

void vm_run(struct vm *vm)
{
    ns_t now = arch_now();

    spin_lock(&vm->lock);
    vm->phase = VM_LIVE;
    atomic_set(&vm->live_vcpus, vm->vcpu_count);
    for (uint32_t i = 0; i < vm->vcpu_count; i++) {
        struct vcpu *v = vm->vcpus[i];

        spin_lock(&v->lock);
        v->blocked = false;
        v->inserted = true;
        sched_unit_insert(sched, &v->unit, now);
        if (vm->state == VM_PAUSED)
            sched_unit_pause(sched, &v->unit, now);
        schedule_wake(v);
        spin_unlock(&v->lock);
    }
    spin_unlock(&vm->lock);
}

void vm_build_failed(struct vm *vm)
{
    spin_lock(&vm->lock);
    vm->phase = VM_ENDING;
    if (vm->state == VM_RUNNING || vm->state == VM_PAUSED)
        vm->state = VM_CRASHED;
    spin_unlock(&vm->lock);
    vm_teardown_begin(vm);
}

static int vm_set_paused(struct vm *vm, uint32_t from, uint32_t to)
{
    ns_t now = arch_now();
    int err = 0;

    spin_lock(&vm->lock);
    if (vm->phase != VM_EMPTY && vm->state == from) {
        vm->state = to;
        for (uint32_t i = 0; vm->phase == VM_LIVE && i < vm->vcpu_count; i++) {
            if (to == VM_PAUSED)
                sched_unit_pause(sched, &vm->vcpus[i]->unit, now);
            else
                sched_unit_unpause(sched, &vm->vcpus[i]->unit, now);
        }
    } else {
        err = -ESRCH;
    }
    spin_unlock(&vm->lock);
    return err;
}

int vm_pause(struct vm *vm)
{
    return vm_set_paused(vm, VM_RUNNING, VM_PAUSED);
}

int vm_unpause(struct vm *vm)
{
    return vm_set_paused(vm, VM_PAUSED, VM_RUNNING);
}

/* The first end decides. False when the VM has ended already, or was never there. */
static bool vm_end(struct vm *vm, uint32_t state, bool has_code, uint8_t code) MUST_HOLD(vm->lock)
{
    ns_t now = arch_now();

    if (vm->phase == VM_EMPTY || (vm->state != VM_RUNNING && vm->state != VM_PAUSED))
        return false;
    vm->state = state;
    vm->has_exit_code = has_code;
    vm->exit_code = code;
    if (vm->phase == VM_LIVE)
        vm->phase = VM_ENDING;
    if (vm->phase == VM_ENDING)
        vm_cap_lift(vm);
    for (uint32_t i = 0; vm->phase == VM_ENDING && i < vm->vcpu_count; i++) {
        vcpu_post(vm->vcpus[i], PENDING_KILL);
        sched_unit_unpause(sched, &vm->vcpus[i]->unit, now); /* to let it leave */
    }
    return true;
}

void vm_kill(struct vm *vm, const char *fmt, ...)
{
    char why[160];
    va_list args;
    bool ended;

    va_start(args, fmt);
    vformat_text(why, sizeof(why), fmt, args);
    va_end(args);
    spin_lock(&vm->lock);
    ended = vm_end(vm, VM_CRASHED, false, 0);
    spin_unlock(&vm->lock);
    if (ended)
        pr_err("VM %s crashed: %s", vm->config.name, why);
}

void vm_exit(struct vm *vm, uint8_t code)
{
    bool ended;

    spin_lock(&vm->lock);
    ended = vm_end(vm, VM_STOPPED, true, code);
    spin_unlock(&vm->lock);
    if (ended)
        pr_info("VM %s stopped with exit code %u", vm->config.name, code);
}

int vm_destroy(struct vm *vm)
{
    bool ended;

    spin_lock(&vm->lock);
    ended = vm_end(vm, VM_STOPPED, false, 0);
    spin_unlock(&vm->lock);
    return ended ? 0 : -ESRCH;
}

void vm_vcpu_leaves(struct vcpu *v)
{
    spin_lock(&v->lock);
    v->leaving = true;
    v->blocked = true;
    v->wake_mask = 0;
    schedule_sleep();
    spin_unlock(&v->lock);
}

void vm_vcpu_left(struct vcpu *v)
{
    struct vm *vm = v->vm;

    /* Seq-cst: the last one to count down sees all that the others did to the VM. */
    if (atomic_fetch_add(&vm->live_vcpus, (uint32_t)-1) != 1)
        return;
    vm_teardown_begin(vm);
}
