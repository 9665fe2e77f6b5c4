/*
 * numen-sim: the scheduler of sched/ on a machine that a scenario describes.
 *
 * Decides what the options mean and what is written where. Exit status: 0; 1 when a check failed;
 * 2 for a scenario or a usage that cannot be followed.
 */
#include <argp.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/numen-sim/record.h"
#include "tools/numen-sim/results.h"
#include "tools/numen-sim/sim.h"
#include "tools/numen-sim/timeline.h"

#define EXIT_USAGE    2
#define SETTINGS_MAX  256u
#define SEEDS_MAX     10000u
#define PROGRESS_SECS 1.0

enum option_key {
    KEY_SET = 256,
    KEY_SEED,
    KEY_SEEDS,
    KEY_JSON,
    KEY_CSV,
    KEY_SVG,
    KEY_TRACE,
    KEY_CHECK,
    KEY_HELP_KEYS,
};

static const struct argp_option options[] = {
    {"set", KEY_SET, "KEY=VALUE", 0,
     "As if the scenario said so: vm.web.vcpus=4, machine.sockets=2, credit2_runqueue=core", 1},
    {"seed", KEY_SEED, "N", 0, "The first seed (1)", 1},
    {"seeds", KEY_SEEDS, "N", 0, "Run so many seeds, from the first on (1)", 1},
    {"json", KEY_JSON, NULL, 0, "One line of JSON instead of the table", 2},
    {"csv", KEY_CSV, "FILE", 0, "Write every value of every seed as well", 2},
    {"svg", KEY_SVG, "FILE", 0, "Draw who ran where in the first seed", 2},
    {"trace", KEY_TRACE, "FILE", 0, "Write the scheduler's events of the first seed", 2},
    {"check", KEY_CHECK, NULL, 0, "Verify the invariants after every event", 3},
    {"help-keys", KEY_HELP_KEYS, NULL, 0, "All that a scenario may say", 3},
    {0},
};

struct run {
    const char *path;
    const char *settings[SETTINGS_MAX];
    uint32_t nsettings, seed, seeds;
    bool json, check;
    const char *csv, *svg, *trace;
};

static uint32_t read_count(const char *text, const char *what, uint32_t max,
                           struct argp_state *state)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (*end || end == text || n < 1 || n > max)
        argp_error(state, "--%s takes 1 to %u", what, max);
    return (uint32_t)n;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct run *run = state->input;

    switch (key) {
    case KEY_SET:
        if (run->nsettings == SETTINGS_MAX)
            argp_error(state, "more than %u --set", SETTINGS_MAX);
        run->settings[run->nsettings++] = arg;
        break;
    case KEY_SEED:
        run->seed = read_count(arg, "seed", UINT32_MAX - SEEDS_MAX, state);
        break;
    case KEY_SEEDS:
        run->seeds = read_count(arg, "seeds", SEEDS_MAX, state);
        break;
    case KEY_JSON:
        run->json = true;
        break;
    case KEY_CSV:
        run->csv = arg;
        break;
    case KEY_SVG:
        run->svg = arg;
        break;
    case KEY_TRACE:
        run->trace = arg;
        break;
    case KEY_CHECK:
        run->check = true;
        break;
    case KEY_HELP_KEYS:
        scenario_help(stdout);
        exit(EXIT_SUCCESS);
    case ARGP_KEY_ARG:
        if (run->path)
            argp_error(state, "one scenario at a time");
        run->path = arg;
        break;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no scenario");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static FILE *open_for(const char *path)
{
    FILE *out = path ? fopen(path, "w") : NULL;

    if (path && !out)
        err(EXIT_USAGE, "%s", path);
    return out;
}

static void close_of(FILE *out, const char *path)
{
    if (out && fclose(out))
        err(EXIT_USAGE, "%s", path);
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- progress, on standard error once a second of the host's time ---- */

static struct {
    double begun, told;
    uint64_t events; /* of the seeds that are done */
    uint32_t seed, seeds;
} progress;

static void progress_tell(const struct sim *sim)
{
    double now = seconds_now();
    uint64_t events = progress.events + sim->nevents;

    if (now - progress.told < PROGRESS_SECS)
        return;
    progress.told = now;
    fprintf(stderr, "numen-sim: seed %u of %u, %.3f of at most %.3f s, %.2f M events/s\n",
            progress.seed + 1, progress.seeds, (double)(sim->now - SIM_BEGIN) / 1e9,
            (double)(sim->end - SIM_BEGIN) / 1e9, (double)events / (now - progress.begun) / 1e6);
}

/* The first seed is the one that is looked at closely. */
static void run_seed(const struct run *run, const struct scenario *scenario, uint32_t i,
                     struct results *results)
{
    struct sim *sim = sim_new(scenario, run->seed + i);
    FILE *trace = open_for(i ? NULL : run->trace);
    FILE *svg = open_for(i ? NULL : run->svg);

    sim->check = run->check;
    sim->progress = progress_tell;
    if (trace || svg || run->check)
        sim->record = record_new(sim, trace, svg != NULL);
    if (!sim_run(sim))
        errx(EXIT_USAGE, "%s: every VM was done before the warm-up was over", run->path);
    results_add(results, sim);
    if (svg)
        timeline_draw(sim, svg);
    close_of(trace, run->trace);
    close_of(svg, run->svg);
    record_free(sim->record);
    sim_free(sim);
}

static void run_all(const struct run *run, const struct scenario *scenario, struct results *results)
{
    progress.begun = progress.told = seconds_now();
    progress.seeds = run->seeds;
    for (progress.seed = 0; progress.seed < run->seeds; progress.seed++) {
        run_seed(run, scenario, progress.seed, results);
        progress.events = results->events;
    }
    results->seconds = seconds_now() - progress.begun;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse_option,
        "SCENARIO.ini",
        "Numen's scheduler on a simulated machine. docs/numen-sim.md says what a scenario is.",
        NULL,
        NULL,
        NULL};
    struct run run = {.seed = 1, .seeds = 1};
    struct scenario *scenario;
    struct results results;
    FILE *csv;

    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &run);
    scenario = scenario_read(run.path, run.settings, run.nsettings);
    if (!scenario)
        return EXIT_USAGE;
    csv = open_for(run.csv);
    results_init(&results, run.seed, run.seeds);
    run_all(&run, scenario, &results);
    if (csv)
        results_csv(&results, csv);
    close_of(csv, run.csv);
    if (run.check)
        fprintf(stderr, "numen-sim: all invariants held after each of %llu events\n",
                (unsigned long long)results.events);
    if (run.json)
        results_json(&results, run.path, stdout);
    else
        results_print(&results, stdout);
    results_free(&results);
    scenario_free(scenario);
    return EXIT_SUCCESS;
}
