/*
 * Arrangement: which CPUs share a runqueue, on machines of many shapes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/runq.h"

#define CPUS 256

struct shape {
    uint32_t sockets, llcs, cores, threads; /* llcs per socket, cores per llc */
    bool ids_repeat;                        /* core and LLC numbers start anew in each socket */
    bool siblings_last; /* CPUs 0..n/2-1 are first threads, then the second ones */
    uint32_t nodes;
};

static struct cpu_place places[CPUS];
static uint32_t runq_of[CPUS];
static uint64_t scratch[2 * CPUS];

static uint32_t places_fill(const struct shape *shape)
{
    uint32_t ncores = shape->sockets * shape->llcs * shape->cores;

    for (uint32_t core = 0; core < ncores; core++) {
        uint32_t socket = core / (shape->llcs * shape->cores);
        uint32_t llc = core / shape->cores;

        for (uint32_t thread = 0; thread < shape->threads; thread++) {
            uint32_t cpu =
                shape->siblings_last ? thread * ncores + core : core * shape->threads + thread;

            places[cpu] = (struct cpu_place){
                .cpu = cpu,
                .thread = thread,
                .core = shape->ids_repeat ? core % (shape->llcs * shape->cores) : core,
                .llc = shape->ids_repeat ? llc % shape->llcs : llc,
                .socket = socket,
                .node = shape->nodes ? socket % shape->nodes : 0,
            };
        }
    }
    return ncores * shape->threads;
}

struct row {
    const char *name;
    struct shape shape;
    enum runq_arrangement arrangement;
    uint32_t max_cpus;
    uint32_t runqs;
    const char *of; /* runqueue of each CPU, a letter each; NULL: not looked at */
};

static const struct row rows[] = {
    {"2x2x2 cpu", {2, 1, 2, 2, 0, 0, 1}, RUNQ_PER_CPU, 16, 8, "abcdefgh"},
    {"2x2x2 core", {2, 1, 2, 2, 0, 0, 1}, RUNQ_PER_CORE, 16, 4, "aabbccdd"},
    {"2x2x2 socket", {2, 1, 2, 2, 0, 0, 1}, RUNQ_PER_SOCKET, 16, 2, "aaaabbbb"},
    {"2x2x2 all", {2, 1, 2, 2, 0, 0, 1}, RUNQ_ALL, 16, 1, "aaaaaaaa"},
    {"2x2x2 node, two nodes", {2, 1, 2, 2, 0, 0, 2}, RUNQ_PER_NODE, 16, 2, "aaaabbbb"},
    {"2x2x2 node, one node", {2, 1, 2, 2, 0, 0, 1}, RUNQ_PER_NODE, 16, 1, "aaaaaaaa"},
    {"core ids repeat: core", {2, 1, 2, 2, 1, 0, 1}, RUNQ_PER_CORE, 16, 4, "aabbccdd"},
    {"core ids repeat: socket", {2, 1, 2, 2, 1, 0, 1}, RUNQ_PER_SOCKET, 16, 2, "aaaabbbb"},
    {"LLC ids repeat: llc", {2, 2, 1, 2, 1, 0, 1}, RUNQ_PER_LLC, 16, 4, "aabbccdd"},
    {"siblings far apart: core", {2, 1, 2, 2, 0, 1, 1}, RUNQ_PER_CORE, 16, 4, "abcdabcd"},
    {"siblings far apart: socket", {2, 1, 2, 2, 0, 1, 1}, RUNQ_PER_SOCKET, 16, 2, "aabbaabb"},
    {"split never between siblings", {1, 1, 3, 2, 0, 0, 1}, RUNQ_PER_SOCKET, 3, 3, "aabbcc"},
    {"split evenly", {1, 1, 5, 2, 0, 0, 1}, RUNQ_PER_SOCKET, 8, 2, "aaaaaabbbb"},
    {"max 1 still keeps siblings", {1, 1, 2, 2, 0, 0, 1}, RUNQ_PER_SOCKET, 1, 2, "aabb"},
    {"LLC kept whole", {1, 3, 4, 1, 0, 0, 1}, RUNQ_PER_SOCKET, 8, 2, "aaaaaaaabbbb"},
    {"four LLCs in pairs", {1, 4, 2, 1, 0, 0, 1}, RUNQ_PER_SOCKET, 4, 2, "aaaabbbb"},
    {"LLC too large is cut", {1, 2, 6, 1, 0, 0, 1}, RUNQ_PER_SOCKET, 4, 4, "aaabbbcccddd"},
    {"max above one word", {2, 1, 64, 1, 0, 0, 1}, RUNQ_ALL, 4096, 2, NULL},
    {"EPYC-like, socket", {2, 8, 8, 2, 0, 0, 2}, RUNQ_PER_SOCKET, 16, 16, NULL},
    {"EPYC-like, llc", {2, 8, 8, 2, 0, 0, 2}, RUNQ_PER_LLC, 16, 16, NULL},
};

static uint32_t arrange(const struct row *row, uint32_t ncpus)
{
    memset(runq_of, 0xff, sizeof(runq_of));
    return arrange_cpus(places, ncpus, row->arrangement, row->max_cpus, runq_of, scratch);
}

static bool same_core(const struct cpu_place *a, const struct cpu_place *b)
{
    return a->socket == b->socket && a->core == b->core;
}

static void check_rules(const struct row *row, uint32_t ncpus, uint32_t nrunqs)
{
    static uint32_t size[CPUS];

    memset(size, 0, sizeof(size));
    for (uint32_t a = 0; a < ncpus; a++) {
        assert_true(runq_of[a] < nrunqs);
        size[runq_of[a]]++;
        for (uint32_t b = 0; b < a && row->arrangement != RUNQ_PER_CPU; b++)
            if (same_core(&places[a], &places[b]))
                assert_int_equal(runq_of[a], runq_of[b]);
    }
    for (uint32_t id = 0; id < nrunqs; id++) {
        assert_true(size[id] > 0);
        assert_true(size[id] <= MAX(MIN(row->max_cpus, RUNQ_CPUS_MAX), row->shape.threads));
    }
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct row *row = &rows[i];
        uint32_t ncpus = places_fill(&row->shape);
        uint32_t nrunqs = arrange(row, ncpus);
        char got[CPUS + 1] = {0};

        for (uint32_t cpu = 0; cpu < ncpus; cpu++)
            got[cpu] = (char)('a' + runq_of[cpu]);
        if (nrunqs != row->runqs || (row->of && strcmp(got, row->of) != 0))
            print_message("%s: %u runqueues, %s\n", row->name, nrunqs, got);
        assert_int_equal(nrunqs, row->runqs);
        if (row->of)
            assert_string_equal(got, row->of);
        check_rules(row, ncpus, nrunqs);
    }
}

/* Two cores with SMT and four without, as on a hybrid part. */
static void test_hybrid_cores(void **state)
{
    static const uint32_t core_of[] = {0, 0, 1, 1, 2, 3, 4, 5};
    static const uint32_t want[] = {0, 0, 0, 0, 1, 1, 1, 1};

    (void)state;
    for (uint32_t cpu = 0; cpu < 8; cpu++)
        places[cpu] = (struct cpu_place){.cpu = cpu, .core = core_of[cpu]};
    assert_int_equal(arrange_cpus(places, 8, RUNQ_PER_SOCKET, 4, runq_of, scratch), 2);
    assert_memory_equal(runq_of, want, sizeof(want));
    assert_int_equal(arrange_cpus(places, 8, RUNQ_PER_CORE, 4, runq_of, scratch), 6);
}

/* Firmware that puts the siblings of a core on two nodes does not tear them apart. */
static void test_siblings_on_two_nodes(void **state)
{
    (void)state;
    for (uint32_t cpu = 0; cpu < 4; cpu++)
        places[cpu] = (struct cpu_place){.cpu = cpu, .core = cpu / 2, .node = cpu % 2};
    assert_int_equal(arrange_cpus(places, 4, RUNQ_PER_NODE, 16, runq_of, scratch), 1);
}

/* smt=compute-unit: two cores of one unit stay together, but are two by arrangement `core`. */
static void test_units_stay_whole(void **state)
{
    static const uint32_t want[] = {0, 0, 1, 1, 2, 2};

    (void)state;
    for (uint32_t cpu = 0; cpu < 6; cpu++)
        places[cpu] = (struct cpu_place){.cpu = cpu, .core = cpu, .unit = 1 + cpu / 2};
    assert_int_equal(arrange_cpus(places, 6, RUNQ_PER_SOCKET, 3, runq_of, scratch), 3);
    assert_memory_equal(runq_of, want, sizeof(want));
    assert_int_equal(arrange_cpus(places, 6, RUNQ_PER_CORE, 16, runq_of, scratch), 6);
    for (uint32_t cpu = 0; cpu < 6; cpu++)
        places[cpu].unit = 0;
    assert_int_equal(arrange_cpus(places, 6, RUNQ_PER_SOCKET, 3, runq_of, scratch), 2);
}

static void test_random_shapes(void **state)
{
    (void)state;
    srand(1);
    for (uint32_t i = 0; i < 3000; i++) {
        struct row row = {
            .shape = {1 + rand() % 4, 1 + rand() % 3, 1 + rand() % 5, 1 + rand() % 4, rand() % 2,
                      rand() % 2, 1 + rand() % 4},
            .arrangement = (enum runq_arrangement)(rand() % 6),
            .max_cpus = 1 + rand() % 70,
        };
        uint32_t ncpus = places_fill(&row.shape);

        check_rules(&row, ncpus, arrange(&row, ncpus));
    }
}

static void test_names(void **state)
{
    static const char *const words[] = {"cpu", "core", "llc", "socket", "node", "all"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        assert_string_equal(sched_arrangement_name((enum runq_arrangement)i), words[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_hybrid_cores),
        cmocka_unit_test(test_siblings_on_two_nodes),
        cmocka_unit_test(test_units_stay_whole),
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
