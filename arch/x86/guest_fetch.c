/*
 * A walk of the guest's own page tables, for a few instruction bytes.
 *
 * Used on rare paths only: #UD that may be the other vendor's hypercall, CR8 moves on CPUs without
 * decode assists. Rights are not checked, since the CPU has fetched the instruction a moment ago;
 * another vCPU may change tables or code meanwhile, and then the guest gets what it asked for.
 *
 * Source: SDM 3A 4.3-4.5.
 */
#include "arch/x86/guest_fetch.h"

#include <string.h>

#include "arch/x86/regs/cr.h"
#include "arch/x86/regs/msr.h"
#include "arch/x86/regs/paging.h"
#include "hv/bits.h"
#include "kernel/vcpu.h"
#include "kernel/virt.h"
#include "kernel/vm.h"

struct paging {
    uint64_t root;        /* of the top table */
    unsigned top_shift;   /* of the index into it */
    unsigned index_bits;  /* per level below the top */
    unsigned entry_bytes; /* 4 or 8 */
    bool large_at_pse;    /* 32-bit paging: 4 MiB pages only with CR4.PSE */
};

#define ENTRY_ADDRESS32 BITS(31, 12)

/* The shape of the guest's paging now; false when it is off. */
static bool paging_shape(struct vcpu *v, struct paging *p)
{
    uint64_t cr3 = virt->get_reg(v, VREG_CR3);
    uint64_t cr4 = virt->get_reg(v, VREG_CR4);

    if (!(virt->get_reg(v, VREG_CR0) & CR0_PG))
        return false;
    if (virt->get_reg(v, VREG_EFER) & EFER_LMA)
        *p = (struct paging){cr3 & CR3_ADDR, cr4 & CR4_LA57 ? 48 : 39, 9, 8, true};
    else if (cr4 & CR4_PAE)
        *p = (struct paging){cr3 & BITS(31, 5), 30, 9, 8, true};
    else
        *p = (struct paging){cr3 & BITS(31, 12), 22, 10, 4, cr4 & CR4_PSE};
    return true;
}

/* The entry at `index` of a guest's table; 0, not present, when the table is not RAM. */
static uint64_t table_entry(struct vcpu *v, const struct paging *p, gpa_t table, uint64_t index)
{
    const void *at = vm_memory(v->vm, table + index * p->entry_bytes, p->entry_bytes);
    uint64_t entry = 0;

    if (at)
        memcpy(&entry, at, p->entry_bytes);
    return entry;
}

/* The guest-physical address of `linear`, or UINT64_MAX. */
static gpa_t translate(struct vcpu *v, const struct paging *p, uint64_t linear)
{
    uint64_t address = p->entry_bytes == 8 ? PTE_ADDR : ENTRY_ADDRESS32;
    gpa_t table = p->root;

    for (unsigned shift = p->top_shift;; shift -= p->index_bits) {
        uint64_t entry = table_entry(v, p, table, (linear >> shift) & (BIT(p->index_bits) - 1));
        bool may_be_large = shift > PAGE_SHIFT && shift < 39 && p->large_at_pse;

        if (!(entry & PTE_PRESENT))
            return UINT64_MAX;
        if (shift == PAGE_SHIFT || (may_be_large && (entry & PTE_LARGE)))
            return (entry & address & ~(BIT(shift) - 1)) | (linear & (BIT(shift) - 1));
        table = entry & address;
    }
}

/* Memory of the guest at a linear address, or NULL. */
static const void *linear_memory(struct vcpu *v, uint64_t linear, size_t bytes)
{
    struct paging p;
    gpa_t gpa = linear;

    if (paging_shape(v, &p))
        gpa = translate(v, &p, linear);
    return gpa == UINT64_MAX ? NULL : vm_memory(v->vm, gpa, bytes);
}

size_t guest_fetch(struct vcpu *v, uint8_t *to, size_t bytes)
{
    uint64_t linear = virt->get_reg(v, VREG_CS_BASE) + virt->get_reg(v, VREG_RIP);
    size_t done = 0;

    if (!(virt->get_reg(v, VREG_EFER) & EFER_LMA))
        linear &= UINT32_MAX;
    while (done < bytes) {
        uint64_t at = linear + done;
        size_t piece = MIN(bytes - done, PAGE_BYTES - at % PAGE_BYTES);
        const void *code = linear_memory(v, at, piece);

        if (!code)
            break;
        memcpy(to + done, code, piece);
        done += piece;
    }
    return done;
}

bool guest_fetch_is_hypercall(struct vcpu *v)
{
    uint8_t code[3];

    if (guest_fetch(v, code, sizeof(code)) != sizeof(code))
        return false;
    return code[0] == 0x0f && code[1] == 0x01 && (code[2] == 0xc1 || code[2] == 0xd9);
}
