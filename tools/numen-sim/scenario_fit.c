/*
 * Whether the parts of a scenario fit together: the machine can be, VMs and actions speak of CPUs,
 * VMs and times that there are, and there are not too many. Each key alone was looked at when it
 * was read. What is refused is told with the line of the key that asks for it.
 */
#include <string.h>

#include "boot/cmdline.h"
#include "sched/sched.h"
#include "tools/numen-sim/scenario_keys.h"
#include "tools/numen-sim/scenario_lines.h"
#include "tools/numen-sim/workload.h"

/* ---- the machine ---- */

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
    return NULL;
}

/* Of smt=: a speed for each number of busy threads, none above the one before, all of one thread.
 */
static const char *smt_fault(const struct machine_config *m)
{
    const uint64_t *speed = m->smt.value;

    if (m->smt.count < m->threads)
        return "smt needs a speed for each number of busy threads";
    for (uint64_t i = 1; i < m->smt.count; i++) {
        if (speed[i] > speed[i - 1])
            return "smt: a thread is not faster beside more busy ones; the order is 1, 2, ... busy";
        /* Speeds are rounded to 1/1024. With smt_by=thread others may be off. */
        if (m->smt_by == SMT_BY_COUNT && (i + 1) * (speed[i] + 1) < speed[0])
            return "smt: threads together are slower than one alone; it takes each one's speed, "
                   "such as 1,0.65";
    }
    return NULL;
}

/* Of cpu_speed= and priority=: a list of first CPU, last CPU and value. */
static bool ranges_fit(const struct reader *r, const char *word, const struct key_list *ranges)
{
    uint64_t ncpus = machine_cpu_count(&r->scenario->machine);

    for (uint64_t i = 0; i + 2 < ranges->count; i += 3)
        if (ranges->value[i + 1] >= ncpus)
            return wrong(r, line_of_word(r, "machine", word), "[machine] %s: CPUs are 0 to %llu",
                         word, (unsigned long long)ncpus - 1);
    return true;
}

static bool machine_fits(const struct reader *r)
{
    const struct machine_config *m = &r->scenario->machine;
    const char *fault = machine_fault(m);

    if (fault)
        return wrong(r, line_of_word(r, "machine", ""), "[machine] cannot be: %s", fault);
    fault = smt_fault(m);
    if (fault)
        return wrong(r, line_of_word(r, "machine", "smt="), "[machine] cannot be: %s", fault);
    return ranges_fit(r, "cpu_speed=", &m->cpu_speed) && ranges_fit(r, "priority=", &m->priority);
}

/* ---- times ---- */

static bool is_in_time(const struct reader *r, int line, const char *what, uint64_t at)
{
    char end[32];

    if (at < r->scenario->run.duration)
        return true;
    key_describe_time(r->scenario->run.duration, end, sizeof(end));
    return wrong(r, line, "%s is not within the run, whose duration is %s: less is accepted", what,
                 end);
}

/* ---- VMs ---- */

/* Nodes as numa= leaves them, of which nodes= speaks. */
static uint64_t nodes_seen(const struct scenario *s)
{
    const struct option_word *numa = &s->options.numa;

    if (numa->word == NUMA_FAKE)
        return numa->number;
    return numa->word == NUMA_ON ? machine_node_count(&s->machine) : 1;
}

static bool all_below(const struct guest_ranges *r, uint64_t count)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->range[i].last >= count)
            return false;
    return true;
}

static bool vm_fits(const struct reader *r, const struct scenario_vm *vm)
{
    uint64_t ncpus = machine_cpu_count(&r->scenario->machine), nnodes = nodes_seen(r->scenario);
    const struct workload *w = vm->workload;
    char section[SCENARIO_NAME_CHARS + 4];

    snprintf(section, sizeof(section), "vm %s", vm->name);
    if (!all_below(&vm->guest.cpus, ncpus))
        return wrong(r, line_of_word(r, section, "cpus="), "[%s] cpus=: CPUs are 0 to %llu",
                     section, (unsigned long long)ncpus - 1);
    if (!all_below(&vm->guest.nodes, nnodes))
        return wrong(r, line_of_word(r, section, "nodes="), "[%s] nodes=: nodes are 0 to %llu",
                     section, (unsigned long long)nnodes - 1);
    if (w->vcpus_by && vm->guest.vcpus % w->vcpus_by)
        return wrong(r, line_of_word(r, section, "vcpus="),
                     "[%s] vcpus=%u: workload %s takes a multiple of %u", section, vm->guest.vcpus,
                     w->name, w->vcpus_by);
    return is_in_time(r, line_of_word(r, section, "start="), "start", vm->start);
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

/* NULL: there is none. */
static const struct scenario_vm *vm_named(const struct scenario *s, const char *name)
{
    for (uint32_t i = 0; i < s->nvms; i++)
        if (is_vm_name(&s->vms[i], name))
            return &s->vms[i];
    return NULL;
}

static bool vms_fit(const struct reader *r)
{
    const struct scenario *s = r->scenario;
    uint64_t vcpus = 0;

    for (uint32_t i = 0; i < s->nvms; i++) {
        vcpus += s->vms[i].count * s->vms[i].guest.vcpus;
        if (vcpus > SCENARIO_VCPUS_MAX)
            return wrong(r, s->vms[i].line, "more than %u vCPUs in all", SCENARIO_VCPUS_MAX);
        if (!vm_fits(r, &s->vms[i]))
            return false;
    }
    return true;
}

/* ---- options ---- */

/* The one pair that excludes each other; sched/options.c takes socket, here as in the image. */
static void tell_split_core(const struct reader *r, int line, const struct options *o)
{
    if (o->sched_gran.word == GRAN_CORE &&
        (enum runq_arrangement)o->credit2_runqueue.word == RUNQ_PER_CPU)
        (void)wrong(
            r, line,
            "credit2_runqueue=cpu parts siblings, sched-gran=core does not: socket is used");
}

/* ---- actions ---- */

/* At a value of its kind it was looked at already; here whether it may change by now. */
static bool option_fits(const struct reader *r, const struct scenario_action *a)
{
    enum option_id id = option_find(a->name);
    struct options scratch = r->scenario->options;
    char takes[96];

    if (!option_is_simulated(id))
        return wrong(r, a->line, "option %s changes nothing here; those of the scheduler do",
                     a->name);
    if (option_table[id].when != OPTION_WHEN_RUNTIME)
        return wrong(r, a->line,
                     "option %s is for the start, in [options]; it does not change later", a->name);
    if (option_set(&scratch, id, a->value)) {
        option_takes(id, takes, sizeof(takes));
        return wrong(r, a->line, "option.%s=%.40s: it takes %s", a->name, a->value, takes);
    }
    if (id == OPTION_credit2_runqueue)
        tell_split_core(r, a->line, &scratch);
    return true;
}

static bool vm_action_fits(const struct reader *r, const struct scenario_action *a)
{
    const struct scenario_vm *vm = vm_named(r->scenario, a->name);

    if (!vm)
        return wrong(r, a->line, "there is no VM %s to change", a->name);
    if (a->kind == ACTION_WEIGHT && (a->number < 1 || a->number > GUEST_WEIGHT_MAX))
        return wrong(r, a->line, "weight.%s=%.20s: a number from 1 to %u", a->name, a->value,
                     GUEST_WEIGHT_MAX);
    if (a->kind == ACTION_CAP && a->number > 100ul * vm->guest.vcpus)
        return wrong(r, a->line,
                     "cap.%s=%.20s: per cent of one CPU for all of the VM, 0 (none) to %u, 100 for "
                     "each vCPU",
                     a->name, a->value, 100 * vm->guest.vcpus);
    return true;
}

static bool action_fits(const struct reader *r, const struct scenario_action *a)
{
    uint64_t ncpus = machine_cpu_count(&r->scenario->machine);
    bool of_cpu = a->kind == ACTION_OFFLINE || a->kind == ACTION_ONLINE;

    if (!is_in_time(r, a->line, "[at]", a->at))
        return false;
    if (a->kind == ACTION_OPTION)
        return option_fits(r, a);
    if (!of_cpu && !vm_action_fits(r, a))
        return false;
    if ((of_cpu && a->number >= ncpus) || (a->kind == ACTION_PIN && !all_below(&a->cpus, ncpus)))
        return wrong(r, a->line, "there is no CPU %.20s; CPUs are 0 to %llu", a->value,
                     (unsigned long long)ncpus - 1);
    return true;
}

bool scenario_fits(const struct reader *r)
{
    const struct scenario *s = r->scenario;

    if (!machine_fits(r))
        return false;
    if (s->run.warmup >= s->run.duration)
        return wrong(r, line_of_word(r, "run", "warmup="), "warmup takes less than duration");
    if (!vms_fit(r))
        return false;
    for (uint32_t i = 0; i < s->nactions; i++)
        if (!action_fits(r, &s->actions[i]))
            return false;
    tell_split_core(r, line_of_word(r, "options", "credit2_runqueue="), &s->options);
    return true;
}
