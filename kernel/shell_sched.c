/*
 * Commands about scheduling: vcpus, runq.
 *
 * Rows are made one vCPU or one runqueue a step. See kernel/shell_vm.c
 * for why the arrays stand still.
 */
#include <string.h>

#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/printk.h"
#include "kernel/schedule.h"
#include "kernel/shell.h"
#include "kernel/vm_life.h"
#include "kernel/vm_stats.h"
#include "sched/sched.h"

/* ---- vcpus ---- */

static const char *vcpu_state_name(const struct vcpu *v)
{
    if (atomic_get(&v->vm->state) == VM_PAUSED)
        return "paused";
    if (unit_is_running(&v->unit))
        return "running";
    if (unit_is_parked(&v->unit))
        return "capped";
    if (unit_is_ready(&v->unit))
        return "ready";
    return atomic_get(&v->run_state) == VCPU_WAIT_SIPI ? "waiting" : "blocked";
}

static uint64_t vcpu_exits(const struct vcpu *v)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < EXIT_KIND_COUNT; i++)
        sum += atomic_get(&v->stats.exits[i]);
    return sum;
}

static void vcpus_json_row(struct json *j, struct vcpu *v, ns_t run, ns_t wait)
{
    json_begin_object(j, NULL);
    json_string(j, "vm", v->vm->config.name);
    json_u64(j, "vcpu", v->id);
    json_u64(j, "cpu", atomic_get(&v->unit.cpu));
    json_string(j, "state", vcpu_state_name(v));
    json_u64(j, "weight", v->unit.weight);
    json_u64(j, "home_node", v->home_node);
    json_u64(j, "run_ns", run);
    json_u64(j, "remote_ns", MIN(vcpu_remote_ns(v), run));
    json_u64(j, "wait_ns", wait);
    json_u64(j, "cap", v->vm->config.cap);
    json_u64(j, "capped_ns", vcpu_capped_ns(v));
    json_u64(j, "exits", vcpu_exits(v));
    json_end_object(j);
}

static void vcpus_row(struct shell *sh, struct vcpu *v)
{
    ns_t run, wait;

    vcpu_times(v, &run, &wait);
    if (sh->as_json)
        vcpus_json_row(&sh->json, v, run, wait);
    else
        shell_printf(
            sh, "%-16s %4u %4u  %-8s %6u %12llu %12llu %12llu %12llu\n", v->vm->config.name, v->id,
            atomic_get(&v->unit.cpu), vcpu_state_name(v), v->unit.weight,
            (unsigned long long)(run / NS_PER_US), (unsigned long long)(wait / NS_PER_US),
            (unsigned long long)(vcpu_capped_ns(v) / NS_PER_US), (unsigned long long)vcpu_exits(v));
}

/* phase: the VM; index: its next vCPU. */
static bool vcpus_step(struct shell *sh)
{
    if (!sh->step && sh->as_json)
        json_begin_array(&sh->json, NULL);
    else if (!sh->step)
        shell_printf(sh, "%-16s %4s %4s  %-8s %6s %12s %12s %12s %12s\n", "VM", "VCPU", "CPU",
                     "STATE", "WEIGHT", "RUN us", "WAIT us", "CAPPED us", "EXITS");
    while (sh->phase < vm_count && sh->index >= vms[sh->phase]->vcpu_count) {
        sh->phase++;
        sh->index = 0;
    }
    if (sh->phase < vm_count) {
        vcpus_row(sh, vms[sh->phase]->vcpus[sh->index++]);
        return false;
    }
    if (sh->as_json) {
        json_end_array(&sh->json);
        shell_put(sh, "\n", 1);
    }
    return true;
}

/* ---- runq ---- */

struct runq_units {
    uint32_t count;
    struct {
        uint32_t vm_id, index;
    } unit[128];
};

/* Under the runqueue's lock: only notes who is there. */
static void runq_note(const struct unit *u, void *arg)
{
    struct runq_units *units = arg;

    if (units->count < ARRAY_SIZE(units->unit)) {
        units->unit[units->count].vm_id = u->vm_id;
        units->unit[units->count].index = u->index;
        units->count++;
    }
}

static void json_mask(struct json *j, const char *key, struct cpumask mask)
{
    json_begin_array(j, key);
    cpumask_for_each (cpu, mask)
        json_u64(j, NULL, cpu);
    json_end_array(j);
}

static void show_mask(struct shell *sh, const char *title, struct cpumask mask)
{
    shell_printf(sh, "  %s", title);
    cpumask_for_each (cpu, mask)
        shell_printf(sh, " %u", cpu);
    shell_printf(sh, cpumask_empty(mask) ? " -\n" : "\n");
}

static void unit_name(char *to, size_t n, uint32_t vm_id, uint32_t index)
{
    format_text(to, n, "%s/%u", vms[vm_id]->config.name, index);
}

static void runq_json_row(struct json *j, const struct runq_info *info, struct cpumask masks[3],
                          const struct runq_units *units)
{
    char name[GUEST_NAME_CHARS + 8];

    json_begin_object(j, NULL);
    json_u64(j, "id", info->id);
    json_mask(j, "cpus", masks[0]);
    json_mask(j, "idle", masks[1]);
    json_mask(j, "smt_idle", masks[2]);
    json_fixed(j, "load", info->load, LOAD_FRAC_BITS);
    json_u64(j, "turns", info->turns);
    json_begin_array(j, "units");
    for (uint32_t i = 0; i < units->count; i++) {
        unit_name(name, sizeof(name), units->unit[i].vm_id, units->unit[i].index);
        json_string(j, NULL, name);
    }
    json_end_array(j);
    json_end_object(j);
}

static void runq_row(struct shell *sh, const struct runq_info *info, struct cpumask masks[3],
                     const struct runq_units *units)
{
    char name[GUEST_NAME_CHARS + 8];
    uint64_t hundredths = (info->load * 100) >> LOAD_FRAC_BITS;

    shell_printf(sh, "runqueue %u: load %llu.%02llu, %u units, %u waiting\n", info->id,
                 (unsigned long long)(hundredths / 100), (unsigned long long)(hundredths % 100),
                 info->units, info->waiting);
    show_mask(sh, "cpus      ", masks[0]);
    show_mask(sh, "idle      ", masks[1]);
    show_mask(sh, "idle cores", masks[2]);
    shell_printf(sh, "  here      ");
    for (uint32_t i = 0; i < units->count; i++) {
        unit_name(name, sizeof(name), units->unit[i].vm_id, units->unit[i].index);
        shell_printf(sh, " %s", name);
    }
    shell_printf(sh, units->count ? "\n" : " -\n");
}

static void runq_show(struct shell *sh, uint32_t id)
{
    static uint64_t words[3][CPUS_MAX / 64]; /* CPU 0 only, one command at a time */
    static struct runq_units units;
    struct cpumask masks[3];
    struct runq_info info;

    for (uint32_t i = 0; i < 3; i++)
        masks[i] = cpumask_over(words[i], cpu_count);
    units.count = 0;
    sched_runq_info(sched, id, arch_now(), &info, masks[0], masks[1], masks[2]);
    sched_runq_visit(sched, id, runq_note, &units);
    if (sh->as_json)
        runq_json_row(&sh->json, &info, masks, &units);
    else
        runq_row(sh, &info, masks, &units);
}

static bool runq_step(struct shell *sh)
{
    const char *arrangement = sched_arrangement_name(sched_params_of(sched)->arrangement);

    if (!sh->step && sh->as_json) {
        json_begin_object(&sh->json, NULL);
        json_string(&sh->json, "arrangement", arrangement);
        json_begin_array(&sh->json, "runqueues");
    } else if (!sh->step) {
        shell_printf(sh, "one runqueue per %s\n", arrangement);
    }
    if (sh->index < sched_runq_count(sched)) {
        runq_show(sh, sh->index++);
        return false;
    }
    if (sh->as_json) {
        json_end_array(&sh->json);
        json_end_object(&sh->json);
        shell_put(sh, "\n", 1);
    }
    return true;
}

const struct shell_command shell_sched_commands[] = {
    {"vcpus", "", "virtual CPUs: where they run, how long they ran and waited", vcpus_step, true},
    {"runq", "", "runqueues: CPUs, idle ones, load, units", runq_step, true},
    {NULL, NULL, NULL, NULL, false},
};
