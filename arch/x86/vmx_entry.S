/*
 * VM entry and exit of VT-x. Decides nothing: saves, switches, restores.
 *
 * void vmx_run(struct vcpu *v)
 *   in:  rdi = v; its VMCS is current; interrupts off
 *   out: jumps to vmx_exit_decode(v) after a VM exit, or to vmx_entry_failed(v) when the entry failed
 *        (the guest's registers are then in v->regs still), which return to the caller. RFLAGS.IF and
 *        DF are 0.
 *
 * Offsets: struct vcpu and struct virt_vcpu, asserted in kernel/vcpu.h and arch/x86/virt_state.h.
 */
#define REG(n)      (8 * (n))(%rdi)
#define VCPU_HW     128
#define HW_HOST_RSP 0
#define HW_LAUNCHED 8
#define VMCS_HOST_RSP 0x6c14

        .text
        .globl  vmx_run
        .globl  vmx_exit_point
        .type   vmx_run, @function
vmx_run:
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        pushq   %rdi
        movq    VCPU_HW(%rdi), %rax
        cmpq    %rsp, HW_HOST_RSP(%rax)
        jne     3f
1:      cmpq    $0, HW_LAUNCHED(%rax)   /* the moves below leave the flags alone */
        movq    REG(0), %rax
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
        je      2f
        vmresume
        jmp     4f
2:      vmlaunch
        jmp     4f

/* The host's stack pointer at entry differs from the last time: rare, run() is called from one place. */
3:      movq    %rsp, HW_HOST_RSP(%rax)
        movl    $VMCS_HOST_RSP, %ecx
        vmwrite %rsp, %rcx
        jmp     1b

4:      popq    %rdi
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        jmp     vmx_entry_failed

/* VMCS_HOST_RIP. rsp as at the last push above. */
vmx_exit_point:
        pushq   %rdi
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
        jmp     vmx_exit_decode
        .size   vmx_run, . - vmx_run
        .section .note.GNU-stack, "", @progbits
