/*
 * patchable_entry.h - functions of which only the entry can be patched
 * (-fpatchable-function-entry): the bytes of their entries, and of the code that is made for them.
 * Pure encoders over byte buffers, one implementation an ISA (arch/<isa>/dfi.c).
 * docs/adr/013-dynamic-function-instrumentation.md.
 *
 *   entry     in the function, its nops; when on, a jump to the landing
 *   landing   at the same distance from every entry of a module: a jump to the stub
 *   stub      tells nsc_patchable_entry which function it is, and jumps there
 *   body      what follows the entry's bytes; also the address that the function's events carry
 */
#ifndef NSC_ARCH_PATCHABLE_ENTRY_H
#define NSC_ARCH_PATCHABLE_ENTRY_H

#include <stdint.h>

/* Tests compile the encoders of each ISA on any machine. */
#if defined(__x86_64__) && !defined(NSC_ARCH_DFI_X86_64) && !defined(NSC_ARCH_DFI_AARCH64)
#define NSC_ARCH_DFI_X86_64
#endif

#ifdef NSC_ARCH_DFI_X86_64
#define NSC_ARCH_DFI_ENTRY_BYTES 5u
#else
#define NSC_ARCH_DFI_ENTRY_BYTES 4u
#endif
#define NSC_ARCH_DFI_LANDING_BYTES NSC_ARCH_DFI_ENTRY_BYTES
#define NSC_ARCH_DFI_STUB_BYTES    32u

/* What an entry is, and the steps from each to the next. Other threads may run the entry, and stand
 * between its nops, at every step; before the next one they must all see it. */
enum nsc_arch_dfi_state {
    NSC_ARCH_DFI_NONE = 0, /* nothing that could be patched */
    NSC_ARCH_DFI_NOP,      /* as compiled: one instruction */
    NSC_ARCH_DFI_NOPS, /* as compiled: several instructions, and threads may stand between them */
    NSC_ARCH_DFI_CLAIMED, /* its bytes behind the first may be written */
    NSC_ARCH_DFI_OFF,     /* all is in place but the jump; one store of one unit switches */
    NSC_ARCH_DFI_ON,
};

/**
 * nsc_arch_dfi_distance - distances from entry to landing that are right for every entry, also for
 * NSC_ARCH_DFI_NOPS under running threads.
 * @number: 0 for the best one, and so on.
 * Returns 0 when there are no more.
 */
int64_t nsc_arch_dfi_distance(unsigned number);

/* Any distance up to this, a multiple of 4, is right for entries that nobody runs yet, and for
 * NSC_ARCH_DFI_NOP. */
#ifdef NSC_ARCH_DFI_X86_64
#define NSC_ARCH_DFI_REACH 0x70000000
#else
#define NSC_ARCH_DFI_REACH 0x7000000
#endif

/** nsc_arch_dfi_state - what @entry, NSC_ARCH_DFI_ENTRY_BYTES bytes, is in a module whose landings
 * are at @distance. */
enum nsc_arch_dfi_state nsc_arch_dfi_state(const uint8_t *entry, int64_t distance);

/** nsc_arch_dfi_entry - the bytes of an entry that was in the state before (OFF: or after) @state,
 * in it now. @state: CLAIMED, OFF or ON. */
void nsc_arch_dfi_entry(uint8_t *entry, enum nsc_arch_dfi_state state, int64_t distance);

/**
 * nsc_arch_dfi_landing - encode a landing.
 * @at, @stub: run-time addresses. Returns 0, or -1 if one is out of the other's reach.
 */
int nsc_arch_dfi_landing(uint8_t *to, uint64_t at, uint64_t stub);

/**
 * nsc_arch_dfi_stub - encode a stub.
 * @to:   NSC_ARCH_DFI_STUB_BYTES bytes.
 * @at:   run-time address of the stub.
 * @body: of the function.
 * @hook: nsc_patchable_entry of its module.
 * Returns 0, or -1 if @hook is out of reach.
 */
int nsc_arch_dfi_stub(uint8_t *to, uint64_t at, uint64_t body, uint64_t hook);

#endif
