/*
 * The same waiting units a second time, by VM and then best first: kept under sched-gran=core only.
 *
 * A core that runs one VM asks "the best unit of this VM that may run on this CPU". The queue's own
 * tree cannot tell that in O(log n): the or of CPUs and a fold of VMs of one subtree may come from
 * different units. Here a VM's units are neighbours, and each node holds the or of its subtree's
 * run_cpus, so the first of them that may run on a CPU is found on one way down. The best unit of
 * any VM stays the queue's to find.
 *
 * Invariants: holds exactly the units of the queue; vm_cpus is right in every node.
 */
#include "sched/runq.h"
#include "sched/tree.h"

/* Reads run_cpus of `u` and vm_cpus of its children; writes vm_cpus of `u`. */
static void augment(struct unit *u)
{
    const struct unit *left = RB_LEFT(u, by_vm);
    const struct unit *right = RB_RIGHT(u, by_vm);

    u->vm_cpus = u->run_cpus | (left ? left->vm_cpus : 0) | (right ? right->vm_cpus : 0);
}

/*
 * Within a VM like queue.c: orders wrap, a newcomer goes behind its equals. Reads vm_id and order;
 * writes nothing.
 */
static int vm_compare(const struct unit *a, const struct unit *b)
{
    if (a->vm_id != b->vm_id)
        return a->vm_id < b->vm_id ? -1 : 1;
    return (int64_t)(a->order - b->order) > 0 ? -1 : 1;
}

#undef RB_AUGMENT
#define RB_AUGMENT(u) augment(u)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
RB_PROTOTYPE_INTERNAL(unit_vms, unit, by_vm, vm_compare, static)
RB_GENERATE_INTERNAL(unit_vms, unit, by_vm, vm_compare, static)
#pragma GCC diagnostic pop

/*
 * After a change of `u`'s run_cpus or children. Reads run_cpus, writes vm_cpus, from `u` up to the
 * root.
 */
void vm_queue_refresh(struct unit *u)
{
    for (; u; u = RB_PARENT(u, by_vm))
        augment(u);
}

/* Beside queue_insert. Reads order, vm_id and run_cpus of `u`; writes vms and vm_cpus. */
void vm_queue_insert(struct runq *rq, struct unit *u)
{
    unit_vms_RB_INSERT(&rq->vms, u);
    vm_queue_refresh(u);
}

/* Beside queue_remove. Reads run_cpus of what is left; writes vms and vm_cpus. */
void vm_queue_remove(struct runq *rq, struct unit *u)
{
    struct unit *start = TREE_REMOVAL_START(u, by_vm);

    unit_vms_RB_REMOVE(&rq->vms, u);
    vm_queue_refresh(start);
}

/*
 * As deep as the tree is high. Only along the two edges of the VM's range may a subtree be entered
 * in vain; within the range vm_cpus tells before. Reads vm_cpus, vm_id and run_cpus of the units;
 * writes nothing.
 */
static struct unit *find(struct unit *u, uint32_t vm_id, uint64_t cpus)
{
    struct unit *best;

    if (!u || !(u->vm_cpus & cpus))
        return NULL;
    if (u->vm_id != vm_id)
        return find(vm_id < u->vm_id ? RB_LEFT(u, by_vm) : RB_RIGHT(u, by_vm), vm_id, cpus);
    best = find(RB_LEFT(u, by_vm), vm_id, cpus);
    if (!best && (u->run_cpus & cpus))
        best = u;
    return best ? best : find(RB_RIGHT(u, by_vm), vm_id, cpus);
}

/*
 * The best queued unit of this VM with one of these local CPUs in its hard affinity, or NULL. Reads
 * vms and what find reads; writes nothing.
 */
struct unit *vm_queue_best(const struct runq *rq, uint32_t vm_id, uint64_t cpus)
{
    return find(RB_ROOT(&rq->vms), vm_id, cpus);
}

/* The VM's next one in order, or NULL. Reads vms and vm_id; writes nothing. */
struct unit *vm_queue_next(struct unit *u)
{
    struct unit *next = unit_vms_RB_NEXT(u);

    return next && next->vm_id == u->vm_id ? next : NULL;
}
