/*
 * The command stats: how often and why VMs left their guests, what they called, how long they ran.
 *
 * Without a name two tables, a row for the sum and one for each VM; with a name every count of that
 * VM. JSON has every count of all. Counts of a VM's last run are kept when it ends
 * (kernel/vm_stats.c). One VM a step; see kernel/shell_vm.c for why the arrays stand still.
 */
#include "kernel/shell.h"
#include "kernel/vm_life.h"
#include "kernel/vm_stats.h"

static const char *const exit_names[EXIT_KIND_COUNT] = {
#define X(name, text) [EXIT_##name] = #text,
    EXIT_KINDS(X)
#undef X
};

static const char *const hypercall_names[VCPU_HYPERCALL_COUNT] = {
    [VCPU_HYPERCALL_KICK] = "kick",
    [VCPU_HYPERCALL_YIELD] = "yield",
    [VCPU_HYPERCALL_SCHED_YIELD] = "sched_yield",
    [VCPU_HYPERCALL_SEND_IPI] = "send_ipi"};

/* ---- JSON ---- */

static void stats_json(struct json *j, const char *key, const struct vm_stats *s)
{
    json_begin_object(j, key);
    json_begin_object(j, "exits");
    for (uint32_t i = 0; i < EXIT_KIND_COUNT; i++)
        json_u64(j, exit_names[i], s->vcpu.exits[i]);
    json_u64(j, "msr", s->vcpu.exits[EXIT_RDMSR] + s->vcpu.exits[EXIT_WRMSR]);
    json_end_object(j);
    json_begin_object(j, "hypercalls");
    for (uint32_t i = 0; i < VCPU_HYPERCALL_COUNT; i++)
        json_u64(j, hypercall_names[i], s->vcpu.hypercalls[i]);
    json_end_object(j);
    json_u64(j, "ipis", s->vcpu.ipis);
    json_u64(j, "migrations", s->migrations);
    json_u64(j, "run_ns", s->run_ns);
    json_u64(j, "remote_ns", s->remote_ns);
    json_u64(j, "steal_ns", s->wait_ns + s->capped_ns);
    json_u64(j, "capped_ns", s->capped_ns);
    json_end_object(j);
}

static bool stats_json_step(struct shell *sh, const struct vm_stats *total)
{
    struct json *j = &sh->json;

    if (!sh->step) {
        json_begin_object(j, NULL);
        stats_json(j, "total", total);
        json_begin_object(j, "vms");
        return false;
    }
    if (sh->index < vm_count) {
        struct vm *vm = vms[sh->index++];
        struct vm_stats s = {.run_ns = 0};

        vm_stats_add(vm, &s);
        stats_json(j, vm->config.name, &s);
        return false;
    }
    json_end_object(j);
    json_end_object(j);
    shell_put(sh, "\n", 1);
    return true;
}

/* ---- one VM ---- */

static void detail_show(struct shell *sh, const char *name, const struct vm_stats *s)
{
    shell_printf(sh, "%s\n  exits     ", name);
    for (uint32_t i = 0; i < EXIT_KIND_COUNT; i++)
        if (s->vcpu.exits[i])
            shell_printf(sh, " %s %llu", exit_names[i], (unsigned long long)s->vcpu.exits[i]);
    shell_printf(sh, "\n  hypercalls");
    for (uint32_t i = 0; i < VCPU_HYPERCALL_COUNT; i++)
        shell_printf(sh, " %s %llu", hypercall_names[i], (unsigned long long)s->vcpu.hypercalls[i]);
    shell_printf(sh, "\n  IPIs %llu, migrations %llu, ran %llu ms, waited %llu ms\n",
                 (unsigned long long)s->vcpu.ipis, (unsigned long long)s->migrations,
                 (unsigned long long)(s->run_ns / NS_PER_MS),
                 (unsigned long long)((s->wait_ns + s->capped_ns) / NS_PER_MS));
}

static bool stats_one(struct shell *sh)
{
    struct vm *vm = shell_vm_named(sh);
    struct vm_stats s = {.run_ns = 0};

    if (vm) {
        vm_stats_add(vm, &s);
        detail_show(sh, vm->config.name, &s);
    }
    return true;
}

/* ---- the tables ---- */

enum stats_table { STATS_EXITS, STATS_CALLS, STATS_TABLES };

static void exits_head(struct shell *sh)
{
    shell_printf(sh, "%-16s %10s %8s %8s %8s %8s %8s %8s %8s %8s\n", "VM", "EXITS", "IRQ", "HLT",
                 "HCALL", "CPUID", "MSR", "IO", "MEM", "OTHER");
}

static void exits_row(struct shell *sh, const char *name, const struct vm_stats *s)
{
    const uint64_t *exits = s->vcpu.exits;
    uint64_t shown[] = {exits[EXIT_IRQ],
                        exits[EXIT_HLT],
                        exits[EXIT_HYPERCALL],
                        exits[EXIT_CPUID],
                        exits[EXIT_RDMSR] + exits[EXIT_WRMSR],
                        exits[EXIT_IO],
                        exits[EXIT_MEM]};
    uint64_t all = 0, other;

    for (uint32_t i = 0; i < EXIT_KIND_COUNT; i++)
        all += exits[i];
    other = all;
    shell_printf(sh, "%-16s %10llu", name, (unsigned long long)all);
    for (uint32_t i = 0; i < ARRAY_SIZE(shown); i++) {
        other -= shown[i];
        shell_printf(sh, " %8llu", (unsigned long long)shown[i]);
    }
    shell_printf(sh, " %8llu\n", (unsigned long long)other);
}

static void calls_head(struct shell *sh)
{
    shell_printf(sh, "%-16s %10s %8s %11s %8s %8s %10s %10s %10s\n", "VM", "KICK", "YIELD",
                 "SCHED_YIELD", "SEND_IPI", "IPIS", "MIGRATIONS", "RUN ms", "WAIT ms");
}

static void calls_row(struct shell *sh, const char *name, const struct vm_stats *s)
{
    const uint64_t *calls = s->vcpu.hypercalls;

    shell_printf(sh, "%-16s %10llu %8llu %11llu %8llu %8llu %10llu %10llu %10llu\n", name,
                 (unsigned long long)calls[VCPU_HYPERCALL_KICK],
                 (unsigned long long)calls[VCPU_HYPERCALL_YIELD],
                 (unsigned long long)calls[VCPU_HYPERCALL_SCHED_YIELD],
                 (unsigned long long)calls[VCPU_HYPERCALL_SEND_IPI],
                 (unsigned long long)s->vcpu.ipis, (unsigned long long)s->migrations,
                 (unsigned long long)(s->run_ns / NS_PER_MS),
                 (unsigned long long)((s->wait_ns + s->capped_ns) / NS_PER_MS));
}

static void stats_row(struct shell *sh, const char *name, const struct vm_stats *s)
{
    if (sh->phase == STATS_EXITS)
        exits_row(sh, name, s);
    else
        calls_row(sh, name, s);
}

/* phase: enum stats_table; index: rows shown of it, the first being the sum. */
static bool stats_table_step(struct shell *sh, const struct vm_stats *total)
{
    struct vm_stats s = {.run_ns = 0};

    if (!sh->index) {
        if (sh->phase == STATS_EXITS)
            exits_head(sh);
        else
            calls_head(sh);
        stats_row(sh, "total", total);
    } else {
        struct vm *vm = vms[sh->index - 1];

        vm_stats_add(vm, &s);
        stats_row(sh, vm->config.name, &s);
    }
    if (sh->index++ < vm_count)
        return false;
    sh->index = 0;
    return ++sh->phase == STATS_TABLES;
}

static bool stats_step(struct shell *sh)
{
    struct vm_stats total = {.run_ns = 0};

    if (sh->argc > 1 && !sh->as_json)
        return stats_one(sh);
    for (uint32_t i = 0; i < vm_count && !sh->index; i++)
        vm_stats_add(vms[i], &total);
    return sh->as_json ? stats_json_step(sh, &total) : stats_table_step(sh, &total);
}

const struct shell_command shell_stats_commands[] = {
    {"stats", "[NAME]", "exits, hypercalls, IPIs, migrations by VM; all of one", stats_step, true},
    {NULL, NULL, NULL, NULL, false},
};
