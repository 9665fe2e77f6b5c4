/*
 * Commands about VMs: vms, start, pause, unpause, kill, console, weight, cap.
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
#include "kernel/vm_cap.h"
#include "kernel/vm_life.h"
#include "kernel/vm_stats.h"
#include "sched/sched.h"

static const char *const state_names[] = {[VM_RUNNING] = "running",
                                          [VM_PAUSED] = "paused",
                                          [VM_STOPPED] = "stopped",
                                          [VM_CRASHED] = "crashed"};

/* ---- vms ---- */

/* What the cap took from its vCPUs since the last start. */
static ns_t vm_capped_ns(struct vm *vm)
{
    ns_t sum = vm->past.capped_ns;

    for (uint32_t i = 0; i < vm->vcpu_count; i++)
        sum += vcpu_capped_ns(vm->vcpus[i]);
    return sum;
}

static void vms_json_row(struct json *j, struct vm *vm)
{
    json_begin_object(j, NULL);
    json_string(j, "name", vm->config.name);
    json_string(j, "state", state_names[vm->state]);
    json_u64(j, "vcpus", vm->config.vcpus);
    json_u64(j, "memory_bytes", vm->config.memory_bytes);
    json_u64(j, "cap", vm->config.cap);
    json_u64(j, "capped_ns", vm_capped_ns(vm));
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

static void vms_row(struct shell *sh, struct vm *vm)
{
    char memory[16];

    shell_printf(sh, "%-16s %-8s %5u %5u %10llu %10s  ", vm->config.name, state_names[vm->state],
                 vm->config.vcpus, vm->config.cap,
                 (unsigned long long)(vm_capped_ns(vm) / NS_PER_MS),
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
        shell_printf(sh, "%-16s %-8s %5s %5s %10s %10s  %s\n", "NAME", "STATE", "VCPUS", "CAP",
                     "CAPPED ms", "MEMORY", "NODES");
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

/* ---- cap ---- */

static bool cap_step(struct shell *sh)
{
    struct vm *vm = shell_vm_named(sh);
    uint64_t cap;

    if (!vm)
        return true;
    if (sh->argc > 2 && (token_number(sh->argv[2], &cap) || cap > 100 * vm->config.vcpus)) {
        shell_printf(sh, "cap: `%s` is not a number from 0 (none) to %u, 100 for each vCPU\n",
                     sh->argv[2], 100 * vm->config.vcpus);
        return true;
    }
    if (sh->argc > 2)
        vm_set_cap(vm, (uint32_t)cap);
    shell_printf(sh, vm->config.cap ? "%s: cap %u\n" : "%s: cap %u, none\n", vm->config.name,
                 vm->config.cap);
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
    {"cap", "NAME [CAP]", "show or set the most that a VM may use, in per cent of one CPU",
     cap_step, false},
    {NULL, NULL, NULL, NULL, false},
};
