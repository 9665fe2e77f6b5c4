/*
 * What may stand in a scenario, with defaults.
 *
 * The machine's costs are orders of magnitude for a server of about 2016, each with its source;
 * scenarios that reproduce a measurement state their own.
 */
#include "tools/numen-sim/scenario_keys.h"

#include <stddef.h>
#include <string.h>

#include "boot/cmdline.h"
#include "boot/guest_line.h"
#include "boot/token.h"
#include "tools/numen-sim/workload.h"

#define RUN(field)     offsetof(struct run_config, field)
#define MACHINE(field) offsetof(struct machine_config, field)
#define VM(field)      offsetof(struct scenario_vm, field)
#define HOUR           (3600 * NS_PER_SEC)

const struct key run_keys[] = {
    {"duration", KEY_TIME, RUN(duration), "10s", 1000, HOUR, "", "longest run, warm-up included"},
    {"warmup", KEY_TIME, RUN(warmup), "0", 0, HOUR, "", "counts start after this"},
    KEY_END,
};

const struct key machine_keys[] = {
    {"sockets", KEY_COUNT, MACHINE(sockets), "2", 1, CPUS_MAX, "", "sockets"},
    {"dies", KEY_COUNT, MACHINE(dies), "1", 1, CPUS_MAX, "", "last-level caches of a socket"},
    {"cores", KEY_COUNT, MACHINE(cores), "4", 1, CPUS_MAX, "", "cores of a die"},
    {"threads", KEY_COUNT, MACHINE(threads), "2", 1, 8, "", "threads of a core"},
    {"nodes", KEY_COUNT, MACHINE(nodes), "0", 0, NODES_MAX, "", "NUMA nodes; 0: one a socket"},
    {"node_memory", KEY_BYTES, MACHINE(node_memory), "4G", 64 * MIB, 1024 * GIB, "",
     "memory of a node"},
    {"distance", KEY_TABLE, MACHINE(distance), "", 10, 254, "", "SLIT; none: 10 and 20"},
    {"smt", KEY_FRACTIONS, MACHINE(smt), "1,0.65,0.48,0.40,0.34,0.30,0.27,0.25", 1, 1024, "",
     "speed of a thread while 1, 2, ... of its core are busy"},
    {"smt_by", KEY_WORD, MACHINE(smt_by), "count", 0, 0, "count thread",
     "how many are busy; or thread: up to which one, others being off for as long (POWER7)"},
    {"cpu_speed", KEY_RANGES, MACHINE(cpu_speed), "", 1, 16 * 1024, "", "of CPUs that are not 1"},
    {"priority", KEY_RANGES, MACHINE(priority), "", 0, 500 * 1024, "",
     "asym_prio of CPUs; none: lower numbers preferred"},
    {"warm_core", KEY_TIME, MACHINE(warm_core), "0", 0, NS_PER_SEC, "",
     "work lost by moving to another thread of the core"},
    {"warm_llc", KEY_TIME, MACHINE(warm_llc), "20us", 0, NS_PER_SEC, "",
     "to another core of the cache (L2 of 256 KiB refilled at 12 GB/s)"},
    {"warm_socket", KEY_TIME, MACHINE(warm_socket), "100us", 0, NS_PER_SEC, "",
     "to another cache of the node"},
    {"warm_node", KEY_TIME, MACHINE(warm_node), "150us", 0, NS_PER_SEC, "", "to another node"},
    {"remote_step", KEY_FRACTION, MACHINE(remote_step), "0.05", 0, 1024, "",
     "added to a memory access for each unit of distance above 10"},
    {"bandwidth", KEY_BYTES, MACHINE(bandwidth), "0", 0, 1024 * GIB, "",
     "of a node's memory, a second; 0: no limit"},
    {"contention", KEY_FRACTION, MACHINE(contention), "0", 0, 1024, "",
     "share of other runqueues whose locks a pick or wake-up finds taken"},
    {"exit", KEY_TIME, MACHINE(exit_ns), "1us", 0, NS_PER_MS, "", "a VM exit and its handling"},
    {"exit_wake", KEY_TIME, MACHINE(exit_wake_ns), "0", 0, NS_PER_MS, "",
     "more for an exit that wakes another vCPU"},
    {"exit_irq", KEY_TIME, MACHINE(exit_irq_ns), "0", 0, NS_PER_MS, "",
     "more for the exit by which a guest takes an interrupt"},
    {"ipi", KEY_TIME, MACHINE(ipi_ns), "1us", 0, NS_PER_MS, "", "a kick's way to a busy CPU"},
    {"wake", KEY_TIME, MACHINE(wake_ns), "2us", 0, NS_PER_MS, "", "its way to a CPU in HLT"},
    {"switch", KEY_TIME, MACHINE(switch_ns), "1500ns", 0, NS_PER_MS, "",
     "changing the vCPU of a CPU"},
    {"halt", KEY_TIME, MACHINE(halt_ns), "1us", 0, NS_PER_MS, "", "the exit of a guest's HLT"},
    KEY_END,
};

const struct key vm_keys[] = {
    {"count", KEY_COUNT, VM(count), "1", 1, 4096, "", "how many such VMs"},
    {"start", KEY_TIME, VM(start), "0", 0, HOUR, "", "when it starts"},
    KEY_END,
};

const char guest_keys_used[] = "vcpus memory weight cap cpus nodes";

static bool is_word_of(const char *words, const char *name)
{
    char word[32];
    bool cut;

    while (token_next(&words, word, sizeof(word), &cut))
        if (strcmp(word, name) == 0)
            return true;
    return false;
}

bool guest_key_is_used(const char *name, const struct workload *w)
{
    return is_word_of(guest_keys_used, name) || (w->sees_l3 && strcmp(name, "l3-cache") == 0);
}

bool guest_key_is_idle(const char *name)
{
    return is_word_of("sockets cores threads l3-cache pv initrd autostart", name);
}

bool option_is_simulated(enum option_id id)
{
    switch (id) {
    case OPTION_console:
    case OPTION_com1:
    case OPTION_panic:
    case OPTION_loglvl:
    case OPTION_smt:
    case OPTION_maxcpus:
    case OPTION_ple:
        return false;
    default:
        return true;
    }
}

static bool split_name(struct scenario_action *a, const char *name)
{
    const char *point = strchr(name, '.');

    if (!point || strlen(point + 1) >= sizeof(a->name))
        return false;
    strcpy(a->name, point + 1);
    return true;
}

static bool parse_kind(struct scenario_action *a, const char *name)
{
    if (strcmp(name, "offline") == 0)
        a->kind = ACTION_OFFLINE;
    else if (strcmp(name, "online") == 0)
        a->kind = ACTION_ONLINE;
    else if (strncmp(name, "weight.", 7) == 0)
        a->kind = ACTION_WEIGHT;
    else if (strncmp(name, "cap.", 4) == 0)
        a->kind = ACTION_CAP;
    else if (strncmp(name, "pin.", 4) == 0)
        a->kind = ACTION_PIN;
    else if (strncmp(name, "option.", 7) == 0)
        a->kind = ACTION_OPTION;
    else
        return false;
    return a->kind <= ACTION_ONLINE || split_name(a, name);
}

/* "0-3,8", as in cpus= of a guest's line, whose parser it is. */
static bool parse_cpus(const char *value, struct guest_ranges *cpus)
{
    static struct guest_config guest;
    static struct fw_warnings warnings;
    struct guest_line_error error;
    char line[128];

    snprintf(line, sizeof(line), "- cpus=%s", value);
    if (guest_line_parse(line, &guest, &error, &warnings))
        return false;
    *cpus = guest.cpus;
    return true;
}

bool action_parse(struct scenario_action *a, const char *time, const char *name, const char *value)
{
    const struct key at = {"at", KEY_TIME, offsetof(struct run_config, duration), "0", 0, HOUR,
                           "",   ""};
    struct run_config when;

    if (key_set(&at, &when, time) || !parse_kind(a, name) || strlen(value) >= sizeof(a->value))
        return false;
    a->at = when.duration;
    strcpy(a->value, value);
    switch (a->kind) {
    case ACTION_PIN:
        return parse_cpus(value, &a->cpus);
    case ACTION_OPTION:
        return option_find(a->name) != OPTION_COUNT;
    default:
        return token_number(value, &a->number) == 0;
    }
}
