/*
 * void state_cross(const uint64_t load[16], uint64_t stored[16], uint64_t way)
 *
 * Loads rax rbx rcx rdx rsi rdi rbp r8..r15 and the flags from `load`, gives the CPU away by `way`
 * (enum state_way), stores the same registers into `stored`. Between the two nothing here changes a
 * register or a flag but what the way itself says: a hypercall returns its result in RAX, the PAUSE
 * loop counts RCX down to 0 by LOOP, which leaves the flags alone.
 */
        .section .rodata
        .align 8
state_ways:
        .quad way_vmcall, way_vmmcall, way_hlt, way_pause

        .section .text
        .code64
        .globl state_cross
state_cross:
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        pushfq
        pushq   %rsi
        pushq   state_ways(, %rdx, 8)
        pushq   120(%rdi)
        popfq
        movq    (%rdi), %rax
        movq    8(%rdi), %rbx
        movq    16(%rdi), %rcx
        movq    24(%rdi), %rdx
        movq    32(%rdi), %rsi
        movq    48(%rdi), %rbp
        movq    56(%rdi), %r8
        movq    64(%rdi), %r9
        movq    72(%rdi), %r10
        movq    80(%rdi), %r11
        movq    88(%rdi), %r12
        movq    96(%rdi), %r13
        movq    104(%rdi), %r14
        movq    112(%rdi), %r15
        movq    40(%rdi), %rdi
        jmp     *(%rsp)

way_vmcall:
        vmcall
        jmp     back
way_vmmcall:
        vmmcall
        jmp     back
way_hlt:
        hlt
        jmp     back
way_pause:
        pause
        loop    way_pause

back:
        leaq    8(%rsp), %rsp           /* LEA, as ADD would change the flags */
        xchgq   %rdi, (%rsp)
        movq    %rax, (%rdi)
        movq    %rbx, 8(%rdi)
        movq    %rcx, 16(%rdi)
        movq    %rdx, 24(%rdi)
        movq    %rsi, 32(%rdi)
        movq    %rbp, 48(%rdi)
        movq    %r8, 56(%rdi)
        movq    %r9, 64(%rdi)
        movq    %r10, 72(%rdi)
        movq    %r11, 80(%rdi)
        movq    %r12, 88(%rdi)
        movq    %r13, 96(%rdi)
        movq    %r14, 104(%rdi)
        movq    %r15, 112(%rdi)
        popq    40(%rdi)
        pushfq
        popq    120(%rdi)
        popfq
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret

        .section .note.GNU-stack, "", @progbits
