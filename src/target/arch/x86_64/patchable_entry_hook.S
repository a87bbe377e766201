/*
 * patchable_entry_hook.S (x86-64) - the hook of functions of which only the entry can be patched.
 * Assembled into every module built for tracing (hidden symbols). The entry of an instrumented
 * function jumps to its stub, which is generated at run time (linux/patch/entry_patch.c) and jumps
 * here. See docs/adr/013.
 *
 *   entry  saves the return address, pops it and calls the function's body. The body has its usual
 *          stack, except that its return address is nsc_patchable_return
 *   exit   finds the saved address by the stack pointer, restores it and returns to it
 *
 * So each return matches a call, as return prediction and shadow stacks require. Every register
 * except the flags is preserved at entry and at exit: a compiler that sees caller and callee may
 * keep values in registers that the callee does not change (gcc's -fipa-ra).
 *
 * Stack, entry and exit alike:
 *   (%rsp)     return address; this address is the position
 *   below      saved registers, in the red zone, which signal frames skip
 *
 * Unwinding: while the body runs, the frame of this hook has the same stack pointer as its
 * caller's. Some unwinders identify frames by their CFA only, so this frame's CFA is one byte
 * higher: no other frame can have that CFA. A DWARF expression finds the return address in the
 * tables of abi/return_table.h. It reaches them through the address that replaces the return
 * address. The rules hold at every instruction, for unwinders that run in a signal handler.
 */
#include "arch/x86_64/slow_path_call.inc"
#include "arch/return_table.inc"
#include "abi/hook_asm.h"
#include "abi/return_table.h"

#define SAVED_R11  -8
#define SAVED_RAX  -16
#define SAVED_RDX  -24
#define SAVED_RCX  -32
#define BODY       -40 /* address of the body; it identifies the function in events */
#define BELOW      40

#define TO_TABLE 192 /* bytes from nsc_patchable_return to the word that leads to the tables */

/* %rcx = slot of position \at(%rsp); clobbers %rdx. With \check, jumps to 8 if there is no slot. */
.macro FIND_SLOT at, check
    leaq    \at(%rsp), %rcx
    shrq    $NSC_PATCHABLE_TOP_SHIFT, %rcx
.if \check
    cmpq    $NSC_PATCHABLE_TOP_LAST, %rcx
    ja      8f
.endif
    movq    nsc_patchable_table(%rip), %rdx
    movq    (%rdx, %rcx, 8), %rdx
.if \check
    testq   %rdx, %rdx
    jz      8f
.endif
    leaq    \at(%rsp), %rcx
    shrq    $NSC_PATCHABLE_MIDDLE_SHIFT, %rcx
    andl    $NSC_PATCHABLE_MIDDLE_LAST, %ecx
    movq    (%rdx, %rcx, 8), %rdx
.if \check
    testq   %rdx, %rdx
    jz      8f
.endif
    leaq    \at(%rsp), %rcx
    andl    $NSC_PATCHABLE_BLOCK_MASK, %ecx
    leaq    (%rdx, %rcx, 1 << NSC_PATCHABLE_SLOT_SHIFT), %rcx
.endm

/*
 * Record one event at position (%rsp), by the protocol of abi/hook.h. Jumps to \slow, with the slot
 * in %rax, if it cannot store the event. In: %r11 = event's address; MARK = 0 for entry, 4 for
 * exit, which becomes bit 47. Clobbers %rax, %rcx and %rdx.
 */
.macro RECORD mark, slow
    movq    nsc_runtime_tls@gottpoff(%rip), %rdx
    movl    $16, %eax
    xaddq   %rax, %fs:NSC_RUNTIME_POS(%rdx)
    movq    %fs:NSC_RUNTIME_ENDP(%rdx), %rcx
    cmpq    (%rcx), %rax
    jae     \slow
    leaq    \mark(%rsp), %rcx
    subq    %fs:NSC_RUNTIME_ANCHOR_LOW(%rdx), %rcx
    cmpq    $(2 * NSC_RUNTIME_REACH), %rcx
    jae     \slow
    movq    %rax, %rcx
    rdtsc
    shlq    $32, %rdx
    orq     %rdx, %rax
    movq    %rax, 8(%rcx)
    leaq    \mark(%rsp), %rax
    shlq    $NSC_RUNTIME_POSITION_SHIFT, %rax
    orq     %r11, %rax
    movq    %rax, (%rcx)
.endm

/* Record the event on the slow path. */
.macro RECORD_SLOW mark
    leaq    \mark(%rsp), %rcx
    shlq    $NSC_RUNTIME_POSITION_SHIFT, %rcx
    orq     %r11, %rcx              /* word */
    movq    %rsp, %rdx              /* position */
    movq    %rax, %r11              /* slot */
    leaq    -BELOW(%rsp), %rsp
    .cfi_adjust_cfa_offset BELOW
    call    nsc_patchable_slow
    leaq    BELOW(%rsp), %rsp
    .cfi_adjust_cfa_offset -BELOW
.endm

.macro SAVE
    movq    %rax, SAVED_RAX(%rsp)
    movq    %rdx, SAVED_RDX(%rsp)
    movq    %rcx, SAVED_RCX(%rsp)
.endm

.macro RESTORE
    movq    SAVED_RCX(%rsp), %rcx
    movq    SAVED_RDX(%rsp), %rdx
    movq    SAVED_RAX(%rsp), %rax
    movq    SAVED_R11(%rsp), %r11
.endm

/*
 * Unwind rules of the call below. CFA is the caller's stack pointer plus 1. The rule for %rsp
 * yields the caller's %rsp. The return address is in the table slot of position CFA - 9.
 */
.macro CFI_IN_BODY
    .cfi_def_cfa %rsp, 1
    .cfi_escape 0x16, 7, 2, 0x31, 0x1c  /* val_expression of %rsp: lit1 minus */
    .cfi_escape 0x10, 16, 41            /* expression of the return address, 41 bytes */
    .cfi_escape 0x39, 0x1c              /* lit9 minus: position */
    .cfi_escape 0x12, 0x06              /* dup deref: that word holds nsc_patchable_return */
    CFI_FIND_SLOT TO_TABLE
.endm

    .text
    .globl  nsc_patchable_entry, nsc_patchable_return
    .hidden nsc_patchable_entry, nsc_patchable_return
    .type   nsc_patchable_entry, @function
    .p2align 5
/* Entered from a function's stub: %r11 = address of the body, the program's %r11 in SAVED_R11. */
nsc_patchable_entry:
    .cfi_startproc
    SAVE
    movq    %r11, BODY(%rsp)
2:  FIND_SLOT 0, 1
    movq    (%rsp), %rax
    cmpq    NSC_PATCHABLE_INSTEAD(%rcx), %rax
    je      7f
    movq    %rax, NSC_PATCHABLE_RETURN(%rcx)
    movq    %r11, NSC_PATCHABLE_FUNCTION(%rcx)
    leaq    nsc_patchable_return(%rip), %rax
    movq    %rax, NSC_PATCHABLE_INSTEAD(%rcx)
    RECORD  0, 4f
3:  RESTORE
    leaq    8(%rsp), %rsp
    .cfi_def_cfa %rsp, 0
    .byte   0xff                    /* call *BODY - 8(%rsp) */
    CFI_IN_BODY                     /* unwinders look up its return address minus 1 */
    .byte   0x54, 0x24, BODY - 8
/* The body returns here; its return value may be in any register. */
nsc_patchable_return:
    movq    %r11, SAVED_R11 - 8(%rsp)
    movq    %rax, SAVED_RAX - 8(%rsp)
    movq    %rdx, SAVED_RDX - 8(%rsp)
    movq    %rcx, SAVED_RCX - 8(%rsp)
    FIND_SLOT -8, 0
    movq    NSC_PATCHABLE_FUNCTION(%rcx), %r11
    movq    NSC_PATCHABLE_RETURN(%rcx), %rax
    movq    %rax, -8(%rsp)
    .cfi_def_cfa %rsp, 0
    .cfi_restore %rsp
    .cfi_restore %rip
    leaq    -8(%rsp), %rsp
    .cfi_def_cfa %rsp, 8
    RECORD  4, 6f
5:  RESTORE
    ret

    .org    nsc_patchable_return + TO_TABLE, 0xcc
    .quad   nsc_patchable_table - .

4:  RECORD_SLOW 0
    jmp     3b
6:  RECORD_SLOW 4
    jmp     5b

/* An instrumented function has ended with a tail call of this one. This one returns to the same
 * return address in its place. Record the exit of the first and the entry of this one; jump to the
 * body without another call. */
7:  movq    NSC_PATCHABLE_FUNCTION(%rcx), %rax
    movq    %r11, NSC_PATCHABLE_FUNCTION(%rcx)
    movq    %rax, %r11
    RECORD  4, 9f
10: movq    BODY(%rsp), %r11
    RECORD  0, 11f
12: RESTORE
    jmp     *BODY(%rsp)
9:  RECORD_SLOW 4
    jmp     10b
11: RECORD_SLOW 0
    jmp     12b

/* First call in this part of the stack: allocate slots. Without memory the call is not recorded. */
8:  leaq    -BELOW(%rsp), %rsp
    .cfi_adjust_cfa_offset BELOW
    call    nsc_patchable_make_room
    leaq    BELOW(%rsp), %rsp
    .cfi_adjust_cfa_offset -BELOW
    movq    BODY(%rsp), %r11
    jz      12b
    jmp     2b
    .cfi_endproc
    .size   nsc_patchable_entry, . - nsc_patchable_entry

/* In: %rcx = word, %rdx = position, %r11 = slot. Clobbers these, %rax and the flags. */
    .type   nsc_patchable_slow, @function
nsc_patchable_slow:
    .cfi_startproc
    jmp     nsc_trampoline_slow     /* the values that it restores as saved registers are not used
                                     * here */
    .cfi_endproc
    .size   nsc_patchable_slow, . - nsc_patchable_slow

/* Call nsc_runtime_patchable_room() for the position BELOW + 8 above %rsp. Clobbers only %rax, %rdx,
 * %rcx, %r11 and the flags. Sets the zero flag if there is no memory. */
    .type   nsc_patchable_make_room, @function
nsc_patchable_make_room:
    .cfi_startproc
    pushq   %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbp, 0
    leaq    BELOW + 16(%rsp), %rdx
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    SAVE_SCRATCH
    movq    %rdx, %rdi
    call    *nsc_runtime_patchable_room@GOTPCREL(%rip)
    RESTORE_SCRATCH 0
    .cfi_def_cfa %rsp, 8
    testl   %eax, %eax
    ret
    .cfi_endproc
    .size   nsc_patchable_make_room, . - nsc_patchable_make_room

/* Address of the runtime's top table; 0 until the runtime has allocated it. */
    .bss
    .globl  nsc_patchable_table
    .hidden nsc_patchable_table
    .type   nsc_patchable_table, @object
    .balign 8
nsc_patchable_table:
    .zero   8
    .size   nsc_patchable_table, 8

    .section .note.GNU-stack, "", @progbits
