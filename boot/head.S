/*
 * The way in: from a multiboot loader (1 or 2) to kernel_main in long mode.
 *
 * In: 32-bit protected mode, flat segments, paging off, EAX = the protocol's magic, EBX = physical
 * address of its information. Out: kernel_main(magic, information) on the boot stack, paging on with
 * the early tables: the first 4 GiB twice, as they are and in the direct map, and the image at
 * KERNEL_BASE. These tables make everything writable and executable; they live until
 * arch_memory_init has built the final ones.
 *
 * The header asks by multiboot 2 for a framebuffer, as a wish that need not be met. By multiboot 1
 * it does not: GRUB then leaves the text screen on, and QEMU would complain of the flag.
 *
 * Decides one thing only: a CPU without long mode gets one line on COM1 and stops.
 * Source: Multiboot 0.6.96 3.1-3.2, Multiboot2 2.0 3.1-3.3, SDM 3A 9.8.5 (entry to IA-32e mode).
 */
#include "boot/entry.h"

#define PHYS(symbol) (symbol - KERNEL_BASE)

#define MULTIBOOT1_HEADER 0x1badb002
#define MULTIBOOT1_FLAGS  0x3 /* modules on page boundaries, memory map wanted */
#define MULTIBOOT2_HEADER 0xe85250d6
#define TAG_OPTIONAL      1

    .section .boot.header, "ax"
    .balign 8
    .long MULTIBOOT1_HEADER
    .long MULTIBOOT1_FLAGS
    .long -(MULTIBOOT1_HEADER + MULTIBOOT1_FLAGS)

    .balign 8
header2:
    .long MULTIBOOT2_HEADER
    .long 0 /* i386 */
    .long header2_end - header2
    .long -(MULTIBOOT2_HEADER + (header2_end - header2))
    .balign 8
    .short 6, TAG_OPTIONAL /* modules on page boundaries */
    .long 8
    .balign 8
    .short 5, TAG_OPTIONAL /* a framebuffer: width, height, depth that would be welcome */
    .long 20
    .long 1024, 768, 32
    .balign 8
    .short 0, 0
    .long 8
header2_end:

    .section .boot, "ax"
    .code32
    .globl start
start:
    cli
    cld
    movl $PHYS(boot_stack_top), %esp
    movl %eax, %esi
    movl %ebx, %ebp
    rdtsc
    movl %eax, PHYS(boot_entry_tsc)
    movl %edx, PHYS(boot_entry_tsc) + 4

    /* EFER's value goes to EDI. */
    movl $0x80000000, %eax
    cpuid
    cmpl $0x80000001, %eax
    jb no_long_mode
    movl $0x80000001, %eax
    cpuid
    btl $ENTRY_CPUID_LM, %edx
    jnc no_long_mode
    movl $ENTRY_EFER_LME, %edi
    btl $ENTRY_CPUID_NX, %edx
    jnc 1f
    orl $ENTRY_EFER_NXE, %edi
1:
    /* Four page directories of 2 MiB pages: 2048 entries, the first 4 GiB. */
    movl $PHYS(early_directories), %ebx
    movl $ENTRY_PTE_LARGE, %eax
    movl $2048, %ecx
2:  movl %eax, (%ebx)
    addl $0x200000, %eax
    addl $8, %ebx
    decl %ecx
    jnz 2b

    movl $PHYS(early_directories) + ENTRY_PTE_TABLE, %eax
    movl %eax, PHYS(early_pdpt_high) + 8 * 510
    movl $PHYS(early_pdpt), %ebx
    movl $4, %ecx
3:  movl %eax, (%ebx)
    addl $0x1000, %eax
    addl $8, %ebx
    decl %ecx
    jnz 3b

    movl $PHYS(early_pdpt) + ENTRY_PTE_TABLE, %eax
    movl %eax, PHYS(early_pml4)
    movl %eax, PHYS(early_pml4) + 8 * 256
    movl $PHYS(early_pdpt_high) + ENTRY_PTE_TABLE, %eax
    movl %eax, PHYS(early_pml4) + 8 * 511

    movl $PHYS(early_pml4), %eax
    movl %eax, %cr3
    movl $ENTRY_CR4, %eax
    movl %eax, %cr4
    movl $ENTRY_MSR_EFER, %ecx
    movl %edi, %eax
    xorl %edx, %edx
    wrmsr
    movl $ENTRY_CR0, %eax
    movl %eax, %cr0
    lgdt early_gdtr
    ljmp $ENTRY_CS64, $long_mode

no_long_mode:
    movl $no_long_mode_text, %esi
    movw $0x3f8, %dx
4:  lodsb
    testb %al, %al
    jz 5f
    outb %al, %dx
    jmp 4b
5:  hlt
    jmp 5b

    .code64
long_mode:
    movl $ENTRY_DS, %eax
    movl %eax, %ss
    movl %eax, %ds
    movl %eax, %es
    xorl %eax, %eax
    movl %eax, %fs
    movl %eax, %gs
    movq $boot_stack_top, %rsp
    movl %esi, %edi
    movl %ebp, %esi
    xorl %ebp, %ebp /* ends stack traces */
    movq $kernel_main, %rax
    call *%rax

    .balign 8
early_gdt: /* with the accessed bits set, so that the CPU does not write them */
    .quad 0
    .quad 0x00af9b000000ffff /* ENTRY_CS64 */
    .quad 0x00cf93000000ffff /* ENTRY_DS */
early_gdt_end:
early_gdtr:
    .short early_gdt_end - early_gdt - 1
    .long early_gdt
no_long_mode_text:
    .asciz "Numen: this CPU has no 64-bit mode.\r\n"

    .section .bss.early, "aw", @nobits
    .balign 4096
early_pml4:
    .skip 4096
early_pdpt:
    .skip 4096
early_pdpt_high:
    .skip 4096
early_directories:
    .skip 4 * 4096
    .globl boot_stack, boot_stack_top
boot_stack:
    .skip BOOT_STACK_BYTES
boot_stack_top:

    .section .note.GNU-stack, "", @progbits
