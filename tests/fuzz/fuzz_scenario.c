/*
 * numen-sim's reader of scenarios: what is refused is told in one line that names the place, and
 * what is accepted can be simulated. Behind a byte 0xff, if there is one, stands a --set.
 */
#include "fuzz.h"

#include <stdio.h>

#include "tools/numen-sim/scenario.h"
#include "tools/numen-sim/workload.h"

#define SPLIT 0xff

static void check_accepted(const struct scenario *s)
{
    const struct machine_config *m = &s->machine;

    FUZZ_CHECK(m->sockets * m->dies * m->cores * m->threads <= CPUS_MAX);
    FUZZ_CHECK((m->nodes ? m->nodes : m->sockets) <= NODES_MAX);
    FUZZ_CHECK(m->smt.count >= m->threads);
    FUZZ_CHECK(s->nvms >= 1 && s->nvms <= SCENARIO_VMS_MAX);
    FUZZ_CHECK(s->nactions <= SCENARIO_ACTIONS);
    FUZZ_CHECK(scenario_total_vcpus(s) >= 1 && scenario_total_vcpus(s) <= SCENARIO_VCPUS_MAX);
    FUZZ_CHECK(s->run.warmup < s->run.duration);
    for (uint32_t i = 0; i < s->nvms; i++)
        FUZZ_CHECK(s->vms[i].workload && s->vms[i].params && s->vms[i].guest.vcpus >= 1);
}

/* "numen-sim: -:LINE: what" or "numen-sim: --set: what", and nothing else. */
static void check_refused(const char *said)
{
    const char *rest = said + strlen("numen-sim: ");
    const char *newline = strchr(said, '\n');

    FUZZ_CHECK(strncmp(said, "numen-sim: ", strlen("numen-sim: ")) == 0);
    FUZZ_CHECK(strncmp(rest, "-:", 2) == 0 || strncmp(rest, "--set: ", 7) == 0);
    FUZZ_CHECK(newline && newline[1] == 0);
}

/* What it says goes to `said`; the usual streams are put back. */
static struct scenario *read_scenario(FILE *file, const char *setting, char **said)
{
    FILE *usual_in = stdin, *usual_err = stderr;
    size_t bytes;
    struct scenario *scenario;

    stdin = file;
    stderr = open_memstream(said, &bytes);
    FUZZ_CHECK(stderr);
    scenario = scenario_read("-", &setting, setting ? 1 : 0);
    fclose(stderr);
    stdin = usual_in;
    stderr = usual_err;
    return scenario;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const uint8_t *split = memchr(data, SPLIT, bytes);
    size_t length = split ? (size_t)(split - data) : bytes;
    char setting[256] = "", *said = NULL;
    struct scenario *scenario;
    FILE *file;

    if (!length)
        return 0;
    if (split && bytes - length - 1 < sizeof(setting))
        memcpy(setting, split + 1, bytes - length - 1);
    setting[strcspn(setting, "\n")] = 0; /* it is told as it is, and would make two lines */
    file = fmemopen((void *)(uintptr_t)data, length, "r");
    FUZZ_CHECK(file);
    scenario = read_scenario(file, split ? setting : NULL, &said);
    fclose(file);
    if (scenario)
        check_accepted(scenario);
    else
        check_refused(said);
    if (scenario)
        scenario_free(scenario);
    free(said);
    return 0;
}
