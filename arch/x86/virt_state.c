/*
 * State that VT-x and AMD-V both leave to software, and the tags of TLB entries.
 *
 * Decides: when FPU, XCR0, DR0-3 and TSC_AUX change hands (on a vCPU switch, never on an exit: ring
 * 0 uses none of them), and which VPID or ASID a vCPU has on a CPU. Does not decide what a guest
 * may write.
 *
 * Invariants: while no vCPU is loaded, XCR0 is host_xcr0, so that XSAVE and XRSTOR reach every
 * component that any guest may have used; PKRU is one of them and needs no switch of its own. A tag
 * is given out once per generation of its CPU, so two vCPUs never share one, nor does a vCPU meet
 * what it left on a CPU earlier.
 *
 * Source: SDM 1 13.7-13.8; SDM 3C 29.4; APM 2 15.16.
 */
#include "arch/x86/virt_state.h"

#include <errno.h>

#include "arch/x86/asm.h"
#include "arch/x86/cpu_area.h"
#include "arch/x86/features.h"
#include "arch/x86/guest_cpuid.h"
#include "arch/x86/regs/cpuid.h"
#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/msr.h"
#include "hv/assert.h"
#include "kernel/mem.h"
#include "kernel/vm.h"

#define FXSAVE_BYTES 512u

/* The parts of the FXSAVE image that INIT does not take from the processor (SDM 1 10.5.1). */
struct fxsave {
    uint16_t fcw; /* 0 */
    uint16_t fsw;
    uint32_t reserved[5];
    uint32_t mxcsr; /* 24 */
};

_Static_assert(offsetof(struct fxsave, mxcsr) == 24, "SDM 1 table 10-2");

#define FCW_INIT   0x37fu
#define MXCSR_INIT 0x1f80u

/* [i] by the backend's probe */
static struct {
    uint64_t host_xcr0; /* 0: the CPU has no XSAVE, FXSAVE is used */
    uint32_t xsave_bytes;
    bool guest_rdtscp, guest_invpcid;
} shared;

uint64_t virt_guest_xcr0(void)
{
    return shared.host_xcr0;
}

bool virt_guest_has_rdtscp(void)
{
    return shared.guest_rdtscp;
}

bool virt_guest_has_invpcid(void)
{
    return shared.guest_invpcid;
}

void virt_guest_allow(bool rdtscp, bool invpcid)
{
    struct cpuid_regs leaf;

    shared.guest_rdtscp = rdtscp;
    shared.guest_invpcid = invpcid;
    shared.xsave_bytes = FXSAVE_BYTES;
    if (!cpu_features.xsave)
        return;
    leaf = asm_cpuid(CPUID_XSAVE, 0);
    shared.host_xcr0 = ((uint64_t)leaf.edx << 32 | leaf.eax) & GUEST_XCR0_ALL;
    shared.xsave_bytes = leaf.ecx; /* room for all that the CPU has, more than is ever turned on */
}

int virt_cpu_init(struct cpu *cpu, uint32_t tag_last)
{
    struct virt_cpu *vc = mem_zalloc(sizeof(*vc), cpu->place.node);

    if (!vc)
        return -ENOMEM;
    vc->tag_last = tag_last;
    virt_tags_expire(vc);
    vc->vmcs = PADDR_NONE;
    cpu->arch->virt = vc;
    if (shared.host_xcr0)
        asm_xsetbv(0, shared.host_xcr0);
    return 0;
}

int virt_vcpu_alloc(struct vcpu *v)
{
    uint32_t node = v->home_node;
    struct virt_vcpu *hw = mem_zalloc(sizeof(*hw), node);
    struct fxsave *fx;

    if (!hw)
        return -ENOMEM;
    v->hw = hw;
    hw->xsave_bytes = shared.xsave_bytes;
    hw->xsave = mem_zalloc(hw->xsave_bytes, node);
    hw->page = mem_alloc_pages(0, node);
    if (!hw->xsave || hw->page == PADDR_NONE) {
        virt_vcpu_free(v);
        return -ENOMEM;
    }
    fx = hw->xsave;
    fx->fcw = FCW_INIT;
    fx->mxcsr = MXCSR_INIT;
    hw->xcr0 = XCR0_X87;
    return 0;
}

void virt_vcpu_free(struct vcpu *v)
{
    struct virt_vcpu *hw = v->hw;

    if (!hw)
        return;
    ASSERT(!hw->cpu);
    if (hw->xsave)
        mem_free(hw->xsave, hw->xsave_bytes);
    if (hw->page != PADDR_NONE)
        mem_free_pages(hw->page, 0);
    mem_free(hw, sizeof(*hw));
    v->hw = NULL;
}

/* All components of host_xcr0: their number does not matter on a vCPU switch, simplicity does. */
static void fpu_save(struct virt_vcpu *hw)
{
    if (shared.host_xcr0)
        __asm__ volatile("xsave64 (%0)" : : "r"(hw->xsave), "a"(~0u), "d"(~0u) : "memory");
    else
        __asm__ volatile("fxsave64 (%0)" : : "r"(hw->xsave) : "memory");
}

static void fpu_load(struct virt_vcpu *hw)
{
    if (shared.host_xcr0)
        __asm__ volatile("xrstor64 (%0)" : : "r"(hw->xsave), "a"(~0u), "d"(~0u) : "memory");
    else
        __asm__ volatile("fxrstor64 (%0)" : : "r"(hw->xsave) : "memory");
}

static void xcr0_switch(uint64_t from, uint64_t to)
{
    if (shared.host_xcr0 && from != to)
        asm_xsetbv(0, to);
}

uint64_t virt_state_xcr0(const struct virt_vcpu *hw)
{
    return shared.host_xcr0 ? asm_xgetbv(0) : hw->xcr0;
}

void virt_state_load(struct virt_vcpu *hw)
{
    hw->cpu = cpu_this()->arch->virt;
    fpu_load(hw);
    xcr0_switch(shared.host_xcr0, hw->xcr0);
    asm_write_dr0(hw->dr[0]);
    asm_write_dr1(hw->dr[1]);
    asm_write_dr2(hw->dr[2]);
    asm_write_dr3(hw->dr[3]);
    if (shared.guest_rdtscp)
        asm_wrmsr(MSR_TSC_AUX, hw->tsc_aux);
}

void virt_state_save(struct virt_vcpu *hw)
{
    if (shared.guest_rdtscp)
        hw->tsc_aux = asm_rdmsr(MSR_TSC_AUX);
    hw->dr[0] = asm_read_dr0();
    hw->dr[1] = asm_read_dr1();
    hw->dr[2] = asm_read_dr2();
    hw->dr[3] = asm_read_dr3();
    hw->xcr0 = virt_state_xcr0(hw);
    xcr0_switch(hw->xcr0, shared.host_xcr0);
    fpu_save(hw);
    hw->last_cpu = hw->cpu;
    hw->cpu = NULL;
}

void virt_state_init(struct virt_vcpu *hw)
{
    for (unsigned i = 0; i < ARRAY_SIZE(hw->dr); i++)
        hw->dr[i] = 0;
    if (!hw->cpu)
        return;
    asm_write_dr0(0);
    asm_write_dr1(0);
    asm_write_dr2(0);
    asm_write_dr3(0);
}

void virt_state_set_xcr0(struct virt_vcpu *hw, uint64_t xcr0)
{
    if (shared.host_xcr0)
        asm_xsetbv(0, xcr0);
    hw->xcr0 = xcr0;
}

void virt_tags_expire(struct virt_cpu *vc)
{
    vc->tag_generation++;
    vc->tag_next = vc->tag_last + 1;
}

bool virt_tag_renew(struct virt_vcpu *hw)
{
    struct virt_cpu *vc = hw->cpu;
    bool used_up = vc->tag_next > vc->tag_last;

    if (used_up) {
        vc->tag_generation++;
        vc->tag_next = 1;
    }
    hw->tag = vc->tag_next++;
    hw->tag_generation = vc->tag_generation;
    hw->last_cpu = vc;
    return used_up;
}
