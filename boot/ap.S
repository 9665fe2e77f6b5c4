/*
 * The trampoline: where an application processor arrives after SIPI, in real mode.
 *
 * ap_trampoline is copied by arch/x86/smp.c to a free page below 640 KiB and its data filled in. The
 * page is mapped for the AP read and execute only, so nothing here writes to it.
 * In: real mode, CS = page >> 4, IP = 0, everything else as after INIT. Out: ap_main(slot) in long
 * mode, on the stack of the slot whose APIC id is this CPU's.
 *
 * Decides one thing: a CPU without a slot, or whose slot does not wait for it (it was given up, or
 * another came with the same id), parks. Slots are claimed by compare-and-swap, the partner of the
 * one by which smp.c gives them up.
 * Source: SDM 3A 8.4.4 (MP initialization), 9.8.5 (IA-32e mode), 10.12.8 (APIC id in leaf 0xB).
 */
#include "boot/entry.h"

    .section .rodata.trampoline, "a"
    .balign 8
    .globl ap_trampoline, ap_trampoline_protected, ap_trampoline_long, ap_trampoline_end
    .code16
ap_trampoline:
    jmp ap_trampoline_real

    .balign 8
    .skip AP_TRAMPOLINE_BYTES - 8 /* the data: see entry.h */

ap_trampoline_real:
    cli
    cld
    movw %cs, %ax
    movw %ax, %ds /* offsets are now from the page's start, until long mode */
    movl AP_TRAMPOLINE_CR3, %edi
    movl AP_TRAMPOLINE_EFER, %esi
    lgdtl AP_TRAMPOLINE_GDTR
    movl %cr0, %eax
    andl $~ENTRY_CR0_CACHES, %eax
    orl $ENTRY_CR0_PE, %eax
    movl %eax, %cr0
    ljmpl *AP_TRAMPOLINE_FAR32

    .code32
ap_trampoline_protected:
    movl $ENTRY_CR4, %eax
    movl %eax, %cr4
    movl %edi, %cr3
    movl $ENTRY_MSR_EFER, %ecx
    movl %esi, %eax
    xorl %edx, %edx
    wrmsr
    movl $ENTRY_CR0, %eax
    movl %eax, %cr0
    ljmpl *AP_TRAMPOLINE_FAR64

    .code64
ap_trampoline_long:
    movq $ap_enter, %rax
    jmp *%rax
ap_trampoline_end:

/* From here on in the image. No stack yet: it comes with the slot. */
    .text
    .balign 16
ap_enter:
    movl $ENTRY_DS, %eax
    movl %eax, %ss
    movl %eax, %ds
    movl %eax, %es

    /* The APIC id: 32 bits from leaf 0xB where it says anything, else 8 bits from leaf 1. */
    xorl %eax, %eax
    cpuid
    cmpl $0xb, %eax
    jb 1f
    movl $0xb, %eax
    xorl %ecx, %ecx
    cpuid
    movl %edx, %esi
    testl %ebx, %ebx
    jnz 2f
1:  movl $1, %eax
    cpuid
    shrl $24, %ebx
    movl %ebx, %esi

2:  movq ap_slots(%rip), %rdi
    movl ap_slot_count(%rip), %ecx
3:  testl %ecx, %ecx
    jz park
    cmpl %esi, AP_SLOT_APIC_ID(%rdi)
    je 4f
    addq $AP_SLOT_BYTES, %rdi
    decl %ecx
    jmp 3b

4:  movl $AP_STATE_CALLED, %eax
    movl $AP_STATE_CLAIMED, %edx
    lock cmpxchgl %edx, AP_SLOT_STATE(%rdi)
    jne park
    movq AP_SLOT_STACK(%rdi), %rsp
    xorl %ebp, %ebp /* ends stack traces */
    call ap_main

park:
    cli
    hlt
    jmp park

    .section .note.GNU-stack, "", @progbits
