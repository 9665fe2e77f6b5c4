/*
 * Whether the parts of a scenario fit together: the machine can be, VMs and actions speak of CPUs
 * and VMs that there are, and there are not too many. Each key alone was looked at when it was
 * read.
 */
#include <string.h>

#include "boot/cmdline.h"
#include "hv/bits.h"
#include "tools/numen-sim/scenario_keys.h"

#define say(fault, ...) snprintf(fault, SCENARIO_FAULT_CHARS, __VA_ARGS__)

static const char *machine_fault(const struct machine_config *m)
{
    uint64_t domains = m->sockets * m->dies, nodes = machine_node_count(m);

    if (domains > CPUS_MAX || m->cores * m->threads > CPUS_MAX || machine_cpu_count(m) > CPUS_MAX)
        return "more than 4096 CPUs (sockets x dies x cores x threads)";
    if (nodes > NODES_MAX)
        return "more than 64 nodes";
    if (domains % nodes && nodes % domains)
        return "dies and nodes do not divide each other";
    if (nodes > domains && m->cores % (nodes / domains))
        return "a die's cores do not divide evenly over its nodes";
    if (m->distance.count && m->distance.count != nodes * nodes)
        return "distance needs a row and a column a node";
    if (m->smt.count < m->threads)
        return "smt needs a speed for each number of busy threads";
    return NULL;
}

bool scenario_machine_fits(const struct scenario *s, char *fault)
{
    const char *text = machine_fault(&s->machine);

    if (text)
        say(fault, "%s", text);
    return !text;
}

static bool has_one_below(const struct guest_ranges *r, uint64_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (guest_ranges_have(r, i))
            return true;
    return false;
}

static bool vm_fits(const struct scenario *s, const struct scenario_vm *vm, char *fault)
{
    uint64_t ncpus = machine_cpu_count(&s->machine), nnodes = machine_node_count(&s->machine);

    if (!has_one_below(&vm->guest.cpus, ncpus))
        say(fault, "[vm %s] cpus=: none is there; CPUs are 0 to %llu", vm->name,
            (unsigned long long)ncpus - 1);
    else if (!has_one_below(&vm->guest.nodes, nnodes))
        say(fault, "[vm %s] nodes=: none is there; nodes are 0 to %llu", vm->name,
            (unsigned long long)nnodes - 1);
    else
        return true;
    return false;
}

/* "web", or "web3" where there are several. */
static bool is_vm_name(const struct scenario_vm *vm, const char *name)
{
    char copy[SCENARIO_NAME_CHARS];

    if (strcmp(vm->name, name) == 0)
        return true;
    for (uint32_t i = 1; vm->count > 1 && i <= vm->count; i++) {
        snprintf(copy, sizeof(copy), "%.31s%u", vm->name, i);
        if (strcmp(copy, name) == 0)
            return true;
    }
    return false;
}

static bool is_vm(const struct scenario *s, const char *name)
{
    for (uint32_t i = 0; i < s->nvms; i++)
        if (is_vm_name(&s->vms[i], name))
            return true;
    return false;
}

/* At a value of its kind it was looked at already; here whether it may change by now. */
static bool option_fits(const struct scenario_action *a, char *fault)
{
    enum option_id id = option_find(a->name);
    struct options scratch;
    char takes[96];

    options_default(&scratch);
    if (!option_is_simulated(id)) {
        say(fault, "option %s changes nothing here; those of the scheduler do", a->name);
        return false;
    }
    if (option_table[id].when != OPTION_WHEN_RUNTIME) {
        say(fault, "option %s is for the start, in [options]; it does not change later", a->name);
        return false;
    }
    if (option_set(&scratch, id, a->value) == 0)
        return true;
    option_takes(id, takes, sizeof(takes));
    say(fault, "option.%s=%.40s: it takes %s", a->name, a->value, takes);
    return false;
}

static bool action_fits(const struct scenario *s, const struct scenario_action *a, char *fault)
{
    uint64_t ncpus = machine_cpu_count(&s->machine);
    bool of_cpu = a->kind == ACTION_OFFLINE || a->kind == ACTION_ONLINE;
    bool of_vm = a->kind == ACTION_WEIGHT || a->kind == ACTION_PIN || a->kind == ACTION_CAP;

    if (a->kind == ACTION_OPTION)
        return option_fits(a, fault);
    if (of_vm && !is_vm(s, a->name))
        say(fault, "there is no VM %s to change", a->name);
    else if (a->kind == ACTION_WEIGHT && (a->number < 1 || a->number > GUEST_WEIGHT_MAX))
        say(fault, "weight.%s=%.20s: a number from 1 to %u", a->name, a->value, GUEST_WEIGHT_MAX);
    else if ((of_cpu && a->number >= ncpus) ||
             (a->kind == ACTION_PIN && !has_one_below(&a->cpus, ncpus)))
        say(fault, "there is no CPU %.20s; CPUs are 0 to %llu", a->value,
            (unsigned long long)ncpus - 1);
    else
        return true;
    return false;
}

int scenario_parts_fit(const struct scenario *s, char *fault)
{
    uint64_t vcpus = 0;

    for (uint32_t i = 0; i < s->nvms; i++) {
        vcpus += s->vms[i].count * s->vms[i].guest.vcpus;
        if (vcpus > SCENARIO_VCPUS_MAX) {
            say(fault, "more than %u vCPUs in all", SCENARIO_VCPUS_MAX);
            return s->vms[i].line;
        }
        if (!vm_fits(s, &s->vms[i], fault))
            return s->vms[i].line;
    }
    for (uint32_t i = 0; i < s->nactions; i++)
        if (!action_fits(s, &s->actions[i], fault))
            return s->actions[i].line;
    return -1;
}
