/*
 * VM entry and exit of AMD-V. Decides nothing: saves, switches, restores.
 *
 * void svm_run(struct vcpu *v)
 *   in:  rdi = v, loaded on this CPU; interrupts off
 *   out: jumps to svm_exit_decode(v) after #VMEXIT, which returns to the caller; RFLAGS.IF = 0, GIF = 1
 *
 * From CLGI to STGI no interrupt and no NMI reaches the host, so IF can be set for the guest's sake: with
 * V_INTR_MASKING it is the host's IF that lets a physical interrupt end the guest's run. FS, GS, TR and
 * LDTR with their hidden parts, and the SYSCALL and SYSENTER MSRs, are loaded by VMLOAD; until the host's
 * are back there is no stack switch and no per-CPU data.
 *
 * Offsets: struct vcpu, struct virt_vcpu and struct vmcb, asserted in their headers.
 */
#define REG(n)       (8 * (n))(%rdi)
#define VCPU_HW      128
#define HW_PAGE      16
#define HW_HOST_PAGE 24
#define HW_VMCB      32
#define VMCB_RAX     0x5f8

        .text
        .globl  svm_run
        .type   svm_run, @function
svm_run:
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        pushq   %rdi
        movq    VCPU_HW(%rdi), %rax
        movq    HW_VMCB(%rax), %rdx
        movq    REG(0), %rcx
        movq    %rcx, VMCB_RAX(%rdx)
        pushq   %rdx
        pushq   HW_HOST_PAGE(%rax)
        movq    HW_PAGE(%rax), %rax
        movq    REG(1), %rcx
        movq    REG(2), %rdx
        movq    REG(3), %rbx
        movq    REG(5), %rbp
        movq    REG(6), %rsi
        movq    REG(8), %r8
        movq    REG(9), %r9
        movq    REG(10), %r10
        movq    REG(11), %r11
        movq    REG(12), %r12
        movq    REG(13), %r13
        movq    REG(14), %r14
        movq    REG(15), %r15
        movq    REG(7), %rdi
        clgi
        sti
        vmload  %rax
        vmrun   %rax
        vmsave  %rax            /* rax is the VMCB's address again: VMRUN saves the host's */
        popq    %rax
        vmload  %rax
        cli
        stgi
        popq    %rax            /* the VMCB as memory */
        movq    VMCB_RAX(%rax), %rax
        pushq   %rdi            /* the guest's */
        movq    8(%rsp), %rdi
        movq    %rax, REG(0)
        movq    %rcx, REG(1)
        movq    %rdx, REG(2)
        movq    %rbx, REG(3)
        movq    %rbp, REG(5)
        movq    %rsi, REG(6)
        movq    %r8, REG(8)
        movq    %r9, REG(9)
        movq    %r10, REG(10)
        movq    %r11, REG(11)
        movq    %r12, REG(12)
        movq    %r13, REG(13)
        movq    %r14, REG(14)
        movq    %r15, REG(15)
        popq    REG(7)
        popq    %rdi
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        jmp     svm_exit_decode
        .size   svm_run, . - svm_run
        .section .note.GNU-stack, "", @progbits
