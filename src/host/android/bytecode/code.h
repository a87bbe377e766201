/*
 * code.h - one method's code: read -> renumber or hook -> write.
 *
 * Called by the model of a DEX file (dex.h) and by inject/. Knows nothing of a file's tables: an
 * index is a number here. All bytes may be hostile.
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

/* A range of code whose exceptions go to a list of handlers. */
struct nsc_dex_try {
    uint32_t start; /* unit */
    uint32_t count; /* units, 1 to 65535 */
    uint32_t list;  /* lists[] */
};

struct nsc_dex_catch {
    uint32_t type; /* type, or NSC_DEX_NONE: everything; only the last of a list may */
    uint32_t addr; /* unit of the handler */
};

struct nsc_dex_catches {
    uint32_t first; /* catches[] */
    uint32_t count;
};

struct nsc_dex_code {
    uint16_t registers, ins, outs; /* ins <= registers; arguments are in the last registers */
    uint32_t size;                 /* code units of insns */
    uint16_t *insns;
    struct nsc_dex_try *tries; /* in order, not overlapping */
    struct nsc_dex_catches *lists;
    struct nsc_dex_catch *catches;
    uint32_t try_count, list_count, catch_count;
    uint8_t *debug; /* a debug_info_item, NULL: none */
    size_t debug_bytes;
};

/**
 * nsc_dex_code_read - read and check a code item.
 * @code: receives it; release with nsc_dex_code_free(). Untouched on failure.
 * @item, @bytes: from the code item's first byte; more may follow it. Its debug_info_off is not
 *   looked at.
 * @debug, @debug_bytes: its debug_info_item, or NULL; copied, and more may follow it.
 *
 * What comes out holds: instructions are known and follow one another to the end; branches and
 * handlers go to instructions, switches to payloads of theirs; tries are sorted and apart.
 * Memory and time in proportion to the item. Offsets of the diagnostic count from @item.
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int nsc_dex_code_read(struct nsc_dex_code *code, const uint8_t *item, size_t bytes,
                      const uint8_t *debug, size_t debug_bytes, struct nsc_diag *diag);
void nsc_dex_code_free(struct nsc_dex_code *code);

/* Bytes of the code item at @item (@left to the end of the file), without padding behind it; 0 when
 * it is cut off. Looks only at what tells its length. */
size_t nsc_dex_code_bytes(const uint8_t *item, size_t left);

/* Append a code item, beginning at a multiple of 4 in @out; debug_info_off is 0. Look at
 * out->failed. Returns where it begins. */
size_t nsc_dex_code_write(const struct nsc_dex_code *code, struct nsc_buffer *out);

/**
 * nsc_dex_code_remap - put new indices for the old ones into instructions, handlers and debug
 * information. A const-string whose string no longer has 16 bits becomes const-string/jumbo.
 *
 * Returns 0, -EBADMSG (an index beyond its table), -EOVERFLOW (another index has more than 16 bits,
 * or tables of tries became too large) or -ENOMEM; then @code is good for nothing but freeing.
 */
int nsc_dex_code_remap(struct nsc_dex_code *code, const struct nsc_dex_maps *maps,
                       struct nsc_diag *diag);

/* ---- the hook ---------------------------------------------------------------------------------
 */

/* Calls of `from` by invoke-virtual become calls of the static `to`, which has the receiver for its
 * first argument. */
struct nsc_dex_reroute {
    uint32_t from, to; /* methods */
};

struct nsc_dex_hook {
    uint32_t id;          /* what enter and exit are given; 0: the method itself is not recorded */
    uint32_t enter, exit; /* methods, static, (I)V */
    const char *shorty;   /* of the method: return type, then parameters */
    bool is_static;
    bool catch_all;     /* also exit when an exception leaves the method */
    uint32_t throwable; /* type java.lang.Throwable, which catches all; NSC_DEX_NONE if not known */

    /* The id that an invoke of @method is recorded with, at its place; 0: not. NULL: none is. */
    uint32_t (*call_id)(void *context, uint8_t opcode, uint32_t method);
    void *context;
    const struct nsc_dex_reroute *reroutes;
    uint32_t reroute_count;
};

enum nsc_dex_refusal {
    NSC_DEX_HOOKED = 0,
    NSC_DEX_REFUSED_REGISTERS, /* it has 65,535 and none to spare */
    NSC_DEX_REFUSED_SHORTY,    /* its parameters are not what its code says comes in */
    NSC_DEX_REFUSED_FALLS,     /* its code runs into its end or into data */
    NSC_DEX_REFUSED_TRIES,     /* its tables of tries or handlers would be too large */
    NSC_DEX_REFUSED_SIZE,      /* its code would be too large */
    NSC_DEX_REFUSALS,
};

struct nsc_dex_hooked {
    enum nsc_dex_refusal refused;
    uint32_t registers;  /* added */
    uint32_t units;      /* added; less than 0 is told as 0 */
    uint32_t tries;      /* likewise */
    uint32_t held;       /* instructions that may throw with a monitor held, and nothing catches */
    uint32_t calls;      /* recorded at their place */
    uint32_t calls_left; /* should be, but no register was within reach */
    uint32_t rerouted;
};

/**
 * nsc_dex_code_hook - record each run of a method: enter(id) first, exit(id) once at its end.
 * @done: receives what was done. A method that is refused is left as it was, and 0 returned.
 *
 * The exit comes before each return and, with @hook->catch_all, when an exception leaves the
 * method. Code that runs with a monitor held is never put under a handler of ours: what the
 * compiler's own handler throws on, when the monitor is free again, is. Line positions stay.
 * Time and memory in proportion to the code.
 * Returns 0 or -ENOMEM (then @code is as it was).
 */
int nsc_dex_code_hook(struct nsc_dex_code *code, const struct nsc_dex_hook *hook,
                      struct nsc_dex_hooked *done);

/* "has 65,535 registers and none to spare". */
const char *nsc_dex_refusal_text(enum nsc_dex_refusal refusal);

#endif
