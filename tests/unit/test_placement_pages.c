/*
 * Pages of VMs over nodes, as the kernel and a simulator take them: by virtual node, near before
 * large, then by distance; and thousands of VMs that come and go on one machine, after which every
 * node is whole again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hv/bits.h"
#include "mm/placement.h"

#define NODES       8u
#define NODE_PAGES  0x10000u /* 256 MiB */
#define LARGE       (PAGE_BYTES << PAGE_ORDER_2M)
#define LARGE_PAGES (1u << PAGE_ORDER_2M)

struct machine {
    struct page_pool pool;
    struct page_range ranges[NODES];
    uint8_t fallback[NODES * NODES];
    uint8_t distance[NODES * NODES];
};

/* Nodes in a row: the distance grows with the difference of numbers. */
static struct machine *machine_new(uint32_t nnodes)
{
    struct machine *m = calloc(1, sizeof(*m));

    assert_non_null(m);
    for (uint32_t n = 0; n < nnodes; n++) {
        uint32_t at = 0;

        m->ranges[n] = (struct page_range){.base_pfn = (n + 1) * NODE_PAGES,
                                           .npages = NODE_PAGES,
                                           .node = n,
                                           .pages = malloc(page_metadata_bytes(NODE_PAGES))};
        assert_non_null(m->ranges[n].pages);
        for (uint32_t d = 0; d < nnodes; d++) {
            m->distance[n * nnodes + d] = (uint8_t)(10 + (n > d ? n - d : d - n));
            if (n + d < nnodes)
                m->fallback[n * nnodes + at++] = (uint8_t)(n + d);
            if (d && d <= n)
                m->fallback[n * nnodes + at++] = (uint8_t)(n - d);
        }
    }
    assert_int_equal(page_init(&m->pool, m->ranges, nnodes, nnodes, m->fallback), 0);
    page_add_free(&m->pool, 0, (uint64_t)(nnodes + 1) * NODE_PAGES << PAGE_SHIFT);
    return m;
}

static void machine_free(struct machine *m)
{
    for (uint32_t n = 0; n < NODES; n++)
        free(m->ranges[n].pages);
    free(m);
}

static void offsets_belong_to_virtual_nodes(void **state)
{
    static const struct placement p = {
        3, {{2, 4 * MIB, 0, 1}, {5, 0, 1, 1}, {6, 2 * MIB + PAGE_BYTES, 2, 1}}};

    (void)state;
    assert_int_equal(placement_vnode_at(&p, 0), 0);
    assert_int_equal(placement_vnode_at(&p, 4 * MIB - 1), 0);
    assert_int_equal(placement_vnode_at(&p, 4 * MIB), 2); /* the one without memory has no offset */
    assert_int_equal(placement_vnode_at(&p, 6 * MIB), 2);
}

/* One page of the VM; its node, or NODES when there is none. */
static uint32_t take(struct machine *m, const struct placement *p, uint64_t offset, uint64_t left,
                     uint32_t want_order)
{
    uint32_t order = 77;
    paddr_t pa = placement_take_page(&m->pool, p, offset, left, &order);

    if (pa == PADDR_NONE)
        return NODES;
    assert_int_equal(order, want_order);
    return page_node_of(&m->pool, pa);
}

static void large_pages_where_they_fit(void **state)
{
    static const struct placement p = {2, {{1, LARGE, 0, 1}, {0, 2 * LARGE, 1, 1}}};
    struct machine *m = machine_new(2);

    (void)state;
    assert_int_equal(take(m, &p, 0, 3 * LARGE, PAGE_ORDER_2M), 1);
    assert_int_equal(take(m, &p, LARGE, 2 * LARGE, PAGE_ORDER_2M), 0);
    assert_int_equal(take(m, &p, 2 * LARGE, LARGE - PAGE_BYTES, 0), 0); /* the end is too short */
    assert_int_equal(take(m, &p, 2 * LARGE + PAGE_BYTES, LARGE, 0), 0); /* not aligned */
    machine_free(m);
}

static void near_before_large_then_by_distance(void **state)
{
    static const struct placement p = {1, {{1, 64 * GIB, 0, 1}}};
    struct machine *m = machine_new(3);
    paddr_t kept = page_alloc(&m->pool, 0, 1, PAGE_EXACT_NODE);
    uint32_t taken = 0;

    (void)state;
    /* Node 1 has one large page less than it could: that one lies in pieces. */
    for (; taken < NODE_PAGES / LARGE_PAGES - 1; taken++)
        assert_int_equal(take(m, &p, 0, LARGE, PAGE_ORDER_2M), 1);
    for (taken = 0; taken < LARGE_PAGES - 1; taken++)
        assert_int_equal(take(m, &p, 0, LARGE, 0), 1);
    /* Nothing is left there: node 2 comes first in its row, then node 0. */
    for (taken = 0; taken < NODE_PAGES / LARGE_PAGES; taken++)
        assert_int_equal(take(m, &p, 0, LARGE, PAGE_ORDER_2M), 2);
    for (taken = 0; taken < NODE_PAGES / LARGE_PAGES; taken++)
        assert_int_equal(take(m, &p, 0, LARGE, PAGE_ORDER_2M), 0);
    assert_int_equal(take(m, &p, 0, LARGE, PAGE_ORDER_2M), NODES);
    page_free(&m->pool, kept, 0);
    assert_int_equal(take(m, &p, 0, LARGE, 0), 1);
    machine_free(m);
}

/* ---- a simulated machine ---- */

#define VMS  4000u
#define LIVE 96u

struct sim_vm {
    struct placement placement;
    uint32_t blocks;
    struct {
        paddr_t pa;
        uint32_t order;
    } block[]; /* room for one a page */
};

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void sim_nodes(struct machine *m, struct sim_vm *const vms[], struct placement_node *nodes)
{
    for (uint32_t n = 0; n < NODES; n++)
        nodes[n] = (struct placement_node){page_free_bytes(&m->pool, n), 4, 0};
    for (uint32_t v = 0; v < LIVE; v++)
        for (uint32_t i = 0; vms[v] && i < vms[v]->placement.count; i++)
            nodes[vms[v]->placement.vnode[i].node].vcpus += vms[v]->placement.vnode[i].vcpus;
}

/* Place it and take all its pages; NULL when there is no room. */
static struct sim_vm *sim_start(struct machine *m, struct sim_vm *const vms[],
                                const struct placement_request *request)
{
    struct sim_vm *vm =
        malloc(sizeof(*vm) + request->memory_bytes / PAGE_BYTES * sizeof(vm->block[0]));
    struct placement_node nodes[NODES];
    uint64_t offset = 0;

    assert_non_null(vm);
    vm->blocks = 0;
    sim_nodes(m, vms, nodes);
    if (placement_choose(nodes, NODES, m->distance, request, &vm->placement)) {
        free(vm);
        return NULL;
    }
    while (offset < request->memory_bytes) {
        uint32_t home = vm->placement.vnode[placement_vnode_at(&vm->placement, offset)].node;
        uint32_t *order = &vm->block[vm->blocks].order;
        paddr_t pa = placement_take_page(&m->pool, &vm->placement, offset,
                                         request->memory_bytes - offset, order);

        /* Placement counted on this memory, and nobody else takes any meanwhile. */
        assert_int_equal(page_node_of(&m->pool, pa), home);
        vm->block[vm->blocks++].pa = pa;
        offset += PAGE_BYTES << *order;
    }
    assert_int_equal(offset, request->memory_bytes);
    return vm;
}

static void sim_end(struct machine *m, struct sim_vm **vm)
{
    for (uint32_t i = 0; *vm && i < (*vm)->blocks; i++)
        page_free(&m->pool, (*vm)->block[i].pa, (*vm)->block[i].order);
    free(*vm);
    *vm = NULL;
}

static void thousands_of_vms_come_and_go(void **state)
{
    struct machine *m = machine_new(NODES);
    struct sim_vm *vms[LIVE] = {NULL};
    uint32_t seed = 5, started = 0, split = 0, refused = 0;

    (void)state;
    for (uint32_t i = 0; i < VMS; i++) {
        uint32_t slot = random_next(&seed) % LIVE;
        struct placement_request request = {.memory_bytes =
                                                (uint64_t)(1 + random_next(&seed) % 16) * 2 * MIB,
                                            .vcpus = 1u << random_next(&seed) % 4,
                                            .core_vcpus = 1};

        if (i % 8 == 0)
            request.memory_bytes += random_next(&seed) % 512 * PAGE_BYTES;
        if (i % 16 == 0)
            request.memory_bytes += 300 * MIB; /* more than a node has */
        sim_end(m, &vms[slot]);
        vms[slot] = sim_start(m, vms, &request);
        started += vms[slot] != NULL;
        refused += vms[slot] == NULL;
        split += vms[slot] && vms[slot]->placement.count > 1;
    }
    assert_true(started > 1000 && split > 100 && refused > 0);
    for (uint32_t v = 0; v < LIVE; v++)
        sim_end(m, &vms[v]);
    for (uint32_t n = 0; n < NODES; n++) {
        page_check(&m->pool, n);
        assert_int_equal(page_free_bytes(&m->pool, n), NODE_PAGES * PAGE_BYTES);
    }
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_belong_to_virtual_nodes),
        cmocka_unit_test(large_pages_where_they_fit),
        cmocka_unit_test(near_before_large_then_by_distance),
        cmocka_unit_test(thousands_of_vms_come_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
