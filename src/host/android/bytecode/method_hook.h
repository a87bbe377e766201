/*
 * method_hook.h - shared state and parts of nsc_dex_code_hook(). Private to bytecode/.
 *
 * method_hook.c decides whether a method can be hooked and rewrites its code; exit_handlers.c
 * chooses the handlers that cover each instruction; call_site_hook.c records calls at call sites.
 */
#ifndef NSC_ANDROID_BYTECODE_METHOD_HOOK_H
#define NSC_ANDROID_BYTECODE_METHOD_HOOK_H

#include "android/bytecode/flow.h"

/* Adjacent recorded calls of one method that share an exception handler. */
struct nsc_dex_site {
    uint32_t id;
    uint32_t cover;            /* list that covers the rethrow */
    uint32_t list;             /* list with the handler, which covers the calls */
    uint32_t label;            /* of the handler */
    uint8_t number, exception; /* registers */
};

struct nsc_dex_rewrite {
    struct nsc_dex_code *code;
    const struct nsc_dex_hook *hook;
    struct nsc_dex_hooked *done;
    struct nsc_dex_plan plan;
    uint16_t *held;            /* by instruction: nsc_dex_monitors() */
    struct nsc_dex_live *live; /* NULL: unknown or not needed */
    uint32_t grow;             /* registers to add */

    /* Our catch-all handler, which calls exit for the method. */
    uint32_t handler;    /* its label */
    uint32_t ours;       /* list with our handler only; NSC_DEX_NONE until used */
    uint32_t *with_ours; /* by list of the code: it plus our handler; NSC_DEX_NONE until used */
    bool *catches_all;   /* by list of the code */
    bool handler_used;

    struct nsc_dex_site *sites;
    uint32_t site_count, site_room;
    uint32_t timed; /* calls with an id */
};

/* ---- exit_handlers.c
 * -------------------------------------------------------------------------------
 */

/* Returns 0 or -ENOMEM. */
int nsc_dex_handlers_begin(struct nsc_dex_rewrite *rw);
/* The handler list to cover instruction @i with; *neutral: see struct nsc_dex_item. */
uint32_t nsc_dex_handlers_cover(struct nsc_dex_rewrite *rw, uint32_t i, bool *neutral);
/* Whether an exception of instruction @i may leave the method with a monitor held. */
bool nsc_dex_handlers_escapes(const struct nsc_dex_rewrite *rw, uint32_t i);
/* Emit our catch-all handler, if it is used. */
void nsc_dex_handlers_end(struct nsc_dex_rewrite *rw);

/* Emit a call of the static @method with argument @id in register @reg, covered by @cover. */
void nsc_dex_put_event(struct nsc_dex_plan *plan, uint32_t method, uint32_t id, uint32_t reg,
                       uint32_t cover);
/* Emit move-exception @exception; exit(@id) by register @number; throw @exception. All are covered
 * by @cover. */
void nsc_dex_put_rethrow(struct nsc_dex_rewrite *rw, uint32_t id, uint32_t number,
                         uint32_t exception, uint32_t cover);

/* ---- call_site_hook.c
 * ----------------------------------------------------------------------------------
 */

/* Count the calls to record and compute the number of registers to add for them. Returns 0 or
 * -ENOMEM. */
int nsc_dex_calls_begin(struct nsc_dex_rewrite *rw, uint32_t *grow);
/* Id for the call at instruction @i; 0: not recorded, or not possible (counted in calls_left). */
uint32_t nsc_dex_calls_id(const struct nsc_dex_rewrite *rw, uint32_t i);
/* Emit the recorded call at instruction @i with its move-result. Returns the number of original
 * instructions consumed. */
uint32_t nsc_dex_calls_put(struct nsc_dex_rewrite *rw, uint32_t i, uint32_t id);
/* Emit the handlers of the recorded calls. */
void nsc_dex_calls_end(struct nsc_dex_rewrite *rw);

#endif
