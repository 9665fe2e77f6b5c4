/*
 * workload=lock: every vCPU thinks, takes one of several locks, holds it for a while, and again.
 *
 * The critical sections are real: a vCPU that loses its CPU while it holds a lock leaves the others
 * waiting until it comes back, which is what paravirtual locks are about. Kinds:
 *
 *     spin       test and set: of those that spin on a CPU when it comes free, any one gets it
 *     ticket     first come, first served, even if the next in line has no CPU
 *     ticket-ple the same, with a pause-loop exit and directed yield each `ple` of spinning
 *     ticket-pv  the same, and a waiter halts after `threshold`; the unlocker kicks it
 *     queued     a queue whose head may be overtaken while it has no CPU (Linux's qspinlock, with
 *                its paravirtual halt and kick)
 *
 * Threads are vCPUs: there is no guest scheduler. Figures: SCHEDULER seed 3; Linux's SPIN_THRESHOLD
 * is 32,768 turns, about 100 us; KVM's ple_window was 4,096 cycles.
 */
#include <stddef.h>

#include "tools/numen-sim/vcpu.h"
#include "tools/numen-sim/workload_list.h"

#define LOCKS_MAX 1024u

enum lock_kind { LOCK_SPIN, LOCK_TICKET, LOCK_TICKET_PLE, LOCK_TICKET_PV, LOCK_QUEUED };

struct lock_params {
    uint64_t kind, locks, think, hold, spread, transfer, threshold, ple, rounds;
};

struct lock {
    struct vcpu *holder;
    struct vcpu *first, *last; /* waiters, in the order they came */
};

enum lock_stage { STAGE_NEW, STAGE_THINK, STAGE_WAIT, STAGE_HOLD };

struct lock_vcpu {
    enum lock_stage stage;
    struct lock *lock;
    struct vcpu *next; /* waiter behind this one */
    bool halted;       /* waits in HLT for a kick */
    uint64_t rounds;
};

struct lock_vm {
    struct lock lock[LOCKS_MAX];
};

#define AT(field) offsetof(struct lock_params, field)

static const struct key keys[] = {
    {"kind", KEY_WORD, AT(kind), "ticket", 0, 0, "spin ticket ticket-ple ticket-pv queued",
     "how waiters wait and who is next"},
    {"locks", KEY_COUNT, AT(locks), "1", 1, LOCKS_MAX, "", "locks, one chosen anew each time"},
    {"think", KEY_TIME, AT(think), "20us", 0, NS_PER_SEC, "", "work between two critical sections"},
    {"hold", KEY_TIME, AT(hold), "2us", 1, NS_PER_SEC, "", "work in a critical section"},
    {"spread", KEY_COUNT, AT(spread), "50", 0, 100, "", "per cent around think and hold"},
    {"transfer", KEY_TIME, AT(transfer), "100ns", 0, NS_PER_MS, "",
     "from release to the next holder's first step: a cache line's way"},
    {"threshold", KEY_TIME, AT(threshold), "100us", 0, NS_PER_SEC, "",
     "spinning before a paravirtual waiter halts"},
    {"ple", KEY_TIME, AT(ple), "1500ns", 0, NS_PER_MS, "",
     "pause-loop window of ticket-ple, ticket-pv and queued; 0: none"},
    {"rounds", KEY_COUNT, AT(rounds), "0", 0, 1u << 30, "", "of each vCPU; 0: no end"},
    KEY_END,
};

static const struct lock_params *params_of(const struct vcpu *v)
{
    return v->vm->config->params;
}

static struct lock_vcpu *state_of(const struct vcpu *v)
{
    return v->state;
}

static bool is_paravirtual(const struct lock_params *p)
{
    return p->kind == LOCK_TICKET_PV || p->kind == LOCK_QUEUED;
}

static ns_t around(struct sim *sim, const struct lock_params *p, ns_t mean)
{
    return random_around(&sim->random, mean, (uint32_t)p->spread);
}

/* ---- the line of waiters ---- */

static void line_join(struct lock *lock, struct vcpu *v)
{
    state_of(v)->next = NULL;
    if (lock->last)
        state_of(lock->last)->next = v;
    else
        lock->first = v;
    lock->last = v;
}

static void line_leave(struct lock *lock, struct vcpu *v)
{
    struct vcpu *before = NULL;

    for (struct vcpu *at = lock->first; at != v; at = state_of(at)->next)
        before = at;
    if (before)
        state_of(before)->next = state_of(v)->next;
    else
        lock->first = state_of(v)->next;
    if (lock->last == v)
        lock->last = before;
}

/* ---- waiting and taking ---- */

static void hold(struct sim *sim, struct vcpu *v)
{
    const struct lock_params *p = params_of(v);

    state_of(v)->stage = STAGE_HOLD;
    vcpu_compute(v, around(sim, p, p->hold));
}

/* On its own CPU, before or after a halt. */
static void spin_on(struct vcpu *v)
{
    const struct lock_params *p = params_of(v);
    ns_t window = p->kind == LOCK_SPIN || p->kind == LOCK_TICKET ? 0 : p->ple;

    vcpu_spin(v, is_paravirtual(p) ? p->threshold : NS_NEVER, window);
}

static void acquire(struct sim *sim, struct vcpu *v)
{
    struct lock_vcpu *state = state_of(v);
    struct lock_vm *vm = v->vm->state;
    struct lock *lock = &vm->lock[random_below(&sim->random, params_of(v)->locks)];

    state->lock = lock;
    if (!lock->holder) {
        lock->holder = v;
        hold(sim, v);
        return;
    }
    state->stage = STAGE_WAIT;
    line_join(lock, v);
    spin_on(v);
}

/* The lock is `v`'s from now on, whether it has a CPU or not. */
static void hand_over(struct sim *sim, struct lock *lock, struct vcpu *v)
{
    line_leave(lock, v);
    lock->holder = v;
    vcpu_release(sim, v, params_of(v)->transfer);
}

/* One of those that spin on a CPU right now, or NULL. */
static struct vcpu *any_spinner(struct sim *sim, const struct lock *lock)
{
    struct vcpu *chosen = NULL;
    uint64_t seen = 0;

    for (struct vcpu *v = lock->first; v; v = state_of(v)->next)
        if (v->segment == SEGMENT_SPIN && cpu_of_vcpu(sim, v) &&
            random_below(&sim->random, ++seen) == 0)
            chosen = v;
    return chosen;
}

static void kick(struct sim *sim, struct vcpu *from, struct vcpu *to)
{
    if (!state_of(to)->halted)
        return;
    state_of(to)->halted = false;
    vcpu_kick(sim, from, to);
}

static void release(struct sim *sim, struct vcpu *v)
{
    struct lock *lock = state_of(v)->lock;
    struct vcpu *next = lock->first;

    lock->holder = NULL;
    if (!next)
        return;
    switch (params_of(v)->kind) {
    case LOCK_SPIN:
        next = any_spinner(sim, lock);
        if (next)
            hand_over(sim, lock, next);
        break;
    case LOCK_QUEUED: /* a head without a CPU finds the lock free, if nobody overtakes it */
        if (next->segment == SEGMENT_SPIN && cpu_of_vcpu(sim, next))
            hand_over(sim, lock, next);
        else
            kick(sim, v, next);
        break;
    default:
        hand_over(sim, lock, next);
        kick(sim, v, next);
    }
}

/* Its spin ended without the lock, or a halt did, or it has just got a CPU. */
static void wait_on(struct sim *sim, struct vcpu *v, bool was_kicked)
{
    struct lock_vcpu *state = state_of(v);
    struct lock *lock = state->lock;

    if (lock->holder == v) {
        hold(sim, v);
    } else if (!lock->holder && (params_of(v)->kind == LOCK_SPIN || lock->first == v)) {
        line_leave(lock, v);
        lock->holder = v;
        hold(sim, v);
    } else if (was_kicked || !is_paravirtual(params_of(v))) {
        spin_on(v);
    } else {
        state->halted = true;
        vcpu_halt(sim, v, NS_NEVER);
    }
}

static void think(struct sim *sim, struct vcpu *v)
{
    const struct lock_params *p = params_of(v);

    state_of(v)->stage = STAGE_THINK;
    vcpu_compute(v, around(sim, p, p->think));
}

static void next(struct sim *sim, struct vcpu *v)
{
    struct lock_vcpu *state = state_of(v);
    bool was_halted = state->halted;

    switch (state->stage) {
    case STAGE_WAIT:
        state->halted = false;
        wait_on(sim, v, was_halted || v->spin_left);
        break;
    case STAGE_HOLD:
        release(sim, v);
        state->rounds++;
        if (params_of(v)->rounds && state->rounds >= params_of(v)->rounds)
            vcpu_finish(sim, v);
        else
            think(sim, v);
        break;
    case STAGE_THINK:
        acquire(sim, v);
        break;
    default:
        think(sim, v);
    }
}

/* A spinner that gets a CPU back looks at the lock. */
static void arrived(struct sim *sim, struct vcpu *v, bool interrupted)
{
    struct lock_vcpu *state = state_of(v);

    (void)interrupted;
    if (state->stage == STAGE_WAIT && v->segment == SEGMENT_SPIN && !state->lock->holder)
        wait_on(sim, v, true);
}

static bool ends(const void *params)
{
    return ((const struct lock_params *)params)->rounds != 0;
}

static void measure(struct sim *sim, struct sim_vm *vm)
{
    (void)sim;
    for (uint32_t i = 0; i < vm->nvcpus; i++)
        state_of(&vm->vcpus[i])->rounds = 0;
}

static uint32_t report(const struct sim *sim, const struct sim_vm *vm, struct metric metrics[])
{
    double seconds = sim_measured_seconds(sim);
    uint64_t rounds = 0;

    for (uint32_t i = 0; i < vm->nvcpus; i++)
        rounds += state_of(&vm->vcpus[i])->rounds;
    metrics[0] = (struct metric){"rate", "rounds/s", (double)rounds / seconds, true};
    return 1;
}

const struct workload workload_lock = {
    .name = "lock",
    .help = "threads over locks",
    .keys = keys,
    .params_bytes = sizeof(struct lock_params),
    .vm_bytes = sizeof(struct lock_vm),
    .vcpu_bytes = sizeof(struct lock_vcpu),
    .ends = ends,
    .next = next,
    .arrived = arrived,
    .measure = measure,
    .report = report,
};
