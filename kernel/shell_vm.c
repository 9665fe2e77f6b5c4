/*
 * Commands about VMs: vms, start, pause, unpause, kill, console, weight.
 *
 * They run on CPU 0, where VMs are also built and taken down (kernel/vm_build.c), so a VM's arrays
 * do not change between two lines of a step.
 */
#include <errno.h>
#include <string.h>

#include "boot/token.h"
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/schedule.h"
#include "kernel/shell_parts.h"
#include "kernel/vm_build.h"
#include "kernel/vm_life.h"
#include "sched/sched.h"

static const char *const state_names[] = {[VM_RUNNING] = "running",
                                          [VM_PAUSED] = "paused",
                                          [VM_STOPPED] = "stopped",
                                          [VM_CRASHED] = "crashed"};

/* ---- vms ---- */

static void vms_json_row(struct json *j, const struct vm *vm)
{
    json_begin_object(j, NULL);
    json_string(j, "name", vm->config.name);
    json_string(j, "state", state_names[vm->state]);
    json_u64(j, "vcpus", vm->config.vcpus);
    json_u64(j, "memory_bytes", vm->config.memory_bytes);
    json_begin_array(j, "nodes");
    for (uint32_t i = 0; i < vm->placement.count; i++)
        json_u64(j, NULL, vm->placement.vnode[i].node);
    json_end_array(j);
    shell_json_vnodes(j, "vnodes", vm);
    if (vm->has_exit_code)
        json_i64(j, "exit_code", vm->exit_code);
    else
        json_null(j, "exit_code");
    json_end_object(j);
}

static void vms_row(struct shell *sh, const struct vm *vm)
{
    char memory[16];

    shell_printf(sh, "%-16s %-8s %5u %10s  ", vm->config.name, state_names[vm->state],
                 vm->config.vcpus,
                 shell_format_bytes(memory, sizeof(memory), vm->config.memory_bytes));
    for (uint32_t i = 0; i < vm->placement.count; i++)
        shell_printf(sh, "%s%u", i ? "," : "", vm->placement.vnode[i].node);
    if (vm->has_exit_code)
        shell_printf(sh, "  exit code %d", vm->exit_code);
    shell_printf(sh, "\n");
}

static bool vms_step(struct shell *sh)
{
    if (!sh->step && sh->as_json)
        json_begin_array(&sh->json, NULL);
    else if (!sh->step)
        shell_printf(sh, "%-16s %-8s %5s %10s  %s\n", "NAME", "STATE", "VCPUS", "MEMORY", "NODES");
    if (sh->index < vm_count) {
        if (sh->as_json)
            vms_json_row(&sh->json, vms[sh->index++]);
        else
            vms_row(sh, vms[sh->index++]);
        return false;
    }
    if (sh->as_json) {
        json_end_array(&sh->json);
        shell_put(sh, "\n", 1);
    }
    return true;
}

/* ---- one VM by name ---- */

struct vm *shell_vm_named(struct shell *sh)
{
    struct vm *vm = sh->argc > 1 ? vm_find(sh->argv[1]) : NULL;

    if (!vm)
        shell_printf(sh, "%s: %s\n", sh->argv[0],
                     sh->argc > 1 ? "there is no VM of that name; `vms` lists them" : "which VM?");
    return vm;
}

/* `done` NULL: what comes of it is told by lines of its own. */
static bool vm_command(struct shell *sh, int (*act)(struct vm *vm), const char *refusal,
                       const char *done)
{
    struct vm *vm = shell_vm_named(sh);

    if (vm && act(vm) < 0)
        shell_printf(sh, "%s: %s %s\n", sh->argv[0], vm->config.name, refusal);
    else if (vm && done)
        shell_printf(sh, "%s: %s\n", vm->config.name, done);
    return true;
}

static bool start_step(struct shell *sh)
{
    return vm_command(sh, vm_start,
                      virt ? "runs, or is still being taken down"
                           : "cannot start: this machine has no VT-x or AMD-V to use",
                      NULL);
}

static bool pause_step(struct shell *sh)
{
    return vm_command(sh, vm_pause, "does not run", "paused");
}

static bool unpause_step(struct shell *sh)
{
    return vm_command(sh, vm_unpause, "is not paused", "runs again");
}

static bool kill_step(struct shell *sh)
{
    return vm_command(sh, vm_destroy, "does not run", NULL);
}

static bool console_step(struct shell *sh)
{
    struct vm *vm = shell_vm_named(sh);

    if (!vm)
        return true;
    shell_printf(sh, "console of %s; Ctrl-] comes back\n", vm->config.name);
    console_attach(vm->id);
    return true;
}

/* ---- weight ---- */

static void vm_set_weight(struct vm *vm, uint32_t weight)
{
    vm->config.weight = weight;
    for (uint32_t i = 0; i < vm->vcpu_count; i++) {
        struct vcpu *v = vm->vcpus[i];

        if (v->inserted)
            sched_unit_set_weight(sched, &v->unit, weight, arch_now());
        else /* being built */
            vcpu_init_unit(v);
    }
}

static bool weight_step(struct shell *sh)
{
    struct vm *vm = shell_vm_named(sh);
    uint64_t weight;

    if (!vm)
        return true;
    if (sh->argc > 2 &&
        (token_number(sh->argv[2], &weight) || weight < 1 || weight > GUEST_WEIGHT_MAX)) {
        shell_printf(sh, "weight: `%s` is not a number from 1 to %u\n", sh->argv[2],
                     GUEST_WEIGHT_MAX);
        return true;
    }
    if (sh->argc > 2)
        vm_set_weight(vm, (uint32_t)weight);
    shell_printf(sh, "%s: weight %u\n", vm->config.name, vm->config.weight);
    return true;
}

const struct shell_command shell_vm_commands[] = {
    {"vms", "", "virtual machines and their state", vms_step, true},
    {"start", "NAME", "start a VM that is not running", start_step, false},
    {"pause", "NAME", "stop scheduling a VM", pause_step, false},
    {"unpause", "NAME", "schedule it again", unpause_step, false},
    {"kill", "NAME", "end a VM", kill_step, false},
    {"console", "NAME", "talk to a VM's serial port; Ctrl-] comes back", console_step, false},
    {"weight", "NAME [WEIGHT]", "show or set a VM's share of CPU time", weight_step, false},
    {NULL, NULL, NULL, NULL, false},
};
