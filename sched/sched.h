/*
 * The credit scheduler, as its callers see it.
 *
 * One instance is one `struct sched`, passed to every call; time is an argument. Units are embedded
 * by the caller (sched/unit.h). Calls about a CPU are made on that CPU (sched_pick, sched_sleep,
 * sched_yield_current, sched_yield_to, sched_saved for what it ran); all others from any CPU.
 * Nothing is allocated after sched_init, no call waits for another CPU while it holds a lock.
 *
 * The order of a switch, which no caller may change: sched_pick returns `next` != the previous
 * unit; the caller saves the previous unit whole; sched_saved(previous); only then does `next` run.
 *
 * To sleep: sched_sleep first, then look once more at the reasons to wake; a sched_wake that comes
 * after sched_sleep is never lost.
 */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include "hv/cpu_place.h"
#include "hv/cpumask.h"
#include "hv/types.h"
#include "sched/unit.h"

#define RUNQ_CPUS_MAX  64u /* one bitmap word per runqueue; more CPUs than that are split */
#define LOAD_FRAC_BITS 32u /* loads are 32.32 fixed point: 1.0 is one unit always runnable */

enum runq_arrangement {
    RUNQ_PER_CPU,
    RUNQ_PER_CORE,
    RUNQ_PER_LLC,
    RUNQ_PER_SOCKET,
    RUNQ_PER_NODE,
    RUNQ_ALL,
};

/* What is scheduled as one: sched-gran=. */
enum sched_gran { SCHED_GRAN_CPU, SCHED_GRAN_CORE };

struct sched_params {
    enum runq_arrangement arrangement;
    enum sched_gran gran;       /* CORE: siblings run units of one VM; not with RUNQ_PER_CPU */
    uint32_t max_cpus_runqueue; /* 1..RUNQ_CPUS_MAX; larger values mean RUNQ_CPUS_MAX */

    ns_t credit_init_ns;    /* what a reset gives to each unit; also the floor of credit, negated */
    ns_t carryover_ns;      /* credit that survives a reset */
    ns_t slice_min_ns;      /* shortest time between two looks at who should run */
    ns_t slice_max_ns;      /* longest, while somebody waits */
    ns_t ratelimit_ns;      /* a unit that was picked keeps its CPU this long; 0: no limit */
    ns_t migrate_resist_ns; /* lead in credit that displaces a unit on a CPU not one's own */

    uint32_t load_window_shift;    /* load averages decay over 2^shift ns */
    uint64_t load_tolerance_under; /* 32.32: difference left alone below capacity */
    uint64_t load_tolerance_over;  /* 32.32: difference left alone above capacity */
    ns_t balance_period_ns;        /* least time between two balance passes of one runqueue */

    bool smt_aware;      /* prefer fully idle cores */
    bool asym;           /* prefer CPUs of higher asym_prio */
    bool asym_busy;      /* also for the sake of a busy CPU: a fault, to be measured */
    bool newidle_pull;   /* a CPU going idle pulls a waiting unit from another runqueue */
    bool neighbour_wake; /* a waking unit may go at once to a neighbour's fully idle core */
    bool overdue_push;   /* a unit that waited for the rate limit goes to any idle thread */
    bool smt_spread;     /* a core going idle takes a unit from a core with two busy threads */
    bool stay_warm;      /* units that run briefly stay with their caches */
    bool soft_affinity;  /* look at soft affinity at all */
    bool numa_cost;      /* moving off the preferred CPUs must pay for the distance */
};

/* The values of docs/scheduler.md. */
void sched_params_default(struct sched_params *p);

/*
 * "default" or "credit2-2016" (Xen's scheduler as it was then, see params.c). -EINVAL and *p
 * untouched for another name.
 */
int sched_params_preset(struct sched_params *p, const char *name)
    __attribute__((warn_unused_result));

/* What the command line says: sched_preset=, then the options that were given by name. */
struct options;
void sched_params_options(struct sched_params *p, const struct options *o);

/* The other way: the values in force, for listings. Whether they were given stays. */
void sched_params_show(const struct sched_params *p, struct options *o);

/* "cpu" "core" "llc" "socket" "node" "all". */
const char *sched_arrangement_name(enum runq_arrangement arrangement);

/* Bytes that sched_init needs: zero-filled, aligned to 64. */
size_t sched_bytes(uint32_t ncpus);

/*
 * places[i] is CPU i. Every CPU starts offline. `distance` is the SLIT, nnodes x nnodes, row by
 * row, or NULL for 10 on the node and 20 off it. nnodes 1..NODES_MAX and above every places[].node.
 */
struct sched *sched_init(void *mem, const struct sched_params *p, const struct cpu_place *places,
                         uint32_t ncpus, const uint8_t *distance, uint32_t nnodes);

/* -EINVAL: no such CPU or already so. Afterwards the CPU calls sched_pick. */
int sched_cpu_online(struct sched *s, uint32_t cpu, ns_t now) __attribute__((warn_unused_result));

/*
 * Takes the CPU out of every choice; its units move. What it runs leaves at its next pick, which
 * returns NULL from now on; the CPU is kicked to make that soon. -EINVAL as above, -EBUSY for the
 * last CPU.
 */
int sched_cpu_offline(struct sched *s, uint32_t cpu, ns_t now) __attribute__((warn_unused_result));

void sched_unit_insert(struct sched *s, struct unit *u, ns_t now);
void sched_unit_remove(struct sched *s, struct unit *u, ns_t now);

void sched_wake(struct sched *s, struct unit *u, ns_t now);
void sched_sleep(struct sched *s, uint32_t cpu);
struct unit *sched_pick(struct sched *s, uint32_t cpu, ns_t now, ns_t *deadline);
void sched_saved(struct sched *s, struct unit *prev, ns_t now);

/* Current goes behind the others of its runqueue at the next pick, even under the rate limit. */
void sched_yield_current(struct sched *s, uint32_t cpu);

/*
 * Directed yield. True if `target` was ready: it is what this CPU's next pick returns when it waits
 * in this runqueue and may run here, else a CPU of its own runqueue has been tickled for it. The
 * caller picks at once. False, and nothing changed, when target runs or is about to on another
 * CPU, sleeps, is paused or is current, or when every CPU that it might take is protected by the
 * rate limit or has been tickled.
 */
bool sched_yield_to(struct sched *s, uint32_t cpu, struct unit *target, ns_t now);

void sched_unit_pause(struct sched *s, struct unit *u, ns_t now);
void sched_unit_unpause(struct sched *s, struct unit *u, ns_t now);
void sched_unit_set_weight(struct sched *s, struct unit *u, uint32_t weight, ns_t now);

/* Copies the bits into the unit's own words; a mask with NULL words means "every CPU". */
void sched_unit_set_affinity(struct sched *s, struct unit *u, struct cpumask hard,
                             struct cpumask soft, ns_t now);

/*
 * Other parameters, the arrangement included, sched-gran not. Until it returns no CPU may be inside
 * sched/, nor a unit inserted or removed; nobody holds a lock. Every online CPU is kicked.
 */
void sched_rearrange(struct sched *s, const struct sched_params *p, ns_t now);

/* What is in force. */
const struct sched_params *sched_params_of(const struct sched *s);

/* ---- listings ---- */

struct runq_info {
    uint32_t id, node;
    uint64_t load;    /* LOAD_FRAC_BITS, decayed up to `now` */
    uint32_t units;   /* that belong to it, asleep ones too */
    uint32_t waiting; /* QUEUED */
    uint32_t max_weight;
    uint64_t turns; /* cores that closed for another VM, under sched-gran=core */
};

uint32_t sched_runq_count(const struct sched *s);

/*
 * Masks are the caller's, sized for ncpus: the runqueue's online CPUs, idle ones, those in idle
 * cores.
 */
void sched_runq_info(struct sched *s, uint32_t runq, ns_t now, struct runq_info *info,
                     struct cpumask cpus, struct cpumask idle, struct cpumask smt_idle);

/* Visits every unit that waits or runs here, under the lock; `visit` calls nothing of sched/. */
void sched_runq_visit(struct sched *s, uint32_t runq,
                      void (*visit)(const struct unit *u, void *arg), void *arg);

/* Runqueue of a CPU, or UINT32_MAX while no CPU of that number is known. */
uint32_t sched_cpu_runq(const struct sched *s, uint32_t cpu);

/* A glance; `cpu` is one of the machine's. */
bool sched_cpu_is_online(const struct sched *s, uint32_t cpu);

/* Credit in ns; for listings and tests. */
int64_t sched_unit_credit(struct sched *s, struct unit *u);

/*
 * Every invariant of the structures, recomputed and asserted, but what sched_check_affinity does.
 * Takes the locks one at a time.
 */
void sched_check(const struct sched *s);

/*
 * Likewise, what follows from the units' masks and the CPUs online. It looks at every runqueue for
 * every unit, so it is for now and then. Not while a CPU comes or goes.
 */
void sched_check_affinity(const struct sched *s);

#endif
