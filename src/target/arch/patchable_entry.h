/*
 * patchable_entry.h - encoders for functions of which only the entry can be patched
 * (-fpatchable-function-entry): their entries, and the code that is generated for them. Pure
 * functions over byte buffers, one implementation per ISA (arch/<isa>/patchable_entry.c).
 * docs/adr/013-dynamic-function-instrumentation.md.
 *
 *   entry     nops in the function; when enabled, a jump to the landing
 *   landing   at the same distance from every entry of a module: a jump to the stub
 *   stub      passes the function's identity to nsc_patchable_entry, and jumps there
 *   body      the code after the entry's bytes; its address identifies the function in events
 */
#ifndef NSC_ARCH_PATCHABLE_ENTRY_H
#define NSC_ARCH_PATCHABLE_ENTRY_H

#include <stdint.h>

/* Tests compile the encoders of each ISA on any machine. */
#if defined(__x86_64__) && !defined(NSC_ARCH_PATCHABLE_X86_64) &&                                  \
    !defined(NSC_ARCH_PATCHABLE_AARCH64)
#define NSC_ARCH_PATCHABLE_X86_64
#endif

#ifdef NSC_ARCH_PATCHABLE_X86_64
#define NSC_ARCH_PATCHABLE_ENTRY_BYTES 5u
#else
#define NSC_ARCH_PATCHABLE_ENTRY_BYTES 4u
#endif
#define NSC_ARCH_PATCHABLE_LANDING_BYTES NSC_ARCH_PATCHABLE_ENTRY_BYTES
#define NSC_ARCH_PATCHABLE_STUB_BYTES    32u

/* States of an entry, in the order of the transitions. Other threads may execute the entry, and may
 * be between its nops, at every transition. All threads must see one transition before the next is
 * made. */
enum nsc_arch_patchable_state {
    NSC_ARCH_PATCHABLE_NONE = 0, /* not a patchable entry */
    NSC_ARCH_PATCHABLE_NOP,      /* as compiled: one instruction */
    NSC_ARCH_PATCHABLE_NOPS, /* as compiled: several instructions, and threads may be between them
                              */
    NSC_ARCH_PATCHABLE_CLAIMED, /* the bytes after the first may be written */
    NSC_ARCH_PATCHABLE_OFF,     /* complete except for the jump; one store of one unit enables it */
    NSC_ARCH_PATCHABLE_ON,
};

/**
 * nsc_arch_patchable_distance - return a distance from entry to landing that is valid for every
 * entry, also for NSC_ARCH_PATCHABLE_NOPS while threads execute it.
 * @number: 0 for the preferred distance, 1 for the next, and so on.
 * Returns 0 when there are no more.
 */
int64_t nsc_arch_patchable_distance(unsigned number);

/* Maximum distance from entry to landing. Any multiple of 4 up to this is valid for entries that
 * have not yet been executed, and for NSC_ARCH_PATCHABLE_NOP. */
#ifdef NSC_ARCH_PATCHABLE_X86_64
#define NSC_ARCH_PATCHABLE_REACH 0x70000000
#else
#define NSC_ARCH_PATCHABLE_REACH 0x7000000
#endif

/** nsc_arch_patchable_state - return the state of @entry, NSC_ARCH_PATCHABLE_ENTRY_BYTES bytes, in
 * a module whose landings are at @distance. */
enum nsc_arch_patchable_state nsc_arch_patchable_state(const uint8_t *entry, int64_t distance);

/** nsc_arch_patchable_entry - encode an entry that is in the state before @state, so that it is in
 * @state. For OFF, the entry may also be in the state after it. @state: CLAIMED, OFF or ON. */
void nsc_arch_patchable_entry(uint8_t *entry, enum nsc_arch_patchable_state state,
                              int64_t distance);

/**
 * nsc_arch_patchable_landing - encode a landing.
 * @at, @stub: run-time addresses. Returns 0, or -1 if one is out of the other's reach.
 */
int nsc_arch_patchable_landing(uint8_t *to, uint64_t at, uint64_t stub);

/**
 * nsc_arch_patchable_stub - encode a stub.
 * @to:   NSC_ARCH_PATCHABLE_STUB_BYTES bytes.
 * @at:   run-time address of the stub.
 * @body: run-time address of the function's body.
 * @hook: run-time address of nsc_patchable_entry in the function's module.
 * Returns 0, or -1 if @hook is out of reach.
 */
int nsc_arch_patchable_stub(uint8_t *to, uint64_t at, uint64_t body, uint64_t hook);

#endif
