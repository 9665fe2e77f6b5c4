/*
 * The scheduler's parameters: defaults, presets, names.
 *
 * The preset credit2-2016 is Xen's credit2 of that year, to measure against: slices up to 2 ms, no
 * rate limit, no soft affinity, and nothing of Numen's own. What an option may set is options.c's.
 */
#include <errno.h>
#include <string.h>

#include "sched/sched.h"

/* Reads nothing; writes every parameter. */
void sched_params_default(struct sched_params *p)
{
    *p = (struct sched_params){
        .arrangement = RUNQ_PER_SOCKET,
        .max_cpus_runqueue = 16,
        .credit_init_ns = 10 * NS_PER_MS,
        .carryover_ns = 500 * NS_PER_US,
        .slice_min_ns = 500 * NS_PER_US,
        .slice_max_ns = 10 * NS_PER_MS,
        .ratelimit_ns = NS_PER_MS,
        .migrate_resist_ns = 500 * NS_PER_US,
        .load_window_shift = 30, /* 1.07 s */
        .load_tolerance_under = 1ull << LOAD_FRAC_BITS,
        .load_tolerance_over = 1ull << (LOAD_FRAC_BITS - 3),
        .balance_period_ns = 10 * NS_PER_MS,
        .smt_aware = true,
        .asym = true,
        .newidle_pull = true,
        .neighbour_wake = true,
        .overdue_push = true,
        .smt_spread = true,
        .stay_warm = true,
        .soft_affinity = true,
        .numa_cost = true,
    };
}

/* Reads nothing but `name`; writes every parameter. */
int sched_params_preset(struct sched_params *p, const char *name)
{
    if (strcmp(name, "default") == 0) {
        sched_params_default(p);
        return 0;
    }
    if (strcmp(name, "credit2-2016") != 0)
        return -EINVAL;
    sched_params_default(p);
    p->slice_max_ns = 2 * NS_PER_MS;
    p->ratelimit_ns = 0;
    p->asym = false;
    p->newidle_pull = false;
    p->neighbour_wake = false;
    p->overdue_push = false;
    p->smt_spread = false;
    p->stay_warm = false;
    p->soft_affinity = false;
    p->numa_cost = false;
    return 0;
}

static const char *const arrangement_names[] = {
    [RUNQ_PER_CPU] = "cpu",       [RUNQ_PER_CORE] = "core", [RUNQ_PER_LLC] = "llc",
    [RUNQ_PER_SOCKET] = "socket", [RUNQ_PER_NODE] = "node", [RUNQ_ALL] = "all",
};

/* Pure. */
const char *sched_arrangement_name(enum runq_arrangement arrangement)
{
    return arrangement_names[arrangement];
}
