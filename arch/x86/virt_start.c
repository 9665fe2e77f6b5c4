/*
 * The three states a vCPU starts in.
 *
 * Decides segments, CR0 and RIP; the backend writes them into its VMCS or VMCB and sets the rest as
 * after INIT. CR0 has caching on: INIT leaves CD and NW as they were (SDM 10.1.1, table 10-1, note
 * 2), and firmware, which a guest here does not have, would have turned it on.
 *
 * Source: SDM 3A table 10-1; Multiboot 0.6.96, 3.2.
 */
#include "arch/x86/regs/cr.h"
#include "arch/x86/virt_state.h"

/* Rights: present, and type: code or data that was accessed, LDT, busy TSS. */
#define RIGHTS_CODE   0x009bu
#define RIGHTS_DATA   0x0093u
#define RIGHTS_LDT    0x0082u
#define RIGHTS_TSS    0x008bu
#define RIGHTS_FLAT32 0xc000u /* 32-bit, limit in pages */

#define REAL_LIMIT    0xffffu
#define FLAT_LIMIT    0xffffffffu

#define INIT_CS       0xf000u
#define INIT_CS_BASE  0xffff0000u
#define INIT_RIP      0xfff0u

#define MULTIBOOT_CS  0x08u
#define MULTIBOOT_DS  0x10u

static struct virt_segment segment(uint32_t selector, uint32_t rights, uint32_t limit,
                                   uint64_t base)
{
    return (struct virt_segment){(uint16_t)selector, rights, limit, base};
}

static void real_mode(struct virt_start_regs *regs, uint32_t cs, uint64_t cs_base)
{
    for (unsigned i = SEG_ES; i <= SEG_GS; i++)
        regs->segments[i] = segment(0, RIGHTS_DATA, REAL_LIMIT, 0);
    regs->segments[SEG_CS] = segment(cs, RIGHTS_CODE, REAL_LIMIT, cs_base);
    regs->cr0 = CR0_ET;
}

static void flat_mode(struct virt_start_regs *regs)
{
    for (unsigned i = SEG_ES; i <= SEG_GS; i++)
        regs->segments[i] = segment(MULTIBOOT_DS, RIGHTS_DATA | RIGHTS_FLAT32, FLAT_LIMIT, 0);
    regs->segments[SEG_CS] = segment(MULTIBOOT_CS, RIGHTS_CODE | RIGHTS_FLAT32, FLAT_LIMIT, 0);
    regs->cr0 = CR0_ET | CR0_PE;
}

void virt_start_regs(struct virt_start_regs *regs, enum virt_start start, uint32_t arg)
{
    regs->table_limit = REAL_LIMIT;
    regs->segments[SEG_LDTR] = segment(0, RIGHTS_LDT, REAL_LIMIT, 0);
    regs->segments[SEG_TR] = segment(0, RIGHTS_TSS, REAL_LIMIT, 0);
    switch (start) {
    case VIRT_START_INIT:
        real_mode(regs, INIT_CS, INIT_CS_BASE);
        regs->rip = INIT_RIP;
        break;
    case VIRT_START_SIPI:
        real_mode(regs, arg << 8, (uint64_t)arg << 12);
        regs->rip = 0;
        break;
    case VIRT_START_MULTIBOOT:
        flat_mode(regs);
        regs->rip = arg;
        break;
    }
}
