/*
 * Home nodes of a VM: a row per rule, and properties that hold on random machines.
 */
#include "fixture_acpi.h"

#include "mm/placement.h"

#define G GIB

static struct placement out;

static const struct placement_row {
    const char *name;
    uint32_t nnodes;
    struct placement_node nodes[4]; /* free, CPUs, vCPUs */
    struct placement_request request;
    int err;
    uint64_t want; /* bit per node */
} placement_rows[] = {
    {"the only node", 1, {{G, 4, 9}}, {G, 4, 0}, 0, 0x1},
    {"least vCPUs per CPU", 2, {{4 * G, 4, 4}, {2 * G, 4, 2}}, {G, 2, 0}, 0, 0x2},
    {"per CPU, not in all", 2, {{4 * G, 8, 4}, {4 * G, 4, 3}}, {G, 2, 0}, 0, 0x1},
    {"then most free memory", 3, {{G, 4, 2}, {3 * G, 4, 2}, {2 * G, 4, 2}}, {G, 2, 0}, 0, 0x2},
    {"then the lowest number", 3, {{G, 4, 0}, {G, 4, 0}, {G, 4, 0}}, {G, 2, 0}, 0, 0x1},
    {"one loaded node before two idle ones",
     3,
     {{G, 4, 0}, {G, 4, 0}, {4 * G, 4, 40}},
     {2 * G, 4, 0},
     0,
     0x4},
    {"memory needs two", 3, {{2 * G, 4, 0}, {G, 4, 0}, {2 * G, 4, 0}}, {4 * G, 2, 0}, 0, 0x5},
    {"CPUs need two", 3, {{4 * G, 4, 8}, {4 * G, 4, 0}, {4 * G, 4, 0}}, {G, 8, 0}, 0, 0x6},
    {"more vCPUs than the machine has CPUs",
     2,
     {{4 * G, 4, 0}, {4 * G, 4, 0}},
     {G, 100, 0},
     0,
     0x3},
    {"memory without CPUs is no home alone", 2, {{8 * G, 0, 0}, {G, 4, 4}}, {G, 1, 0}, 0, 0x2},
    {"but helps out", 2, {{8 * G, 0, 0}, {G, 4, 4}}, {4 * G, 1, 0}, 0, 0x3},
    {"CPUs without memory", 2, {{0, 4, 0}, {G, 4, 4}}, {G, 1, 0}, 0, 0x2},
    {"only the allowed nodes",
     3,
     {{4 * G, 4, 0}, {2 * G, 4, 0}, {4 * G, 4, 0}},
     {G, 4, 0x2},
     0,
     0x2},
    {"allowed nodes without CPUs", 2, {{4 * G, 0, 0}, {4 * G, 4, 0}}, {G, 4, 0x1}, 0, 0x1},
    {"too large", 2, {{G, 4, 0}, {G, 4, 0}}, {2 * G + 1, 1, 0}, -12, 0},
    {"too large for the allowed", 2, {{G, 4, 0}, {4 * G, 4, 0}}, {2 * G, 1, 0x1}, -12, 0},
    {"no such node", 2, {{G, 4, 0}, {G, 4, 0}}, {G, 1, 0x4}, -22, 0},
};

static uint64_t chosen(void)
{
    uint64_t set = 0;

    for (uint32_t i = 0; i < out.count; i++)
        set |= BIT(out.node[i]);
    return set;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(placement_rows); i++) {
        const struct placement_row *row = &placement_rows[i];
        int err = placement_choose(row->nodes, row->nnodes, NULL, &row->request, &out);

        if (err != row->err || (!err && chosen() != row->want))
            fail_msg("%s: %d, nodes 0x%lx", row->name, err, err ? 0 : chosen());
    }
}

static void test_near_nodes(void **state)
{
    static const uint8_t distance[16] = {10, 30, 20, 30, 30, 10, 30, 16,
                                         20, 30, 10, 30, 30, 16, 30, 10};
    static const struct placement_node nodes[4] = {{G, 4, 0}, {G, 4, 0}, {G, 4, 0}, {G, 4, 0}};
    static const struct placement_request request = {2 * G, 4, 0};

    (void)state;
    assert_int_equal(placement_choose(nodes, 4, distance, &request, &out), 0);
    assert_true(chosen() == 0xa); /* the pair at 16, not the first pair */
}

static void test_shares(void **state)
{
    static const struct placement_node nodes[3] = {{G, 4, 0}, {4 * G, 4, 0}, {4 * G + 5, 0, 0}};
    struct placement_request request = {5 * G - 4096, 8, 0x3};

    (void)state;
    assert_int_equal(placement_choose(nodes, 3, NULL, &request, &out), 0);
    assert_int_equal(out.count, 2);
    assert_true(out.bytes[0] == G && out.bytes[1] == 4 * G - 4096);
    request = (struct placement_request){2 * G + MIB, 8, 0};
    assert_int_equal(placement_choose(nodes, 3, NULL, &request, &out), 0);
    assert_true(out.bytes[0] + out.bytes[1] == 2 * G + MIB);
    assert_true(IS_ALIGNED(out.bytes[0], PLACEMENT_GRAIN));
}

static void check(const struct placement_node *nodes, uint32_t nnodes,
                  const struct placement_request *request)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < out.count; i++) {
        assert_true(out.node[i] < nnodes && (i == 0 || out.node[i - 1] < out.node[i]));
        assert_true(!request->allowed || (request->allowed & BIT(out.node[i])));
        assert_true(out.bytes[i] <= nodes[out.node[i]].free_bytes);
        sum += out.bytes[i];
    }
    assert_true(sum == request->memory_bytes);
}

/* Whatever the machine: the memory is there, on allowed nodes, or there is not enough. */
static void test_random(void **state)
{
    static struct placement_node nodes[NODES_MAX];
    static uint8_t distance[NODES_MAX * NODES_MAX];
    uint32_t seed = 3, placed = 0;

    (void)state;
    for (int round = 0; round < 400; round++) {
        uint32_t nnodes = round % 4 == 3 ? 13 + (uint32_t)round % 52 : 1 + (uint32_t)round % 9;
        struct placement_request request;
        uint64_t total = 0;
        int err;

        for (uint32_t i = 0; i < nnodes; i++) {
            seed = seed * 1664525 + 1013904223;
            nodes[i] = (struct placement_node){(uint64_t)((seed >> 8) % 4000) << 20,
                                               (seed >> 20) % 8, (seed >> 24) % 32};
            for (uint32_t j = 0; j < nnodes; j++)
                distance[i * nnodes + j] = (uint8_t)(10 + (seed >> (j % 20)) % 30);
        }
        request = (struct placement_request){(uint64_t)((seed >> 4) % 9000) << 20,
                                             1 + (seed >> 13) % 40, 0};
        if (round % 5 == 0)
            request.allowed = BITS(nnodes - 1, 0) & (seed | 1);
        for (uint32_t i = 0; i < nnodes; i++)
            if (!request.allowed || (request.allowed & BIT(i)))
                total += nodes[i].free_bytes;
        err = placement_choose(nodes, nnodes, distance, &request, &out);
        assert_int_equal(err, total < request.memory_bytes ? -12 : 0);
        if (err)
            continue;
        placed++;
        check(nodes, nnodes, &request);
    }
    assert_true(placed > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_near_nodes),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
