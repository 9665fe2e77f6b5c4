/*
 * The command top: who used the CPUs during the last second.
 *
 * Takes the VMs' running sums, sleeps for the interval, and shows the differences, the busiest VM
 * first. A key ends the interval early. What a VM that was started meanwhile did counts from its
 * start. JSON: shares in CPUs (1.00 is one CPU).
 */
#include "boot/token.h"
#include "hv/bits.h"
#include "kernel/arch.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/shell.h"
#include "kernel/vm_life.h"
#include "kernel/vm_stats.h"

#define SECONDS_MAX     60u
#define LOOK_NS         (100 * NS_PER_MS) /* how long a key may go unseen */
#define SHARE_FRAC_BITS 16u

struct top_row {
    ns_t run_ns;
    ns_t wait_ns;
    uint64_t exits;
    bool shown;
};

/* [c] CPU 0: the sums at the beginning, then the differences. */
static struct top_row rows[VMS_MAX];
static ns_t begun, ends;

static void top_read(struct top_row *row, struct vm *vm)
{
    struct vm_stats s = {.run_ns = 0};

    vm_stats_add(vm, &s);
    *row = (struct top_row){.run_ns = s.run_ns, .wait_ns = s.wait_ns};
    for (uint32_t i = 0; i < EXIT_KIND_COUNT; i++)
        row->exits += s.vcpu.exits[i];
}

static bool top_begin(struct shell *sh)
{
    uint64_t seconds = 1;

    if (sh->argc > 1 &&
        (token_number(sh->argv[1], &seconds) || !seconds || seconds > SECONDS_MAX)) {
        shell_printf(sh, "top: `%s` is not a number of seconds from 1 to %u\n", sh->argv[1],
                     SECONDS_MAX);
        return true;
    }
    for (uint32_t i = 0; i < vm_count; i++)
        top_read(&rows[i], vms[i]);
    begun = arch_now();
    ends = begun + seconds * NS_PER_SEC;
    sh->sleep_until = begun + LOOK_NS;
    return false;
}

static void top_subtract(void)
{
    for (uint32_t i = 0; i < vm_count; i++) {
        struct top_row now;

        top_read(&now, vms[i]);
        rows[i] = (struct top_row){.run_ns = now.run_ns - rows[i].run_ns,
                                   .wait_ns = now.wait_ns - rows[i].wait_ns,
                                   .exits = now.exits - rows[i].exits};
    }
}

/* The busiest VM not shown yet, or vm_count. */
static uint32_t top_next(void)
{
    uint32_t best = vm_count;

    for (uint32_t i = 0; i < vm_count; i++)
        if (!rows[i].shown && (best == vm_count || rows[i].run_ns > rows[best].run_ns))
            best = i;
    return best;
}

static void top_json_row(struct json *j, uint32_t i, ns_t length)
{
    json_begin_object(j, NULL);
    json_string(j, "name", vms[i]->config.name);
    /* At most SECONDS_MAX s of 255 vCPUs: below 2^44 ns, shifted below 2^60. */
    json_fixed(j, "cpu", (rows[i].run_ns << SHARE_FRAC_BITS) / length, SHARE_FRAC_BITS);
    json_fixed(j, "wait", (rows[i].wait_ns << SHARE_FRAC_BITS) / length, SHARE_FRAC_BITS);
    json_u64(j, "exits_per_s", rows[i].exits * NS_PER_SEC / length);
    json_end_object(j);
}

static void top_row_show(struct shell *sh, uint32_t i, ns_t length)
{
    uint64_t run = rows[i].run_ns * 1000 / length;
    uint64_t wait = rows[i].wait_ns * 1000 / length;

    shell_printf(sh, "%-16s %5u %5llu.%llu %5llu.%llu %9llu\n", vms[i]->config.name,
                 vms[i]->config.vcpus, (unsigned long long)(run / 10),
                 (unsigned long long)(run % 10), (unsigned long long)(wait / 10),
                 (unsigned long long)(wait % 10),
                 (unsigned long long)(rows[i].exits * NS_PER_SEC / length));
}

static void top_show(struct shell *sh, ns_t length)
{
    ns_t busy = 0;
    uint64_t hundredths;

    for (uint32_t i = 0; i < vm_count; i++)
        busy += rows[i].run_ns;
    hundredths = busy * 100 / length;
    shell_printf(sh, "%llu.%02llu of %u CPUs busy for %llu ms\n",
                 (unsigned long long)(hundredths / 100), (unsigned long long)(hundredths % 100),
                 cpu_count, (unsigned long long)(length / NS_PER_MS));
    shell_printf(sh, "%-16s %5s %7s %7s %9s\n", "VM", "VCPUS", "CPU %", "WAIT %", "EXITS/s");
    for (uint32_t i = top_next(); i < vm_count; i = top_next()) {
        top_row_show(sh, i, length);
        rows[i].shown = true;
    }
}

static void top_json(struct json *j, ns_t length)
{
    json_begin_object(j, NULL);
    json_u64(j, "ns", length);
    json_begin_array(j, "vms");
    for (uint32_t i = top_next(); i < vm_count; i = top_next()) {
        top_json_row(j, i, length);
        rows[i].shown = true;
    }
    json_end_array(j);
    json_end_object(j);
}

/*
 * The interval goes on. A key ends it, and is the next command's first; those typed ahead, as
 * by a script, do not. With --json ^C alone ends it, which the shell sees between steps.
 */
static bool top_waits(struct shell *sh)
{
    size_t typed = console_keys_waiting();
    ns_t now = arch_now();

    if (sh->step == 1)
        sh->state.number = typed;
    if (now >= ends || (typed > sh->state.number && !sh->as_json))
        return false;
    sh->sleep_until = MIN(ends, now + LOOK_NS);
    return true;
}

static bool top_step(struct shell *sh)
{
    ns_t length;

    if (!sh->step)
        return top_begin(sh);
    if (top_waits(sh))
        return false;
    length = arch_now() - begun;
    top_subtract();
    if (sh->as_json) {
        top_json(&sh->json, length);
        shell_put(sh, "\n", 1);
    } else {
        top_show(sh, length);
    }
    return true;
}

const struct shell_command shell_top_commands[] = {
    {"top", "[SECONDS]", "who uses the CPUs, over a second or more", top_step, true},
    {NULL, NULL, NULL, NULL, false},
};
