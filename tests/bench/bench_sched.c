/*
 * Instructions of the scheduler's operations, by the number of CPUs and of units.
 *
 *     bench_sched CPUS UNITS
 *
 * Decides the machines and the states in which an operation is counted. CPUs: 2 threads a core, an
 * LLC for 8 cores, at most 32 cores a socket, each socket a node. On a full machine every unit runs
 * or waits, two or more to a CPU; fewer units than that are pinned to the CPUs that they fill:
 *
 *     wake       of a unit that has slept for 6 ms: it displaces another, or queues
 *     preempt    one that does displace, with the pick there and the end of the hand-over
 *     pick       the pick that ends a slice, with the hand-over of the unit that must go
 *     reset      the step that gives everybody credit; a pick does it
 *     balance    a pass of a runqueue that has just lost up to four units
 *
 * With half of the CPUs idle, or half of the units asleep if they are fewer, wake_idle is a
 * wake-up. Each is counted often, of other units and CPUs each time, and each count is written
 * down: tools/bench/sched.py makes means of them.
 *
 * Built a second time with HV_DEBUG, as sched-locks, it also tells when a runqueue's lock was taken
 * and released: the counts then are those between two such moments.
 */
#include <string.h>

#include "hv/bits.h"
#include "sched/runq.h"
#include "tests/bench/bench.h"

#define CPUS_BENCH_MAX  4096u
#define UNITS_BENCH_MAX 16384u
#define SOCKET_CORES    32u
#define OPS             64u /* of each kind */
#define PASSES          16u
#define EVENT_NAME      16u
#define SLEEP_NS        (6 * NS_PER_MS)
#define WARM_UP_MS      40u
#define WINDOW_NS       (2 * NS_PER_SEC) /* longer than the load average looks back */
#define LOST_UNITS      4u

enum lock_event { EVENT_LOCK, EVENT_UNLOCK, EVENTS };

struct bench_cpu {
    struct unit *cur;
    ns_t deadline;
    bool kicked;
};

static struct sched *s;
static struct bench_cpu cpus[CPUS_BENCH_MAX];
static struct unit units[UNITS_BENCH_MAX];
static uint32_t kicked[CPUS_BENCH_MAX]; /* those with `kicked` set */
static uint32_t ncpus, nunits, nkicked;
static ns_t now;

static bool watching; /* counting, so locks are to tell */
static char event_names[EVENTS][CPUS_BENCH_MAX][EVENT_NAME];

#define COUNT(name, statement) BENCH(name, watching = true; statement; watching = false)

/* ---- what the scheduler asks of its host ---- */

void sched_host_kick(uint32_t cpu)
{
    if (cpus[cpu].kicked)
        return;
    cpus[cpu].kicked = true;
    kicked[nkicked++] = cpu;
}

void sched_host_arm(uint32_t cpu, ns_t deadline)
{
    cpus[cpu].deadline = MIN(cpus[cpu].deadline, deadline);
}

/* No unit here has a cap. */
void sched_host_refill(struct cap *cap, ns_t at)
{
    (void)at;
    BENCH_EXPECT(!cap);
}

void sched_host_trace(uint32_t cpu, uint32_t event, uint64_t a, uint64_t b)
{
    (void)cpu;
    (void)event;
    (void)a;
    (void)b;
}

static void lock_tell(const struct spinlock *lock, enum lock_event event)
{
    if (watching && lock->rank == LOCK_RUNQ)
        CALLGRIND_DUMP_STATS_AT(event_names[event][container_of(lock, struct runq, lock)->id]);
}

/* Called in sched-locks only, by lock.h: when a lock is about to be taken, or was by a try. */
void lock_rank_push(const struct spinlock *lock, bool nested)
{
    (void)nested;
    lock_tell(lock, EVENT_LOCK);
}

void lock_rank_pop(const struct spinlock *lock)
{
    lock_tell(lock, EVENT_UNLOCK);
}

/* ---- a machine whose CPUs do as they are told ---- */

static void cpu_pick(uint32_t cpu)
{
    struct bench_cpu *c = &cpus[cpu];
    struct unit *prev = c->cur;

    c->deadline = NS_NEVER;
    c->cur = sched_pick(s, cpu, now, &c->deadline);
    if (prev && c->cur != prev)
        sched_saved(s, prev, now);
}

/* Until nobody is asked to pick any more. */
static void settle(void)
{
    while (nkicked) {
        uint32_t cpu = kicked[--nkicked];

        cpus[cpu].kicked = false;
        cpu_pick(cpu);
    }
}

/* CPUs look at who should run whenever they said they would, to within 100 us. */
static void run(ns_t span)
{
    ns_t until = now + span;

    while (now < until) {
        now = MIN(now + 100 * NS_PER_US, until);
        for (uint32_t cpu = 0; cpu < ncpus; cpu++)
            if (cpus[cpu].deadline <= now)
                cpu_pick(cpu);
        settle();
    }
}

static void wake(struct unit *u)
{
    sched_wake(s, u, now);
    settle();
}

static void sleep_on(uint32_t cpu)
{
    sched_sleep(s, cpu);
    cpu_pick(cpu);
    settle();
}

/*
 * The CPU at or after a place that moves with `turn`, and that runs something. The step is 2^32
 * over the golden ratio (Knuth 6.4): any number of turns are spread evenly.
 */
static uint32_t busy_cpu(uint32_t turn)
{
    uint32_t cpu = (uint32_t)((uint64_t)turn * 2654435761u % ncpus);

    while (!cpus[cpu].cur)
        cpu = (cpu + 1) % ncpus;
    return cpu;
}

/* All of them asleep; hard affinity to the first `usable` CPUs. */
static void units_make(uint32_t usable)
{
    static const uint32_t weights[] = {128, 256, 256, 512};
    static uint64_t words[CPUS_BENCH_MAX / 64];

    memset(words, 0, sizeof(words));
    for (uint32_t cpu = 0; cpu < usable; cpu++)
        words[cpu / 64] |= BIT(cpu % 64);
    for (uint32_t i = 0; i < nunits; i++) {
        struct unit_params p = {
            .weight = weights[i % ARRAY_SIZE(weights)], .vm_id = i / 4, .index = i % 4};

        if (usable < ncpus)
            p.hard = cpumask_over(words, ncpus);
        unit_init(&units[i], &p);
        sched_unit_insert(s, &units[i], now);
    }
}

/* Spread over 10 ms, so that they are not all at the same point of their slices. */
static void units_wake(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        wake(&units[i]);
        if (i % MAX(n / 100, 1u) == 0)
            run(100 * NS_PER_US);
    }
    run(WARM_UP_MS * NS_PER_MS);
}

static void machine_make(uint32_t usable, uint32_t awake)
{
    static struct cpu_place places[CPUS_BENCH_MAX];
    uint32_t cores = MIN(SOCKET_CORES, MAX(ncpus / 8, 2u)); /* of a socket: 8 CPUs are 2 sockets */
    struct sched_params params;

    for (uint32_t cpu = 0; cpu < ncpus; cpu++)
        places[cpu] = (struct cpu_place){.cpu = cpu,
                                         .apic_id = cpu,
                                         .thread = cpu % 2,
                                         .core = cpu / 2,
                                         .llc = cpu / 2 / MIN(cores, 8u),
                                         .socket = cpu / 2 / cores,
                                         .node = cpu / 2 / cores,
                                         .asym_prio = -(int32_t)cpu};
    sched_params_default(&params);
    now = NS_PER_SEC;
    nkicked = 0;
    free(s);
    s = aligned_alloc(64, sched_bytes(ncpus));
    BENCH_EXPECT(s);
    memset(s, 0, sched_bytes(ncpus));
    s = sched_init(s, &params, places, ncpus, NULL, (ncpus / 2 - 1) / cores + 1);
    for (uint32_t cpu = 0; cpu < ncpus; cpu++) {
        cpus[cpu] = (struct bench_cpu){.deadline = NS_NEVER};
        BENCH_EXPECT(sched_cpu_online(s, cpu, now) == 0);
    }
    settle();
    units_make(usable);
    units_wake(awake);
}

/* ---- what is counted ---- */

static void bench_pick(void)
{
    for (uint32_t i = 0; i < OPS; i++) {
        uint32_t first = 0;

        for (uint32_t cpu = 1; cpu < ncpus; cpu++)
            if (cpus[cpu].deadline < cpus[first].deadline)
                first = cpu;
        BENCH_EXPECT(cpus[first].deadline != NS_NEVER);
        now = MAX(now, cpus[first].deadline);
        COUNT(pick, cpu_pick(first));
        settle();
    }
}

/* As many at a time as leaves most CPUs busy; each sleeps for SLEEP_NS, whatever their number. */
static void bench_sleepers(void (*bench)(struct unit *u))
{
    static struct unit *asleep[OPS];
    uint32_t batch = MAX(MIN(OPS, MIN(ncpus, nunits / 2) / 4), 1u);

    for (uint32_t done = 0; done < OPS; done += batch) {
        for (uint32_t i = 0; i < batch; i++) {
            uint32_t cpu = busy_cpu(done + i);

            asleep[i] = cpus[cpu].cur;
            sleep_on(cpu);
            run(SLEEP_NS / batch);
        }
        for (uint32_t i = 0; i < batch; i++) {
            bench(asleep[i]);
            settle();
            run(SLEEP_NS / batch);
        }
    }
}

static void count_wake(struct unit *u)
{
    COUNT(wake, sched_wake(s, u, now));
}

/* With credit to spare, and late enough for the rate limit to protect nobody any more. */
static void count_preempt(struct unit *u)
{
    credit_set(u->rq, u, (int64_t)s->params.credit_init_ns);
    now += s->params.ratelimit_ns;
    COUNT(preempt, sched_wake(s, u, now); cpu_pick(u->target));
    BENCH_EXPECT(cpus[u->cpu].cur == u);
}

static void bench_wake(void)
{
    bench_sleepers(count_wake);
}

static void bench_preempt(void)
{
    bench_sleepers(count_preempt);
}

static void bench_reset(void)
{
    for (uint32_t i = 0; i < OPS; i++) {
        struct unit *u = cpus[busy_cpu(i)].cur;
        const struct unit *waiting = queue_best_for(u->rq, u->rq->cpus);
        int64_t before;

        credit_set(u->rq, u, -1);
        BENCH_EXPECT(waiting);
        before = (int64_t)(waiting->key + u->rq->given);
        COUNT(reset, credit_reset(s, u->rq, u));
        BENCH_EXPECT((int64_t)(waiting->key + u->rq->given) ==
                     before + (int64_t)s->params.credit_init_ns);
    }
}

static void pass(struct runq *rq) NO_THREAD_SAFETY
{
    spin_lock(&rq->lock);
    balance_pass(s, rq, now);
    spin_unlock(&rq->lock);
}

/* The time that load averages need goes by in one leap, so that no pick mends anything before. */
static void bench_balance(void)
{
    for (uint32_t i = 0; i < PASSES; i++) {
        struct runq *rq = cpus[busy_cpu(i)].cur->rq;
        struct unit *asleep[LOST_UNITS];
        uint32_t n = 0;

        runq_for_each_bit (bit, rq->online) {
            struct sched_cpu *c = runq_cpu(s, rq, bit);

            if (n == LOST_UNITS || !c->cur)
                continue;
            asleep[n++] = c->cur;
            sleep_on(c->cpu);
        }
        now += WINDOW_NS;
        rq->next_balance = now;
        COUNT(balance, pass(rq));
        while (n)
            wake(asleep[--n]);
        settle();
        run(NS_PER_MS);
    }
}

static void bench_wake_idle(void)
{
    for (uint32_t i = 0; i < OPS; i++) {
        struct unit *u = &units[nunits - 1 - i % MIN(nunits / 2, OPS)];
        uint32_t cpu;

        COUNT(wake_idle, sched_wake(s, u, now));
        BENCH_EXPECT(u->state == UNIT_RESERVED && !cpus[u->target].cur);
        settle();
        run(NS_PER_MS);
        cpu = u->cpu;
        BENCH_EXPECT(cpus[cpu].cur == u);
        sleep_on(cpu);
    }
}

static void names_fill(void)
{
    for (uint32_t id = 0; id < ncpus; id++) {
        snprintf(event_names[EVENT_LOCK][id], EVENT_NAME, "lock %u", id);
        snprintf(event_names[EVENT_UNLOCK][id], EVENT_NAME, "unlock %u", id);
    }
}

/* What counting costs, and telling of a lock. */
static void bench_nothing(void)
{
    COUNT(nothing, );
    COUNT(nothing_held, spin_lock(&s->runqs[0].lock); spin_unlock(&s->runqs[0].lock));
}

/* Slow only while something is counted. */
static void instrumented(void (*const benches[])(void))
{
    CALLGRIND_START_INSTRUMENTATION;
    for (; *benches; benches++)
        (*benches)();
    CALLGRIND_STOP_INSTRUMENTATION;
    sched_check(s);
}

int main(int argc, char **argv)
{
    static void (*const on_full[])(void) = {bench_nothing, bench_pick,    bench_wake, bench_preempt,
                                            bench_reset,   bench_balance, NULL};
    static void (*const on_idle[])(void) = {bench_wake_idle, NULL};

    BENCH_EXPECT(argc == 3);
    ncpus = (uint32_t)strtoul(argv[1], NULL, 10);
    nunits = (uint32_t)strtoul(argv[2], NULL, 10);
    BENCH_EXPECT(ncpus >= 8 && ncpus <= CPUS_BENCH_MAX && nunits >= 4 && nunits <= UNITS_BENCH_MAX);
    names_fill();
    machine_make(MIN(ncpus, nunits / 2), nunits);
    instrumented(on_full);
    machine_make(ncpus, MIN(ncpus, nunits) / 2);
    instrumented(on_idle);
    return 0;
}
