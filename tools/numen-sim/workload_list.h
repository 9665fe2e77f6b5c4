/* Every workload there is. */
#ifndef NUMEN_SIM_WORKLOAD_LIST_H
#define NUMEN_SIM_WORKLOAD_LIST_H

#include "tools/numen-sim/workload.h"

extern const struct workload workload_cpu, workload_burst, workload_build, workload_server,
    workload_stream, workload_ebizzy, workload_pingpong, workload_lock, workload_pipe,
    workload_messaging;

#endif
