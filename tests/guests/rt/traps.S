/*
 * Trap entries, and the way into ring 3 and back.
 *
 * Every vector has a 16-byte stub that pushes (an error code of 0 where the CPU pushes none and) its
 * number; the common part saves the registers as struct trap_frame and calls trap_dispatch. The CPU
 * aligns RSP to 16 before its five words, so the call is aligned.
 *
 * uint64_t user_run(rip RDI, rsp RSI, tss.rsp0 pointer RDX, flags RCX, argument R8): runs ring-3 code, which gets
 * the argument in RDI and ends by `int $0x80`, whose RAX is the result. RSP is a multiple of 16 where it is stored as
 * rsp0, so user_exit finds the saved registers right above the CPU's five words.
 */
        .section .text
        .code64
        .globl trap_stubs
        .balign 16
trap_stubs:
        .set vector, 0
        .rept 256
        .balign 16
        .if vector != 8 && (vector < 10 || vector > 14) && vector != 17 && vector != 21 \
            && vector != 29 && vector != 30
        pushq   $0
        .endif
        pushq   $vector
        jmp     trap_common
        .set vector, vector + 1
        .endr

        .balign 16
trap_common:
        pushq   %rax
        pushq   %rcx
        pushq   %rdx
        pushq   %rbx
        pushq   %rbp
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        pushq   %r11
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        cld
        movq    %rsp, %rdi
        call    trap_dispatch
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %r11
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rbp
        popq    %rbx
        popq    %rdx
        popq    %rcx
        popq    %rax
        addq    $16, %rsp
        iretq

        .globl user_run
user_run:
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        pushfq
        movq    %rsp, (%rdx)
        pushq   $0x1b                   /* SS: user data */
        pushq   %rsi
        pushq   %rcx
        pushq   $0x23                   /* CS: user code */
        pushq   %rdi
        movq    %r8, %rdi
        iretq

        .globl user_exit
user_exit:
        addq    $40, %rsp
        popfq
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret

        .section .note.GNU-stack, "", @progbits
