/*
 * hook.h - what a module built for tracing and libnanoscope.so (or libnanoscope.a) share: the
 * hooks' thread-local words, the slow path, and the module's descriptor. Hooks are compiled into
 * other people's programs and outlive a release of the library, so fields are only ever added at
 * the end.
 *
 * The words of a thread, and how a hook uses them (arch/<isa>/sled_hook.S, and
 * hooks/nanoscope_hook.h alike):
 *
 *   1. slot = pos; pos += 16, in one instruction as far as signals of this thread are concerned
 *   2. slot >= *endp                          -> slow path (chunk is full, or nothing is recorded)
 *   3. position - anchor_low >= 2 * REACH     -> slow path (unsigned; anchor_low = anchor - REACH)
 *   4. slot[1] = ticks, slot[0] = word, seen in this order by other processors too
 *
 * The order of 1 and 3 matters: a signal handler between them may move the anchor, by a record
 * behind the slot. While such a hook is interrupted, the slow path leaves no anchor that 3 would
 * pass.
 */
#ifndef NSC_ABI_HOOK_H
#define NSC_ABI_HOOK_H

#include <stdint.h>

#include "abi/hook_asm.h"
#include "abi/live.h"

#define NSC_RUNTIME_ABI_VERSION 6u

#define NSC_RUNTIME_EXPORT __attribute__((visibility("default")))

struct nsc_runtime_thread {
    uint64_t pos;         /* address of the next free slot */
    const uint64_t *endp; /* *endp: first address that the fast path must not use */
    uint64_t anchor_low;  /* anchor in force - NSC_LIVE_ANCHOR_REACH, or not a position */
    /* From here on for the slow path only; see linux/events/thread_state.h. */
    uint64_t chunks;
    uint64_t lost_claimed;
    uint64_t place;
    uint32_t token;
    uint32_t retry;
    uint64_t interrupted; /* slot of the outermost hook that is interrupted, 0 if none is known */
};

_Static_assert(__builtin_offsetof(struct nsc_runtime_thread, pos) == NSC_RUNTIME_POS, "asm");
_Static_assert(__builtin_offsetof(struct nsc_runtime_thread, endp) == NSC_RUNTIME_ENDP, "asm");
_Static_assert(__builtin_offsetof(struct nsc_runtime_thread, anchor_low) == NSC_RUNTIME_ANCHOR_LOW,
               "asm");
_Static_assert(NSC_RUNTIME_REACH == NSC_LIVE_ANCHOR_REACH, "asm");
_Static_assert(NSC_RUNTIME_POSITION_SHIFT == NSC_LIVE_POSITION_SHIFT, "asm");
_Static_assert(1ull << NSC_RUNTIME_RETURNED_BIT == NSC_LIVE_TICKS_RETURNED, "asm");

extern NSC_RUNTIME_EXPORT __thread struct nsc_runtime_thread nsc_runtime_tls
    __attribute__((tls_model("initial-exec")));

/*
 * For inlined hooks, which cannot be taken out of the code: not 0 = do nothing. One word for all
 * threads, so that a recording that begins can switch them on.
 */
extern NSC_RUNTIME_EXPORT uint32_t nsc_runtime_off;

/**
 * nsc_runtime_slow - record one event when the fast path cannot.
 * @word0:    the event's first word, as the fast path would store it.
 * @word1:    the event's second word.
 * @position: all 64 bits of the position.
 * @slot:     the slot that the hook reserved, i.e. what it found in `pos`.
 *
 * Stores the event or counts it as lost. Preserves errno and every vector and floating-point
 * register (general registers as any C function does).
 * Context: any thread, inside signal handlers, also when it interrupted itself; takes no lock;
 * system calls only for a thread's or a forked process's first event.
 */
NSC_RUNTIME_EXPORT void nsc_runtime_slow(uint64_t word0, uint64_t word1, uint64_t position,
                                         uint64_t slot);

/**
 * nsc_runtime_patchable_room - make room for the return address at @position; called by
 * nsc_patchable_entry. Returns 1, or 0 if there is no memory: then the call is counted as lost.
 * Context: any.
 */
NSC_RUNTIME_EXPORT int nsc_runtime_patchable_room(uint64_t position);

/* An entry of clang's xray_instr_map, version 2 (addresses relative to their own field). */
struct nsc_runtime_xray {
    int64_t address;
    int64_t function;
    uint8_t kind; /* enum nsc_arch_xray_kind */
    uint8_t always;
    uint8_t version;
    uint8_t reserved[13];
};

/* What a module has for functions of which only the entry can be patched:
 * linux/patch/entry_patch.c. */
struct nsc_runtime_patchable {
    const uint8_t *hook; /* nsc_patchable_entry */
    uint64_t *table;     /* nsc_patchable_table: the hook's way to the return addresses */
    /* The runtime's; all 0 until a function is chosen. Run-time addresses. */
    uint64_t start, end; /* of what was made */
    uint64_t stubs;      /* part of it: stub of the first function */
    int64_t distance;    /* from an entry to its landing */
    uint64_t text_start, text_end;
    uint64_t anywhere; /* the distance is none of nsc_arch_patchable_distance() */
    uint64_t broken;   /* NSC_LIVE_PROBLEM_*: it could not be made; nothing more is switched on */
};

/* Static description of a module, in the module itself. Hidden symbols: each module has its own. */
struct nsc_runtime_module {
    uint32_t abi_version; /* NSC_RUNTIME_ABI_VERSION */
    uint32_t hooks;       /* bit set, 1 << enum nsc_live_hook, of hooks that cannot be seen in the
                           * tables; the runtime adds what it finds */
    const struct nsc_live_site *sites_start, *sites_end;
    struct nsc_runtime_xray *xray_start, *xray_end;
    const uint8_t *trampolines[4]; /* by enum nsc_arch_hook */
    const void *elf_header;        /* __ehdr_start */
    uint64_t state; /* the runtime's: place in its module table, from 1; 0 = not loaded */
    /* Section __patchable_function_entries, relocated: addresses of clang's entry sleds on x86-64,
     * or of the entries that linux/patch/entry_patch.h is about. */
    const uint64_t *nops_start, *nops_end;
    struct nsc_runtime_patchable *patchable;
    /* Instead of trampolines[] where only entries are timed. */
    const uint8_t *untimed_return, *untimed_tail;
    /* The same where calls that were short are taken back; NULL: the hooks of this machine cannot.
     */
    const uint8_t *rewind_return, *rewind_tail;
};

/**
 * nsc_runtime_module_load - called by a module's first constructor.
 * @module: static, writable, alive until nsc_runtime_module_unload().
 *
 * Starts the session if this is the first module and the program is being recorded; publishes the
 * module and switches its sleds on. Otherwise code is written only where XRay's entry sleds make it
 * slow (nsc_arch_xray_slow()).
 * Context: constructor; may run in several threads at once.
 */
NSC_RUNTIME_EXPORT void nsc_runtime_module_load(struct nsc_runtime_module *module);

/** nsc_runtime_module_unload - called by a module's last destructor (dlclose or exit). */
NSC_RUNTIME_EXPORT void nsc_runtime_module_unload(struct nsc_runtime_module *module);

#endif
