/*
 * Home nodes of a VM: a row per rule; every small machine, and many random ones, against a model
 * that looks at all sets of nodes; and properties that hold on any machine.
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
    {"the only node", 1, {{G, 4, 9}}, {G, 4, 0, 0, 0}, 0, 0x1},
    {"least vCPUs per CPU", 2, {{4 * G, 4, 4}, {2 * G, 4, 2}}, {G, 2, 0, 0, 0}, 0, 0x2},
    {"per CPU, not in all", 2, {{4 * G, 8, 4}, {4 * G, 4, 3}}, {G, 2, 0, 0, 0}, 0, 0x1},
    {"then most free memory",
     3,
     {{G, 4, 2}, {3 * G, 4, 2}, {2 * G, 4, 2}},
     {G, 2, 0, 0, 0},
     0,
     0x2},
    {"then the lowest number", 3, {{G, 4, 0}, {G, 4, 0}, {G, 4, 0}}, {G, 2, 0, 0, 0}, 0, 0x1},
    {"one loaded node before two idle ones",
     3,
     {{G, 4, 0}, {G, 4, 0}, {4 * G, 4, 40}},
     {2 * G, 4, 0, 0, 0},
     0,
     0x4},
    {"memory needs two", 3, {{2 * G, 4, 0}, {G, 4, 0}, {2 * G, 4, 0}}, {4 * G, 2, 0, 0, 0}, 0, 0x5},
    {"CPUs need two", 3, {{4 * G, 4, 8}, {4 * G, 4, 0}, {4 * G, 4, 0}}, {G, 8, 0, 0, 0}, 0, 0x6},
    {"more vCPUs than the machine has CPUs",
     2,
     {{4 * G, 4, 0}, {4 * G, 4, 0}},
     {G, 100, 0, 0, 0},
     0,
     0x3},
    {"memory without CPUs is no home alone",
     2,
     {{8 * G, 0, 0}, {G, 4, 4}},
     {G, 1, 0, 0, 0},
     0,
     0x2},
    {"but helps out", 2, {{8 * G, 0, 0}, {G, 4, 4}}, {4 * G, 1, 0, 0, 0}, 0, 0x3},
    {"CPUs without memory", 2, {{0, 4, 0}, {G, 4, 4}}, {G, 1, 0, 0, 0}, 0, 0x2},
    {"only the allowed nodes",
     3,
     {{4 * G, 4, 0}, {2 * G, 4, 0}, {4 * G, 4, 0}},
     {G, 4, 0x2, 0, 0},
     0,
     0x2},
    {"allowed nodes without CPUs", 2, {{4 * G, 0, 0}, {4 * G, 4, 0}}, {G, 4, 0x1, 0, 0}, 0, 0x1},
    {"too large", 2, {{G, 4, 0}, {G, 4, 0}}, {2 * G + 1, 1, 0, 0, 0}, -12, 0},
    {"too large for the allowed", 2, {{G, 4, 0}, {4 * G, 4, 0}}, {2 * G, 1, 0x1, 0, 0}, -12, 0},
    {"no such node", 2, {{G, 4, 0}, {G, 4, 0}}, {G, 1, 0x4, 0, 0}, -22, 0},
};

static uint64_t chosen(void)
{
    uint64_t set = 0;

    for (uint32_t i = 0; i < out.count; i++)
        set |= BIT(out.vnode[i].node);
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
    static const struct placement_request request = {.memory_bytes = 2 * G, .vcpus = 4};

    (void)state;
    assert_int_equal(placement_choose(nodes, 4, distance, &request, &out), 0);
    assert_true(chosen() == 0xa); /* the pair at 16, not the first pair */
}

static void test_shares(void **state)
{
    static const struct placement_node nodes[3] = {{G, 4, 0}, {4 * G, 4, 0}, {4 * G + 5, 0, 0}};
    struct placement_request request = {.memory_bytes = 5 * G - 4096, .vcpus = 8, .allowed = 0x3};

    (void)state;
    assert_int_equal(placement_choose(nodes, 3, NULL, &request, &out), 0);
    assert_int_equal(out.count, 2);
    assert_true(out.vnode[0].bytes == G && out.vnode[1].bytes == 4 * G - 4096);
    request = (struct placement_request){.memory_bytes = 2 * G + MIB, .vcpus = 8};
    assert_int_equal(placement_choose(nodes, 3, NULL, &request, &out), 0);
    assert_true(out.vnode[0].bytes + out.vnode[1].bytes == 2 * G + MIB);
    assert_true(IS_ALIGNED(out.vnode[0].bytes, PLACEMENT_GRAIN));
}

/* ---- the split of vCPUs ---- */

static const struct split_row {
    const char *name;
    uint32_t cpus[4]; /* of home nodes, all of which are used */
    uint32_t count;
    struct placement_request request; /* memory, vCPUs, allowed, socket, core */
    uint32_t want[4];
} split_rows[] = {
    {"one node has them all", {4}, 1, {G, 9, 0, 3, 1}, {9}},
    {"even", {4, 4}, 2, {G, 8, 0, 0, 1}, {4, 4}},
    {"by CPUs", {6, 2}, 2, {G, 8, 0, 0, 1}, {6, 2}},
    {"overcommitted, by CPUs", {6, 2}, 2, {G, 32, 0, 0, 1}, {24, 8}},
    {"odd", {2, 2}, 2, {G, 3, 0, 0, 1}, {2, 1}},
    {"sockets stay whole", {4, 4}, 2, {G, 6, 0, 2, 1}, {4, 2}},
    {"sockets of threads", {4, 4, 4, 4}, 4, {G, 16, 0, 4, 2}, {4, 4, 4, 4}},
    {"three sockets on nodes of 6 and 3 CPUs", {6, 3}, 2, {G, 9, 0, 3, 1}, {6, 3}},
    {"too few sockets: cores stay whole", {3, 3}, 2, {G, 6, 0, 6, 2}, {4, 2}},
    {"too few cores", {2, 2, 2, 2}, 4, {G, 6, 0, 6, 2}, {2, 1, 2, 1}},
    {"no CPUs, no vCPUs", {0, 4, 0, 4}, 4, {G, 8, 0, 4, 1}, {0, 4, 0, 4}},
    {"no CPUs last", {4, 4, 0}, 3, {G, 4, 0, 2, 1}, {2, 2, 0}},
    {"no CPUs anywhere", {0, 0}, 2, {G, 4, 0, 0, 1}, {4, 0}},
    {"more nodes than vCPUs", {1, 1, 1, 1}, 4, {G, 2, 0, 1, 1}, {1, 0, 1, 0}},
};

static void test_split_rows(void **state)
{
    (void)state;
    for (size_t r = 0; r < ARRAY_SIZE(split_rows); r++) {
        const struct split_row *row = &split_rows[r];
        struct placement_node nodes[4];
        uint32_t vcpu = 0;

        out.count = row->count;
        for (uint32_t i = 0; i < row->count; i++) {
            nodes[i] = (struct placement_node){G, row->cpus[i], 0};
            out.vnode[i].node = i;
        }
        placement_split(nodes, &row->request, &out);
        for (uint32_t i = 0; i < row->count; i++) {
            if (out.vnode[i].vcpus != row->want[i])
                fail_msg("%s: %u vCPUs on node %u", row->name, out.vnode[i].vcpus, i);
            for (uint32_t n = 0; n < row->want[i]; n++, vcpu++)
                assert_int_equal(placement_vnode_of_vcpu(&out, vcpu), i);
        }
        assert_int_equal(vcpu, row->request.vcpus);
    }
}

/* ---- any machine ---- */

static void check(const struct placement_node *nodes, uint32_t nnodes,
                  const struct placement_request *request)
{
    uint32_t all_cpus = 0, with_cpus = 0, group = 1, vcpu = 0;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < out.count; i++) {
        all_cpus += nodes[out.vnode[i].node].cpus;
        with_cpus += nodes[out.vnode[i].node].cpus > 0;
    }
    if (request->socket_vcpus && request->vcpus / request->socket_vcpus >= with_cpus)
        group = request->socket_vcpus;
    for (uint32_t i = 0; i < out.count; i++) {
        const struct placement_vnode *v = &out.vnode[i];

        assert_true(v->node < nnodes && (i == 0 || out.vnode[i - 1].node < v->node));
        assert_true(!request->allowed || (request->allowed & BIT(v->node)));
        assert_true(v->bytes <= nodes[v->node].free_bytes);
        assert_int_equal(v->first_vcpu, vcpu);
        assert_int_equal(v->first_vcpu % group, 0);
        if (group == 1 && request->vcpus <= all_cpus)
            assert_true(v->vcpus <= nodes[v->node].cpus);
        if (all_cpus && !nodes[v->node].cpus)
            assert_int_equal(v->vcpus, 0);
        sum += v->bytes;
        vcpu += v->vcpus;
    }
    assert_true(sum == request->memory_bytes);
    assert_int_equal(vcpu, request->vcpus);
}

/* ---- the model: every set of nodes, the best by the words of the rule ---- */

#define LOAD_UNIT                                                                  \
    1680u /* a multiple of 1 to 8 and of 4 to 28 in fours: loads are whole numbers \
           */

struct model_key {
    uint64_t part[6]; /* nodes, load, RAM not free, distances, lowest node, the set */
};

static bool model_key_of(const struct placement_node *nodes, uint32_t nnodes,
                         const uint8_t *distance, uint64_t set, uint64_t bytes,
                         uint64_t cpus_wanted, struct model_key *key)
{
    uint64_t bytes_free = 0, cpus = 0, vcpus = 0, spread = 0, lowest = NODES_MAX, count = 0;

    for (uint32_t i = nnodes; i-- > 0;) {
        if (!(set >> i & 1))
            continue;
        lowest = i;
        count++;
        bytes_free += nodes[i].free_bytes;
        cpus += nodes[i].cpus;
        vcpus += nodes[i].vcpus;
        for (uint32_t j = 0; distance && j < nnodes; j++)
            spread += set >> j & 1 ? distance[i * nnodes + j] : 0;
    }
    *key = (struct model_key){
        {count, cpus ? vcpus * LOAD_UNIT / cpus : 0, ~bytes_free, spread, lowest, set}};
    return bytes_free >= bytes && cpus >= cpus_wanted;
}

/* The set that the rule asks for, or 0 when nothing holds the VM. */
static uint64_t model_choose(const struct placement_node *nodes, uint32_t nnodes,
                             const uint8_t *distance, const struct placement_request *request)
{
    uint64_t every = BITS(nnodes - 1, 0), allowed = request->allowed ? request->allowed : every;
    struct model_key best = {{UINT64_MAX}};
    uint64_t cpus = 0;

    for (uint32_t i = 0; i < nnodes; i++)
        cpus += allowed >> i & 1 ? nodes[i].cpus : 0;
    for (uint64_t set = 1; set <= every; set++) {
        struct model_key key;
        uint32_t part = 0;

        if ((set & ~allowed) || !model_key_of(nodes, nnodes, distance, set, request->memory_bytes,
                                              MIN(cpus, request->vcpus), &key))
            continue;
        while (part < 5 && key.part[part] == best.part[part])
            part++;
        if (key.part[part] < best.part[part])
            best = key;
    }
    return best.part[0] == UINT64_MAX ? 0 : best.part[5];
}

static void compare(const struct placement_node *nodes, uint32_t nnodes, const uint8_t *distance,
                    const struct placement_request *request)
{
    uint64_t want = model_choose(nodes, nnodes, distance, request);
    int err = placement_choose(nodes, nnodes, distance, request, &out);

    assert_int_equal(err, want ? 0 : -12);
    if (!want)
        return;
    if (chosen() != want)
        fail_msg("nodes 0x%lx, not 0x%lx", chosen(), want);
    check(nodes, nnodes, request);
}

/* Three nodes of 0 to 2 grains, 0 to 2 CPUs and 0, 1 or 3 vCPUs, in all combinations. */
static void test_every_small_machine(void **state)
{
    static const uint32_t loads[3] = {0, 1, 3};
    struct placement_node nodes[3];

    (void)state;
    for (uint32_t m = 0; m < 27 * 27 * 27; m++) {
        for (uint32_t i = 0, rest = m; i < 3; i++, rest /= 27)
            nodes[i] = (struct placement_node){rest % 3 * PLACEMENT_GRAIN, rest / 3 % 3,
                                               loads[rest / 9 % 3]};
        for (uint32_t r = 0; r < 12; r++) {
            struct placement_request request = {.memory_bytes = (1 + r % 2 * 2) * PLACEMENT_GRAIN,
                                                .vcpus = 1 + r / 2 % 3,
                                                .allowed = r / 6 ? 0x5 : 0,
                                                .core_vcpus = 1};

            compare(nodes, 3, NULL, &request);
        }
    }
}

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Up to seven nodes at unequal distances, with guests of many shapes; ties are frequent. */
static void test_random_against_the_model(void **state)
{
    struct placement_node nodes[7];
    uint8_t distance[49];
    uint32_t seed = 11;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint32_t nnodes = 2 + random_next(&seed) % 6;
        uint32_t cores = 1 + random_next(&seed) % 3, sockets = 1 + random_next(&seed) % 4;
        struct placement_request request = {
            .memory_bytes = (1 + random_next(&seed) % 12) * PLACEMENT_GRAIN,
            .vcpus = sockets * cores,
            .allowed = random_next(&seed) % 3 ? 0 : 1 + random_next(&seed) % BITS(nnodes - 1, 0),
            .socket_vcpus = random_next(&seed) % 2 ? cores : 0,
            .core_vcpus = 1};

        for (uint32_t i = 0; i < nnodes; i++)
            nodes[i] =
                (struct placement_node){random_next(&seed) % 4 * PLACEMENT_GRAIN,
                                        random_next(&seed) % 2 * 4, random_next(&seed) % 3 * 2};
        for (uint32_t i = 0; i < nnodes * nnodes; i++)
            distance[i] = (uint8_t)(10 + random_next(&seed) % 3);
        compare(nodes, nnodes, round % 2 ? distance : NULL, &request);
    }
}

/* With 64 nodes all pairs are looked at, near to each other or not. */
static void test_far_pair_of_64_nodes(void **state)
{
    static struct placement_node nodes[NODES_MAX];
    static uint8_t distance[NODES_MAX * NODES_MAX];
    static const struct placement_request request = {.memory_bytes = 5 * G, .vcpus = 5};

    (void)state;
    for (uint32_t i = 0; i < NODES_MAX; i++) {
        nodes[i] = (struct placement_node){G, 4, 0};
        for (uint32_t j = 0; j < NODES_MAX; j++)
            distance[i * NODES_MAX + j] = (uint8_t)(10 + (i > j ? i - j : j - i));
    }
    nodes[3].free_bytes = nodes[63].free_bytes = 3 * G;
    assert_int_equal(placement_choose(nodes, NODES_MAX, distance, &request, &out), 0);
    assert_true(chosen() == (BIT(3) | BIT(63)));
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
        request = (struct placement_request){.memory_bytes = (uint64_t)((seed >> 4) % 9000) << 20,
                                             .vcpus = 1 + (seed >> 13) % 40};
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
        cmocka_unit_test(test_split_rows),
        cmocka_unit_test(test_every_small_machine),
        cmocka_unit_test(test_random_against_the_model),
        cmocka_unit_test(test_far_pair_of_64_nodes),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
