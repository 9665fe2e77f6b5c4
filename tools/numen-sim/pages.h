/*
 * The memory of the simulated machine, handed out by the image's own mm/.
 *
 * What a node is to the allocator is numa='s decision: with numa=off there is one, over everything.
 * Where a page really lies is another matter, and that is what accesses cost (speed.c): its address
 * says so.
 */
#ifndef NUMEN_SIM_PAGES_H
#define NUMEN_SIM_PAGES_H

#include "mm/numa.h"
#include "mm/page.h"

struct machine_config;
struct sim;
struct sim_vm;

struct sim_memory {
    struct numa *truth;    /* the machine as it is */
    struct numa *numa;     /* as numa= lets it be seen */
    uint32_t *node_of_cpu; /* by numa */
    struct page_pool *pool;
    struct page_range *ranges;
    struct page *pages;
    uint8_t *fallback;
};

void pages_init(struct sim *sim);
void pages_free(struct sim *sim);

/* Chooses the VM's home, takes its memory, and says where it really is. -ENOMEM: there is none. */
__attribute__((warn_unused_result)) int pages_give(struct sim *sim, struct sim_vm *vm);

#endif
