/*
 * patchable_entry_hook.S (x86-64) - the hook of functions whose entry alone can be patched. Assembled into
 * every module built for tracing (hidden symbols). A chosen function's entry jumps to its stub,
 * which is made at run time (linux/patch/entry_patch.c) and comes here. docs/adr/013 has the whole story.
 *
 *   entry  keeps the return address, pops it and calls the function's body: the body finds the stack
 *          as it always does, but its return address is nsc_patchable_return
 *   exit   finds the kept address by the stack pointer, puts it back and returns to it
 *
 * Each return thus belongs to a call, as return prediction and shadow stacks want it. Every register
 * comes through, in both directions, but for the flags: a compiler that sees both sides of a call may
 * keep values in registers that the function does not change (gcc's -fipa-ra).
 *
 * Stack, entry and exit alike:
 *   (%rsp)     return address; this address is the position
 *   below      saved registers, in the red zone, which signal frames skip
 *
 * Unwinding: while the body runs, the frame here has the same stack pointer as its caller's. Some
 * unwinders tell frames by their CFA only, so it is one byte above: nowhere else can one be. The
 * return address is where the tables of abi/return_table.h say, by a DWARF expression, which finds
 * them through the address that stands in its place. It is right at every instruction, for who
 * looks from a signal handler.
 */
#include "arch/x86_64/slow_path_call.inc"
#include "arch/return_table.inc"
#include "abi/hook_asm.h"
#include "abi/return_table.h"

#define SAVED_R11  -8
#define SAVED_RAX  -16
#define SAVED_RDX  -24
#define SAVED_RCX  -32
#define BODY       -40 /* where the body begins; also the address that events carry */
#define BELOW      40

#define TO_TABLE 192 /* from nsc_patchable_return to a word that leads to the tables */

/* To %rcx the slot of position \at(%rsp); %rdx is lost. With \check, to 8 where there is none. */
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
 * One event at position (%rsp), by the protocol of abi/hook.h; to \slow if it cannot be stored,
 * with the slot in %rax. %r11: its address. MARK: 0 entry, 4 exit, which becomes bit 47. %rax, %rcx
 * and %rdx are lost.
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

/* The same by the slow path. */
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
 * The frame of the call below: CFA is the caller's stack pointer plus 1; that is the caller's %rsp
 * back; the return address is in the slot that the tables have for CFA - 9.
 */
.macro CFI_IN_BODY
    .cfi_def_cfa %rsp, 1
    .cfi_escape 0x16, 7, 2, 0x31, 0x1c  /* val_expression of %rsp: lit1 minus */
    .cfi_escape 0x10, 16, 41            /* expression of the return address, 41 bytes */
    .cfi_escape 0x39, 0x1c              /* lit9 minus: position */
    .cfi_escape 0x12, 0x06              /* dup deref: nsc_patchable_return stands there */
    CFI_FIND_SLOT TO_TABLE
.endm

    .text
    .globl  nsc_patchable_entry, nsc_patchable_return
    .hidden nsc_patchable_entry, nsc_patchable_return
    .type   nsc_patchable_entry, @function
    .p2align 5
/* From a function's stub: %r11 = where its body begins, the program's %r11 in SAVED_R11. */
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
    CFI_IN_BODY                     /* its return address minus 1 is looked up */
    .byte   0x54, 0x24, BODY - 8
/* The body returns to here, with what it returns in any register. */
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

/* A chosen function has ended with a jump to this one, which returns in its place, to wherever its
 * return address leads: its exit, this one's entry, and on without another call. */
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

/* The first call in this part of the stack. Without memory it goes unrecorded. */
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

/* %rcx = word, %rdx = position, %r11 = slot; these, %rax and the flags are lost. */
    .type   nsc_patchable_slow, @function
nsc_patchable_slow:
    .cfi_startproc
    jmp     nsc_trampoline_slow     /* what it takes for saved registers there is of no use */
    .cfi_endproc
    .size   nsc_patchable_slow, . - nsc_patchable_slow

/* nsc_runtime_dfi_room() for the position BELOW + 8 above %rsp; only %rax, %rdx, %rcx and %r11 are
 * lost. The zero flag is set if there is no room. */
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
    call    *nsc_runtime_dfi_room@GOTPCREL(%rip)
    RESTORE_SCRATCH 0
    .cfi_def_cfa %rsp, 8
    testl   %eax, %eax
    ret
    .cfi_endproc
    .size   nsc_patchable_make_room, . - nsc_patchable_make_room

/* The runtime's top table, once there is one. */
    .bss
    .globl  nsc_patchable_table
    .hidden nsc_patchable_table
    .type   nsc_patchable_table, @object
    .balign 8
nsc_patchable_table:
    .zero   8
    .size   nsc_patchable_table, 8

    .section .note.GNU-stack, "", @progbits
