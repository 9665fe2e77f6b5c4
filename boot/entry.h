/*
 * What the two ways into the image (head.S, ap.S) share with C: addresses, the bits they set before
 * C can, and the layout of the AP trampoline's data.
 *
 * Read by the assembler too, so values are plain numbers; features.c, cpu_area.c and smp.c of
 * arch/x86 assert that they are the ones of regs/.
 */
#ifndef BOOT_ENTRY_H
#define BOOT_ENTRY_H

#define KERNEL_BASE      0xffffffff80000000 /* the image: link address - load address */
#define BOOT_STACK_BYTES 16384

#define ENTRY_CR0        0x80010033 /* PG WP NE ET MP PE */
#define ENTRY_CR0_PE     0x00000001
#define ENTRY_CR0_CACHES 0x60000000 /* CD NW: both 0 for caches on */
#define ENTRY_CR4        0x00000020 /* PAE */
#define ENTRY_MSR_EFER   0xc0000080
#define ENTRY_EFER_LME   0x00000100
#define ENTRY_EFER_NXE   0x00000800
#define ENTRY_CPUID_NX   20 /* bits of leaf 0x80000001 EDX */
#define ENTRY_CPUID_LM   29
#define ENTRY_PTE_TABLE  0x003 /* P W */
#define ENTRY_PTE_LARGE  0x083 /* P W PS */

/* Selectors of the tables used until each CPU has its own (arch/x86/cpu_area.c uses the same). */
#define ENTRY_CS64 0x08
#define ENTRY_DS   0x10
#define ENTRY_CS32 0x18

/* struct ap_trampoline, at the start of the trampoline page (arch/x86/smp.c). */
#define AP_TRAMPOLINE_CR3   8
#define AP_TRAMPOLINE_EFER  12
#define AP_TRAMPOLINE_GDTR  16
#define AP_TRAMPOLINE_FAR32 24
#define AP_TRAMPOLINE_FAR64 32
#define AP_TRAMPOLINE_GDT   40
#define AP_TRAMPOLINE_BYTES 72

/* struct ap_slot (arch/x86/smp.c). */
#define AP_SLOT_APIC_ID  0
#define AP_SLOT_STATE    4
#define AP_SLOT_STACK    8
#define AP_SLOT_CPU      16
#define AP_SLOT_BYTES    24
#define AP_STATE_CALLED  1 /* INIT and SIPI are on their way */
#define AP_STATE_CLAIMED 2 /* the AP has come and taken its slot */

#endif
