/*
 * control_call.S - nsc_runtime_control(), see abi/control.h: switches to a stack of its own and
 * calls nsc_control_run() there. Also the ELF note that gives its address.
 *
 * A tracer can call it from a thread stopped at any instruction, by setting only pc, x0, x1 and
 * x30.
 */
#ifdef __aarch64__
#define SYS_GETPID  172
#define EAGAIN      11
#define STACK_BYTES 32768

    .text
    .globl  nsc_runtime_control
    .type   nsc_runtime_control, %function
    .p2align 4
nsc_runtime_control:
.Lcontrol:
    .cfi_startproc
    mov     x9, x0
    mov     x8, #SYS_GETPID
    svc     #0
    adrp    x10, nsc_control_user
    add     x10, x10, :lo12:nsc_control_user
1:  ldaxr   w11, [x10]
    cmp     w11, w0
    b.eq    2f                          /* another thread of this process */
    stlxr   w12, w0, [x10]
    cbnz    w12, 1b
    mov     x0, x9
    mov     x11, sp
    adrp    x12, .Lstack + STACK_BYTES
    add     x12, x12, :lo12:.Lstack + STACK_BYTES
    mov     sp, x12
    stp     x11, x30, [sp, #-16]!
    .cfi_undefined x30                  /* unwinders stop here */
    bl      nsc_control_run
    ldp     x11, x30, [sp], #16
    mov     sp, x11
    .cfi_restore x30
    adrp    x10, nsc_control_user
    add     x10, x10, :lo12:nsc_control_user
    stlr    wzr, [x10]
    ret
2:  clrex
    mov     x0, #-EAGAIN
    ret
    .cfi_endproc
    .size   nsc_runtime_control, . - nsc_runtime_control

    .bss
    .globl  nsc_control_user
    .hidden nsc_control_user
    .type   nsc_control_user, %object
    .size   nsc_control_user, 4
    .p2align 4
nsc_control_user:
    .zero   16
.Lstack:
    .zero   STACK_BYTES

    .section .note.nanoscope, "a", %note
    .p2align 2
    .long   10, 8, 1                    /* bytes of name and description, NSC_CONTROL_NOTE_TYPE */
    .asciz  "nanoscope"
    .p2align 2
    .quad   .Lcontrol - .
#endif
    .section .note.GNU-stack, "", %progbits
