/*
 * A small machine for the scheduler's tests: CPUs that answer kicks and deadlines under a virtual
 * clock, units that run and sleep.
 *
 * The tests either drive single calls by hand (machine_pick and friends) or let machine_run play
 * the workloads. After every event sched_check and sched_check_affinity run and the machine's own
 * view is compared with the scheduler's.
 */
#ifndef TESTS_UNIT_SCHED_MACHINE_H
#define TESTS_UNIT_SCHED_MACHINE_H

#include "hv/cpu_place.h"
#include "sched/cap.h"
#include "sched/sched.h"

#define MACHINE_CPUS  256
#define MACHINE_UNITS 512
#define MACHINE_CAPS  16
#define MACHINE_WORDS (MACHINE_CPUS / 64)

struct machine_unit {
    struct unit unit;
    uint64_t hard[MACHINE_WORDS], soft[MACHINE_WORDS];
    ns_t run_ns, sleep_ns; /* bursts; sleep 0: a hog */
    ns_t left_ns;          /* of the current burst */
    ns_t wake_at;          /* while asleep */
    ns_t waiting_since;    /* first moment it waited while an allowed CPU was idle, or NS_NEVER */
    bool present;
};

struct machine_cpu {
    struct unit *cur;
    struct unit *saving; /* picked away from, not saved yet */
    bool kicked;
    bool online;
    ns_t deadline;
    ns_t ran_until; /* its unit's burst is accounted up to here */
    uint64_t kicks, picks, switches;
};

struct machine_cap {
    struct cap cap;
    ns_t refill_at; /* NS_NEVER: not asked for */
};

struct machine {
    struct sched *s;
    void *mem;
    struct sched_params params;
    struct cpu_place places[MACHINE_CPUS];
    struct machine_cpu cpus[MACHINE_CPUS];
    struct machine_unit units[MACHINE_UNITS];
    struct machine_cap caps[MACHINE_CAPS];
    uint32_t ncpus, nunits, ncaps;
    ns_t now;
    uint64_t events[TRACE_EVENT_COUNT];
    bool check;     /* both checks after every event */
    uint32_t vm_id; /* of the units made next; 1 unless a test says otherwise */
    void (*on_kick)(struct machine *m, uint32_t cpu); /* what others do just then; may be NULL */
};

/*
 * Sockets x cores x threads, siblings adjacent, one LLC per socket, `nodes` over the sockets in
 * turn.
 */
struct machine *machine_new(uint32_t sockets, uint32_t cores, uint32_t threads, uint32_t nodes,
                            const struct sched_params *p);
struct machine *machine_new_places(const struct cpu_place *places, uint32_t ncpus, uint32_t nnodes,
                                   const struct sched_params *p);
void machine_free(struct machine *m);

/* Masks as bits of CPUs 0..63; 0 means every CPU. The unit is inserted, asleep. */
struct machine_unit *machine_unit(struct machine *m, uint32_t weight, uint64_t hard, uint64_t soft);
struct machine_unit *machine_hog(struct machine *m, uint32_t weight, uint64_t hard);
struct machine_unit *machine_burst(struct machine *m, ns_t run, ns_t sleep);
void machine_affinity(struct machine *m, struct machine_unit *u, uint64_t hard, uint64_t soft);

struct cap *machine_cap(struct machine *m, uint32_t percent, uint32_t nunits);
void machine_refill_due(struct machine *m); /* those whose time has come */
ns_t machine_refill_at(const struct machine *m);

void machine_wake(struct machine *m, struct machine_unit *u);
struct unit *machine_pick(struct machine *m, uint32_t cpu);      /* pick and save */
struct unit *machine_pick_only(struct machine *m, uint32_t cpu); /* leaves .saving */
void machine_saved(struct machine *m, uint32_t cpu);
struct unit *machine_sleep(struct machine *m, uint32_t cpu); /* sleep and pick */
void machine_settle(struct machine *m);                      /* answers kicks until none is left */
void machine_run(struct machine *m, ns_t until);
uint64_t machine_ran(struct machine *m, struct machine_unit *u);
uint32_t machine_busy_cpus(const struct machine *m);

#endif
