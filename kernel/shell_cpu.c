/*
 * The command cpu: which CPUs take part, and taking one out or back while guests run.
 *
 * A CPU that is off sleeps in its loop: it answers hazards (TLB, standstill, panic) but no vCPU
 * runs there. Its units move at once, what it runs leaves at its next pick; then its timers come
 * here. The boot CPU stays: the console and the devices' interrupts are its own.
 */
#include "boot/token.h"
#include "kernel/arch.h"
#include "kernel/cpu.h"
#include "kernel/schedule.h"
#include "kernel/shell.h"
#include "kernel/timer.h"

#define POLL_NS (200 * NS_PER_US)

enum cpu_phase { CPU_ASKED, CPU_LEAVING };

static void cpu_list(struct shell *sh)
{
    if (sh->as_json)
        json_begin_array(&sh->json, NULL);
    for (uint32_t i = 0; i < cpu_count; i++) {
        const char *state = !cpus[i] ? "absent" : sched_cpu_is_online(sched, i) ? "on" : "off";

        if (sh->as_json)
            json_string(&sh->json, NULL, state);
        else
            shell_printf(sh, "CPU %u: %s\n", i, state);
    }
    if (sh->as_json) {
        json_end_array(&sh->json);
        shell_put(sh, "\n", 1);
    }
}

/* Off already, but perhaps a vCPU is still being saved there. True: it has gone. */
static bool cpu_left(struct shell *sh)
{
    struct cpu *cpu = cpus[sh->index];

    /* A glance. What the CPU armed while it was leaving, and is not seen yet, fires there. */
    if (atomic_get(&cpu->current)) {
        sh->sleep_until = arch_now() + POLL_NS;
        return false;
    }
    timer_adopt(cpu);
    shell_printf(sh, "CPU %u is off\n", cpu->id);
    return true;
}

/* True: the reply is complete. */
static bool cpu_set(struct shell *sh, bool on)
{
    uint32_t id = sh->index;
    int error =
        on ? sched_cpu_online(sched, id, arch_now()) : sched_cpu_offline(sched, id, arch_now());

    if (error < 0) {
        shell_printf(sh, "CPU %u is %s already\n", id, on ? "on" : "off");
        return true;
    }
    if (on) {
        shell_printf(sh, "CPU %u is on\n", id);
        return true;
    }
    sh->phase = CPU_LEAVING;
    return cpu_left(sh);
}

static bool cpu_step(struct shell *sh)
{
    uint64_t id;
    bool on;

    if (sh->phase == CPU_LEAVING)
        return cpu_left(sh);
    if (sh->argc == 1 || sh->as_json) {
        cpu_list(sh);
        return true;
    }
    if (token_number(sh->argv[1], &id) || id >= cpu_count || !cpus[id]) {
        shell_printf(sh, "cpu: `%s` is no CPU that is up\n", sh->argv[1]);
        return true;
    }
    if (sh->argc < 3 || token_bool(sh->argv[2], &on)) {
        shell_printf(sh, "cpu: say which, and on or off, as in `cpu 3 off`\n");
        return true;
    }
    if (!id) {
        shell_printf(sh, "cpu: the boot CPU stays on\n");
        return true;
    }
    sh->index = (uint32_t)id;
    return cpu_set(sh, on);
}

const struct shell_command shell_cpu_commands[] = {
    {"cpu", "[CPU on|off]", "which CPUs take part; take one out, or back", cpu_step, true},
    {NULL, NULL, NULL, NULL, false},
};
