/*
 * Cores and sockets of CPUID against nodes of SRAT: what is normal says nothing, what cannot be
 * true says so once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "mm/numa.h"

#define CPUS 8

struct row {
    const char *name;
    const char *cores, *sockets, *nodes; /* a digit for each CPU */
    enum option_numa mode;
    const char *warnings[2]; /* a part of each, NULL: none */
};

static const struct row rows[] = {
    {"a node for each socket", "00112233", "00001111", "00001111", NUMA_ON, {0}},
    {"a node that spans sockets", "00112233", "00112233", "00001111", NUMA_ON, {0}},
    {"a socket over several nodes (sub-NUMA clustering)",
     "00112233",
     "00000000",
     "00112233",
     NUMA_ON,
     {0}},
    {"both kinds in one machine",
     "00112233",
     "00001122",
     "00110000",
     NUMA_ON,
     {"socket 0 (CPUID) and node 0 (SRAT)"}},
    {"sockets of different sizes, nested", "00112233", "00001122", "00112222", NUMA_ON, {0}},
    {"one node", "00112233", "00001111", "00000000", NUMA_ON, {0}},
    {"siblings in two nodes",
     "00112233",
     "00000000",
     "01000000",
     NUMA_ON,
     {"1 CPUs are in another node than their core: CPU 0 in 0, CPU 1 in 1"}},
    {"all siblings in two nodes, over two sockets",
     "01230123",
     "00110011",
     "00001111",
     NUMA_ON,
     {"4 CPUs are in another node than their core: CPU 0 in 0, CPU 4 in 1",
      "socket 0 (CPUID) and node 0 (SRAT)"}},
    {"numa=fake deals siblings out", "00112233", "00001111", "01010101", NUMA_FAKE, {0}},
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        static struct fw_warnings w;
        struct cpu_place places[CPUS] = {0};
        uint32_t scratch[CPUS], threads[CPUS] = {0}, wanted = 0;

        w.count = w.dropped = 0;
        for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
            places[cpu].cpu = cpu;
            places[cpu].core = (uint32_t)(rows[i].cores[cpu] - '0');
            places[cpu].socket = (uint32_t)(rows[i].sockets[cpu] - '0');
            places[cpu].node = (uint32_t)(rows[i].nodes[cpu] - '0');
            places[cpu].thread = threads[places[cpu].core]++;
        }
        numa_check_places(places, CPUS, rows[i].mode, scratch, &w);
        for (; wanted < 2 && rows[i].warnings[wanted]; wanted++)
            if (w.count <= wanted || !strstr(w.text[wanted], rows[i].warnings[wanted]))
                fail_msg("%s: no warning '%s'", rows[i].name, rows[i].warnings[wanted]);
        if (w.count != wanted)
            fail_msg("%s: %u warnings, the last '%s'", rows[i].name, w.count, w.text[w.count - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
