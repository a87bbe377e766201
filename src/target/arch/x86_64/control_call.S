/*
 * control_call.S - nsc_runtime_control(), see abi/control.h: switches to a stack of its own and
 * calls nsc_control_run() there. Also the ELF note that gives its address.
 *
 * A tracer can call it from a thread stopped at any instruction, by setting only %rip, %rdi, %rsi
 * and %rsp. It writes nothing to the stack at %rsp; only the last instruction reads it. A tracer
 * that has no place for a return address sets an unreadable %rsp, and waits for the fault.
 */
#ifdef __x86_64__
#define SYS_GETPID  39
#define EAGAIN      11
#define STACK_BYTES 32768

    .text
    .globl  nsc_runtime_control
    .type   nsc_runtime_control, @function
    .p2align 4
nsc_runtime_control:
.Lcontrol:
    .cfi_startproc
    movl    $SYS_GETPID, %eax
    syscall                             /* clobbers %rcx, %r11 */
    movl    %eax, %edx
    movl    nsc_control_user(%rip), %eax
    cmpl    %edx, %eax
    je      1f                          /* another thread of this process */
    lock cmpxchgl %edx, nsc_control_user(%rip)
    jne     1f
    cld
    movq    %rsp, %rdx
    leaq    .Lstack + STACK_BYTES(%rip), %rsp
    .cfi_undefined rip                  /* unwinders stop here */
    pushq   %rdx
    subq    $8, %rsp
    call    nsc_control_run
    addq    $8, %rsp
    popq    %rsp
    .cfi_restore rip
    movl    $0, nsc_control_user(%rip)
    ret
1:  movq    $-EAGAIN, %rax
    ret
    .cfi_endproc
    .size   nsc_runtime_control, . - nsc_runtime_control

    .bss
    .globl  nsc_control_user
    .hidden nsc_control_user
    .type   nsc_control_user, @object
    .size   nsc_control_user, 4
    .p2align 4
nsc_control_user:
    .zero   16
.Lstack:
    .zero   STACK_BYTES

    .section .note.nanoscope, "a", @note
    .p2align 2
    .long   10, 8, 1                    /* bytes of name and description, NSC_CONTROL_NOTE_TYPE */
    .asciz  "nanoscope"
    .p2align 2
    .quad   .Lcontrol - .
#endif
    .section .note.GNU-stack, "", @progbits
