/*
 * memcpy, memmove, memset: the C library's contracts, by string instructions in 8-byte steps.
 *
 * Large moves are page copies and clears, where REP costs one instruction a step and no branch.
 * In: RDI, RSI, RDX as the C calling convention has them; out: RAX = RDI as passed. DF is clear on
 * entry and on exit.
 */
    .text
    .globl memcpy, memmove, memset
    .type memcpy, @function
    .type memmove, @function
    .type memset, @function

    .balign 16
memmove:
    movq %rdi, %rax
    subq %rsi, %rax
    cmpq %rdx, %rax /* unsigned: true only where the target begins inside the source */
    jb backward
memcpy:
    movq %rdi, %rax
    movq %rdx, %rcx
    shrq $3, %rcx
    rep movsq
    movl %edx, %ecx
    andl $7, %ecx
    rep movsb
    ret
backward:
    movq %rdi, %rax
    leaq -1(%rdi, %rdx), %rdi
    leaq -1(%rsi, %rdx), %rsi
    movq %rdx, %rcx
    std
    rep movsb
    cld
    ret

    .balign 16
memset:
    movq %rdi, %r8
    movzbl %sil, %eax
    movabsq $0x0101010101010101, %rcx
    imulq %rcx, %rax
    movq %rdx, %rcx
    shrq $3, %rcx
    rep stosq
    movl %edx, %ecx
    andl $7, %ecx
    rep stosb
    movq %r8, %rax
    ret

    .section .note.GNU-stack, "", @progbits
