/*
 * The hand-over with real threads: one per CPU, all at once, no virtual clock.
 *
 * Each unit carries a plain counter that only the CPU running it may touch, and that it touches
 * until just before sched_saved. Two CPUs in one unit would tear it (and ThreadSanitizer would see
 * the race); a lost wake-up would leave the test hanging.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "sched/runq.h"

#define CPUS    4
#define UNITS   12
#define CAPS    2
#define RACE_NS (500 * NS_PER_MS)

struct racer {
    struct unit unit;
    uint64_t hard, soft;
    uint64_t registers; /* its CPU's alone */
    uint32_t inside;    /* CPUs that believe they run it */
};

static struct sched *sched;
static struct racer racers[UNITS];
static uint32_t kicked[CPUS];
static uint32_t done; /* CPUs that have stopped meddling */
static struct cap caps[CAPS];
static ns_t refill_at[CAPS]; /* NS_NEVER: not asked for */
static ns_t end_at;
static uint64_t rounds; /* of all CPUs; ticket locks are slow where threads outnumber processors */

static ns_t clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (ns_t)t.tv_sec * NS_PER_SEC + (ns_t)t.tv_nsec;
}

void sched_host_kick(uint32_t cpu)
{
    __atomic_store_n(&kicked[cpu], 1, __ATOMIC_RELEASE);
}

void sched_host_arm(uint32_t cpu, ns_t deadline)
{
    (void)cpu;
    (void)deadline; /* every CPU picks all the time */
}

void sched_host_refill(struct cap *cap, ns_t at)
{
    ASSERT(__atomic_exchange_n(&refill_at[cap - caps], at, __ATOMIC_SEQ_CST) == NS_NEVER);
}

void sched_host_trace(uint32_t cpu, uint32_t event, uint64_t a, uint64_t b)
{
    (void)cpu;
    (void)event;
    (void)a;
    (void)b;
}

static uint32_t dice(uint64_t *random, uint32_t n)
{
    *random = *random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*random >> 33) % n;
}

/* Something another CPU may do to any unit at any moment. */
static void meddle(uint64_t *random)
{
    struct racer *r = &racers[dice(random, UNITS)];
    uint64_t hard = 1 + dice(random, BIT(CPUS) - 1), soft = 1 + dice(random, BIT(CPUS) - 1);

    struct cap *cap = &caps[dice(random, CAPS)];

    switch (dice(random, 14)) {
    case 0:
        sched_unit_pause(sched, &r->unit, clock_now());
        sched_unit_unpause(sched, &r->unit, clock_now());
        break;
    case 1:
        sched_unit_set_weight(sched, &r->unit, 1 + dice(random, 512), clock_now());
        break;
    case 2:
        sched_unit_set_affinity(sched, &r->unit, cpumask_over(&hard, CPUS),
                                cpumask_over(&soft, CPUS), clock_now());
        break;
    case 3:
        sched_unit_set_cap(sched, &r->unit, dice(random, 2) ? cap : NULL, clock_now());
        break;
    case 4:
        cap_set(cap, 1 + dice(random, 100), UNITS, clock_now());
        break;
    case 5:
        sched_check(sched);
        break;
    default:
        sched_wake(sched, &r->unit, clock_now());
    }
}

static void enter(struct unit *u)
{
    struct racer *r = u->owner;

    ASSERT(__atomic_fetch_add(&r->inside, 1, __ATOMIC_RELAXED) == 0);
    r->registers++;
}

static void leave(struct unit *u)
{
    struct racer *r = u->owner;

    r->registers++; /* "being saved" */
    ASSERT(__atomic_fetch_sub(&r->inside, 1, __ATOMIC_RELAXED) == 1);
}

static struct unit *pick(uint32_t cpu, struct unit *cur)
{
    ns_t deadline;
    struct unit *next = sched_pick(sched, cpu, clock_now(), &deadline);

    if (next == cur)
        return cur;
    if (cur) {
        leave(cur);
        sched_saved(sched, cur, clock_now());
    }
    if (next)
        enter(next);
    return next;
}

static void act(uint32_t cpu, struct unit *cur, uint64_t *random)
{
    switch (dice(random, 4)) {
    case 0:
        sched_sleep(sched, cpu);
        break;
    case 1:
        sched_yield_current(sched, cpu);
        break;
    case 2:
        sched_yield_to(sched, cpu, &racers[dice(random, UNITS)].unit, clock_now());
        break;
    default:
        if (cur)
            ((struct racer *)cur->owner)->registers++;
    }
}

/* Like a timer's handler: taken off first, so that it may be asked for again. */
static void refill_due(void)
{
    for (uint32_t i = 0; i < CAPS; i++) {
        ns_t at = __atomic_load_n(&refill_at[i], __ATOMIC_SEQ_CST);

        if (at <= clock_now() && __atomic_compare_exchange_n(&refill_at[i], &at, NS_NEVER, false,
                                                             __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            sched_cap_refill(sched, &caps[i], clock_now());
    }
}

static void *cpu_main(void *arg)
{
    uint32_t cpu = (uint32_t)(uintptr_t)arg;
    uint64_t random = cpu + 1;
    struct unit *cur = NULL;

    while (clock_now() < end_at) {
        __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
        meddle(&random);
        refill_due();
        act(cpu, cur, &random);
        cur = pick(cpu, cur);
    }
    __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&done, __ATOMIC_RELAXED) < CPUS) {
        cur = pick(cpu, cur);
        sched_yield();
    }
    /* Everybody is past meddling: one pick finds what was left, the last sleep empties the CPU. */
    while ((cur = pick(cpu, cur)) != NULL)
        sched_sleep(sched, cpu);
    return NULL;
}

static void machine_start(enum runq_arrangement arrangement)
{
    struct cpu_place places[CPUS];
    struct sched_params params;
    static _Alignas(64) unsigned char memory[1 << 16];

    sched_params_default(&params);
    params.arrangement = arrangement;
    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        places[cpu] =
            (struct cpu_place){.cpu = cpu, .thread = cpu % 2, .core = cpu / 2, .socket = 0};
    ASSERT(sched_bytes(CPUS) <= sizeof(memory));
    memset(memory, 0, sizeof(memory));
    memset(racers, 0, sizeof(racers));
    done = 0;
    rounds = 0;
    end_at = clock_now() + RACE_NS;
    for (uint32_t i = 0; i < CAPS; i++) {
        refill_at[i] = NS_NEVER;
        cap_init(&caps[i]);
        cap_set(&caps[i], 20, UNITS, clock_now());
    }
    sched = sched_init(memory, &params, places, CPUS, NULL, 1);
    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        ASSERT(sched_cpu_online(sched, cpu, clock_now()) == 0);
    for (uint32_t i = 0; i < UNITS; i++) {
        struct racer *r = &racers[i];
        struct unit_params p = {.weight = 256, .owner = r, .index = i};

        r->hard = r->soft = BIT(CPUS) - 1;
        p.hard = cpumask_over(&r->hard, CPUS);
        p.soft = cpumask_over(&r->soft, CPUS);
        unit_init(&r->unit, &p);
        sched_unit_insert(sched, &r->unit, clock_now());
    }
}

static void race(enum runq_arrangement arrangement)
{
    pthread_t threads[CPUS];

    machine_start(arrangement);
    for (uintptr_t cpu = 0; cpu < CPUS; cpu++)
        ASSERT(pthread_create(&threads[cpu], NULL, cpu_main, (void *)cpu) == 0);
    for (uint32_t cpu = 0; cpu < CPUS; cpu++)
        pthread_join(threads[cpu], NULL);
    for (uint32_t i = 0; i < UNITS; i++)
        assert_int_equal(racers[i].inside, 0);
    for (uint32_t i = 0; i < CAPS; i++)
        assert_int_equal(caps[i].serving, 0);
    sched_check(sched);
    assert_true(rounds >= CPUS);
    print_message("%llu rounds\n", (unsigned long long)rounds);
}

static void test_one_runqueue(void **state)
{
    (void)state;
    race(RUNQ_PER_SOCKET);
}

static void test_runqueue_per_core(void **state)
{
    (void)state;
    race(RUNQ_PER_CORE);
}

static void test_runqueue_per_cpu(void **state)
{
    (void)state;
    race(RUNQ_PER_CPU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_runqueue),
        cmocka_unit_test(test_runqueue_per_core),
        cmocka_unit_test(test_runqueue_per_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
