/*
 * See pages.h. Node n of the machine is the memory from n * node_memory on; SRAT's words for that
 * are made up and go through numa_build like a firmware's, so that numa=off, fake= and noacpi mean
 * here what they mean in the image.
 *
 * A VM takes its memory page by page from its virtual nodes' homes, or the next by distance.
 */
#include "tools/numen-sim/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hv/bits.h"
#include "hv/sort.h"
#include "tools/numen-sim/memory.h"
#include "tools/numen-sim/sim.h"

static uint64_t node_bytes(const struct sim *sim)
{
    return ALIGN_DOWN(sim->scenario->machine.node_memory, PLACEMENT_GRAIN);
}

/* ---- what firmware would say ---- */

static void srat_fill(const struct sim *sim, struct srat_info *srat, uint32_t nodes)
{
    srat->cpus = sim_alloc(sim->ncpus, sizeof(*srat->cpus));
    srat->mem = sim_alloc(nodes, sizeof(*srat->mem));
    srat->cpu_capacity = srat->ncpus = sim->ncpus;
    srat->mem_capacity = srat->nmem = nodes;
    for (uint32_t i = 0; i < sim->ncpus; i++)
        srat->cpus[i] = (struct srat_cpu){
            .apic_id = i, .pxm = sim->places[i].node, .flags = SRAT_ENABLED, .kind = FW_CPU_X2APIC};
    for (uint32_t n = 0; n < nodes; n++)
        srat->mem[n] = (struct srat_mem){.base = n * node_bytes(sim),
                                         .length = node_bytes(sim),
                                         .pxm = n,
                                         .flags = SRAT_ENABLED};
}

static void slit_fill(const struct machine_config *m, uint8_t *rows, uint32_t nodes)
{
    for (uint32_t i = 0; i < nodes; i++)
        for (uint32_t j = 0; j < nodes; j++)
            rows[i * nodes + j] = m->distance.count ? (uint8_t)m->distance.value[i * nodes + j]
                                  : i == j          ? NUMA_DISTANCE_LOCAL
                                                    : 2 * NUMA_DISTANCE_LOCAL;
}

static struct numa *nodes_make(struct sim *sim, const struct numa_input *in)
{
    static struct fw_warnings warnings;
    struct numa *numa = sim_alloc(1, sizeof(*numa));
    uint64_t *scratch = sim_alloc(2 * (size_t)sim->ncpus, sizeof(*scratch));

    numa_build(numa, in, sim->memory.node_of_cpu, scratch, &warnings);
    free(scratch);
    return numa;
}

static void nodes_build(struct sim *sim)
{
    const struct scenario *scenario = sim->scenario;
    uint32_t nodes = (uint32_t)machine_node_count(&scenario->machine);
    uint8_t *rows = sim_alloc((size_t)nodes * nodes, 1);
    uint32_t *apic_ids = sim_alloc(sim->ncpus, sizeof(*apic_ids));
    struct slit_info slit = {.rows = rows, .n = nodes, .usable = true};
    struct srat_info srat = {0};
    struct numa_input in = {
        .apic_ids = apic_ids, .ncpus = sim->ncpus, .srat = &srat, .slit = &slit, .mode = NUMA_ON};

    for (uint32_t i = 0; i < sim->ncpus; i++)
        apic_ids[i] = i;
    srat_fill(sim, &srat, nodes);
    slit_fill(&scenario->machine, rows, nodes);
    sim->memory.truth = nodes_make(sim, &in);
    in.mode = scenario->options.numa.word;
    in.fake = scenario->options.numa.number;
    sim->memory.numa = nodes_make(sim, &in);
    free(srat.cpus);
    free(srat.mem);
    free(apic_ids);
    free(rows);
}

/* ---- the allocator ---- */

static void fallback_fill(const struct numa *numa, uint8_t *fallback)
{
    for (uint32_t n = 0; n < numa->nnodes; n++) {
        uint64_t keys[NODES_MAX];

        for (uint32_t i = 0; i < numa->nnodes; i++)
            keys[i] = (i == n ? 0 : (uint64_t)numa_distance(numa, n, i) << 32) | i;
        sort_u64(keys, numa->nnodes);
        for (uint32_t i = 0; i < numa->nnodes; i++)
            fallback[n * numa->nnodes + i] = (uint8_t)keys[i];
    }
}

void pages_init(struct sim *sim)
{
    struct sim_memory *m = &sim->memory;
    uint64_t pages = 0;

    m->node_of_cpu = sim_alloc(sim->ncpus, sizeof(*m->node_of_cpu));
    nodes_build(sim);
    m->pool = sim_alloc(1, sizeof(*m->pool));
    m->ranges = sim_alloc(m->numa->nranges, sizeof(*m->ranges));
    m->fallback = sim_alloc((size_t)m->numa->nnodes * m->numa->nnodes, 1);
    fallback_fill(m->numa, m->fallback);
    for (uint32_t i = 0; i < m->numa->nranges; i++)
        pages += (m->numa->range[i].end - m->numa->range[i].base) >> PAGE_SHIFT;
    m->pages = sim_alloc(pages, sizeof(*m->pages));
    pages = 0;
    for (uint32_t i = 0; i < m->numa->nranges; i++) {
        const struct numa_range *r = &m->numa->range[i];

        m->ranges[i] = (struct page_range){.base_pfn = r->base >> PAGE_SHIFT,
                                           .npages = (r->end - r->base) >> PAGE_SHIFT,
                                           .node = r->node,
                                           .pages = m->pages + pages};
        pages += m->ranges[i].npages;
    }
    ASSERT(page_init(m->pool, m->ranges, m->numa->nranges, m->numa->nnodes, m->fallback) == 0);
    for (uint32_t i = 0; i < m->numa->nranges; i++)
        page_add_free(m->pool, m->numa->range[i].base,
                      m->numa->range[i].end - m->numa->range[i].base);
}

void pages_free(struct sim *sim)
{
    struct sim_memory *m = &sim->memory;

    free(m->truth);
    free(m->numa);
    free(m->node_of_cpu);
    free(m->pool);
    free(m->ranges);
    free(m->pages);
    free(m->fallback);
}

/* ---- a VM's memory ---- */

static int choose_home(struct sim *sim, struct sim_vm *vm)
{
    const struct sim_memory *m = &sim->memory;
    const struct guest_config *guest = &vm->config->guest;
    static struct placement_node nodes[NODES_MAX];
    struct placement_request request = {.memory_bytes = guest->memory_bytes, .vcpus = guest->vcpus};

    for (uint32_t n = 0; n < m->numa->nnodes; n++) {
        nodes[n] = (struct placement_node){.free_bytes = page_free_bytes(m->pool, n)};
        request.allowed |= guest_ranges_have(&guest->nodes, n) ? BIT(n) : 0;
    }
    for (uint32_t i = 0; i < sim->ncpus; i++)
        nodes[m->node_of_cpu[i]].cpus += guest_ranges_have(&guest->cpus, i);
    for (const struct sim_vm *other = sim->vms; other < vm; other++)
        for (uint32_t part = 0; part < other->placement.count; part++)
            nodes[other->placement.vnode[part].node].vcpus += other->placement.vnode[part].vcpus;
    return placement_choose(nodes, m->numa->nnodes, m->numa->distance, &request, &vm->placement);
}

/* Page by page, as kernel/vm_memory.c does. */
static int take_pages(struct sim *sim, struct sim_vm *vm)
{
    uint64_t bytes = vm->config->guest.memory_bytes;
    uint32_t order;

    for (uint64_t at = 0; at < bytes; at += (uint64_t)PAGE_BYTES << order) {
        paddr_t page =
            placement_take_page(sim->memory.pool, &vm->placement, at, bytes - at, &order);
        struct sim_vnode *vnode = &vm->vnodes[placement_vnode_at(&vm->placement, at)];
        paddr_t end;

        if (page == PADDR_NONE)
            return -ENOMEM;
        vnode->bytes[numa_node_of(sim->memory.truth, page, &end)] += (uint64_t)PAGE_BYTES << order;
    }
    return 0;
}

static uint32_t latency_from(const struct sim *sim, const struct sim_vnode *vnode, uint32_t node)
{
    const struct numa *truth = sim->memory.truth;
    uint64_t sum = 0;

    for (uint32_t n = 0; n < truth->nnodes; n++) {
        uint64_t far = numa_distance(truth, node, n) - NUMA_DISTANCE_LOCAL;

        sum += vnode->share[n] * (1024 + far * sim->scenario->machine.remote_step);
    }
    return (uint32_t)(sum / 1024);
}

/* Shares add up to the whole: what rounding leaves goes to the largest. */
static void shares_fill(struct sim_vnode *vnode, const uint64_t *bytes, uint32_t nodes)
{
    uint32_t largest = 0, given = 0;
    uint64_t all = 0;

    for (uint32_t n = 0; n < nodes; n++) {
        all += bytes[n];
        largest = bytes[n] > bytes[largest] ? n : largest;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        vnode->share[n] = (uint32_t)(bytes[n] * 1024 / MAX(all, 1u));
        given += vnode->share[n];
    }
    vnode->share[largest] += 1024 - given;
}

/* A virtual node that is too small for a page uses what the whole VM has. */
static void vnodes_sum_up(const struct sim *sim, struct sim_vm *vm)
{
    uint32_t nodes = sim->memory.truth->nnodes;
    uint64_t whole[NODES_MAX] = {0};

    for (uint32_t i = 0; i < vm->placement.count; i++)
        for (uint32_t n = 0; n < nodes; n++)
            whole[n] += vm->vnodes[i].bytes[n];
    for (uint32_t i = 0; i < vm->placement.count; i++) {
        struct sim_vnode *vnode = &vm->vnodes[i];
        bool empty = true;

        for (uint32_t n = 0; n < nodes; n++)
            empty &= !vnode->bytes[n];
        shares_fill(vnode, empty ? whole : vnode->bytes, nodes);
        for (uint32_t n = 0; n < nodes; n++)
            vnode->latency[n] = latency_from(sim, vnode, n);
    }
}

int pages_give(struct sim *sim, struct sim_vm *vm)
{
    int err = choose_home(sim, vm);

    if (err)
        return err;
    vm->vnodes = sim_alloc(vm->placement.count, sizeof(*vm->vnodes));
    err = take_pages(sim, vm);
    if (!err)
        vnodes_sum_up(sim, vm);
    return err;
}
