/*
 * header_hook_slow.S - calls nsc_runtime_slow() for the inlined header hook; part of libnanoscope.
 *
 * In: rax = word 0, rdx = word 1, r11 = position, rcx = slot, r10 = address to continue at. The
 * hook jumps here, so that the inlined code need not move the stack pointer past its red zone. Must
 * preserve everything except rax, rdx, r10, r11 and the flags. nsc_runtime_slow() is built without
 * vector registers, so that those need no saving. The unwind rules hold at every instruction.
 */
#ifdef __x86_64__
    .text
    .globl nanoscope_hook_slow
    .type nanoscope_hook_slow, @function
    .p2align 4
nanoscope_hook_slow:
    .cfi_startproc simple
    .cfi_def_cfa rsp, 0
    .cfi_register rip, r10
    leaq -128(%rsp), %rsp
    .cfi_def_cfa_offset 128
    pushq %r10
    .cfi_def_cfa_offset 136
    .cfi_offset rip, -136
    pushq %rbp
    .cfi_def_cfa_offset 144
    .cfi_offset rbp, -144
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    andq $-16, %rsp
    pushq %rcx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    subq $8, %rsp
    movq %rax, %rdi
    movq %rdx, %rsi
    movq %r11, %rdx
    call nsc_runtime_slow
    addq $8, %rsp
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rcx
    movq %rbp, %rsp
    .cfi_def_cfa_register rsp
    popq %rbp
    .cfi_restore rbp
    .cfi_def_cfa_offset 136
    popq %r10
    .cfi_def_cfa_offset 128
    .cfi_register rip, r10
    leaq 128(%rsp), %rsp
    .cfi_def_cfa_offset 0
    notrack jmpq *%r10
    .cfi_endproc
    .size nanoscope_hook_slow, . - nanoscope_hook_slow
#endif
    .section .note.GNU-stack, "", %progbits
