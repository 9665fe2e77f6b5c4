/*
 * Start of a second CPU: a page copied to AP_TRAMPOLINE (smp.c), entered by SIPI in real mode.
 *
 * In: CS = AP_TRAMPOLINE >> 4, IP = 0, state after INIT (caches off in CR0). It goes from real mode to
 * long mode in one step, finds its own APIC id and takes the stack that smp_stack_of_id holds for it.
 * Out: ap_main() on that stack; a CPU that nobody expects halts for ever.
 */
#define IDS_MAX 1024                    /* SMP_IDS_MAX of smp.h */

        .section .rodata
        .code16
        .globl ap_trampoline, ap_trampoline_end
ap_trampoline:
        cli
        cld
        movw    %cs, %ax
        movw    %ax, %ds
        lgdtl   ap_gdtr - ap_trampoline
        movl    $0x620, %eax            /* CR4: PAE, OSFXSR, OSXMMEXCPT */
        movl    %eax, %cr4
        movl    $boot_pml4, %eax
        movl    %eax, %cr3
        movl    $0xc0000080, %ecx       /* EFER.LME */
        rdmsr
        orl     $0x100, %eax
        wrmsr
        movl    $0x80010033, %eax       /* CR0: PG, WP, NE, ET, MP, PE; caches on */
        movl    %eax, %cr0
        ljmpl   $0x08, $ap_start64
        .balign 4
ap_gdtr:
        .word 3 * 8 - 1
        .long boot_gdt
ap_trampoline_end:

        .section .text
        .code64
ap_start64:
        movl    $0x10, %eax
        movl    %eax, %ds
        movl    %eax, %es
        movl    %eax, %fs
        movl    %eax, %gs
        movl    %eax, %ss

        /* The 32-bit id of leaf 0xB where it is filled in, else the 8-bit one of leaf 1. */
        movl    $1, %eax
        cpuid
        shrl    $24, %ebx
        movl    %ebx, %esi
        xorl    %eax, %eax
        cpuid
        cmpl    $0xb, %eax
        jb      1f
        movl    $0xb, %eax
        xorl    %ecx, %ecx
        cpuid
        testl   %ebx, %ebx
        jz      1f
        movl    %edx, %esi
1:
        cmpl    $IDS_MAX, %esi
        jae     2f
        movq    smp_stack_of_id(, %rsi, 8), %rsp
        testq   %rsp, %rsp
        jz      2f
        xorl    %ebp, %ebp
        call    ap_main
2:      cli
        hlt
        jmp     2b

        .section .note.GNU-stack, "", @progbits
