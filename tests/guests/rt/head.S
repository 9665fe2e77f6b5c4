/*
 * Multiboot-1 entry of a guest: from 32-bit protected mode to long mode and rt_main.
 *
 * In: EAX = 0x2badb002, EBX = physical address of the multiboot information, paging off, a flat
 * 4 GiB code and data segment, interrupts off, bss zeroed by the loader.
 * Out: rt_main(magic, info) on the boot stack, first 4 GiB mapped one to one, all of it open to
 * ring 3 (a test enters ring 3 on the same image), the local APIC's page uncached.
 */
#define MB_MAGIC   0x1badb002
#define MB_FLAGS   0x00000003 /* modules on page boundaries, memory information wanted */

#define PTE_TABLE  0x007 /* present, writable, user */
#define PTE_2M     0x087 /* the same and large */
#define PTE_2M_UC  0x09f /* the same and uncached */
#define APIC_PDE   2039  /* 0xfee00000 >> 21 */

        .section .multiboot, "a"
        .align 4
        .long MB_MAGIC
        .long MB_FLAGS
        .long -(MB_MAGIC + MB_FLAGS)

        .section .text
        .code32
        .globl _start
_start:
        cld
        movl    %eax, %ebp              /* kept until rt_main: CPUID-free path, EBP is unused */
        movl    %ebx, %esi

        movl    $boot_pdpt + PTE_TABLE, boot_pml4
        movl    $boot_pd + PTE_TABLE, %eax
        movl    $boot_pdpt, %edi
        movl    $4, %ecx
1:      movl    %eax, (%edi)
        addl    $4096, %eax
        addl    $8, %edi
        loop    1b

        movl    $PTE_2M, %eax
        movl    $boot_pd, %edi
        movl    $2048, %ecx
2:      movl    %eax, (%edi)
        addl    $0x200000, %eax
        addl    $8, %edi
        loop    2b
        movb    $PTE_2M_UC & 0xff, boot_pd + APIC_PDE * 8

        movl    $0x620, %eax            /* CR4: PAE, OSFXSR, OSXMMEXCPT */
        movl    %eax, %cr4
        movl    $boot_pml4, %eax
        movl    %eax, %cr3
        movl    $0xc0000080, %ecx       /* EFER.LME */
        rdmsr
        orl     $0x100, %eax
        wrmsr
        movl    $0x80010033, %eax       /* CR0: PG, WP, NE, ET, MP, PE */
        movl    %eax, %cr0
        lgdtl   boot_gdtr
        ljmpl   $0x08, $start64

        .code64
start64:
        movl    $0x10, %eax
        movl    %eax, %ds
        movl    %eax, %es
        movl    %eax, %fs
        movl    %eax, %gs
        movl    %eax, %ss
        movq    $boot_stack_top, %rsp
        movl    %ebp, %edi
        movl    %esi, %esi
        xorl    %ebp, %ebp
        call    rt_main
        ud2

        .section .rodata
        .align 8
        .globl boot_gdt
boot_gdt:
        .quad 0
        .quad 0x00af9b000000ffff        /* 0x08: kernel code, 64-bit */
        .quad 0x00cf93000000ffff        /* 0x10: kernel data */
boot_gdt_end:
boot_gdtr:
        .word boot_gdt_end - boot_gdt - 1
        .long boot_gdt

        .section .bss
        .balign 4096
        .globl boot_pml4
boot_pml4:
        .skip 4096
boot_pdpt:
        .skip 4096
boot_pd:
        .skip 4 * 4096
        .balign 8192                    /* RT_STACK_BYTES: cpu_this() masks RSP by it */
        .globl boot_stack
boot_stack:
        .skip 8192
boot_stack_top:

        .section .note.GNU-stack, "", @progbits
