/*
 * The command pin: which CPUs a VM's vCPUs may run on, and which of them they prefer.
 *
 * A VM begins with what its module line says: all CPUs or those of cpus=, preferring its home
 * nodes'; `all` goes back to that. A pin lasts until the VM ends. Affinity is written on CPU 0
 * alone, here and where vCPUs are made, so it is read here without the runqueue's lock.
 */
#include <errno.h>
#include <string.h>

#include "boot/token.h"
#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/schedule.h"
#include "kernel/shell_parts.h"
#include "kernel/vm_build.h"
#include "kernel/vm_life.h"
#include "sched/sched.h"

/* ---- what is asked for ---- */

/* "VM/2": one vCPU; "VM": all of them. */
static struct vm *pin_target(struct shell *sh, uint32_t *first, uint32_t *last)
{
    char *slash = sh->argc > 1 ? strchr(sh->argv[1], '/') : NULL;
    uint64_t index = 0;
    struct vm *vm;

    if (slash)
        *slash = '\0';
    vm = shell_vm_named(sh);
    if (!vm)
        return NULL;
    if (!vm->vcpu_count || !vm->vcpus[vm->vcpu_count - 1]->inserted) {
        shell_printf(sh, "pin: %s does not run\n", vm->config.name);
        return NULL;
    }
    *first = 0;
    *last = vm->vcpu_count;
    if (!slash)
        return vm;
    if (token_number(slash + 1, &index) || index >= vm->vcpu_count) {
        shell_printf(sh, "pin: %s has no vCPU `%s`\n", vm->config.name, slash + 1);
        return NULL;
    }
    *first = (uint32_t)index;
    *last = *first + 1;
    return vm;
}

/* "3" or "3-5": 0 or -EINVAL; `text` stays as it is. */
static int pin_read_range(char *text, uint64_t *first, uint64_t *last)
{
    char *dash = strchr(text, '-');
    int err;

    if (dash)
        *dash = '\0';
    err = token_number(text, first);
    *last = *first;
    if (dash) {
        *dash = '-';
        err = err ? err : token_number(dash + 1, last);
    }
    return err || *last < *first || *last >= cpu_count ? -EINVAL : 0;
}

/* The CPUs that are up of "3" or "3-5", at least one, into the mask. */
static int pin_add_range(char *text, struct cpumask mask)
{
    uint64_t first, last;
    bool any = false;

    if (pin_read_range(text, &first, &last) < 0)
        return -EINVAL;
    for (; first <= last; first++)
        if (cpus[first]) {
            cpumask_set(mask, (uint32_t)first);
            any = true;
        }
    return any ? 0 : -EINVAL;
}

/* "0-3,8" into the mask. NULL, or the part that is no such thing or names no CPU that is up. */
static const char *pin_cpus(char *text, struct cpumask mask)
{
    cpumask_zero(mask);
    while (text) {
        char *comma = strchr(text, ',');

        if (comma)
            *comma = '\0';
        if (pin_add_range(text, mask) < 0)
            return text;
        text = comma ? comma + 1 : NULL;
    }
    return NULL;
}

/* ---- showing ---- */

void shell_put_cpus(struct shell *sh, struct cpumask mask)
{
    const char *comma = "";

    for (uint32_t first = cpumask_first(mask); first != CPUMASK_NONE;) {
        uint32_t last = first;

        while (last + 1 < cpu_count && cpumask_has(mask, last + 1))
            last++;
        if (first == last)
            shell_printf(sh, "%s%u", comma, first);
        else
            shell_printf(sh, "%s%u-%u", comma, first, last);
        comma = ",";
        first = cpumask_next(mask, last + 1);
    }
    if (!*comma)
        shell_printf(sh, "none");
}

static bool masks_equal(struct cpumask a, struct cpumask b)
{
    return memcmp(a.words, b.words, cpumask_nwords(cpu_count) * sizeof(a.words[0])) == 0;
}

static bool same_affinity(const struct unit *a, const struct unit *b)
{
    return masks_equal(a->hard, b->hard) && masks_equal(a->soft, b->soft);
}

static void show_affinity(struct shell *sh, const struct unit *u)
{
    shell_printf(sh, "CPUs ");
    shell_put_cpus(sh, u->hard);
    if (!cpumask_empty(u->soft) && !masks_equal(u->hard, u->soft)) {
        shell_printf(sh, ", prefers ");
        shell_put_cpus(sh, u->soft);
    }
    shell_printf(sh, "\n");
}

/* One line where all have the same affinity, else one for each vCPU. */
static void pin_show(struct shell *sh, const struct vm *vm, uint32_t first, uint32_t last)
{
    bool same = last - first == vm->vcpu_count;

    for (uint32_t i = first; i < last; i++)
        same &= same_affinity(&vm->vcpus[i]->unit, &vm->vcpus[first]->unit);
    for (uint32_t i = first; i < (same ? first + 1 : last); i++) {
        if (same)
            shell_printf(sh, "%s: ", vm->config.name);
        else
            shell_printf(sh, "%s/%u: ", vm->config.name, i);
        show_affinity(sh, &vm->vcpus[i]->unit);
    }
}

/* ---- the command ---- */

/* CPU 0 only, one command at a time. */
static uint64_t hard_words[CPUS_MAX / 64], soft_words[CPUS_MAX / 64];

/* NULL, or the part of `list` that cannot be. */
static const char *pin_set(struct vm *vm, uint32_t first, uint32_t last, char *list)
{
    struct cpumask hard = cpumask_over(hard_words, cpu_count);
    struct cpumask soft = cpumask_over(soft_words, cpu_count);
    bool all = !strcmp(list, "all");
    const char *fault = all ? NULL : pin_cpus(list, hard);

    if (fault)
        return fault;
    for (uint32_t i = first; i < last; i++) {
        struct vcpu *v = vm->vcpus[i];

        if (all)
            vm_place_vcpu(v, hard, soft);
        sched_unit_set_affinity(sched, &v->unit, hard, all ? soft : hard, arch_now());
    }
    return NULL;
}

static bool pin_step(struct shell *sh)
{
    uint32_t first, last;
    struct vm *vm = pin_target(sh, &first, &last);
    const char *fault = vm && sh->argc > 2 ? pin_set(vm, first, last, sh->argv[2]) : NULL;

    if (!vm)
        return true;
    if (fault)
        shell_printf(sh, "pin: `%s`: give CPUs that are up, of 0 to %u, such as 0-3,8, or all\n",
                     fault, cpu_count - 1);
    else
        pin_show(sh, vm, first, last);
    return true;
}

const struct shell_command shell_pin_commands[] = {
    {"pin", "NAME[/VCPU] [CPUS|all]", "CPUs a VM or vCPU may use, such as 0-3,8; set them",
     pin_step, false},
    {NULL, NULL, NULL, NULL, false},
};
