/*
 * plan.h - code that is being changed: a row of items, each an instruction or a payload, with
 * labels instead of distances. Of dex/ alone.
 *
 *     nsc_dex_plan_begin(&plan, code)
 *     for each instruction of code->insns, in order: nsc_dex_plan_keep() or nsc_dex_plan_mark();
 *     between them, and at the end: nsc_dex_plan_add()
 *     nsc_dex_plan_finish(&plan, code)       chooses the sizes of branches, changes `code`
 *     nsc_dex_plan_free(&plan)
 *
 * Where memory runs out the plan remembers it: only begin and finish tell.
 */
#ifndef NSC_ANDROID_BYTECODE_PLAN_H
#define NSC_ANDROID_BYTECODE_PLAN_H

#include "android/bytecode/code.h"
#include "android/bytecode/insn_scan.h"

enum nsc_dex_form {
    NSC_DEX_PLAIN,
    NSC_DEX_JUMP,    /* goto of any size */
    NSC_DEX_IF,      /* 21t, 22t; of 5 units: turned round, over a goto/32 */
    NSC_DEX_POINTER, /* 31t: switch or fill-array-data */
    NSC_DEX_TABLE,   /* payload of a switch; its target is that switch's item */
    NSC_DEX_DATA,    /* another payload */
};

struct nsc_dex_item {
    uint32_t source; /* unit in code->insns, or in plan->fresh behind NSC_DEX_FRESH */
    uint32_t units;
    uint32_t target; /* label; NSC_DEX_TABLE: item */
    uint32_t addr;   /* new unit, by layout */
    uint32_t cover;  /* list of handlers, or NSC_DEX_NONE */
    uint8_t form;    /* enum nsc_dex_form */
    bool neutral;    /* cannot throw: may be covered by what its neighbours are covered by */
    bool open;       /* neutral, and not decided yet */
};

#define NSC_DEX_FRESH 0x80000000u

/* A list of handlers that is made of one of the code's own and a catch-all behind it. */
struct nsc_dex_made {
    uint32_t base;    /* lists[] of the code; NSC_DEX_NONE: the catch-all alone */
    uint32_t handler; /* label of the catch-all */
};

/* A table that two switches share is written for each. */
struct nsc_dex_copy {
    uint32_t payload; /* instruction */
    uint32_t owner;   /* item */
    uint32_t label;
};

struct nsc_dex_plan {
    const struct nsc_dex_code *code;
    struct nsc_dex_scan scan;
    uint32_t *base;  /* by instruction: the code's list that covers it, or NSC_DEX_NONE */
    uint32_t *owner; /* by instruction: payload's first user, or NSC_DEX_NONE */
    uint32_t *self;  /* by instruction: its item */
    bool *aimed;     /* by instruction: a branch, switch or handler goes there */
    uint32_t *label; /* item; labels below scan.count are those of instructions */
    struct nsc_dex_item *items;
    struct nsc_dex_made *made; /* list code->list_count + i */
    struct nsc_dex_copy *copies;
    uint16_t *fresh;
    uint32_t label_count, label_room, item_count, item_room, made_count, made_room;
    uint32_t copy_count, copy_room, fresh_used, fresh_room;
    uint32_t size; /* units, by layout */
    bool failed;
};

/* Returns 0 or -ENOMEM. @code is as nsc_dex_code_read() or this room left it, and stays. */
int nsc_dex_plan_begin(struct nsc_dex_plan *plan, const struct nsc_dex_code *code);
void nsc_dex_plan_free(struct nsc_dex_plan *plan);

/* Label @label is what comes next. */
void nsc_dex_plan_mark(struct nsc_dex_plan *plan, uint32_t label);
uint32_t nsc_dex_plan_label(struct nsc_dex_plan *plan);

/* Instruction @i goes here as it is; does not mark. */
void nsc_dex_plan_keep(struct nsc_dex_plan *plan, uint32_t i, uint32_t cover, bool neutral);

/* A new instruction. One that cannot throw but must not be covered by a neighbour's handlers: say
 * @neutral false. */
void nsc_dex_plan_add(struct nsc_dex_plan *plan, const uint16_t *insn, uint32_t units,
                      uint32_t cover, bool neutral);
void nsc_dex_plan_jump(struct nsc_dex_plan *plan, uint32_t label, uint32_t cover, bool neutral);

/* The list of @base's handlers with a catch-all at @handler behind them. */
uint32_t nsc_dex_plan_list(struct nsc_dex_plan *plan, uint32_t base, uint32_t handler);

/* A nop that only aligns the payload behind it, where nothing goes to: finish() aligns anew. */
bool nsc_dex_plan_is_padding(const struct nsc_dex_plan *plan, uint32_t i, bool reached);

/**
 * nsc_dex_plan_finish - lay out and put it all into @code, which is the one it began with.
 * Returns 0, -ENOMEM, or an enum nsc_dex_refusal; unless 0, @code is as it was.
 */
int nsc_dex_plan_finish(struct nsc_dex_plan *plan, struct nsc_dex_code *code);

/* ---- the steps of finish() --------------------------------------------------------------------
 */

/* Addresses and sizes; false: too large. */
bool nsc_dex_layout(struct nsc_dex_plan *plan);
/* The unit of a label. */
uint32_t nsc_dex_label_unit(const struct nsc_dex_plan *plan, uint32_t label);
/* Instructions at their addresses, plan->size units. NULL without memory. */
uint16_t *nsc_dex_emit(const struct nsc_dex_plan *plan);
/* Tries and lists of @to. Returns 0, -ENOMEM or a refusal. */
int nsc_dex_cover(struct nsc_dex_plan *plan, struct nsc_dex_code *to);
/* Whether tries can name each list: they do so by an offset of 16 bits. */
bool nsc_dex_lists_fit(const struct nsc_dex_code *code);

#endif
