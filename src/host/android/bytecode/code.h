/*
 * code.h - one method's code item: read, then renumber or hook, then write.
 *
 * Called by the model of a DEX file (dex.h) and by instrument/. Does not access a file's tables: an
 * index is only a number here. All input may be hostile.
 *
 *     struct nsc_dex_code code;
 *
 *     if (nsc_dex_code_read(&code, item, bytes, debug, debug_bytes, &diag) != 0) ...
 *     if (nsc_dex_code_hook(&code, &hook, &done, &diag) != 0) ...
 *     nsc_dex_code_write(&code, &out);         and code.debug, code.debug_bytes
 *     nsc_dex_code_free(&code);
 */
#ifndef NSC_ANDROID_BYTECODE_CODE_H
#define NSC_ANDROID_BYTECODE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "android/bytecode/index_maps.h"
#include "util/buffer.h"
#include "util/diag.h"

/* A range of code covered by a list of exception handlers. */
struct nsc_dex_try {
    uint32_t start; /* code unit */
    uint32_t count; /* code units, 1 to 65535 */
    uint32_t list;  /* index in lists[] */
};

struct nsc_dex_catch {
    uint32_t type; /* type index, or NSC_DEX_NONE: catch-all; only the last of a list may be one */
    uint32_t addr; /* code unit of the handler */
};

struct nsc_dex_catches {
    uint32_t first; /* index in catches[] */
    uint32_t count;
};

struct nsc_dex_code {
    uint16_t registers, ins, outs; /* ins <= registers; arguments are in the last registers */
    uint32_t size;                 /* code units of insns */
    uint16_t *insns;
    struct nsc_dex_try *tries; /* sorted, not overlapping */
    struct nsc_dex_catches *lists;
    struct nsc_dex_catch *catches;
    uint32_t try_count, list_count, catch_count;
    uint8_t *debug; /* a debug_info_item; NULL: none */
    size_t debug_bytes;
};

/**
 * nsc_dex_code_read - read and check a code item.
 * @code: receives it; release with nsc_dex_code_free(). Untouched on failure.
 * @item, @bytes: the code item; other bytes may follow it. Its debug_info_off is ignored.
 * @debug, @debug_bytes: its debug_info_item, or NULL; copied; other bytes may follow it.
 *
 * Guarantees for @code: known instructions fill the code without gaps; branches and handlers point
 * to instructions, switches to switch payloads; tries are sorted and do not overlap.
 * Memory and time are linear in the item. Offsets of the diagnostic are relative to @item.
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int nsc_dex_code_read(struct nsc_dex_code *code, const uint8_t *item, size_t bytes,
                      const uint8_t *debug, size_t debug_bytes, struct nsc_diag *diag);
void nsc_dex_code_free(struct nsc_dex_code *code);

/* Size of the code item at @item (@left bytes to the end of the file), without padding after it; 0
 * if it is truncated. Parses only what determines the size. */
size_t nsc_dex_code_bytes(const uint8_t *item, size_t left);

/* Append a code item at a multiple of 4 in @out, with debug_info_off 0. Returns its offset. Errors
 * are in out->failed. */
size_t nsc_dex_code_write(const struct nsc_dex_code *code, struct nsc_buffer *out);

/**
 * nsc_dex_code_remap - replace indices in instructions, handlers and debug information. A
 * const-string whose new string index exceeds 16 bits becomes const-string/jumbo.
 *
 * Returns 0, -EBADMSG (an index beyond its table), -EOVERFLOW (another index exceeds 16 bits, or
 * the handler table became too large) or -ENOMEM. After an error @code may only be freed.
 */
int nsc_dex_code_remap(struct nsc_dex_code *code, const struct nsc_dex_maps *maps,
                       struct nsc_diag *diag);

/* ---- the hook ---------------------------------------------------------------------------------
 */

/* Redirects invoke-virtual calls of `from` to the static method `to`, which gets the receiver as
 * first argument. */
struct nsc_dex_reroute {
    uint32_t from, to; /* methods */
};

struct nsc_dex_hook {
    uint32_t id;          /* argument of enter and exit; 0: the method itself is not recorded */
    uint32_t enter, exit; /* indices of static methods with signature (I)V */
    const char *shorty;   /* of the method: return type, then parameters */
    bool is_static;
    bool catch_all;     /* also call exit when an exception leaves the method */
    uint32_t throwable; /* type index of java.lang.Throwable, a catch-all; NSC_DEX_NONE: unknown */

    /* Returns the id to record calls of @method with, at the call site; 0: do not record. May be
     * NULL: record no calls. */
    uint32_t (*call_id)(void *context, uint8_t opcode, uint32_t method);
    void *context;
    const struct nsc_dex_reroute *reroutes;
    uint32_t reroute_count;
};

enum nsc_dex_refusal {
    NSC_DEX_HOOKED = 0,
    NSC_DEX_REFUSED_REGISTERS, /* more than 65,535 registers needed */
    NSC_DEX_REFUSED_SHORTY,    /* the shorty does not match the code item's number of arguments */
    NSC_DEX_REFUSED_FALLS,     /* execution can run past the end or into a payload */
    NSC_DEX_REFUSED_TRIES,     /* the try or handler table would be too large */
    NSC_DEX_REFUSED_SIZE,      /* the code would be too large */
    NSC_DEX_REFUSALS,
};

struct nsc_dex_hooked {
    enum nsc_dex_refusal refused;
    uint32_t registers;  /* added registers */
    uint32_t units;      /* added code units; 0 if the code shrank */
    uint32_t tries;      /* likewise tries */
    uint32_t held;       /* instructions that may throw out of the method with a monitor held */
    uint32_t calls;      /* calls recorded at the call site */
    uint32_t calls_left; /* calls not recorded: no free register, or covered with a monitor held */
    uint32_t rerouted;   /* calls redirected */
};

/**
 * nsc_dex_code_hook - instrument a method: call enter(id) first, exit(id) once at its end.
 * @done: receives the changes. A refused method is left unchanged, and 0 is returned.
 *
 * The exit call precedes each return and, with @hook->catch_all, runs when an exception leaves the
 * method. Code that runs with a monitor held is never covered by our catch-all handler. Instead,
 * the rethrow of the compiler's own handler is covered, after it has released the monitor. Line
 * positions are preserved. Time and memory are linear in the code.
 * Returns 0 or -ENOMEM (then @code is unchanged).
 */
int nsc_dex_code_hook(struct nsc_dex_code *code, const struct nsc_dex_hook *hook,
                      struct nsc_dex_hooked *done);

/* Text of a refusal for messages: "has 65,535 registers and none to spare". */
const char *nsc_dex_refusal_text(enum nsc_dex_refusal refusal);

#endif
