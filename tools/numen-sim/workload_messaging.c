/*
 * workload=messaging: groups of senders and receivers over sockets (perf bench sched messaging).
 *
 * In each group every sender writes `loops` messages to every receiver, in turn; a receiver that
 * finds nothing blocks, and a sender that finds a receiver's buffer full blocks until three
 * quarters of it have been read (Linux's unix_writable). Sockets wake with the promise to block.
 */
#include <stddef.h>
#include <stdlib.h>

#include "tools/numen-sim/guest.h"
#include "tools/numen-sim/memory.h"
#include "tools/numen-sim/workload_list.h"

struct messaging_params {
    uint64_t groups, pairs, loops, send, receive, buffer, switch_ns, wake_ns;
};

struct endpoint {
    uint64_t left;     /* messages to send or to receive */
    uint64_t waiting;  /* of a receiver: in its buffer */
    uint32_t to;       /* of a sender: the next receiver in its group */
    bool blocked_full; /* of a sender */
    bool counted;      /* its end has been */
};

struct messaging_vm {
    struct guest guest;
    struct endpoint *ends;
    uint32_t done;
};

#define AT(field) offsetof(struct messaging_params, field)

static const struct key keys[] = {
    {"groups", KEY_COUNT, AT(groups), "1", 1, 64, "", "-g of perf bench"},
    {"pairs", KEY_COUNT, AT(pairs), "20", 1, 200, "", "senders, and receivers, of a group"},
    {"loops", KEY_COUNT, AT(loops), "100", 1, 1u << 30, "", "messages from each to each"},
    {"send", KEY_TIME, AT(send), "2us", 1, NS_PER_MS, "", "work of a write"},
    {"receive", KEY_TIME, AT(receive), "1500ns", 1, NS_PER_MS, "",
     "work of a read, which allocates nothing"},
    {"buffer", KEY_COUNT, AT(buffer), "90", 2, 1u << 20, "",
     "messages a receiver's sockets hold (212,992 bytes of 2,304 each)"},
    {"task_switch", KEY_TIME, AT(switch_ns), "500ns", 0, NS_PER_MS, "",
     "the guest's switch of tasks"},
    {"task_wake", KEY_TIME, AT(wake_ns), "300ns", 0, NS_PER_MS, "", "the guest's wake-up path"},
    KEY_END,
};

/* Tasks of a group stand together: its senders, then its receivers. */
static bool is_sender(const struct messaging_params *p, uint32_t task)
{
    return task % (2 * p->pairs) < p->pairs;
}

static uint32_t group_start(const struct messaging_params *p, uint32_t task)
{
    return task - task % (uint32_t)(2 * p->pairs);
}

static void task_end(struct sim *sim, struct guest *g, struct guest_task *t)
{
    struct messaging_vm *vm = g->vm->state;

    guest_block(t);
    if (vm->ends[t->index].counted)
        return;
    vm->ends[t->index].counted = true;
    if (++vm->done == g->ntasks)
        vm_finish(sim, g->vm);
}

static void send(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_task *t)
{
    const struct messaging_params *p = g->vm->config->params;
    struct messaging_vm *vm = g->vm->state;
    struct endpoint *from = &vm->ends[t->index];
    uint32_t receiver = group_start(p, t->index) + (uint32_t)p->pairs + from->to;
    struct endpoint *to = &vm->ends[receiver];

    if (!from->left) {
        task_end(sim, g, t);
        return;
    }
    from->blocked_full = to->waiting >= p->buffer;
    if (from->blocked_full) {
        guest_block(t);
        return;
    }
    from->left--;
    from->to = (from->to + 1) % (uint32_t)p->pairs;
    to->waiting++;
    guest_work(t, p->send);
    guest_wake(sim, g, v, &g->tasks[receiver], true);
}

/* Senders of the group that wait for a buffer: any may have waited for this one. */
static void wake_senders(struct sim *sim, struct guest *g, struct vcpu *v, uint32_t receiver)
{
    const struct messaging_params *p = g->vm->config->params;
    struct messaging_vm *vm = g->vm->state;
    uint32_t first = group_start(p, receiver);

    for (uint32_t i = first; i < first + p->pairs; i++) {
        struct endpoint *sender = &vm->ends[i];

        if (!sender->blocked_full || first + p->pairs + sender->to != receiver)
            continue;
        sender->blocked_full = false;
        guest_wake(sim, g, v, &g->tasks[i], true);
    }
}

static void receive(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_task *t)
{
    const struct messaging_params *p = g->vm->config->params;
    struct messaging_vm *vm = g->vm->state;
    struct endpoint *to = &vm->ends[t->index];

    if (!to->left) {
        task_end(sim, g, t);
        return;
    }
    if (!to->waiting) {
        guest_block(t);
        return;
    }
    to->waiting--;
    to->left--;
    guest_work(t, p->receive);
    if (to->waiting == p->buffer / 4 || !to->left)
        wake_senders(sim, g, v, t->index);
}

static void step(struct sim *sim, struct guest *g, struct vcpu *v, struct guest_task *t)
{
    if (is_sender(g->vm->config->params, t->index))
        send(sim, g, v, t);
    else
        receive(sim, g, v, t);
}

static void start(struct sim *sim, struct sim_vm *vm)
{
    const struct messaging_params *p = vm->config->params;
    struct messaging_vm *state = vm->state;
    uint32_t tasks = (uint32_t)(2 * p->groups * p->pairs);

    (void)sim;
    guest_init(&state->guest, vm, tasks, step);
    state->guest.switch_ns = p->switch_ns;
    state->guest.wake_ns = p->wake_ns;
    state->ends = sim_alloc(tasks, sizeof(*state->ends));
    for (uint32_t i = 0; i < tasks; i++)
        state->ends[i].left = p->loops * p->pairs;
}

static void next(struct sim *sim, struct vcpu *v)
{
    guest_next(sim, &((struct messaging_vm *)v->vm->state)->guest, v);
}

static void arrived(struct sim *sim, struct vcpu *v, bool interrupted)
{
    guest_arrived(sim, &((struct messaging_vm *)v->vm->state)->guest, v, interrupted);
}

static bool ends(const void *params)
{
    (void)params;
    return true;
}

static uint32_t report(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[])
{
    ns_t end = MIN(sim->now, vm->finished_at);
    double seconds = (double)(end - vm->started_at) / (double)NS_PER_SEC;
    uint64_t interrupts = 0;

    for (uint32_t i = 0; i < vm->nvcpus; i++)
        interrupts += vm->vcpus[i].counts.interrupts;
    metrics[0] = (struct metric){"time", "s", seconds, false};
    metrics[1] = (struct metric){"ipi-rate", "IPIs/s", (double)interrupts / seconds, false};
    return 2;
}

static void stop(struct sim_vm *vm)
{
    struct messaging_vm *state = vm->state;

    guest_free(&state->guest);
    free(state->ends);
}

const struct workload workload_messaging = {
    .name = "messaging",
    .help = "senders and receivers of a guest kernel",
    .keys = keys,
    .sees_l3 = true,
    .params_bytes = sizeof(struct messaging_params),
    .vm_bytes = sizeof(struct messaging_vm),
    .ends = ends,
    .start = start,
    .next = next,
    .arrived = arrived,
    .report = report,
    .stop = stop,
};
