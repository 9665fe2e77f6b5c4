/*
 * Where the CPU enters the host: 256 stubs and what they have in common.
 *
 * In: what the CPU pushed (SS, RSP, RFLAGS, CS, RIP, maybe an error code) on a stack aligned to 16.
 * Out: all registers as they were, unless trap_handle has changed the frame. The frame is struct
 * trap_frame (trap.h). Traps come from ring 0 only, so GS is left alone.
 */

    .text
    .balign 16
trap_common:
    pushq %rax
    pushq %rbx
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %rbp
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    cld
    movq %rsp, %rdi
    call trap_handle
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rbp
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rbx
    popq %rax
    addq $16, %rsp /* vector and error code */
    iretq

/* Vectors that push an error code: SDM 3A table 6-1, APM 2 table 8-1 (21, 29, 30). */
#define PUSHES_ERROR(v) \
    v == 8 || (v >= 10 && v <= 14) || v == 17 || v == 21 || v == 29 || v == 30

    .macro stub vector
    .balign 16
.Lstub_\vector:
    .if PUSHES_ERROR(\vector)
    .else
    pushq $0
    .endif
    pushq $\vector
    jmp trap_common

    .pushsection .rodata, "a"
    .quad .Lstub_\vector
    .popsection
    .endm

    .section .rodata, "a"
    .balign 8
    .globl trap_entry
trap_entry:
    .text

    .altmacro
    .macro stubs from, count
    .set number, \from
    .rept \count
    stub %number
    .set number, number + 1
    .endr
    .endm
    stubs 0, 256

    .section .note.GNU-stack, "", @progbits
