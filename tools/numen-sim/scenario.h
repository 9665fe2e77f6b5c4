/*
 * A scenario file: the machine, the scheduler's options, the VMs and what they do.
 *
 *     [run]          how long
 *     [machine]      CPUs, memory, costs
 *     [options]      words of Numen's command line
 *     [vm NAME]      a guest line's words, workload=, and the workload's own
 *     [at TIME]      things done while it runs: offline=3, weight.web=512, cap.web=50, ...
 *
 * Not read here: [acceptance], [arm NAME], [row NAME], [variant AXIS NAME] and [ablation NAME],
 * which are for tools/seeds, and [expect], which is for tools/mutate.py.
 *
 * An indented line goes on with the value of the one before; a line holds 198 characters.
 *
 * A key that is not known, a value that is not accepted, and a machine that cannot be are told with
 * file, line and what is accepted.
 */
#ifndef NUMEN_SIM_SCENARIO_H
#define NUMEN_SIM_SCENARIO_H

#include "hv/guest_config.h"
#include "hv/options.h"
#include "tools/numen-sim/keys.h"

#define SCENARIO_NAME_CHARS (GUEST_NAME_CHARS + 12)
#define SCENARIO_VMS_MAX    256u
#define SCENARIO_VCPUS_MAX  1000000u
#define SCENARIO_ACTIONS    256u

struct run_config {
    uint64_t duration, warmup;
};

enum smt_by { SMT_BY_COUNT, SMT_BY_THREAD };

struct machine_config {
    uint64_t sockets, dies, cores, threads, nodes, node_memory;
    uint64_t smt_by; /* enum smt_by */
    struct key_list distance, smt, cpu_speed, priority;
    uint64_t warm_core, warm_llc, warm_socket, warm_node; /* ns of work to warm up again */
    uint64_t remote_step; /* added to a remote access's time for each unit of distance above 10 */
    uint64_t bandwidth;   /* of a node, bytes a second; 0: no limit */
    uint64_t contention;  /* share of other runqueues found locked, in 1/1024 */
    uint64_t exit_ns, exit_wake_ns, exit_irq_ns, ipi_ns, wake_ns, switch_ns, halt_ns;
};

static inline uint64_t machine_cpu_count(const struct machine_config *m)
{
    return m->sockets * m->dies * m->cores * m->threads;
}

static inline uint64_t machine_node_count(const struct machine_config *m)
{
    return m->nodes ? m->nodes : m->sockets;
}

struct scenario_vm {
    char name[SCENARIO_NAME_CHARS];
    struct guest_config guest;
    const struct workload *workload;
    void *params; /* of the workload */
    uint64_t count, start;
    int line;
};

enum action_kind {
    ACTION_OFFLINE,
    ACTION_ONLINE,
    ACTION_WEIGHT,
    ACTION_CAP,
    ACTION_PIN,
    ACTION_OPTION
};

struct scenario_action {
    ns_t at;
    enum action_kind kind;
    char name[SCENARIO_NAME_CHARS]; /* of a VM or an option */
    char value[OPTION_TEXT_CHARS];
    int line;
    uint64_t number;          /* CPU, weight or cap */
    struct guest_ranges cpus; /* of a pin */
};

struct scenario {
    const char *path;
    struct run_config run;
    struct machine_config machine;
    struct options options;
    uint32_t nvms;
    struct scenario_vm vms[SCENARIO_VMS_MAX];
    uint32_t nactions;
    struct scenario_action actions[SCENARIO_ACTIONS];
};

/*
 * Reads the file, then the "section.key=value" settings, the last of which win. NULL after a line
 * on standard error that says what is wrong.
 */
struct scenario *scenario_read(const char *path, const char *const settings[], uint32_t nsettings);
void scenario_free(struct scenario *scenario);

uint32_t scenario_total_vms(const struct scenario *scenario);
uint32_t scenario_total_vcpus(const struct scenario *scenario);

/* Every section's and every workload's keys. */
void scenario_help(FILE *out);

#endif
