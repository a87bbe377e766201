/*
 * method_hook.h - the parts of nsc_dex_code_hook(). Of dex/ alone.
 *
 * method_hook.c decides and goes over the code; exit_handlers.c says what covers each instruction;
 * call_site_hook.c brackets calls at their place.
 */
#ifndef NSC_ANDROID_BYTECODE_METHOD_HOOK_H
#define NSC_ANDROID_BYTECODE_METHOD_HOOK_H

#include "android/bytecode/flow.h"

/* Calls of one method that are handled alike when they throw. */
struct nsc_dex_site {
    uint32_t id;
    uint32_t cover;            /* of what is thrown on */
    uint32_t list;             /* the catch-all that the call is under */
    uint32_t label;            /* of its handler */
    uint8_t number, exception; /* registers */
};

struct nsc_dex_rewrite {
    struct nsc_dex_code *code;
    const struct nsc_dex_hook *hook;
    struct nsc_dex_hooked *done;
    struct nsc_dex_plan plan;
    uint16_t *held;            /* by instruction: nsc_dex_monitors() */
    struct nsc_dex_live *live; /* NULL: nothing is known, or needed */
    uint32_t grow;             /* registers that are added */

    /* The method's own catch-all. */
    uint32_t handler;    /* label */
    uint32_t ours;       /* list of it alone; NSC_DEX_NONE until used */
    uint32_t *with_ours; /* by list of the code: the same with it behind; NSC_DEX_NONE until used */
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
/* What covers instruction @i from now on; *neutral: see struct nsc_dex_item. */
uint32_t nsc_dex_handlers_cover(struct nsc_dex_rewrite *rw, uint32_t i, bool *neutral);
/* Whether an exception of instruction @i leaves the method with a monitor held. */
bool nsc_dex_handlers_escapes(const struct nsc_dex_rewrite *rw, uint32_t i);
/* The method's own catch-all, if it is used. */
void nsc_dex_handlers_end(struct nsc_dex_rewrite *rw);

/* Put a call of the static @method with @id, by way of @reg; @cover is what covers the call. */
void nsc_dex_put_event(struct nsc_dex_plan *plan, uint32_t method, uint32_t id, uint32_t reg,
                       uint32_t cover);
/* move-exception @exception; exit @id; throw @exception; the throw is covered by @cover. */
void nsc_dex_put_rethrow(struct nsc_dex_rewrite *rw, uint32_t id, uint32_t number,
                         uint32_t exception, uint32_t cover);

/* ---- call_site_hook.c
 * ----------------------------------------------------------------------------------
 */

/* Count what is to be recorded and say how many registers that needs beyond those that are free.
 * Returns 0 or -ENOMEM. */
int nsc_dex_calls_begin(struct nsc_dex_rewrite *rw, uint32_t *grow);
/* The id for the call at instruction @i; 0: none, or there is no register for it. */
uint32_t nsc_dex_calls_id(const struct nsc_dex_rewrite *rw, uint32_t i);
/* Put the call at instruction @i, and the move-result behind it; returns how many instructions. */
uint32_t nsc_dex_calls_put(struct nsc_dex_rewrite *rw, uint32_t i, uint32_t id);
/* The handlers. */
void nsc_dex_calls_end(struct nsc_dex_rewrite *rw);

#endif
