/*
 * The x86 side of a VM and its vCPUs that is the same under VT-x and AMD-V:
 * CPUID table, local APIC, paravirtual state, XCR0.
 *
 * Decides what the policy in guest_cpuid_build.c is fed with. One table serves all vCPUs of a VM.
 */
#include "arch/x86/guest_vcpu.h"

#include <errno.h>
#include <string.h>

#include "arch/x86/cpuid_capture.h"
#include "arch/x86/kvm_pv.h"
#include "arch/x86/regs/cpuid.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/virt_state.h"
#include "arch/x86/vlapic.h"
#include "kernel/arch.h"
#include "kernel/mem.h"
#include "kernel/vm.h"

/* What one vCPU has besides the neutral struct and the backend's part. */
struct guest_vcpu_block {
    struct vlapic lapic;
    struct kvm_pv pv;
};

static struct guest_topology guest_topology_of(const struct vm *vm)
{
    return (struct guest_topology){vm->config.sockets, vm->config.cores, vm->config.threads};
}

uint32_t guest_apic_id(const struct vm *vm, uint32_t vcpu)
{
    struct guest_topology topology = guest_topology_of(vm);

    return guest_topology_apic_id(&topology, vcpu);
}

int guest_vm_init(struct vm *vm)
{
    struct guest_cpuid_config config = {
        .host = cpuid_of(cpus[0]->arch), /* the same on every CPU in what the policy reads */
        .backend = strcmp(virt->name, "svm") == 0 ? GUEST_ON_SVM : GUEST_ON_VMX,
        .runs = (virt_guest_has_rdtscp() ? GUEST_RUNS_RDTSCP : 0) |
                (virt_guest_has_invpcid() ? GUEST_RUNS_INVPCID : 0),
        .topology = guest_topology_of(vm),
        .l3_cache = vm->config.l3_cache,
        .tsc_stable = arch_tsc_is_stable(),
        .xcr0 = virt_guest_xcr0(),
        .pv = kvm_features_offered(vm->config.pv),
        .numen = GUEST_NUMEN_YIELD,
    };

    vm->pv_features = config.pv;
    vm->cpuid = mem_zalloc(sizeof(*vm->cpuid), vm_first_node(vm));
    if (!vm->cpuid)
        return -ENOMEM;
    guest_cpuid_build(vm->cpuid, &config);
    return 0;
}

void guest_vm_fini(struct vm *vm)
{
    if (vm->cpuid)
        mem_free(vm->cpuid, sizeof(*vm->cpuid));
    vm->cpuid = NULL;
}

int guest_vcpu_init(struct vcpu *v)
{
    struct guest_vcpu_block *block = mem_zalloc(sizeof(*block), v->home_node);

    if (!block)
        return -ENOMEM;
    v->lapic = &block->lapic;
    v->pv = &block->pv;
    v->cpuid = v->vm->cpuid;
    vlapic_init(v->lapic, v);
    return 0;
}

void guest_vcpu_fini(struct vcpu *v)
{
    vlapic_timer_stop(v->lapic);
    mem_free(container_of(v->lapic, struct guest_vcpu_block, lapic),
             sizeof(struct guest_vcpu_block));
}

/* INIT leaves RDX with the processor's signature, all other registers 0 (SDM 3A, table 10-1). */
void guest_vcpu_reset(struct vcpu *v)
{
    struct guest_cpuid_state state = {.apic_id = v->apic_id};

    vlapic_reset(v->lapic);
    kvm_pv_reset(v);
    memset(v->regs, 0, sizeof(v->regs));
    v->regs[VCPU_RDX] = guest_cpuid_lookup(v->cpuid, 1, 0, &state).eax;
}

void guest_switch_in(struct vcpu *v, ns_t now)
{
    kvm_clock_switch_in(v);
    kvm_steal_switch_in(v, now);
}

void guest_switch_out(struct vcpu *v, bool preempted)
{
    kvm_steal_switch_out(v, preempted);
}

static bool guest_has_ext_edx(const struct vcpu *v, uint64_t bit)
{
    struct guest_cpuid_state state = {.apic_id = v->apic_id};

    return guest_cpuid_lookup(v->cpuid, CPUID_EXTENDED, 0, &state).edx & bit;
}

bool guest_vcpu_has_rdtscp(const struct vcpu *v)
{
    return guest_has_ext_edx(v, CPUID_EXT_EDX_RDTSCP);
}

bool guest_vcpu_has_nx(const struct vcpu *v)
{
    return guest_has_ext_edx(v, CPUID_EXT_EDX_NX);
}

/* Only three leaves show what the vCPU has switched on. */
static void guest_cpuid_state_of(struct vcpu *v, uint32_t leaf, struct guest_cpuid_state *state)
{
    uint64_t cr4;

    *state = (struct guest_cpuid_state){.apic_id = v->apic_id, .apic_enabled = true};
    if (leaf != CPUID_VERSION && leaf != CPUID_FEATURES_7 && leaf != CPUID_XSAVE)
        return;
    cr4 = virt->get_reg(v, VREG_CR4);
    state->osxsave = cr4 & CR4_OSXSAVE;
    state->pke = cr4 & CR4_PKE;
    state->xcr0 = virt->get_reg(v, VREG_XCR0);
}

void guest_cpuid_exit(struct vcpu *v)
{
    uint32_t leaf = (uint32_t)v->regs[VCPU_RAX];
    struct guest_cpuid_state state;
    struct cpuid_regs r;

    guest_cpuid_state_of(v, leaf, &state);
    r = guest_cpuid_lookup(v->cpuid, leaf, (uint32_t)v->regs[VCPU_RCX], &state);
    v->regs[VCPU_RAX] = r.eax;
    v->regs[VCPU_RBX] = r.ebx;
    v->regs[VCPU_RCX] = r.ecx;
    v->regs[VCPU_RDX] = r.edx;
    virt->skip(v);
}

/* XSETBV of a value that CPUID does not offer, or of another register than XCR0: #GP(0). */
void guest_xsetbv_exit(struct vcpu *v)
{
    uint64_t value = (uint32_t)v->regs[VCPU_RAX] | v->regs[VCPU_RDX] << 32;
    bool valid = (uint32_t)v->regs[VCPU_RCX] == 0 && virt->get_reg(v, VREG_CPL) == 0 &&
                 guest_cpuid_xcr0_valid(v->cpuid, value);

    if (!valid) {
        vcpu_fault(v, VECTOR_GP, 0);
        return;
    }
    virt->set_reg(v, VREG_XCR0, value);
    virt->skip(v);
}
