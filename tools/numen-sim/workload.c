/* The list of workloads. Each stands in its own workload_*.c. */
#include "tools/numen-sim/workload.h"

#include <string.h>

#include "tools/numen-sim/workload_list.h"

const struct workload *const workloads[] = {
    &workload_cpu,
    &workload_burst,
    &workload_build,
    &workload_server,
    &workload_stream,
    &workload_ebizzy,
    &workload_pingpong,
    &workload_lock,
    &workload_pipe,
    &workload_messaging,
    NULL,
};

const struct workload *workload_find(const char *name)
{
    for (const struct workload *const *w = workloads; *w; w++)
        if (strcmp((*w)->name, name) == 0)
            return *w;
    return NULL;
}
