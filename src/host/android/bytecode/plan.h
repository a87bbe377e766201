/*
 * plan.h - code that is being rewritten: a list of items, each an instruction or a payload, with
 * labels instead of offsets. Private to bytecode/.
 *
 *     nsc_dex_plan_begin(&plan, code)
 *     for each instruction of code->insns, in order: nsc_dex_plan_keep() or nsc_dex_plan_mark();
 *     between them, and at the end: nsc_dex_plan_add()
 *     nsc_dex_plan_finish(&plan, code)       chooses the sizes of branches, changes `code`
 *     nsc_dex_plan_free(&plan)
 *
 * Out-of-memory errors are latched in the plan: only begin and finish return them.
 */
#ifndef NSC_ANDROID_BYTECODE_PLAN_H
#define NSC_ANDROID_BYTECODE_PLAN_H

#include "android/bytecode/code.h"
#include "android/bytecode/insn_scan.h"

enum nsc_dex_form {
    NSC_DEX_PLAIN,
    NSC_DEX_JUMP,    /* goto of any size */
    NSC_DEX_IF,      /* 21t, 22t; of 5 units: inverted, jumping over a goto/32 */
    NSC_DEX_POINTER, /* 31t: switch or fill-array-data */
    NSC_DEX_TABLE,   /* payload of a switch; its target is that switch's item */
    NSC_DEX_DATA,    /* another payload */
};

struct nsc_dex_item {
    uint32_t source; /* unit in code->insns; with NSC_DEX_FRESH set, in plan->fresh */
    uint32_t units;
    uint32_t target; /* label; NSC_DEX_TABLE: item */
    uint32_t addr;   /* new unit, set by layout */
    uint32_t cover;  /* handler list that covers it, or NSC_DEX_NONE */
    uint8_t form;    /* enum nsc_dex_form */
    bool neutral;    /* cannot throw: may get the cover of a neighbour */
    bool open;       /* neutral, and cover not decided yet */
};

#define NSC_DEX_FRESH 0x80000000u

/* A new handler list: one of the code's own lists followed by a catch-all. */
struct nsc_dex_made {
    uint32_t base;    /* lists[] of the code; NSC_DEX_NONE: the catch-all alone */
    uint32_t handler; /* label of the catch-all */
};

/* A copy of a switch payload that several switches share: each gets its own. */
struct nsc_dex_copy {
    uint32_t payload; /* instruction */
    uint32_t owner;   /* item */
    uint32_t label;
};

struct nsc_dex_plan {
    const struct nsc_dex_code *code;
    struct nsc_dex_scan scan;
    uint32_t *base;  /* by instruction: the code's list that covers it, or NSC_DEX_NONE */
    uint32_t *owner; /* by instruction: first user of the payload, or NSC_DEX_NONE */
    uint32_t *self;  /* by instruction: its item */
    bool *aimed;     /* by instruction: target of a branch, switch or handler */
    uint32_t *label; /* item of each label; labels below scan.count belong to instructions */
    struct nsc_dex_item *items;
    struct nsc_dex_made *made; /* new lists; made[i] has the number code->list_count + i */
    struct nsc_dex_copy *copies;
    uint16_t *fresh;
    uint32_t label_count, label_room, item_count, item_room, made_count, made_room;
    uint32_t copy_count, copy_room, fresh_used, fresh_room;
    uint32_t size; /* in units, set by layout */
    bool failed;
};

/* Begin a plan. @code must be the valid result of nsc_dex_code_read() or of a function of
 * bytecode/, and must live as long as the plan. Returns 0 or -ENOMEM. */
int nsc_dex_plan_begin(struct nsc_dex_plan *plan, const struct nsc_dex_code *code);
void nsc_dex_plan_free(struct nsc_dex_plan *plan);

/* Set label @label to the next item; create a label. */
void nsc_dex_plan_mark(struct nsc_dex_plan *plan, uint32_t label);
uint32_t nsc_dex_plan_label(struct nsc_dex_plan *plan);

/* Append instruction @i unchanged; does not set its label. */
void nsc_dex_plan_keep(struct nsc_dex_plan *plan, uint32_t i, uint32_t cover, bool neutral);

/* Append a new instruction; append a goto. @neutral: it cannot throw, and a neighbour's handlers
 * may cover it. */
void nsc_dex_plan_add(struct nsc_dex_plan *plan, const uint16_t *insn, uint32_t units,
                      uint32_t cover, bool neutral);
void nsc_dex_plan_jump(struct nsc_dex_plan *plan, uint32_t label, uint32_t cover, bool neutral);

/* Create a handler list: @base's handlers followed by a catch-all at label @handler. */
uint32_t nsc_dex_plan_list(struct nsc_dex_plan *plan, uint32_t base, uint32_t handler);

/* Whether instruction @i is an unreachable nop that only aligns the payload after it. It may be
 * dropped: finish() aligns payloads itself. */
bool nsc_dex_plan_is_padding(const struct nsc_dex_plan *plan, uint32_t i, bool reached);

/**
 * nsc_dex_plan_finish - lay out the items and replace @code, the code that the plan began with.
 * Returns 0, -ENOMEM, or an enum nsc_dex_refusal; on failure @code is unchanged.
 */
int nsc_dex_plan_finish(struct nsc_dex_plan *plan, struct nsc_dex_code *code);

/* ---- the steps of finish() --------------------------------------------------------------------
 */

/* Assign addresses and sizes. Returns false if the code is too large. */
bool nsc_dex_layout(struct nsc_dex_plan *plan);
/* The new unit of a label. */
uint32_t nsc_dex_label_unit(const struct nsc_dex_plan *plan, uint32_t label);
/* Write the items at their addresses: plan->size units. NULL if out of memory. */
uint16_t *nsc_dex_emit(const struct nsc_dex_plan *plan);
/* Build tries and handler lists of @to. Returns 0, -ENOMEM or a refusal. */
int nsc_dex_cover(struct nsc_dex_plan *plan, struct nsc_dex_code *to);
/* Whether each handler list is within reach of the 16-bit offsets in tries. */
bool nsc_dex_lists_fit(const struct nsc_dex_code *code);

#endif
