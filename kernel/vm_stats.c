/*
 * Statistics of VMs: sums over vCPUs, kept when these go.
 *
 * Counters are written by whichever CPU has the vCPU and read here without a lock: each is one
 * aligned word, so a listing may be a moment old but never torn.
 */
#include "kernel/vm_stats.h"

#include "kernel/arch.h"

static void vcpu_stats_add(const struct vcpu_stats *from, struct vcpu_stats *sum)
{
    for (uint32_t i = 0; i < EXIT_KIND_COUNT; i++)
        sum->exits[i] += atomic_get(&from->exits[i]);
    for (uint32_t i = 0; i < VCPU_HYPERCALL_COUNT; i++)
        sum->hypercalls[i] += atomic_get(&from->hypercalls[i]);
    sum->ipis += atomic_get(&from->ipis);
}

/*
 * A vCPU that is still being built, or whose build failed, is in no runqueue whose lock could be
 * taken.
 */
void vcpu_times(struct vcpu *v, ns_t *run, ns_t *wait)
{
    *run = 0;
    *wait = 0;
    if (v->inserted)
        unit_times(&v->unit, arch_now(), run, wait);
}

ns_t vcpu_capped_ns(struct vcpu *v)
{
    return v->inserted ? unit_capped_ns(&v->unit, arch_now()) : 0;
}

ns_t vcpu_remote_ns(const struct vcpu *v)
{
    /*
     * Acquire pairs with schedule_switch_out: two glances in this order never count the stay that
     * is just ending twice.
     */
    ns_t past = atomic_get_acquire(&v->remote_ns);
    ns_t since = atomic_get(&v->remote_since);
    ns_t now = arch_now();

    return past + (since < now ? now - since : 0);
}

static void vm_stats_add_vcpu(struct vcpu *v, struct vm_stats *sum)
{
    ns_t run, wait;

    vcpu_stats_add(&v->stats, &sum->vcpu);
    vcpu_times(v, &run, &wait);
    sum->run_ns += run;
    sum->remote_ns += MIN(vcpu_remote_ns(v), run);
    sum->wait_ns += wait;
    sum->capped_ns += vcpu_capped_ns(v);
    sum->migrations += atomic_get(&v->unit.migrations);
}

void vm_stats_add(struct vm *vm, struct vm_stats *sum)
{
    vcpu_stats_add(&vm->past.vcpu, &sum->vcpu);
    sum->run_ns += vm->past.run_ns;
    sum->remote_ns += vm->past.remote_ns;
    sum->wait_ns += vm->past.wait_ns;
    sum->capped_ns += vm->past.capped_ns;
    sum->migrations += vm->past.migrations;
    for (uint32_t i = 0; i < vm->vcpu_count; i++)
        vm_stats_add_vcpu(vm->vcpus[i], sum);
}

void vm_stats_keep(struct vcpu *v)
{
    vm_stats_add_vcpu(v, &v->vm->past);
}
